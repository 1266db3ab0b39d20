//! What every kind of place needs: its directory and name, errors that name it, and how much was written.

use std::io::{self, Write};

use rustix::fs::{CWD, Mode};

use crate::prelude::*;

/// What is going to be written: how a file of ours is recognised, and who may read a new one.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    /// The bytes every such document begins with.
    pub begins: &'static [u8],
    /// Mode of a new file, less the umask.
    pub mode: u32,
}

pub fn failed(path: &Path, error: impl Into<io::Error>) -> KernelError {
    KernelError::io("write", path, error.into())
}

pub fn refused(path: &Path, rule: &str) -> KernelError {
    KernelError::refused("write", path, rule, "")
}

/// Sticky, and writable for everybody: /tmp and the like.
pub fn is_shared(dir: &Stat) -> bool {
    dir.st_mode & 0o1002 == 0o1002
}

/// The directory of a name and the name in it.
pub fn split(path: &Path) -> (&Path, &OsStr) {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    (dir, path.file_name().unwrap_or_default())
}

pub fn open_dir(dir: &Path) -> rustix::io::Result<OwnedFd> {
    openat(CWD, dir, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

/// Counts what goes through.
pub struct Counted<W> {
    pub out: W,
    pub bytes: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.bytes = self.bytes.saturating_add(u64::try_from(written).unwrap_or(0));
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
