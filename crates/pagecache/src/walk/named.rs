//! The beginning of a walk: what was named is opened, whatever it is on, in the order in which it was named.

use std::ffi::CString;
use std::fs;

use ramline_kernel::residency::Method;
use rustix::fs::{CWD, FileType, OFlags, Stat, fstat, stat};

use super::one::open_quietly;
use super::share::{Share, What};
use super::{FoundFile, Place, Visit, Walk};
use crate::ground::FileSystem;
use crate::prelude::*;

enum Start {
    Directory(Arc<Place>),
    /// Not opened.
    Closed(Place),
    File(Box<(OwnedFd, Place, Stat)>),
}

impl<V: Visit> Walk<'_, V> {
    /// Files that were named are visited here and now; directories wait for the threads. True if there are any.
    pub(super) fn begin(&mut self, names: &[PathBuf]) -> bool {
        let mut starts = Vec::new();
        for name in names {
            match self.start(name) {
                Ok(start) => starts.extend(start),
                Err(error) => self.tell(&error),
            }
        }
        let (mut worker, mut waits) = (V::Worker::default(), false);
        for start in starts {
            match start {
                Start::Directory(place) => {
                    waits = true;
                    self.queue.push(Share { place, what: What::Whole });
                }
                Start::Closed(place) => {
                    self.left_closed(&mut worker, &place, &place.path);
                    self.visit.leave(&mut worker, &place);
                }
                Start::File(file) => {
                    let (fd, place, stat) = *file;
                    let found = FoundFile {
                        place: &place,
                        name: None,
                        file: fd.as_fd(),
                        stat: &stat,
                        fs: &place.fs,
                        so_far: self.options.so_far.as_deref(),
                    };
                    self.visit.file(&mut worker, &found);
                    self.visit.leave(&mut worker, &place);
                }
            }
        }
        lock(&self.workers).push(worker);
        waits
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
            let rule = "it is neither a file, a directory nor a block device";
            return Err(KernelError::refused("look at", path, rule, ""));
        }
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if let Some(name) = self.ground.name_at(&real).filter(|name| !is_dir && self.is_left_closed(name)) {
            let fs =
                Arc::new(FileSystem { name: name.to_owned(), method: Method::Mincore, dax: false, in_memory: false });
            if !self.named.insert(FileKey::from(&seen)) {
                return Ok(None);
            }
            let place = self.place(0, path.to_owned(), real, &seen, fs);
            self.visit.enter(&place, None);
            return Ok(Some(Start::Closed(place)));
        }
        let plain = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let how = if is_dir { plain | OFlags::DIRECTORY } else { plain };
        let fd = open_quietly(CWD, &name, how).map_err(|error| match kind {
            FileType::BlockDevice => device_refused(failed(error), path),
            _ => failed(error),
        })?;
        let stat = fstat(&fd).map_err(failed)?;
        let fs = self.ground.file_system(fd.as_fd(), stat.st_dev, &real);
        if is_dir && ramline_kernel::fs::has_no_files(&fs.name) && fs.name != "devtmpfs" && fs.name != "hugetlbfs" {
            let rule = format!("{} holds no files of a disk", fs.name);
            return Err(KernelError::refused("look at", path, rule, ""));
        }
        let new = if is_dir { self.is_new(&stat, path) } else { self.named.insert(FileKey::from(&stat)) };
        if !new {
            return Ok(None);
        }
        let place = self.place(0, path.to_owned(), real, &stat, fs);
        self.visit.enter(&place, None);
        Ok(Some(if is_dir { Start::Directory(Arc::new(place)) } else { Start::File(Box::new((fd, place, stat))) }))
    }
}

/// Root may be refused a device only by the device rules of a control group.
fn device_refused(error: KernelError, path: &Path) -> KernelError {
    if !error.is_denied() {
        return error;
    }
    if ramline_kernel::process::uid() == 0 {
        let rules = "its device rules (DeviceAllow=, --device) do not let it open this one";
        return error.hint(format!("outside this container or service: {rules}"));
    }
    error.hint(format!("sudo ramline cache stat {}", ramline_units::quoted_path(path)))
}
