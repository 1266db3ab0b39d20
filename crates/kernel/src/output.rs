//! Where a command writes its result: what a user has named, whatever it is, so that it ends untouched or complete.
//!
//! | what is named | what is done |
//! |---|---|
//! | `-` | standard output |
//! | a device, pipe, socket or terminal | opened and written |
//! | a regular file | replaced in one step when the new one is complete, its mode and owner kept |
//! | a link to one of these | followed: the link stays, what it leads to is written |
//! | nothing yet | made in one step when it is complete |
//! | anything else | refused before any work is done |
//!
//! A new file is written without a name (O_TMPFILE) and then linked, so that a killed command leaves nothing. What must have a name for a
//! moment (a file that replaces another; a file system without O_TMPFILE) is called `.NAME.ramline-K` beside it and is locked: the
//! next command that writes NAME removes it when the lock is free and the content is ours. Knobs are for [`crate::write`].
//!
//! ```
//! use ramline_kernel::output::{Format, Output};
//! # let dir = std::env::temp_dir().join(format!("ramline-doc-output-{}", std::process::id()));
//! # std::fs::create_dir_all(&dir)?;
//! let format = Format { begins: b"{", mode: 0o644 };
//! Output::open(&dir.join("report.json"), format, "ramline checkup --json -")?.write(b"{}\n")?;
//! assert_eq!(std::fs::read(dir.join("report.json"))?, b"{}\n");
//! # std::fs::remove_dir_all(&dir)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod place;
mod staged;
mod stream;
mod tree;

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{AtFlags, CWD, FileType, Mode, fstat, readlinkat, statat};

use crate::prelude::*;
pub use place::Format;
use place::{Counted, failed, is_shared, open_dir, refused, split};
use staged::Staged;
pub use tree::{Tree, is_in_use};

/// A place that has been checked and can be written.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    hint: String,
    to: To,
}

#[derive(Debug)]
enum To {
    Stdout,
    Stream(stream::Stream),
    File(Box<Staged>),
}

/// `path_resolution(7)`: the kernel follows no more.
const MOST_LINKS: u32 = 40;

impl Output {
    /// Checks the place and gets everything ready that can fail; `hint` is a command that would work.
    ///
    /// # Errors
    /// When it is not one of the kinds above or cannot be written: then nothing has been touched.
    pub fn open(path: &Path, format: Format, hint: &str) -> Result<Output> {
        let to = To::find(path, format).map_err(|error| error.or_hint(hint))?;
        Ok(Output { path: path.to_owned(), hint: hint.to_owned(), to })
    }

    /// The place as it was named.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// True for standard output.
    #[must_use]
    pub fn is_stdout(&self) -> bool {
        matches!(self.to, To::Stdout)
    }

    /// True for a regular file, new or replaced.
    #[must_use]
    pub fn is_file(&self) -> bool {
        matches!(self.to, To::File(_))
    }

    /// Writes a document that is complete in memory.
    ///
    /// # Errors
    /// As [`Output::write_with`].
    pub fn write(self, document: &[u8]) -> Result<u64> {
        self.write_with(|out| out.write_all(document))
    }

    /// Writes a document as it is made, and puts it in its place when it is complete; its length in bytes.
    ///
    /// # Errors
    /// The disk is full, a limit is reached, the place has changed: a file is as it was before. A reader that has gone is none.
    pub fn write_with(self, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<u64> {
        let Output { path, hint, to } = self;
        let written = match to {
            To::Stdout => {
                crate::stdio::refuse_closed_stdout()?;
                let mut out = Counted { out: io::stdout().lock(), bytes: 0 };
                let done = fill(&mut out).and_then(|()| out.flush());
                stream::unless_gone(done).map(|()| out.bytes).map_err(|error| failed(&path, error))
            }
            To::Stream(stream) => stream.write(fill).map_err(|error| failed(&path, error)),
            To::File(staged) => (*staged).write(&path, fill),
        };
        written.map_err(|error| error.or_hint(&hint))
    }
}

impl To {
    fn find(path: &Path, format: Format) -> Result<To> {
        if path == Path::new("-") {
            crate::stdio::refuse_closed_stdout()?;
            return Ok(To::Stdout);
        }
        let bytes = path.as_os_str().as_bytes();
        if bytes.is_empty() {
            return Err(refused(path, "the name is empty"));
        }
        if let Some(own) = stream::own_descriptor(path) {
            return stream::Stream::own(own).map(To::Stream).map_err(|error| failed(path, error));
        }
        if bytes.ends_with(b"/") || path.file_name().is_none() {
            return Err(refused(path, "it is a directory, and a file is wanted"));
        }
        match openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
            Ok(found) => To::existing(path, &found, format),
            Err(Errno::NOENT) if is_link(path) => Err(refused(path, "it is a link that leads nowhere")),
            Err(Errno::NOENT) => Staged::new(path, path, format).map(|staged| To::File(Box::new(staged))),
            Err(Errno::LOOP) => Err(refused(path, "its links lead in a circle")),
            Err(error) => Err(failed(path, error)),
        }
    }

    fn existing(path: &Path, found: &OwnedFd, format: Format) -> Result<To> {
        let stat = fstat(found).map_err(|error| failed(path, error))?;
        let kind = FileType::from_raw_mode(stat.st_mode);
        if kind == FileType::Directory {
            return Err(refused(path, "it is a directory, and a file is wanted"));
        }
        let real = behind_links(path)?;
        // The links of /proc/PID/fd may lead to a file of another mount namespace, whose name is another file's here.
        let at = rustix::fs::stat(&real).map_err(|error| failed(path, error))?;
        if (at.st_dev, at.st_ino) != (stat.st_dev, stat.st_ino) {
            return Err(refused(path, "what it leads to has no name here"));
        }
        if kind == FileType::RegularFile {
            return Staged::new(path, &real, format).map(|staged| To::File(Box::new(staged)));
        }
        stream::Stream::open(found, kind, path).map(To::Stream)
    }
}

fn is_link(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink())
}

/// Where the links of a name lead. One that a stranger has put into a directory everybody can write to is not followed, as with
/// `fs.protected_symlinks`, also where that is switched off: it would choose for us which file is replaced.
fn behind_links(path: &Path) -> Result<PathBuf> {
    let mut at = path.to_owned();
    for _ in 0..MOST_LINKS {
        let (dir, name) = split(&at);
        let open = open_dir(dir).map_err(|error| failed(path, error))?;
        let stat = statat(&open, name, AtFlags::SYMLINK_NOFOLLOW).map_err(|error| failed(path, error))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::Symlink {
            return Ok(at);
        }
        let above = fstat(&open).map_err(|error| failed(path, error))?;
        if is_shared(&above) && stat.st_uid != process::uid() && stat.st_uid != above.st_uid {
            let numbers = format!("the link is of user {}, in {}", stat.st_uid, dir.display());
            let rule = "it is a link of another user in a directory everybody can write to";
            return Err(KernelError::refused("write", path, rule, numbers));
        }
        let to = readlinkat(&open, name, Vec::new()).map_err(|error| failed(path, error))?;
        let to = dir.join(OsStr::from_bytes(to.as_bytes()));
        // The links of /proc/PID/fd lead further than their text.
        if std::fs::symlink_metadata(&to).is_err() {
            return Ok(at);
        }
        at = to;
    }
    Err(refused(path, "its links lead in a circle"))
}

#[cfg(test)]
mod tests;
