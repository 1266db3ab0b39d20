//! Files of the kernel that stay open from one reading to the next: a read of one takes a tenth of the time that opening it does.
//!
//! Each open file of /proc, /sys or a control group keeps a buffer of a page in the kernel, so their number is bounded. What a path names
//! may become another file: a file that fails is opened again, and all are after [`AGAIN`].

use std::cell::{Cell, RefCell};

use ramline_kernel::limits::Limited;

use crate::prelude::*;

/// More than a reading opens by path on a machine with some dozens of disks.
const MOST: usize = 512;

/// How long a path is taken to name the same file: lxcfs and others mount over files of /proc.
pub const AGAIN: Duration = Duration::from_secs(60);

/// Files by their paths.
#[derive(Debug)]
pub struct OpenFiles {
    by_path: RefCell<HashMap<PathBuf, File>>,
    since: Cell<Instant>,
    most: usize,
}

impl OpenFiles {
    /// A quarter of the descriptors that this process may have, at most.
    pub fn new() -> OpenFiles {
        let quarter = Limited::OpenFiles.now().map_or(MOST, |now| usize::try_from(now / 4).unwrap_or(MOST));
        OpenFiles { by_path: RefCell::default(), since: Cell::new(Instant::now()), most: quarter.min(MOST) }
    }
}

/// Files of the kernel that are not of another process: those would be kept open after its end.
fn stays(path: &Path) -> bool {
    let mut parts = path.iter().skip(1);
    match parts.next().and_then(|part| part.to_str()) {
        Some("sys") => true,
        Some("proc") => parts.next().is_some_and(|part| !is_pid(part)),
        _ => false,
    }
}

fn is_pid(name: &std::ffi::OsStr) -> bool {
    name.as_encoded_bytes().first().is_some_and(u8::is_ascii_digit)
}

impl OpenFiles {
    /// To be called before each reading.
    pub fn begin(&self) {
        if self.since.get().elapsed() > AGAIN {
            self.by_path.borrow_mut().clear();
            self.since.set(Instant::now());
        }
    }

    /// What `read` makes of the file, which it must read from its start; the file stays open where it may.
    pub fn read<T, E>(
        &self,
        path: &Path,
        open: impl Fn() -> Result<File, E>,
        read: impl Fn(&File) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut files = self.by_path.borrow_mut();
        if let Some(file) = files.get(path) {
            if let Ok(made) = read(file) {
                return Ok(made);
            }
            files.remove(path);
        }
        let file = open()?;
        let made = read(&file)?;
        if files.len() < self.most && stays(path) {
            files.insert(path.to_owned(), file);
        }
        Ok(made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_kernel_stay_open_and_those_of_processes_do_not() {
        for path in ["/proc/meminfo", "/proc/self/cgroup", "/proc/sys/vm/swappiness", "/sys/block/vda/size"] {
            assert!(stays(Path::new(path)), "{path}");
        }
        for path in ["/proc/12/stat", "/etc/fstab", "/run/x"] {
            assert!(!stays(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn a_file_that_fails_is_opened_again() {
        let (files, opened) = (OpenFiles::new(), Cell::new(0));
        let open = || {
            opened.set(opened.get() + 1);
            File::open("/proc/meminfo")
        };
        let path = Path::new("/proc/meminfo");
        assert!(files.read(path, open, |_| Ok(())).is_ok() && files.read(path, open, |_| Ok(())).is_ok());
        assert_eq!(opened.get(), 1);
        let failed = Cell::new(false);
        let once = |_: &File| match failed.replace(true) {
            true => Ok(()),
            false => Err(std::io::Error::other("gone")),
        };
        assert!(files.read(path, open, once).is_ok());
        assert_eq!(opened.get(), 2);
    }
}
