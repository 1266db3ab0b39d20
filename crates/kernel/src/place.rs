//! Where a directory lives: file system, free space, the block device below it.
//!
//! It gives the facts and refuses what cannot work; where scratch files go is chosen above.
//!
//! ```
//! let place = ramline_kernel::place::describe("/".as_ref())?;
//! println!("{} on {:?}: {} available", place.fs_type, place.device, place.available);
//! # Ok::<(), ramline_kernel::KernelError>(())
//! ```

use crate::prelude::*;
use crate::sys::is_writable;

/// File systems that keep ordinary files on a disk of this machine. All others are in memory, behind another layer or on
/// the network, where a measurement would be of something else, or write in ways of their own (zfs: past the page cache).
const DISK: &[&str] = &["ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "bcachefs", "jfs", "reiserfs", "nilfs2"];

/// The facts about a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The directory as asked.
    pub dir: PathBuf,
    /// The mount it is on.
    pub mount_point: Option<PathBuf>,
    /// The type as /proc/self/mountinfo spells it (`ext4`, `tmpfs`, `fuse.sshfs`).
    pub fs_type: String,
    /// Free for an ordinary user.
    pub available: Bytes,
    /// `major:minor` of the device of the file system.
    pub device_number: (u32, u32),
    /// Name of the whole disk below (`vda`), where there is one.
    pub device: Option<String>,
    /// Whether that disk says it rotates.
    pub rotational: Option<bool>,
}

/// The facts about `dir` on the live machine.
///
/// # Errors
/// When the directory does not exist or cannot be looked at.
pub fn describe(dir: &Path) -> Result<Place> {
    let root = Root::live();
    let real = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
    let full = std::fs::canonicalize(real).tried("look at", dir)?;
    let number = std::fs::metadata(&full).tried("look at", dir)?.dev();
    let stat = rustix::fs::statvfs(&full).tried("look at", dir)?;
    let block = stat.f_frsize.max(1);
    let mounted = mount::containing(&root, &full);
    let device_number = (libc::major(number), libc::minor(number));
    let device = whole_disk(&root, device_number);
    let rotates = |name| read_u64(&root.path(format!("/sys/block/{name}/queue/rotational"))).ok();
    let rotational = device.as_ref().and_then(rotates).map(|value| value != 0);
    Ok(Place {
        dir: full,
        fs_type: mounted.as_ref().map_or_else(|| "unknown".to_owned(), |mount| mount.fs.clone()),
        mount_point: mounted.map(|mount| mount.at.into()),
        available: Bytes(stat.f_bavail.saturating_mul(block)),
        device_number,
        device,
        rotational,
    })
}

#[must_use]
/// The whole disk a device number belongs to: a partition's directory lies in that of its disk.
pub fn whole_disk(root: &Root, (major, minor): (u32, u32)) -> Option<String> {
    let link = std::fs::canonicalize(root.path(format!("/sys/dev/block/{major}:{minor}"))).ok()?;
    let own = if link.join("partition").exists() { link.parent()? } else { &link };
    Some(own.file_name()?.to_str()?.to_owned())
}

/// For root: refuses a directory that other users could rename or replace, so that no name in it can come to mean their file.
/// Each directory from the top must be root's, and writable by others only with the sticky bit (as /tmp). For anybody
/// else there is nothing to gain by that, and nothing is refused.
///
/// # Errors
/// `Refused` naming the directory that is not private; `Absent` when `dir` is not there.
pub fn refuse_unless_private(operation: &str, dir: &Path) -> Result<()> {
    if crate::process::uid() != 0 {
        return Ok(());
    }
    // Without links: the components are the directories that are really passed.
    let full = std::fs::canonicalize(dir).tried("look at", dir)?;
    for part in full.ancestors() {
        let meta = std::fs::symlink_metadata(part).tried("look at", dir)?;
        if let Some(why) = not_private(meta.uid(), meta.mode()) {
            return Err(KernelError::refused(operation, dir, format!("{} {why}", part.display()), "")
                .hint(format!("namei -l {}", ramline_units::quoted_path(&full))));
        }
    }
    Ok(())
}

/// Refuses a directory that is a link or none, belongs to another user, or that others may write to.
///
/// # Errors
/// As said, naming owner or mode; or it cannot be looked at.
pub fn refuse_unless_ours(operation: &str, dir: &Path) -> Result<()> {
    let meta = std::fs::symlink_metadata(dir).tried(operation, dir)?;
    let refuse = |rule: &str, numbers: String| Err(KernelError::refused(operation, dir, rule, numbers));
    if !meta.is_dir() {
        return refuse("it must be a directory and no link", String::new());
    }
    if meta.uid() != crate::process::uid() {
        return refuse("it must be ours", format!("owner {}, we are {}", meta.uid(), crate::process::uid()));
    }
    if meta.mode() & 0o022 != 0 {
        return refuse("no other user may have write access to it", format!("mode {:03o}", meta.mode() & 0o777));
    }
    Ok(())
}

fn not_private(owner: u32, mode: u32) -> Option<String> {
    const WRITABLE_BY_OTHERS: u32 = 0o022;
    const STICKY: u32 = 0o1000;
    if owner != 0 {
        return Some(format!("belongs to user {owner}, who could put another file in its place"));
    }
    let why = "is writable by others, who could put another file in its place";
    (mode & WRITABLE_BY_OTHERS != 0 && mode & STICKY == 0).then(|| why.to_owned())
}

impl Place {
    /// `major:minor` of the whole disk below, where there is one: what the block layer calls it, also for a partition.
    #[must_use]
    pub fn disk_number(&self, root: &Root) -> Option<(u32, u32)> {
        let name = self.device.as_ref()?;
        let text = read_text(&root.path(format!("/sys/block/{name}/dev"))).ok()?;
        let (major, minor) = text.trim().split_once(':')?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    }

    /// Read-ahead of that disk, which files without one of their own are read with; `None` where no disk is named (btrfs).
    #[must_use]
    pub fn read_ahead(&self, root: &Root) -> Option<Bytes> {
        let name = self.device.as_ref()?;
        read_u64(&root.path(format!("/sys/block/{name}/queue/read_ahead_kb"))).ok().map(Bytes::from_kib)
    }

    /// Refuses a directory we may not make files in.
    ///
    /// # Errors
    /// `Denied`.
    pub fn refuse_unless_writable(&self, operation: &str) -> Result<()> {
        let hint = || format!("ls -ld {}", self.dir.display());
        let denied = || KernelError::new(operation, &self.dir, crate::Cause::Denied).hint(hint());
        is_writable(&self.dir).then_some(()).ok_or_else(denied)
    }

    /// True for a file system known to be on a disk of this machine.
    #[must_use]
    pub fn is_disk(&self) -> bool {
        DISK.contains(&self.fs_type.as_str())
    }

    /// Refuses memory, overlay, network and unknown file systems.
    ///
    /// # Errors
    /// `Refused` naming the type.
    pub fn refuse_unless_disk(&self, operation: &str) -> Result<()> {
        if self.is_disk() {
            return Ok(());
        }
        let numbers = format!("{} is {}", self.dir.display(), self.fs_type);
        let rule = "scratch files need a file system on a disk of this machine";
        Err(KernelError::refused(operation, &self.dir, rule, numbers)
            .hint(format!("findmnt -T {}; name a place on a disk", ramline_units::quoted_path(&self.dir))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_file_systems_are_refused_and_say_which() {
        let shm = describe("/proc".as_ref()).unwrap();
        let error = shm.refuse_unless_disk("place scratch files in").unwrap_err();
        assert!(error.is_refused() && error.to_string().contains("/proc is proc"), "{error}");
    }

    #[test]
    fn a_directory_that_is_not_there_is_absent() {
        assert!(describe("/no/such/place".as_ref()).unwrap_err().is_absent());
    }

    #[test]
    fn only_known_disk_file_systems_are_taken_and_every_other_is_named() {
        let here = describe("/".as_ref()).unwrap();
        let on = |fs_type: &str| Place { fs_type: fs_type.to_owned(), ..here.clone() };
        for fs_type in ["ext4", "xfs", "btrfs"] {
            assert!(on(fs_type).is_disk(), "{fs_type}");
        }
        for fs_type in ["nfs4", "fuse.sshfs", "fuseblk", "ceph", "lustre", "vboxsf", "unknown", "ext4x"] {
            let error = on(fs_type).refuse_unless_disk("place scratch files in").unwrap_err().to_string();
            assert!(error.contains(&format!("is {fs_type})")), "{error}");
            assert!(error.ends_with("try: findmnt -T /; name a place on a disk"), "{error}");
        }
    }

    #[test]
    fn a_directory_others_can_change_is_not_private() {
        assert_eq!(not_private(0, 0o040_755), None);
        assert_eq!(not_private(0, 0o041_777), None, "as /tmp");
        assert!(not_private(0, 0o040_777).is_some() && not_private(0, 0o040_775).is_some());
        assert!(not_private(1000, 0o040_700).is_some_and(|why| why.contains("user 1000")));
    }

    #[test]
    fn for_root_one_open_directory_on_the_way_is_enough_to_refuse() {
        use std::os::unix::fs::PermissionsExt;
        let top = tempfile::tempdir_in("/tmp").unwrap();
        let dir = top.path().join("open/own");
        std::fs::create_dir_all(&dir).unwrap();
        let private = refuse_unless_private("place scratch files in", &dir);
        std::fs::set_permissions(top.path().join("open"), std::fs::Permissions::from_mode(0o777)).unwrap();
        let open = refuse_unless_private("place scratch files in", &dir);
        if crate::process::uid() == 0 {
            private.unwrap();
            let error = open.unwrap_err();
            assert!(error.is_refused() && error.to_string().contains("/open is writable by others"), "{error}");
        } else {
            open.unwrap();
        }
    }
}
