//! A file by device and inode: a name can come to mean another file.

use std::io;

use serde::{Deserialize, Serialize};

use crate::prelude::*;

/// Which file it is, whatever its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FileKey {
    /// Number of the device, as stat(2) gives it; may differ after a reboot.
    pub device: u64,
    /// Number of the inode.
    pub inode: u64,
}

impl FileKey {
    /// The key of an open file.
    ///
    /// # Errors
    /// When it cannot be looked at.
    pub fn from_file(file: &impl AsFd) -> io::Result<FileKey> {
        Ok(FileKey::from(&rustix::fs::fstat(file)?))
    }

    /// Of the file at `path` itself, a link not followed.
    ///
    /// # Errors
    /// When it cannot be looked at.
    pub fn at(path: &Path) -> io::Result<FileKey> {
        Ok(FileKey::from(&rustix::fs::lstat(path)?))
    }
}

impl From<&Stat> for FileKey {
    fn from(stat: &Stat) -> FileKey {
        FileKey { device: stat.st_dev, inode: stat.st_ino }
    }
}

impl From<&std::fs::Metadata> for FileKey {
    fn from(meta: &std::fs::Metadata) -> FileKey {
        use std::os::unix::fs::MetadataExt;
        FileKey { device: meta.dev(), inode: meta.ino() }
    }
}
