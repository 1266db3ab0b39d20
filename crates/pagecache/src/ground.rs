//! What files stand on: the file systems a walk meets, which of them it enters, and how files on them are asked.
//!
//! A file system is looked at once, by its device number; a file whose device is not its
//! directory's (bind-mounted alone, or on an overlay) is looked at by itself.

use std::os::fd::BorrowedFd;

use ramline_kernel::residency::Method;
use ramline_kernel::{fs, mount};
use ramline_snapshot::mounts::{Mount, holding};

use crate::prelude::*;

/// A file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSystem {
    /// Its type, as the mount table names it; `unknown` without one.
    pub name: String,
    /// Who tells the truth about its files.
    pub method: Method,
    /// Files bypass the page cache.
    pub dax: bool,
    /// The page cache is the files.
    pub in_memory: bool,
}

impl FileSystem {
    /// What is peculiar about it.
    pub fn peculiarity(&self) -> Option<&'static str> {
        if self.dax {
            return Some(
                "the file system is mounted with dax: its files are mapped directly and are never in the page cache",
            );
        }
        fs::peculiarity(&self.name)
    }
}

/// Why a mount below is not entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closed {
    MayHang,
    NoFiles,
}

#[derive(Debug)]
pub struct Ground {
    mounts: Vec<Mount>,
    // The topmost mount at each place.
    at: HashMap<PathBuf, usize>,
    known: Mutex<HashMap<u64, Arc<FileSystem>>>,
}

impl Ground {
    /// Without a mount table nothing is known to be dangerous; then only what is on the same device is entered unasked.
    pub fn new(root: &Root) -> Ground {
        let mounts = mount::list(root).unwrap_or_default();
        let at = mounts.iter().enumerate().map(|(index, mounted)| (mounted.at.clone().into(), index)).collect();
        Ground { mounts, at, known: Mutex::default() }
    }

    /// What is mounted exactly here and should not be entered unasked. Never touches the place itself.
    pub fn closed(&self, real: &Path) -> Option<(Closed, &str)> {
        let mounted = self.mounts.get(*self.at.get(real)?)?;
        closed(&mounted.fs).map(|why| (why, mounted.fs.as_str()))
    }

    /// Something is mounted exactly here.
    pub fn is_mount(&self, real: &Path) -> bool {
        self.at.contains_key(real)
    }

    /// The type of what a path is on, by the mount table alone.
    pub fn name_at(&self, real: &Path) -> Option<&str> {
        holding(&self.mounts, real).map(|mounted| mounted.fs.as_str())
    }

    /// The file system of an open file or directory on this device.
    pub fn file_system(&self, file: BorrowedFd<'_>, device: u64, real: &Path) -> Arc<FileSystem> {
        let mut known = lock(&self.known);
        known.entry(device).or_insert_with(|| Arc::new(self.look(file, real))).clone()
    }

    fn look(&self, file: BorrowedFd<'_>, real: &Path) -> FileSystem {
        let on = holding(&self.mounts, real);
        FileSystem {
            name: on.map_or_else(|| "unknown".to_owned(), |mounted| mounted.fs.clone()),
            method: residency::method_for(file).unwrap_or(Method::Mincore),
            dax: on.is_some_and(|mounted| fs::is_dax(&mounted.super_options)),
            in_memory: residency::lives_in_memory(&file).unwrap_or(false),
        }
    }
}

/// devtmpfs holds no files, but others are mounted below it (/dev/shm).
fn closed(fs_type: &str) -> Option<Closed> {
    if fs::may_hang(fs_type) {
        return Some(Closed::MayHang);
    }
    (fs::has_no_files(fs_type) && fs_type != "devtmpfs").then_some(Closed::NoFiles)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_not_answer_is_closed_and_what_holds_shm_is_open() {
        assert_eq!(closed("fuse.sshfs"), Some(Closed::MayHang));
        assert_eq!(closed("autofs"), Some(Closed::MayHang));
        assert_eq!(closed("proc"), Some(Closed::NoFiles));
        assert_eq!((closed("devtmpfs"), closed("ext4")), (None, None));
    }

    #[test]
    fn the_machines_own_proc_is_not_entered_and_its_root_is_known() {
        let table = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        if ramline_testkit::skip_if(table.is_empty(), "the machine's own /proc", "no mount table here") {
            return;
        }
        let ground = Ground::new(&Root::live());
        assert_eq!(ground.closed("/proc".as_ref()).map(|(why, _)| why), Some(Closed::NoFiles));
        assert_eq!(ground.closed("/no/such/place".as_ref()), None);
        let file = std::fs::File::open("/").unwrap();
        let fs = ground.file_system(std::os::fd::AsFd::as_fd(&file), 1, "/".as_ref());
        assert!(!fs.name.is_empty() && fs.name != "unknown", "{fs:?}");
    }
}
