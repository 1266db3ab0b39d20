//! Mounting scratch file systems, and what is mounted where.
//!
//! What it is not: a general mount(8): ext4 images and tmpfs for the lab, always nosuid, nodev.
//!
//! ```no_run
//! use ramline_kernel::mount;
//! mount::mkfs_ext4("/var/tmp/ramline-1/code.img".as_ref())?;
//! mount::ext4("/dev/loop0".as_ref(), "/var/tmp/ramline-1/mnt".as_ref(), false)?;
//! mount::unmount("/var/tmp/ramline-1/mnt".as_ref())?;
//! # Ok::<(), ramline_kernel::KernelError>(())
//! ```

#![expect(unsafe_code, reason = "mount and umount2")]

use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use ramline_units::Bytes;

use crate::Root;
use crate::error::{KernelError, Result};
use crate::sys::{c_path, check, read_text, retry_busy};

/// One line of /proc/self/mountinfo, as far as we need it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mounted {
    /// Where.
    pub at: PathBuf,
    /// Which part of the file system (`/` unless a bind mount or a cgroup namespace).
    pub subtree: String,
    /// Type of the file system.
    pub fs_type: String,
    /// The device or whatever the file system calls its source.
    pub source: String,
    /// Options of the file system (not of the mount), comma separated.
    pub super_options: String,
}

/// Everything mounted in our namespace, in the order of mounting.
///
/// # Errors
/// When /proc/self/mountinfo cannot be read.
pub fn list(root: &Root) -> Result<Vec<Mounted>> {
    let text = match read_text(&root.path("/proc/self/mountinfo")) {
        // A captured tree has no `self`; its capture keeps the same text under pid 1.
        Err(error) if error.is_absent() && !root.is_live() => read_text(&root.path("/proc/1/mountinfo"))?,
        other => other?,
    };
    Ok(text.lines().filter_map(parse).collect())
}

fn parse(line: &str) -> Option<Mounted> {
    let mount = ramline_snapshot::mounts::parse("", line).ok()?.pop()?;
    Some(Mounted {
        at: PathBuf::from(mount.at),
        subtree: mount.root,
        fs_type: mount.fs,
        source: mount.source,
        super_options: mount.super_options,
    })
}

/// What is mounted exactly at `at` (the topmost), if anything.
#[must_use]
pub fn at(root: &Root, at: &Path) -> Option<Mounted> {
    list(root).ok()?.into_iter().rev().find(|mounted| mounted.at == at)
}

/// The mount a path is on: the last one whose mount point is the longest prefix.
#[must_use]
pub fn containing(root: &Root, path: &Path) -> Option<Mounted> {
    let mounts = list(root).ok()?;
    mounts
        .into_iter()
        .filter(|mounted| path.starts_with(&mounted.at))
        .max_by_key(|mounted| mounted.at.components().count())
}

/// Makes an ext4 file system in an image or on a device with `mke2fs`, without lazy initialisation (which would write
/// later, into a measurement) and without a journal. The target is opened here, no link followed, and mke2fs is given the
/// open file: nobody can put another one under the name in between.
///
/// # Errors
/// `Refused` for a file that is not ours alone; `Unsupported` when mke2fs is not installed; `Io` with its message when it
/// fails.
pub fn mkfs_ext4(target: &Path) -> Result<()> {
    let tried = "make an ext4 file system in";
    let failed = |error| KernelError::io(tried, target, error);
    let file = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NOFOLLOW).open(target).map_err(failed)?;
    mkfs_ext4_on(&file, target)
}

/// The same in an open file; `target` only names it in messages.
///
/// # Errors
/// As [`mkfs_ext4`].
pub fn mkfs_ext4_on(file: &File, target: &Path) -> Result<()> {
    mkfs_ext4_holding(file, target, None)
}

/// The same, and what is in the folder `content` is copied into it, without mounting anything (`mke2fs -d`).
///
/// # Errors
/// As [`mkfs_ext4`].
pub fn mkfs_ext4_holding(file: &File, target: &Path, content: Option<&Path>) -> Result<()> {
    let tried = "make an ext4 file system in";
    let meta = file.metadata().map_err(|error| KernelError::io(tried, target, error))?;
    if !meta.file_type().is_block_device()
        && (!meta.is_file() || meta.uid() != crate::process::uid() || meta.nlink() != 1)
    {
        let rule = "it must be a file of ours with no other name, or a block device";
        let numbers = format!("user {}, {} names", meta.uid(), meta.nlink());
        return Err(KernelError::refused(tried, target, rule, numbers));
    }
    let options =
        ["-q", "-F", "-t", "ext4", "-O", "^has_journal", "-m", "0", "-b", "4096", "-E", "lazy_itable_init=0,nodiscard"];
    let output = ["mke2fs", "/sbin/mke2fs", "/usr/sbin/mke2fs"].iter().find_map(|program| {
        // It asks nothing with -F, so its standard input can carry the file.
        let run = file.try_clone().and_then(|input| {
            let mut command = Command::new(program);
            if let Some(folder) = content {
                command.arg("-d").arg(folder);
            }
            command.args(options).arg("/proc/self/fd/0").stdin(input).output()
        });
        match run {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            other => Some(other),
        }
    });
    match output {
        None => Err(KernelError::unsupported(tried, target, "the program mke2fs is not installed")
            .hint("apt install e2fsprogs")),
        Some(Err(error)) => Err(KernelError::io(tried, target, error)),
        Some(Ok(output)) if output.status.success() => Ok(()),
        Some(Ok(output)) => {
            let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            Err(KernelError::io(tried, target, std::io::Error::other(format!("mke2fs: {message}"))))
        }
    }
}

/// Mounts an ext4 device: nosuid, nodev, noatime.
///
/// # Errors
/// `Denied` when not root, `Io` when the kernel refuses.
pub fn ext4(device: &Path, at: &Path, read_only: bool) -> Result<()> {
    let read_only = if read_only { libc::MS_RDONLY } else { 0 };
    mount(device, at, "ext4", libc::MS_NOATIME | read_only, "")
}

/// Mounts a tmpfs of at most `size` bytes, mode 0700: nosuid, nodev.
///
/// # Errors
/// `Denied` when not root, `Io` when the kernel refuses.
pub fn tmpfs(at: &Path, size: Bytes) -> Result<()> {
    mount(Path::new("ramline"), at, "tmpfs", 0, &format!("size={},mode=0700", size.0))
}

/// Mounts one of the kernel's own file systems with no flags: device nodes below /dev must open.
pub(crate) fn bare(fs_type: &str, at: &Path) -> Result<()> {
    mount_with(Path::new("none"), at, fs_type, 0, "")
}

fn mount(what: &Path, at: &Path, fs_type: &str, flags: libc::c_ulong, data: &str) -> Result<()> {
    mount_with(what, at, fs_type, flags | libc::MS_NOSUID | libc::MS_NODEV, data)
}

fn mount_with(what: &Path, at: &Path, fs_type: &str, flags: libc::c_ulong, data: &str) -> Result<()> {
    let tried = format!("mount {} at", what.display());
    let source = c_path(&tried, what)?;
    let target = c_path(&tried, at)?;
    let text = |text: &str| CString::new(text).map_err(|_| KernelError::malformed(tried.clone(), at, text));
    let (fs_type, data) = (text(fs_type)?, text(data)?);
    // SAFETY: all strings are NUL-terminated and live through the call.
    check(unsafe { libc::mount(source.as_ptr(), target.as_ptr(), fs_type.as_ptr(), flags, data.as_ptr().cast()) })
        .map(drop)
        .map_err(|error| KernelError::io(tried.clone(), at, error))
}

/// Unmounts; waits up to 2 s while it is busy. No link is followed and nothing is detached lazily.
///
/// # Errors
/// EBUSY when somebody still uses it after that, EINVAL when nothing is mounted there.
pub fn unmount(at: &Path) -> Result<()> {
    let target = c_path("unmount", at)?;
    retry_busy(Duration::from_secs(2), || {
        // SAFETY: the string is NUL-terminated and lives through the call.
        check(unsafe { libc::umount2(target.as_ptr(), libc::UMOUNT_NOFOLLOW) })
            .map(drop)
            .map_err(|error| KernelError::io("unmount", at, error))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mountinfo_line_with_optional_fields_is_read() {
        let line = "35 31 0:32 /docker/x /sys/fs/cgroup/memory rw,relatime shared:9 master:1 - cgroup cgroup rw,memory";
        let mounted = parse(line).unwrap();
        assert_eq!(mounted.subtree, "/docker/x");
        assert_eq!((mounted.fs_type.as_str(), mounted.super_options.as_str()), ("cgroup", "rw,memory"));
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
        match mkfs_ext4(&image) {
            Err(error) if error.is_unsupported() => eprintln!("skipped: {error}"),
            other => {
                other.unwrap();
                // The magic number of ext4, 56 bytes into the super block.
                assert_eq!(std::fs::read(&image).unwrap()[1024 + 56..1024 + 58], [0x53, 0xef]);
            }
        }
    }
}
