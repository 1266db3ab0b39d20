//! Mounting scratch file systems, and what is mounted where.
//!
//! Images, scratch devices and file systems in memory for the lab, always nosuid, nodev.
//!
//! ```no_run
//! use ramline_kernel::mount;
//! mount::mkfs_ext4("/var/tmp/ramline-1/code.img".as_ref())?;
//! mount::ext4("/dev/loop0".as_ref(), "/var/tmp/ramline-1/mnt".as_ref(), false)?;
//! mount::unmount("/var/tmp/ramline-1/mnt".as_ref())?;
//! # Ok::<(), ramline_kernel::KernelError>(())
//! ```

use std::ffi::CString;
use std::os::unix::fs::FileTypeExt;

use ramline_snapshot::mounts::{self, Mount};
use rustix::mount::{FsOpenFlags, MountFlags, UnmountFlags, fsconfig_set_flag, fsconfig_set_string, fsopen};

use crate::fs;
use crate::prelude::*;
use crate::program::Program;
use crate::sys::retry_busy;

/// Everything mounted in our namespace, in the order of mounting.
///
/// # Errors
/// When /proc/self/mountinfo cannot be read.
pub fn list(root: &Root) -> Result<Vec<Mount>> {
    let text = match read_text(&root.path("/proc/self/mountinfo")) {
        // A captured tree has no `self`; its capture keeps the same text under pid 1.
        Err(error) if error.is_absent() && !root.is_live() => read_text(&root.path("/proc/1/mountinfo"))?,
        other => other?,
    };
    Ok(text.lines().filter_map(|line| mounts::parse("", line).ok()?.pop()).collect())
}

/// What is mounted exactly at `at` (the topmost), if anything.
#[must_use]
pub fn at(root: &Root, at: &Path) -> Option<Mount> {
    list(root).ok()?.into_iter().rev().find(|mounted| Path::new(&mounted.at) == at)
}

/// The mount a path is on: the last one whose mount point is the longest prefix.
#[must_use]
pub fn containing(root: &Root, path: &Path) -> Option<Mount> {
    mounts::holding(&list(root).ok()?, path).cloned()
}

/// Where a server or a program answers for files: if it is gone, asking about one of them waits for ever.
#[derive(Debug, Clone, Default)]
pub struct Remote(Vec<Mount>);

impl Remote {
    /// The remote file systems that are mounted now.
    #[must_use]
    pub fn read(root: &Root) -> Remote {
        Remote(list(root).unwrap_or_default())
    }

    /// The path is on one of them.
    #[must_use]
    pub fn holds(&self, path: &Path) -> bool {
        // The innermost counts, and of several at one place the last: automount leaves an autofs below what it has mounted.
        mounts::holding(&self.0, path).is_some_and(|mounted| fs::may_hang(&mounted.fs))
    }
}

/// Makes an ext4 file system in an image or on a device with `mke2fs`, without lazy initialisation (which would write
/// later, into a measurement) and without a journal. The target is opened here, no link followed, and mke2fs is given the
/// open file: no other one can take the name in between.
///
/// # Errors
/// `Refused` for a file that is not ours alone; `Unsupported` when mke2fs is not installed; `Io` with its message when it
/// fails.
pub fn mkfs_ext4(target: &Path) -> Result<()> {
    let open = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NOFOLLOW).open(target);
    let file = open.tried("make an ext4 file system in", target)?;
    mkfs_ext4_holding(&file, target, None)
}

/// The same in an open file, which `target` only names in messages. What is in the folder `content` is copied into it, without
/// mounting anything (`mke2fs -d`).
///
/// # Errors
/// As [`mkfs_ext4`].
pub fn mkfs_ext4_holding(file: &File, target: &Path, content: Option<&Path>) -> Result<()> {
    let folder = content.into_iter().flat_map(|folder| [OsStr::new("-d"), folder.as_os_str()]);
    let options: Vec<&OsStr> = folder.chain(EXT4_PLAIN.map(OsStr::new)).collect();
    run_mkfs("make an ext4 file system in", file, target, MKE2FS, &options)
}

/// A file system as a machine has it, with its journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Journalled {
    /// ext4, nothing left to initialise later.
    Ext4,
    /// XFS; its smallest is 300 MiB.
    Xfs,
}

impl Journalled {
    /// As mount(2) calls it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Journalled::Ext4 => "ext4",
            Journalled::Xfs => "xfs",
        }
    }

    /// The program that makes one, and the package it is in.
    #[must_use]
    pub const fn program(self) -> (&'static str, &'static str) {
        match self {
            Journalled::Ext4 => MKE2FS,
            Journalled::Xfs => ("mkfs.xfs", "xfsprogs"),
        }
    }

    /// Whether the program that makes one is installed.
    #[must_use]
    pub fn has_program(self) -> bool {
        Program::find(self.program().0).is_ok()
    }
}

/// Makes a file system with a journal in an open image or device; `target` only names it in messages.
///
/// # Errors
/// As [`mkfs_ext4`].
pub fn mkfs_journalled(file: &File, target: &Path, kind: Journalled) -> Result<()> {
    let options: &[&str] = match kind {
        Journalled::Ext4 => &EXT4_JOURNAL,
        // No discard (-K): it would take the image's blocks away, which the next writes had to find again.
        Journalled::Xfs => &["-q", "-f", "-K"],
    };
    let options: Vec<&OsStr> = options.iter().map(OsStr::new).collect();
    run_mkfs(&format!("make an {} file system in", kind.name()), file, target, kind.program(), &options)
}

const MKE2FS: (&str, &str) = ("mke2fs", "e2fsprogs");
const EXT4_PLAIN: [&str; 12] =
    ["-q", "-F", "-t", "ext4", "-O", "^has_journal", "-m", "0", "-b", "4096", "-E", "lazy_itable_init=0,nodiscard"];
const EXT4_JOURNAL: [&str; 10] =
    ["-q", "-F", "-t", "ext4", "-m", "0", "-b", "4096", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard"];

fn refuse_foreign(tried: &str, file: &File, target: &Path) -> Result<()> {
    let meta = file.metadata().tried(tried, target)?;
    if !meta.file_type().is_block_device()
        && (!meta.is_file() || meta.uid() != crate::process::uid() || meta.nlink() != 1)
    {
        let rule = "it must be a file of ours with no other name, or a block device";
        let numbers = format!("user {}, {} names", meta.uid(), meta.nlink());
        return Err(KernelError::refused(tried, target, rule, numbers));
    }
    Ok(())
}

fn run_mkfs(
    tried: &str,
    file: &File,
    target: &Path,
    (program, package): (&str, &str),
    options: &[&OsStr],
) -> Result<()> {
    refuse_foreign(tried, file, target)?;
    // It asks nothing when forced, so its standard input can carry the file.
    let found = Program::find(program).map_err(|error| {
        let absent = KernelError::unsupported(tried, target, format!("the program {program} is not installed"));
        if error.is_absent() { absent.hint(format!("apt install {package}")) } else { error }
    })?;
    let input = file.try_clone().tried(tried, target)?;
    let output = found.command().args(options).arg("/proc/self/fd/0").stdin(input).output().tried(tried, target)?;
    if output.status.success() {
        return Ok(());
    }
    let message = format!("{program}: {}", String::from_utf8_lossy(&output.stderr).trim());
    Err(std::io::Error::other(message)).tried(tried, target)
}

/// Mounts an ext4 device: nosuid, nodev, noatime.
///
/// # Errors
/// `Denied` when not root, `Io` when the kernel refuses.
pub fn ext4(device: &Path, at: &Path, read_only: bool) -> Result<()> {
    let read_only = if read_only { MountFlags::RDONLY } else { MountFlags::empty() };
    mount(device, at, "ext4", MountFlags::NOATIME | read_only, "")
}

/// Mounts a tmpfs of at most `size` bytes, mode 0700: nosuid, nodev.
///
/// # Errors
/// `Denied` when not root, `Io` when the kernel refuses.
pub fn tmpfs(at: &Path, size: Bytes) -> Result<()> {
    ours(at, "tmpfs", &format!("size={},mode=0700", size.0))
}

/// Mounts a device with a journalled file system: nosuid, nodev, noatime.
///
/// # Errors
/// `Denied` when not root, `Io` when the kernel refuses.
pub fn journalled(device: &Path, at: &Path, kind: Journalled) -> Result<()> {
    mount(device, at, kind.name(), MountFlags::NOATIME, "")
}

/// How a tmpfs treats its pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tmpfs {
    /// Largest size.
    pub size: Bytes,
    /// Huge pages where a file is large enough (`huge=within_size`), or never (`huge=never`).
    pub huge: bool,
    /// Its pages stay out of swap (`noswap`, Linux 6.4).
    pub noswap: bool,
}

/// Mounts a tmpfs of which the treatment of pages is said, mode 0700: nosuid, nodev.
///
/// # Errors
/// As [`tmpfs`]; EINVAL on a kernel that does not know an option.
pub fn tmpfs_with(at: &Path, options: Tmpfs) -> Result<()> {
    let huge = if options.huge { "within_size" } else { "never" };
    let noswap = if options.noswap { ",noswap" } else { "" };
    ours(at, "tmpfs", &format!("size={},mode=0700,huge={huge}{noswap}", options.size.0))
}

/// Whether this kernel's tmpfs takes an option: asked of a file system context that is never mounted (fsopen, Linux 5.2).
/// False too for a user who may not mount.
#[must_use]
pub fn tmpfs_knows(option: &str, value: Option<&str>) -> bool {
    let Ok(context) = fsopen("tmpfs", FsOpenFlags::empty()) else { return false };
    match value {
        Some(value) => fsconfig_set_string(&context, option, value),
        None => fsconfig_set_flag(&context, option),
    }
    .is_ok()
}

/// Mounts a ramfs, mode 0700: nosuid, nodev. It has no size limit and its pages are never reclaimed: only who is held by a
/// memory cgroup may write to it.
///
/// # Errors
/// `Denied` when not root, `Io` when the kernel refuses.
pub fn ramfs(at: &Path) -> Result<()> {
    ours(at, "ramfs", "mode=0700")
}

/// Mounts tracefs, the files of the kernel's own tracing: nosuid, nodev.
///
/// # Errors
/// `Denied` when not root, `Io` when the kernel refuses.
pub fn tracefs(at: &Path) -> Result<()> {
    ours(at, "tracefs", "")
}

/// Mounts one of the kernel's own file systems with no flags: device nodes below /dev must open.
pub(crate) fn bare(fs_type: &str, at: &Path) -> Result<()> {
    mount_with(Path::new("none"), at, fs_type, MountFlags::empty(), "")
}

fn ours(at: &Path, fs_type: &str, data: &str) -> Result<()> {
    mount(Path::new("ramline"), at, fs_type, MountFlags::empty(), data)
}

fn mount(what: &Path, at: &Path, fs_type: &str, flags: MountFlags, data: &str) -> Result<()> {
    mount_with(what, at, fs_type, flags | MountFlags::NOSUID | MountFlags::NODEV, data)
}

fn mount_with(what: &Path, at: &Path, fs_type: &str, flags: MountFlags, data: &str) -> Result<()> {
    let data = CString::new(data).map_err(|_| Errno::INVAL);
    data.and_then(|data| rustix::mount::mount(what, at, fs_type, flags, data.as_c_str()))
        .map_err(|error| KernelError::io(format!("mount {} at", what.display()), at, error.into()))
}

/// Unmounts; waits up to 2 s while it is busy. No link is followed and nothing is detached lazily.
///
/// # Errors
/// EBUSY when it is still in use after that, EINVAL when nothing is mounted there.
pub fn unmount(at: &Path) -> Result<()> {
    retry_busy(Duration::from_secs(2), || rustix::mount::unmount(at, UnmountFlags::NOFOLLOW).tried("unmount", at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_testkit::{not_root, skip_if};

    #[test]
    fn a_mountinfo_line_with_optional_fields_is_read() {
        let line = "35 31 0:32 /docker/x /sys/fs/cgroup/memory rw,relatime shared:9 master:1 - cgroup cgroup rw,memory";
        let mounted = mounts::parse("", line).unwrap().remove(0);
        assert_eq!(mounted.root, "/docker/x");
        assert_eq!((mounted.fs.as_str(), mounted.super_options.as_str()), ("cgroup", "rw,memory"));
    }

    #[test]
    fn a_tmpfs_is_asked_for_its_options_without_mounting_one() {
        if not_root("options of tmpfs") {
            return;
        }
        assert!(tmpfs_knows("size", Some("1m")));
        assert!(!tmpfs_knows("no-such-option", None) && !tmpfs_knows("huge", Some("sometimes")));
    }

    #[test]
    fn a_file_with_another_name_or_behind_a_link_gets_no_file_system() {
        let dir = tempfile::tempdir().unwrap();
        let (image, link, name) = (dir.path().join("image"), dir.path().join("link"), dir.path().join("name"));
        std::fs::write(&image, vec![7; 1 << 20]).unwrap();
        std::os::unix::fs::symlink(&image, &link).unwrap();
        assert_eq!(mkfs_ext4(&link).unwrap_err().errno(), Some(libc::ELOOP));
        std::fs::hard_link(&image, &name).unwrap();
        assert!(mkfs_ext4(&image).unwrap_err().is_refused());
        assert_eq!(std::fs::read(&image).unwrap(), vec![7; 1 << 20]);
        std::fs::remove_file(&name).unwrap();
        let program = ["/sbin/mke2fs", "/usr/sbin/mke2fs"].iter().any(|path| Path::new(path).exists());
        if skip_if(!program, "an ext4 is made in a file", "needs mke2fs (e2fsprogs)") {
            return;
        }
        mkfs_ext4(&image).unwrap();
        // The magic number of ext4, 56 bytes into the super block.
        assert_eq!(std::fs::read(&image).unwrap()[1024 + 56..1024 + 58], [0x53, 0xef]);
    }

    #[test]
    fn the_innermost_mount_counts_and_of_several_at_one_place_the_last() {
        let remote = Remote(
            [("/", "ext4"), ("/mnt/nas", "nfs4"), ("/mnt/nas/local", "ext4"), ("/data", "autofs"), ("/data", "ext4")]
                .map(|(at, fs)| Mount { at: at.into(), fs: fs.into(), ..Mount::default() })
                .into(),
        );
        let held = ["/etc/a", "/mnt/nas/a", "/mnt/nas/local/a", "/mnt/nasty", "/data/a"]
            .map(|path| remote.holds(path.as_ref()));
        assert_eq!(held, [false, true, false, false, false], "below /data an automount has put a local file system");
    }
}
