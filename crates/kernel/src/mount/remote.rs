//! Which paths a server or a program answers for.

use std::path::{Path, PathBuf};

use crate::{Root, fs};

/// Where a server or a program answers for files: if it is gone, asking about one of them waits for ever.
#[derive(Debug, Clone, Default)]
pub struct Remote(Vec<(PathBuf, bool)>);

impl Remote {
    /// What is mounted now.
    #[must_use]
    pub fn of(root: &Root) -> Remote {
        let mounts = super::list(root).unwrap_or_default().into_iter();
        Remote(mounts.map(|mounted| (mounted.at, fs::may_hang(&mounted.fs_type))).collect())
    }

    /// The path is on one of them.
    #[must_use]
    pub fn holds(&self, path: &Path) -> bool {
        // The innermost counts, and of several at one place the last: automount leaves an autofs below what it has mounted.
        let on = self.0.iter().filter(|(at, _)| path.starts_with(at));
        on.max_by_key(|(at, _)| at.components().count()).is_some_and(|(_, hangs)| *hangs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_mount_counts_and_of_several_at_one_place_the_last() {
        let remote = Remote(
            [("/", false), ("/mnt/nas", true), ("/mnt/nas/local", false), ("/data", true), ("/data", false)]
                .map(|(at, hangs)| (PathBuf::from(at), hangs))
                .into(),
        );
        let held = ["/etc/a", "/mnt/nas/a", "/mnt/nas/local/a", "/mnt/nasty", "/data/a"]
            .map(|path| remote.holds(path.as_ref()));
        assert_eq!(held, [false, true, false, false, false], "below /data an automount has put a local file system");
    }
}
