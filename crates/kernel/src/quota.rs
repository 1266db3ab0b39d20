//! What users and groups have used of a file system, and what they may use: quotactl_fd(2).
//!
//! Every user for root (Q_GETNEXTQUOTA), otherwise one's own numbers (Q_GETQUOTA). A tmpfs has no device, so the file
//! system is named by a descriptor (Linux 5.14). No answer is no error: most file systems keep none.
//!
//! ```
//! use ramline_kernel::quota;
//! assert!(quota::read("/proc".as_ref(), false).is_empty());
//! ```

#![expect(unsafe_code, reason = "quotactl_fd")]

use std::io;

use ramline_snapshot::mounts::Quota;
use rustix::fs::Mode;

use crate::prelude::*;

/// `struct if_nextdqblk` of linux/quota.h; its first part is `struct if_dqblk`. Limits are in blocks of 1 KiB, use in bytes.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Block {
    hard_blocks: u64,
    soft_blocks: u64,
    used_bytes: u64,
    hard_inodes: u64,
    soft_inodes: u64,
    used_inodes: u64,
    block_time: u64,
    inode_time: u64,
    valid: u32,
    id: u32,
}

// linux/quota.h: the command stands above the kind (USRQUOTA 0, GRPQUOTA 1).
const Q_GETQUOTA: u32 = 0x80_0007;
const Q_GETNEXTQUOTA: u32 = 0x80_0009;

/// More are not listed: the fullest matter, and a machine with so many users has tools for it.
const MOST: usize = 4096;

/// Quotas of users, or of groups, on the file system at `at`; empty where it keeps none or does not say.
#[must_use]
pub fn read(at: &Path, group: bool) -> Vec<Quota> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(file) = rustix::fs::open(at, flags, Mode::empty()) else { return Vec::new() };
    let mut out = Vec::new();
    let mut from = 0;
    while out.len() < MOST {
        match ask(&file, Q_GETNEXTQUOTA, group, from) {
            Ok(block) if block.id >= from => {
                out.push(quota(block, group));
                let Some(next) = block.id.checked_add(1) else { break };
                from = next;
            }
            Err(error) if out.is_empty() && error.raw_os_error() == Some(libc::EPERM) => {
                let own = if group { rustix::process::getegid().as_raw() } else { rustix::process::geteuid().as_raw() };
                out.extend(ask(&file, Q_GETQUOTA, group, own).ok().map(|b| quota(Block { id: own, ..b }, group)));
                break;
            }
            _ => break,
        }
    }
    out
}

fn quota(block: Block, group: bool) -> Quota {
    // The hard limit refuses at once, the soft one after its time of grace. 0 is no limit.
    let limit = |hard: u64, soft: u64| [hard, soft].into_iter().find(|n| *n > 0);
    Quota {
        group,
        id: block.id,
        used: Bytes(block.used_bytes),
        limit: limit(block.hard_blocks, block.soft_blocks).map(|kib| Bytes(kib.saturating_mul(1024))),
        inodes_used: block.used_inodes,
        inode_limit: limit(block.hard_inodes, block.soft_inodes),
    }
}

fn ask(file: &OwnedFd, command: u32, group: bool, id: u32) -> io::Result<Block> {
    let mut block = Block::default();
    let command = (command << 8) | u32::from(group);
    let (fd, id) = (file.as_fd().as_raw_fd(), libc::c_ulong::from(id));
    // SAFETY: both commands write at most one `if_nextdqblk`, which is what `block` is; it lives for the whole call.
    let result = unsafe { libc::syscall(libc::SYS_quotactl_fd, fd, command, id, std::ptr::from_mut(&mut block)) };
    check(libc::c_int::try_from(result).unwrap_or(-1)).map(|_| block)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_in_kib_the_hard_one_first_and_0_is_none() {
        let block =
            Block { hard_blocks: 0, soft_blocks: 8, used_bytes: 4096, used_inodes: 2, id: 7, ..Block::default() };
        let seen = quota(block, false);
        assert_eq!((seen.limit, seen.inode_limit, seen.used, seen.id), (Some(Bytes(8192)), None, Bytes(4096), 7));
        let hard = quota(Block { hard_blocks: 16, hard_inodes: 3, ..block }, true);
        assert_eq!((hard.limit, hard.inode_limit, hard.group), (Some(Bytes(16384)), Some(3), true));
        assert_eq!(size_of::<Block>(), 72);
    }

    /// RAMLINE_QUOTA_AT names a file system with quotas on which user 1000 has 1 MiB in one file and a limit of 2 MiB and 50 inodes
    /// (vm/quota makes one on ext4 in a guest, for Debian's kernels have none on tmpfs). Run as root it lists all, as user 1000 its own.
    #[test]
    #[ignore = "needs a file system with quotas in RAMLINE_QUOTA_AT; try: vm/quota"]
    fn what_was_set_is_read_by_root_for_all_and_by_a_user_for_itself() {
        let at = std::env::var("RAMLINE_QUOTA_AT").unwrap();
        let at = Path::new(&at);
        let root = rustix::process::geteuid().is_root();
        if root && std::env::var_os("RAMLINE_QUOTA_SET").is_some() {
            let flags = OFlags::PATH | OFlags::DIRECTORY;
            let file = rustix::fs::open(at, flags, Mode::empty()).unwrap();
            // QIF_LIMITS: both limits are meant. Q_SETQUOTA reads an if_dqblk, the first part of ours.
            let mut block = Block { hard_blocks: 2048, hard_inodes: 50, valid: 5, ..Block::default() };
            let (fd, command) = (file.as_fd().as_raw_fd(), 0x80_0008_u32 << 8);
            // SAFETY: it reads what `block` holds and writes nothing.
            let set =
                unsafe { libc::syscall(libc::SYS_quotactl_fd, fd, command, 1000, std::ptr::from_mut(&mut block)) };
            assert_eq!(set, 0, "{}", io::Error::last_os_error());
        }
        let seen = read(at, false);
        let own = seen.iter().find(|q| q.id == 1000).unwrap();
        assert_eq!((own.used, own.limit), (Bytes::from_mib(1), Some(Bytes::from_mib(2))));
        assert_eq!((own.inodes_used, own.inode_limit, own.group), (1, Some(50), false));
        let ids: Vec<u32> = seen.iter().map(|q| q.id).collect();
        assert_eq!(ids, if root { vec![0, 1000] } else { vec![1000] });
    }

    #[test]
    fn a_file_system_without_quotas_and_a_path_that_is_none_say_nothing() {
        assert_eq!(read("/proc".as_ref(), true), []);
        assert_eq!(read("/no/such/place".as_ref(), false), []);
    }
}
