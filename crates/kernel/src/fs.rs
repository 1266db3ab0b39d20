//! Kinds of file systems, by the name the mount table gives them: which keep files, which may not answer, which have a page
//! cache of their own ways.
//!
//! A file system that is not named here is taken for an ordinary one.
//!
//! ```
//! use ramline_kernel::fs;
//! assert!(fs::may_hang("fuse.sshfs") && !fs::may_hang("ext4"));
//! assert!(fs::has_no_files("proc"));
//! ```

/// File systems whose files are no files of a disk: nothing of them is read from one, and some are read by watching them.
const NOT_FILES: &[&str] = &[
    "proc",
    "sysfs",
    "cgroup",
    "cgroup2",
    "devpts",
    "devtmpfs",
    "debugfs",
    "tracefs",
    "securityfs",
    "bpf",
    "pstore",
    "mqueue",
    "configfs",
    "fusectl",
    "binfmt_misc",
    "autofs",
    "efivarfs",
    "rpc_pipefs",
    "nsfs",
    "hugetlbfs",
];

/// File systems that a server or a program answers for: it may be dead, and opening would wait for it for ever.
const MAY_HANG: &[&str] =
    &["nfs", "nfs4", "cifs", "smb3", "9p", "ceph", "afs", "lustre", "glusterfs", "virtiofs", "autofs"];

/// True where what looks like files is something else.
#[must_use]
pub fn has_no_files(fs_type: &str) -> bool {
    NOT_FILES.contains(&fs_type)
}

/// True where merely opening may wait for ever.
#[must_use]
pub fn may_hang(fs_type: &str) -> bool {
    MAY_HANG.contains(&fs_type) || is_fuse(fs_type)
}

/// True where merely opening a file may empty what is cached of it: a FUSE program that does not say otherwise (FOPEN_KEEP_CACHE) has the
/// kernel forget it at every open.
#[must_use]
pub fn forgets_when_opened(fs_type: &str) -> bool {
    is_fuse(fs_type) || fs_type == "virtiofs"
}

fn is_fuse(fs_type: &str) -> bool {
    fs_type == "fuse" || fs_type == "fuseblk" || fs_type.starts_with("fuse.")
}

/// What a reader should know of the page cache on such a file system; `None` where it is as everywhere.
#[must_use]
pub fn peculiarity(fs_type: &str) -> Option<&'static str> {
    Some(match fs_type {
        "zfs" => {
            "zfs keeps what it reads in a cache of its own (ARC); only mapped parts are in the page cache counted here"
        }
        "nfs" | "nfs4" => {
            "nfs drops what it cached when a file changed on the server; the server's own cache is not seen"
        }
        "9p" | "virtiofs" | "cifs" | "smb3" | "ceph" | "lustre" | "glusterfs" | "afs" => {
            "the server's own cache is not seen; whether this side caches depends on how it was mounted"
        }
        "tmpfs" | "ramfs" => "the file system is in memory: its page cache is the files; evicted means swapped out",
        "hugetlbfs" => {
            "hugetlbfs holds huge pages, which are never evicted and which the kernel does not count by file"
        }
        "overlay" => {
            "on overlayfs the kernel tells only what is resident, not what is dirty or evicted (cachestat says 0 there, mincore is asked)"
        }
        fuse if is_fuse(fuse) => {
            "a FUSE file system decides by itself what is cached here; what its program caches is not seen"
        }
        _ => return None,
    })
}

/// True when the options of a mount say that files bypass the page cache (DAX).
#[must_use]
pub fn is_dax(super_options: &str) -> bool {
    super_options.split(',').any(|option| matches!(option, "dax" | "dax=always"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_file_systems_that_answer_for_themselves_are_entered_unasked() {
        for hangs in ["nfs4", "fuse", "fuse.sshfs", "fuseblk", "autofs"] {
            assert!(may_hang(hangs), "{hangs}");
        }
        for local in ["ext4", "xfs", "btrfs", "tmpfs", "overlay", "zfs", "fusion"] {
            assert!(!may_hang(local) && !has_no_files(local), "{local}");
        }
    }

    #[test]
    fn dax_is_an_option_of_the_file_system() {
        assert!(is_dax("rw,dax=always,seclabel") && is_dax("dax"));
        assert!(!is_dax("rw,dax=never") && !is_dax("rw,dax=inode") && !is_dax(""));
    }
}
