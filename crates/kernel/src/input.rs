//! What comes from outside: files that were named, captured, copied or may be forged. Looked at before they are opened, read up to a
//! bound, never waited for without one.
//!
//! A file is opened without being opened first (O_PATH): so its kind is known before a pipe's writer is let go, a watchdog is armed or a
//! tape is wound, and what is then opened is what was looked at. The kernel's own files are for [`crate::kernel_file`].
//!
//! ```
//! use ramline_kernel::input;
//! # let dir = std::env::temp_dir().join(format!("ramline-doc-input-{}", std::process::id()));
//! # std::fs::create_dir_all(&dir)?;
//! std::fs::write(dir.join("old.json"), "{}")?;
//! assert_eq!(input::read("read", &dir.join("old.json"), 1 << 20)?, b"{}");
//! assert!(input::read("read", &dir.join("old.json"), 1).is_err());
//! # std::fs::remove_dir_all(&dir)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::io::{self, Read};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, FileType, Mode, fstat};

use crate::prelude::*;

/// A document of ours (a snapshot, a report, a captured `meta.json`) is never larger: one of 10,000 processes has about 10 MiB.
pub const DOCUMENT: u64 = 64 << 20;
/// Flags with which a name in a directory of ours is opened: through no link, waiting for nothing.
pub const CAREFUL: i32 = libc::O_NOFOLLOW | libc::O_NONBLOCK;
/// So long a pipe may send nothing.
const SILENCE: Timespec = Timespec { tv_sec: 4, tv_nsec: 0 };
/// One the shell has made for `<(command)` has its writer, which may take its time.
const PATIENCE: Timespec = Timespec { tv_sec: 600, tv_nsec: 0 };
/// linux/magic.h: pipes without a name.
const PIPEFS: libc::c_long = 0x5049_5045;

/// A file that was looked at and not opened: what kind it is can be asked, and it can be opened as just that file.
#[derive(Debug)]
pub struct Looked {
    handle: OwnedFd,
    path: PathBuf,
    /// As fstat(2) gives it.
    pub stat: Stat,
}

impl Looked {
    /// Looks at what a name leads to, links followed or not.
    ///
    /// # Errors
    /// It is not there, or may not be looked at.
    pub fn at(path: &Path, follow: bool) -> io::Result<Looked> {
        let link = if follow { OFlags::empty() } else { OFlags::NOFOLLOW };
        let handle = openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC | link, Mode::empty())?;
        let stat = fstat(&handle)?;
        Ok(Looked { handle, path: path.to_owned(), stat })
    }

    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> FileType {
        FileType::from_raw_mode(self.stat.st_mode)
    }

    /// It is a regular file.
    #[must_use]
    pub fn is_file(&self) -> bool {
        self.kind() == FileType::RegularFile
    }

    /// It is a directory.
    #[must_use]
    pub fn is_dir(&self) -> bool {
        self.kind() == FileType::Directory
    }

    /// The number of the kind of file system it is on (linux/magic.h).
    pub(crate) fn file_system(&self) -> Option<libc::c_long> {
        rustix::fs::fstatfs(&self.handle).ok().and_then(|seen| libc::c_long::try_from(seen.f_type).ok())
    }

    /// True when it is a file of this user that no other user may write to.
    #[must_use]
    pub fn is_own_file(&self) -> bool {
        let stat = &self.stat;
        self.is_file() && stat.st_uid == rustix::process::geteuid().as_raw() && stat.st_mode & 0o022 == 0
    }

    /// Opens it for reading, without waiting for what is at its other end.
    ///
    /// # Errors
    /// It may not be read; without /proc, another file has its name by now.
    pub fn open(&self) -> io::Result<File> {
        let how = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = match openat(CWD, by_descriptor(&self.handle), how, Mode::empty()) {
            Err(rustix::io::Errno::NOENT) => openat(CWD, &self.path, how, Mode::empty())?,
            other => other?,
        };
        let now = fstat(&file)?;
        if (now.st_dev, now.st_ino) != (self.stat.st_dev, self.stat.st_ino) {
            return Err(io::Error::from_raw_os_error(libc::ESTALE));
        }
        Ok(File::from(file))
    }
}

/// Another name of an open file, also of one that was only looked at: by the table of descriptors of this thread, which may have its own.
pub(crate) fn by_descriptor(file: &impl AsFd) -> PathBuf {
    PathBuf::from(format!("/proc/thread-self/fd/{}", file.as_fd().as_raw_fd()))
}

/// What a kind is called.
#[must_use]
pub fn kind_name(kind: FileType) -> &'static str {
    match kind {
        FileType::RegularFile => "a file",
        FileType::Directory => "a directory",
        FileType::Symlink => "a link",
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Unknown => "of an unknown kind",
    }
}

/// Opens a regular file, and nothing else.
///
/// # Errors
/// `Refused` for what is none; as open(2) says.
pub fn open(tried: &str, path: &Path) -> Result<File> {
    let looked = Looked::at(path, true).tried(tried, path)?;
    match looked.kind() {
        FileType::RegularFile => looked.open().tried(tried, path),
        kind => Err(KernelError::refused(tried, path, format!("it is {}, and a file is wanted", kind_name(kind)), "")),
    }
}

/// Reads a regular file of at most `most` bytes.
///
/// # Errors
/// As [`open`]; `Refused` when it is larger.
pub fn read(tried: &str, path: &Path, most: u64) -> Result<Vec<u8>> {
    let file = open(tried, path)?;
    let length = file.metadata().tried(tried, path)?.len();
    if length > most {
        return Err(too_large(tried, path, length, most));
    }
    let mut bytes = Vec::new();
    // It may grow meanwhile.
    file.take(most.saturating_add(1)).read_to_end(&mut bytes).tried(tried, path)?;
    within(tried, path, bytes, most)
}

/// The same as text.
///
/// # Errors
/// As [`read`]; when it is no UTF-8.
pub fn read_text(tried: &str, path: &Path, most: u64) -> Result<String> {
    text(tried, path, read(tried, path, most)?)
}

/// Reads what a user has named: a file, or a pipe, which may keep silent for a bounded time (`<(command)`).
///
/// # Errors
/// As [`read`]; `Refused` for a pipe that sends nothing.
pub fn read_named(tried: &str, path: &Path, most: u64) -> Result<Vec<u8>> {
    let looked = Looked::at(path, true).tried(tried, path)?;
    if looked.kind() != FileType::Fifo {
        return read(tried, path, most);
    }
    let silence = if looked.file_system() == Some(PIPEFS) { &PATIENCE } else { &SILENCE };
    read_pipe(tried, path, &looked.open().tried(tried, path)?, most, silence)
}

/// The same as text.
///
/// # Errors
/// As [`read_named`]; when it is no UTF-8.
pub fn read_named_text(tried: &str, path: &Path, most: u64) -> Result<String> {
    text(tried, path, read_named(tried, path, most)?)
}

fn text(tried: &str, path: &Path, bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).map_err(|_| KernelError::refused(tried, path, "it is no text (UTF-8)", ""))
}

fn read_pipe(tried: &str, path: &Path, mut pipe: &File, most: u64, silence: &Timespec) -> Result<Vec<u8>> {
    let failed = |error| KernelError::io(tried, path, error);
    let (mut bytes, mut piece) = (Vec::new(), vec![0; 64 << 10]);
    loop {
        let mut polled = [PollFd::new(&pipe, PollFlags::IN)];
        match poll(&mut polled, Some(silence)) {
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(failed(error.into())),
            Ok(0) => {
                let numbers = format!("for {} s", silence.tv_sec);
                return Err(KernelError::refused(tried, path, "it is a pipe into which nothing is written", numbers));
            }
            Ok(_) => {}
        }
        match pipe.read(&mut piece) {
            Ok(0) => return Ok(bytes),
            Ok(got) => bytes.extend_from_slice(piece.get(..got).unwrap_or_default()),
            Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {}
            Err(error) => return Err(failed(error)),
        }
        bytes = within(tried, path, bytes, most)?;
    }
}

fn within(tried: &str, path: &Path, bytes: Vec<u8>, most: u64) -> Result<Vec<u8>> {
    match u64::try_from(bytes.len()) {
        Ok(length) if length <= most => Ok(bytes),
        other => Err(too_large(tried, path, other.unwrap_or(u64::MAX), most)),
    }
}

fn too_large(tried: &str, path: &Path, length: u64, most: u64) -> KernelError {
    let numbers = format!("{} or more, at most {}", Bytes(length), Bytes(most));
    KernelError::refused(tried, path, "it is larger than any such file", numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::symlink;

    #[test]
    fn what_is_no_file_is_not_opened() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        rustix::fs::mknodat(CWD, at("pipe"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        symlink("/dev/zero", at("endless")).unwrap();
        symlink("pipe", at("to-pipe")).unwrap();
        for (name, want) in [("pipe", "a pipe"), ("to-pipe", "a pipe"), ("endless", "a device"), (".", "a directory")] {
            let error = read("read", &at(name), DOCUMENT).unwrap_err().to_string();
            assert!(error.contains(want), "{error}");
        }
        assert!(read("read", &at("missing"), DOCUMENT).unwrap_err().is_absent());
    }

    #[test]
    fn a_file_of_holes_is_refused_by_its_length() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("holes");
        File::create(&path).unwrap().set_len(8 << 30).unwrap();
        let error = read("read the snapshot", &path, DOCUMENT).unwrap_err().to_string();
        assert!(error.contains("8.0 GiB or more, at most 64.0 MiB"), "{error}");
    }

    #[test]
    fn a_pipe_that_was_named_is_read_to_its_end_and_no_further_than_the_bound() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pipe");
        rustix::fs::mknodat(CWD, &path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        let silent = read_named("read", &path, DOCUMENT).unwrap_err().to_string();
        assert!(silent.contains("nothing is written"), "{silent}");
        for (most, whole) in [(1 << 20, true), (100, false)] {
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    let mut pipe = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
                    // Refused in the middle, the reader goes away.
                    drop(pipe.write_all(&[7; 100_000]));
                });
                let read = read_named("read", &path, most);
                assert_eq!(read.is_ok_and(|bytes| bytes.len() == 100_000), whole);
            });
        }
    }
}
