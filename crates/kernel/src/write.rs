//! The one function that writes to a knob of the kernel.
//!
//! It opens for writing only and never creates: on sysfs, creating turns "no such knob" into "permission denied", and
//! on a fixture tree it would create the typo. One write(2), then the file is read back: what counts is what the kernel
//! took, not what was asked.
//!
//! ```
//! # let dir = std::env::temp_dir().join(format!("ramline-doc-{}", std::process::id()));
//! # std::fs::create_dir_all(&dir)?;
//! let knob = dir.join("swappiness");
//! std::fs::write(&knob, "60\n")?;
//! let change = ramline_kernel::write::write_knob(&knob, "10")?;
//! assert_eq!((change.before.as_deref(), change.after.as_deref()), (Some("60"), Some("10")));
//! # std::fs::remove_dir_all(&dir)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::io::{self, Write};
use std::path::Component;

use crate::prelude::*;

/// What a write did: the knob before and after, `None` where it cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The knob.
    pub path: PathBuf,
    /// Its selected value before the write.
    pub before: Option<String>,
    /// Its selected value after the write, as the kernel reports it.
    pub after: Option<String>,
}

/// Writes `value` to the knob at `path` and reads it back.
///
/// # Errors
/// `Absent` when there is no such knob, `Denied` without the privilege, `Io` when the kernel refuses the value.
pub fn write_knob(path: &Path, value: &str) -> Result<Change> {
    let failed = |error| KernelError::io(format!("write '{}' to", value.escape_debug()), path, error);
    let before = read_knob(path);
    let mut options = OpenOptions::new();
    options.write(true);
    // A captured tree holds regular files, where the new value must replace a longer old one as the kernel would.
    // Truncation never reaches the kernel's own files: there O_TRUNC means nothing, so it is left out.
    let regular = std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() > 0 && !is_kernel_file(&meta));
    options.truncate(regular).custom_flags(libc::O_NOFOLLOW);
    let mut file = options.open(path).map_err(failed)?;
    let written = file.write(value.as_bytes()).map_err(failed)?;
    if written != value.len() {
        return Err(failed(io::Error::new(io::ErrorKind::WriteZero, format!("only {written} bytes were taken"))));
    }
    drop(file);
    Ok(Change { path: path.to_owned(), before, after: read_knob(path) })
}

/// The selected value of a knob, trimmed; `None` when it cannot be read. `always [madvise] never` gives `madvise`.
#[must_use]
pub fn read_knob(path: &Path) -> Option<String> {
    // No knob has more than a page.
    let text = crate::input::read("read", path, 64 << 10).ok()?;
    Some(selected(&String::from_utf8_lossy(&text)).to_owned())
}

/// The word in brackets where the kernel marks the choice that way, else the whole text, trimmed.
#[must_use]
pub fn selected(text: &str) -> &str {
    let text = text.trim();
    let chosen = text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(chosen, _)| chosen);
    chosen.unwrap_or(text)
}

/// Whether a path is that of a knob ramline sets: of reclaim, of memory, of a block device's queue, of a control group's memory. A journal
/// that was forged may name any file of the machine, and none but these is ever written when it is undone.
#[must_use]
pub fn is_knob(root: &Root, path: &Path) -> bool {
    let Ok(below) = path.strip_prefix(root.path("/")) else { return false };
    let is_plain = below.components().all(|part| matches!(part, Component::Normal(_)));
    let names: Option<Vec<&str>> = below.iter().filter(|_| is_plain).map(|name| name.to_str()).collect();
    let names = names.unwrap_or_default();
    let by_name = matches!(
        names.as_slice(),
        ["proc", "sys", "vm", _]
            | ["sys", "kernel", "mm", .., _]
            | ["sys", "module", "zswap", "parameters", _]
            | ["sys", "block" | "devices" | "class", .., "queue" | "bdi", _]
            | ["sys", "block", _, "writeback_limit_enable"]
    );
    if !root.is_live() {
        return by_name;
    }
    // What its name promises must be what is there: a file of the kernel, and not one that is mounted or linked into its tree.
    let Ok(looked) = crate::input::Looked::at(path, false) else { return false };
    let in_group = names.last().is_some_and(|name| name.starts_with("memory."));
    match looked.file_system() {
        Some(libc::PROC_SUPER_MAGIC | libc::SYSFS_MAGIC) => by_name,
        Some(libc::CGROUP_SUPER_MAGIC | libc::CGROUP2_SUPER_MAGIC) => in_group,
        _ => false,
    }
}

/// Files of sysfs, procfs and cgroupfs report 0 or one page as their size and no blocks.
fn is_kernel_file(meta: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    meta.blocks() == 0
}

/// Where a setting of reclaim stands: `vm.swappiness` for `swappiness`. Global, for the whole machine.
#[must_use]
pub fn vm_setting(root: &Root, name: &str) -> PathBuf {
    root.path("/proc/sys/vm").join(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_knob_that_is_not_there_is_absent_and_is_not_created() {
        let dir = tempfile::tempdir().unwrap();
        let knob = dir.path().join("swapiness");
        assert!(write_knob(&knob, "10").unwrap_err().is_absent());
        assert!(!knob.exists());
    }

    #[test]
    fn the_value_in_brackets_is_the_selected_one() {
        assert_eq!(selected("always [madvise] never\n"), "madvise");
        assert_eq!(selected("60\n"), "60");
    }

    #[test]
    fn a_shorter_value_replaces_a_longer_one() {
        let dir = tempfile::tempdir().unwrap();
        let knob = dir.path().join("limit");
        std::fs::write(&knob, "9223372036854771712\n").unwrap();
        let change = write_knob(&knob, "1").unwrap();
        assert_eq!(change.before.as_deref(), Some("9223372036854771712"));
        assert_eq!(change.after.as_deref(), Some("1"));
    }

    #[test]
    fn only_what_is_set_by_us_is_a_knob() {
        let live = Root::live();
        for (path, want) in [
            ("/proc/sys/vm/swappiness", true),
            ("/proc/sys/vm/../kernel/core_pattern", false),
            ("/proc/sys/kernel/core_pattern", false),
            ("/etc/passwd", false),
            ("/sys/power/state", false),
            ("/proc/self/oom_score_adj", false),
            ("sys/kernel/mm/x", false),
        ] {
            assert_eq!(is_knob(&live, Path::new(path)), want, "{path}");
        }
        let tree = Root::new("/t");
        assert!(is_knob(&tree, Path::new("/t/sys/block/loop7/queue/read_ahead_kb")));
        assert!(!is_knob(&tree, Path::new("/t/sys/block/sda/device/delete")) && !is_knob(&tree, Path::new("/t/x")));
    }

    #[test]
    fn a_link_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("target"), "1\n").unwrap();
        std::os::unix::fs::symlink(dir.path().join("target"), dir.path().join("link")).unwrap();
        assert!(write_knob(&dir.path().join("link"), "2").is_err());
        assert_eq!(std::fs::read_to_string(dir.path().join("target")).unwrap(), "1\n");
    }
}
