//! What the kernel itself says of a system call: ftrace in an instance of our own.
//!
//! The machine's own tracing is not changed: everything is set in an instance, which takes all of it away when it is removed. Where
//! tracefs is not mounted, the caller mounts it in a directory of its own. What the bytes and the text mean, `ramline-trace` decodes.
//!
//! ```no_run
//! use ramline_kernel::{Root, tracing::{self, Instance}};
//! let dir = tracing::mounted(&Root::live()).expect("tracefs");
//! let instance = Instance::make(&Instance::planned(&dir, 0))?;
//! instance.set("events/sched/sched_switch/enable", "1")?;
//! instance.start()?;
//! println!("{}", instance.stop()?);
//! instance.remove()?;
//! # Ok::<(), ramline_kernel::KernelError>(())
//! ```

pub mod follow;
mod raw;

use std::io::Write;

pub use raw::RawPages;

use crate::prelude::*;
use crate::sys::remove_dir;

/// The names of our instances begin with this; nothing else is ever removed.
pub const PREFIX: &str = "ramline-";

/// Where tracefs is mounted, if anywhere.
#[must_use]
pub fn mounted(root: &Root) -> Option<PathBuf> {
    mount::list(root).ok()?.into_iter().find(|mounted| mounted.fs == "tracefs").map(|mounted| mounted.at.into())
}

/// Whether this kernel has tracefs at all.
#[must_use]
pub fn supported(root: &Root) -> bool {
    let names = read_text(&root.path("/proc/filesystems")).unwrap_or_default();
    names.lines().any(|line| line.split_whitespace().last() == Some("tracefs"))
}

/// The tracers a tracefs offers, as `function_graph`.
///
/// # Errors
/// When the list cannot be read.
pub fn tracers(tracefs: &Path) -> Result<Vec<String>> {
    Ok(read_text(&tracefs.join("available_tracers"))?.split_whitespace().map(str::to_owned).collect())
}

/// A trace buffer with settings of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instance {
    dir: PathBuf,
}

impl Instance {
    /// The directory of our n-th instance.
    #[must_use]
    pub fn planned(tracefs: &Path, n: u32) -> PathBuf {
        tracefs.join("instances").join(format!("{PREFIX}{}-{n}", std::process::id()))
    }

    /// Makes it: nothing is recorded yet.
    ///
    /// # Errors
    /// `Denied` when not root, `Refused` for a name that is not ours.
    pub fn make(dir: &Path) -> Result<Instance> {
        refuse_foreign("make the trace instance", dir)?;
        std::fs::create_dir(dir).tried("make the trace instance", dir)?;
        let instance = Instance { dir: dir.to_owned() };
        instance.set("tracing_on", "0")?;
        Ok(instance)
    }

    /// One of ours that exists.
    ///
    /// # Errors
    /// `Absent` when it is gone, `Refused` when its name is not one of ours.
    pub fn open(dir: &Path) -> Result<Instance> {
        let tried = "open the trace instance";
        refuse_foreign(tried, dir)?;
        let absent = || KernelError::new(tried, dir, crate::Cause::Absent);
        dir.join("tracing_on").exists().then(|| Instance { dir: dir.to_owned() }).ok_or_else(absent)
    }

    /// Its directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Whether it has such a file: an event, an option.
    #[must_use]
    pub fn has(&self, file: &str) -> bool {
        self.dir.join(file).exists()
    }

    /// The choices in a file, without the brackets around the chosen one.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn words(&self, file: &str) -> Result<Vec<String>> {
        let text = read_text(&self.dir.join(file))?;
        Ok(text.split_whitespace().map(|word| word.trim_matches(['[', ']']).to_owned()).collect())
    }

    /// Writes one of its settings.
    ///
    /// # Errors
    /// `Absent` when this kernel does not have it, `Io` when it refuses the value.
    pub fn set(&self, file: &str, value: &str) -> Result<()> {
        let path = self.dir.join(file);
        let failed = |error| KernelError::io(format!("write '{}' to", value.escape_debug()), &path, error);
        let mut open = OpenOptions::new().write(true).open(&path).map_err(failed)?;
        open.write_all(value.as_bytes()).map_err(failed)
    }

    /// The text that says how the records of an event are laid out, as `filemap/mm_filemap_fault`.
    ///
    /// # Errors
    /// `Absent` when this kernel does not have it.
    pub fn format(&self, event: &str) -> Result<String> {
        read_text(&self.dir.join("events").join(event).join("format"))
    }

    /// The file that says how pages of the buffer are laid out, and its text.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn header_page(&self) -> Result<(PathBuf, String)> {
        let path = self.dir.join("../../events/header_page");
        let text = raw::at_once(&path).tried("read", &path)?;
        Ok((path, text))
    }

    /// Switches an event on, for records that satisfy `filter` (all when it is empty).
    ///
    /// # Errors
    /// `Absent` when this kernel does not have it, `Io` when it does not take the filter.
    pub fn enable(&self, event: &str, filter: &str) -> Result<()> {
        if !filter.is_empty() {
            self.set(&format!("events/{event}/filter"), filter)?;
        }
        self.set(&format!("events/{event}/enable"), "1")
    }

    /// Gives each processor's buffer so much, but all of them together no more than `all` (and none less than 1 MiB).
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn set_buffer(&self, each: Bytes, all: Bytes) -> Result<()> {
        let dir = self.dir.join("per_cpu");
        let cpus = std::fs::read_dir(&dir).tried("read", &dir)?.count();
        let share = all.0 / u64::try_from(cpus.max(1)).unwrap_or(1);
        self.set("buffer_size_kb", &(share.clamp(1 << 20, each.0.max(1 << 20)) >> 10).to_string())
    }

    /// Empties the buffer and records from now on.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn start(&self) -> Result<()> {
        let path = self.dir.join("trace");
        // Opening it for writing with truncation is what empties it.
        OpenOptions::new().write(true).truncate(true).open(&path).tried("empty", &path)?;
        self.set("tracing_on", "1")
    }

    /// Writes a line of our own into the buffer.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn mark(&self, text: &str) -> Result<()> {
        self.set("trace_marker", text)
    }

    /// Stops recording and returns what was recorded, as text.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn stop(&self) -> Result<String> {
        self.set("tracing_on", "0")?;
        read_text(&self.dir.join("trace"))
    }

    /// Takes it away with all its settings. Gone already is success.
    ///
    /// # Errors
    /// EBUSY when it is still read from after 2 s.
    pub fn remove(&self) -> Result<()> {
        refuse_foreign("remove the trace instance", &self.dir)?;
        remove_dir("remove the trace instance", &self.dir)
    }
}

fn refuse_foreign(operation: &str, dir: &Path) -> Result<()> {
    let name = |path: &Path| path.file_name().and_then(|name| name.to_str()).map(str::to_owned);
    let ours = name(dir).is_some_and(|name| name.starts_with(PREFIX));
    let ours = ours && dir.parent().and_then(name).as_deref() == Some("instances");
    let refused = || KernelError::refused(operation, dir, format!("only instances named {PREFIX}* are ours"), "");
    ours.then_some(()).ok_or_else(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_instances_of_ours_are_made_or_removed() {
        for dir in ["/sys/kernel/tracing/instances/foo", "/sys/kernel/tracing/ramline-1-0", "/ramline-1"] {
            assert!(Instance::make(Path::new(dir)).unwrap_err().is_refused(), "{dir}");
            assert!(Instance::open(Path::new(dir)).unwrap_err().is_refused(), "{dir}");
        }
        let planned = Instance::planned(Path::new("/t"), 3);
        assert!(Instance::open(&planned).unwrap_err().is_absent(), "{}", planned.display());
    }
}
