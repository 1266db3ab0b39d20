//! Did a request reach the device? Counters of a disk before and after distinguish reads of the medium from reads of nothing:
//! blocks that were never written are answered by the file system, and fast.
//!
//! Others may use the disk meanwhile, so the difference is an upper bound of what we did;
//! too small a difference is proof.
//!
//! ```no_run
//! use ramline_gather::requests;
//! use ramline_kernel::Root;
//! let root = Root::live();
//! if let Some(disk) = requests::disk_of(&root, "/var/tmp".as_ref()) {
//!     println!("{disk}: {:?} reads so far", requests::reads_completed(&root, &disk));
//! }
//! ```

use std::os::unix::fs::FileTypeExt;

use ramline_kernel::place;
use ramline_snapshot::blocks::Reads;

use crate::prelude::*;

/// Name of the whole disk a block device is part of, or a file or directory is on.
#[must_use]
pub fn disk_of(root: &Root, path: &Path) -> Option<String> {
    let meta = std::fs::metadata(path).ok()?;
    let number = if meta.file_type().is_block_device() { meta.rdev() } else { meta.dev() };
    place::whole_disk(root, (rustix::fs::major(number), rustix::fs::minor(number)))
}

/// Reads completed by a disk since boot: the first field of its `stat`. `None` where it is not counted: switched off in
/// `queue/iostats`, or never moved (the heads of NVMe multipath on older kernels).
#[must_use]
pub fn reads_completed(root: &Root, disk: &str) -> Option<u64> {
    let text = read_text(&root.path(format!("/sys/block/{disk}/stat"))).ok()?;
    let off = read_text(&root.path(format!("/sys/block/{disk}/queue/iostats"))).is_ok_and(|text| text.trim() == "0");
    text.split_whitespace().next()?.parse().ok().filter(|count| *count > 0 && !off)
}

/// The reads of a disk since boot and what they took. `None` where it is not counted, as for [`reads_completed`]; a zram device counts whatever its
/// queue/iostats says (bio_start_io_acct in its driver).
#[must_use]
pub fn reads(root: &Root, disk: &str) -> Option<Reads> {
    if !disk.starts_with("zram") {
        reads_completed(root, disk)?;
    }
    Reads::parse(&read_text(&root.path(format!("/sys/block/{disk}/stat"))).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_the_first_field_and_a_disk_without_the_file_has_none() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("sys/block/vda")).unwrap();
        std::fs::write(dir.path().join("sys/block/vda/stat"), "   1207   12   98304    500 3 4 5 6\n").unwrap();
        let root = Root::new(dir.path());
        assert_eq!(reads_completed(&root, "vda"), Some(1207));
        assert_eq!(reads_completed(&root, "vdb"), None);
    }

    #[test]
    fn a_disk_that_does_not_count_has_no_count() {
        let dir = tempfile::tempdir().unwrap();
        let (root, block) = (Root::new(dir.path()), dir.path().join("sys/block/vda"));
        std::fs::create_dir_all(block.join("queue")).unwrap();
        std::fs::write(block.join("stat"), "0 0 0 0\n").unwrap();
        assert_eq!(reads_completed(&root, "vda"), None);
        std::fs::write(block.join("stat"), "9 0 0 0\n").unwrap();
        std::fs::write(block.join("queue/iostats"), "0\n").unwrap();
        assert_eq!(reads_completed(&root, "vda"), None);
    }

    #[test]
    fn a_file_in_memory_is_on_no_disk() {
        assert_eq!(disk_of(&Root::live(), "/proc/self".as_ref()), None);
    }
}
