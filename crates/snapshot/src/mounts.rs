//! `/proc/self/mountinfo` with the `statfs` results that belong to it.

use std::path::Path;

use crate::prelude::*;
use crate::swaps::unescape_octal;

/// What `statfs` said of a mounted file system.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Capacity {
    /// Size; 0 on file systems without one.
    pub size: Bytes,
    /// Unused, also by root.
    pub free: Bytes,
    /// Unused and open to ordinary users.
    pub available: Bytes,
    /// Inodes there can be; 0 where unlimited.
    pub inodes: u64,
    /// Inodes unused.
    pub inodes_free: u64,
}

impl Capacity {
    /// In use; `None` where the file system says that more is free than there is.
    #[must_use]
    pub fn used(&self) -> Option<Bytes> {
        self.size.checked_sub(self.free)
    }

    /// Inodes in use.
    #[must_use]
    pub const fn inodes_used(&self) -> Option<u64> {
        self.inodes.checked_sub(self.inodes_free)
    }
}

/// What one user or group has used of a file system, and what it may use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Quota {
    /// A group's; otherwise a user's.
    pub group: bool,
    /// The user's or group's number.
    pub id: u32,
    /// Bytes used. Gauge.
    pub used: Bytes,
    /// Bytes allowed; `None` without limit.
    pub limit: Option<Bytes>,
    /// Inodes used. Gauge.
    pub inodes_used: u64,
    /// Inodes allowed; `None` without limit.
    pub inode_limit: Option<u64>,
}

/// One mount.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Mount {
    /// `major:minor` of the file system.
    pub dev: String,
    /// The part of the file system that is mounted.
    pub root: String,
    /// Where.
    pub at: String,
    /// Options of this mount.
    pub options: String,
    /// File-system type.
    pub fs: String,
    /// Device or source.
    pub source: String,
    /// Options of the file system.
    pub super_options: String,
    /// What `statfs` said; `None` where it was not asked (network, FUSE) or refused.
    pub capacity: Option<Capacity>,
    /// Another mount lies over it: no path leads to it.
    #[serde(default)]
    pub hidden: bool,
    /// What users and groups have used, where the file system counts that; only one's own without root.
    #[serde(default)]
    pub quotas: Vec<Quota>,
}

impl Mount {
    /// An option of the file system, with or without a value: `usrquota` in `rw,usrquota`.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.super_options.split(',').any(|o| o.split('=').next() == Some(key))
    }

    /// An option's value: `size` in `rw,size=4k`.
    #[must_use]
    pub fn option(&self, key: &str) -> Option<&str> {
        self.super_options.split(',').find_map(|o| o.strip_prefix(key)?.strip_prefix('='))
    }
}

/// Parses `/proc/self/mountinfo`; capacities are filled in by the reader.
///
/// # Errors
/// No line is of this form.
pub fn parse(from: &(impl Origin + ?Sized), text: &str) -> Result<Vec<Mount>, Malformed> {
    parse_lines(
        from,
        text,
        |_| true,
        |line| {
            let (left, right) = line.split_once(" - ")?;
            let left: Vec<&str> = left.split(' ').collect();
            let [_id, _parent, dev, root, at, options, ..] = left.as_slice() else { return None };
            let mut right = right.splitn(3, ' ');
            Some(Mount {
                dev: (*dev).to_owned(),
                root: unescape_octal(root),
                at: unescape_octal(at),
                options: (*options).to_owned(),
                fs: right.next().filter(|f| !f.is_empty())?.to_owned(),
                source: unescape_octal(right.next().unwrap_or_default()),
                super_options: right.next().unwrap_or_default().to_owned(),
                capacity: None,
                hidden: false,
                quotas: Vec::new(),
            })
        },
    )
}

/// Mounts of `/proc/mounts`, which kernels and captures without mountinfo have: device, place, type and options. Lines of another form are
/// passed over; what part of a file system is mounted is not in it, and taken to be all.
#[must_use]
pub fn parse_short(text: &str) -> Vec<Mount> {
    let mount = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let [source, at, fs, options, _, _] = words.as_slice() else { return None };
        Some(Mount {
            root: "/".to_owned(),
            at: unescape_octal(at),
            options: (*options).to_owned(),
            fs: (*fs).to_owned(),
            source: unescape_octal(source),
            super_options: (*options).to_owned(),
            ..Mount::default()
        })
    };
    text.lines().filter_map(mount).collect()
}

/// The mount that holds `path`: the last one mounted at the longest matching prefix.
#[must_use]
pub fn holding(mounts: &[Mount], path: impl AsRef<Path>) -> Option<&Mount> {
    mounts.iter().filter(|m| path.as_ref().starts_with(&m.at)).max_by_key(|m| m.at.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "1 0 254:0 / / rw - ext4 /dev/vda rw,discard\n25 24 0:23 / /dev/shm rw,nosuid shared:2 - tmpfs tmpfs rw,size=24682416k\n26 1 0:30 / /a\\040b rw - tmpfs none rw\n27 1 0:31 / /tmp rw - tmpfs x rw,nr_inodes=9\n28 1 0:32 / /tmp rw - ext4 y rw\n";

    #[test]
    fn mounts_are_found_by_the_longest_prefix_and_the_top_of_a_stack_wins() {
        let mounts = parse("m", TEXT).unwrap();
        assert_eq!(holding(&mounts, "/dev/shm/x").map(|m| m.dev.as_str()), Some("0:23"));
        assert_eq!(holding(&mounts, "/dev/shmem").map(|m| m.dev.as_str()), Some("254:0"));
        assert_eq!(holding(&mounts, "/tmp").map(|m| m.dev.as_str()), Some("0:32"));
        assert_eq!(mounts[2].at, "/a b");
        assert_eq!((mounts[1].option("size"), mounts[1].option("rw")), (Some("24682416k"), None));
        assert_eq!((mounts[1].has("size"), mounts[1].has("rw"), mounts[1].has("siz")), (true, true, false));
    }

    #[test]
    fn the_short_table_has_place_type_and_options() {
        let mounts = parse_short("rootfs / rootfs rw 0 0\nnone /c\\040g cgroup rw,memory 0 0\nhalf a line\n");
        let found: Vec<_> = mounts.iter().map(|m| (m.at.as_str(), m.fs.as_str(), m.has("memory"))).collect();
        assert_eq!(found, [("/", "rootfs", false), ("/c g", "cgroup", true)]);
    }

    #[test]
    fn a_line_without_the_separator_is_malformed() {
        assert_eq!(parse("m", "1 0 254:0 / / rw ext4\n").unwrap_err().line, 1);
    }
}
