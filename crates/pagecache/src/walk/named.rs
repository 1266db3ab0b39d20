//! The beginning of a walk: what was named is opened, whatever it is on, in the order in which it was named.

use std::ffi::CString;
use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ramline_kernel::KernelError;
use rustix::fs::{CWD, FileType, Mode, OFlags, Stat, fstat, openat, stat};

use super::{Found, Open, Place, Task, Visit, Walk};

enum Start {
    Directory(Arc<Open>),
    File(Box<(Open, Stat)>),
}

impl<V: Visit> Walk<'_, V> {
    /// Files that were named are visited here and now; directories wait for the threads.
    pub(super) fn begin(&mut self, names: &[PathBuf]) {
        let mut starts = Vec::new();
        for name in names {
            match self.start(name) {
                Ok(start) => starts.extend(start),
                Err(error) => self.tell(&error),
            }
        }
        let mut worker = self.visit.worker();
        for start in starts {
            match start {
                Start::Directory(dir) => self.queue.push(Task::Named(dir)),
                Start::File(file) => {
                    let (open, stat) = *file;
                    let found = Found {
                        place: &open.place,
                        name: None,
                        file: open.fd.as_fd(),
                        stat: &stat,
                        fs: &open.place.fs,
                    };
                    self.visit.file(&mut worker, &found);
                    self.visit.leave(&mut worker, &open.place);
                }
            }
        }
    }

    /// `None` for what was named twice.
    fn start(&mut self, path: &Path) -> Result<Option<Start>, KernelError> {
        let failed = |error: rustix::io::Errno| KernelError::io("open", path, error.into());
        let name = CString::new(path.as_os_str().as_bytes()).map_err(|_| failed(rustix::io::Errno::INVAL))?;
        // A FIFO or a character device is not opened even when it is named: that alone may do something.
        let seen = stat(name.as_c_str()).map_err(failed)?;
        let kind = FileType::from_raw_mode(seen.st_mode);
        let is_dir = kind == FileType::Directory;
        if !is_dir && !matches!(kind, FileType::RegularFile | FileType::BlockDevice) {
            return Err(KernelError::refused(
                "look at",
                path,
                "it is neither a file, a directory nor a block device",
                "",
            ));
        }
        let plain = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let how = if is_dir { plain | OFlags::DIRECTORY } else { plain };
        let fd = open_quietly(&name, how).map_err(failed)?;
        let stat = fstat(&fd).map_err(failed)?;
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let fs = self.file_system(fd.as_fd(), &stat, &real);
        if is_dir && ramline_kernel::fs::has_no_files(&fs.name) && fs.name != "devtmpfs" && fs.name != "hugetlbfs" {
            let rule = format!("{} holds no files of a disk", fs.name);
            return Err(KernelError::refused("look at", path, rule, ""));
        }
        let new = if is_dir { self.is_new(&stat, path) } else { self.named.insert((stat.st_dev, stat.st_ino)) };
        if !new {
            return Ok(None);
        }
        let place = Place { index: self.number(), depth: 0, path: path.to_owned(), real, device: stat.st_dev, fs };
        self.visit.enter(&place, None);
        let open = Open { fd, place };
        Ok(Some(if is_dir { Start::Directory(Arc::new(open)) } else { Start::File(Box::new((open, stat))) }))
    }
}

/// Without touching the time of the last access, where that is allowed.
fn open_quietly(name: &CString, how: OFlags) -> rustix::io::Result<OwnedFd> {
    openat(CWD, name.as_c_str(), how | OFlags::NOATIME, Mode::empty())
        .or_else(|_| openat(CWD, name.as_c_str(), how, Mode::empty()))
}
