//! Where a directory lives: file system, free space, the block device below it.
//!
//! What it is not: a choice of the scratch place; it gives the facts and refuses what cannot work.
//!
//! ```
//! let place = ramline_kernel::place::describe("/".as_ref())?;
//! println!("{} on {:?}: {} available", place.fs_type, place.device, place.available);
//! # Ok::<(), ramline_kernel::KernelError>(())
//! ```

#![expect(unsafe_code, reason = "statfs")]

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use ramline_units::Bytes;

use crate::Root;
use crate::error::{KernelError, Result};
use crate::mount;
use crate::sys::{c_path, check, read_u64};

/// File systems in memory or behind other layers, where a measurement of a disk would be something else.
const NOT_A_DISK: &[&str] = &[
    "tmpfs",
    "ramfs",
    "devtmpfs",
    "hugetlbfs",
    "overlay",
    "aufs",
    "fuse",
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "9p",
    "virtiofs",
    "ceph",
    "afs",
    "proc",
    "sysfs",
    "squashfs",
    "zfs",
];

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
    /// Size of the file system.
    pub total: Bytes,
    /// Block size of the file system in bytes.
    pub block_size: u64,
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
    let failed = |error| KernelError::io("look at", dir, error);
    let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
    let full = std::fs::canonicalize(dir).map_err(failed)?;
    let number = std::fs::metadata(&full).map_err(failed)?.dev();
    let name = c_path("look at", &full)?;
    // SAFETY: a zeroed statvfs is valid and is filled by the call.
    let stat = unsafe {
        let mut stat: libc::statvfs = std::mem::zeroed();
        check(libc::statvfs(name.as_ptr(), &raw mut stat)).map_err(failed)?;
        stat
    };
    let block = stat.f_frsize.max(1);
    let mounted = mount::containing(&root, &full);
    let device_number = (libc::major(number), libc::minor(number));
    let device = whole_disk(&root, device_number);
    let rotational = device
        .as_ref()
        .and_then(|name| read_u64(&root.path(format!("/sys/block/{name}/queue/rotational"))).ok())
        .map(|value| value != 0);
    Ok(Place {
        dir: full,
        fs_type: mounted.as_ref().map_or_else(|| "unknown".to_owned(), |mount| mount.fs_type.clone()),
        mount_point: mounted.map(|mount| mount.at),
        available: Bytes(stat.f_bavail.saturating_mul(block)),
        total: Bytes(stat.f_blocks.saturating_mul(block)),
        block_size: stat.f_bsize,
        device_number,
        device,
        rotational,
    })
}

/// The whole disk a device number belongs to: a partition's directory lies in that of its disk.
fn whole_disk(root: &Root, (major, minor): (u32, u32)) -> Option<String> {
    let link = std::fs::canonicalize(root.path(format!("/sys/dev/block/{major}:{minor}"))).ok()?;
    let own = if link.join("partition").exists() { link.parent()? } else { &link };
    Some(own.file_name()?.to_str()?.to_owned())
}

impl Place {
    /// True for a file system on a disk of this machine.
    #[must_use]
    pub fn is_disk(&self) -> bool {
        let base = self.fs_type.split('.').next().unwrap_or_default();
        !NOT_A_DISK.contains(&base)
    }

    /// Refuses memory, overlay and network file systems.
    ///
    /// # Errors
    /// `Refused` naming the type.
    pub fn refuse_unless_disk(&self, operation: &str) -> Result<()> {
        if self.is_disk() {
            return Ok(());
        }
        let numbers = format!("{} is {}", self.dir.display(), self.fs_type);
        Err(KernelError::refused(
            operation,
            &self.dir,
            "scratch files need a file system on a disk of this machine",
            numbers,
        )
        .hint("ramline lab run --dir /var/tmp"))
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
}
