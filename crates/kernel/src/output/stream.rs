//! Devices, pipes, sockets and terminals: opened, and written as they are.

use std::io::{self, Write};
use std::os::unix::net::UnixStream;

use rustix::fs::{FileType, Mode, fcntl_getfl, fcntl_setfl, open};

use super::place::{Counted, failed, refused};
use crate::input::by_descriptor;
use crate::prelude::*;

/// So long a pipe's reader may take to come.
const READER: Duration = Duration::from_secs(2);

/// Something open for writing that is no regular file.
#[derive(Debug)]
pub enum Stream {
    File(File),
    Socket(UnixStream),
}

/// The number in `/dev/stdout`, `/dev/fd/N` and the like: what the shell has opened for us, at the place it has come to.
pub fn own_descriptor(path: &Path) -> Option<i32> {
    let text = path.to_str()?;
    let number = match text {
        "/dev/stdout" => "1",
        "/dev/stderr" => "2",
        _ => text.strip_prefix("/dev/fd/").or_else(|| text.strip_prefix("/proc/self/fd/"))?,
    };
    // Of `/dev/fd/07` the kernel knows nothing.
    number.parse().ok().filter(|parsed: &i32| *parsed > 0 && parsed.to_string() == number)
}

impl Stream {
    pub fn own(number: i32) -> io::Result<Stream> {
        Ok(Stream::File(File::from(crate::stdio::duplicate(number)?)))
    }

    /// Opens what was found, and no other thing that has its name by now.
    pub fn open(found: &OwnedFd, kind: FileType, path: &Path) -> Result<Stream> {
        let name = by_descriptor(found);
        // Without /proc there is only the name.
        let name = if name.exists() { name.as_path() } else { path };
        let plain = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let opened = match kind {
            FileType::Socket => {
                return UnixStream::connect(name).map(Stream::Socket).map_err(|error| failed(path, error));
            }
            FileType::Fifo => with_a_reader(name, plain, path)?,
            // A disk that is mounted or swapped to is in use: then the kernel says so.
            FileType::BlockDevice => open(name, plain | OFlags::EXCL, Mode::empty()),
            FileType::CharacterDevice => open(name, plain, Mode::empty()),
            _ => return Err(refused(path, "it is neither a file, a device, a pipe nor a socket")),
        };
        // Opened without waiting, written with it.
        let waits = |file| fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK).map(|()| File::from(file));
        opened.and_then(waits).map(Stream::File).map_err(|error| failed(path, error))
    }

    /// Writes all of it; how much that was. A reader that has gone is no error.
    pub fn write(self, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<u64> {
        match self {
            Stream::Socket(socket) => {
                let mut out = Counted { out: &socket, bytes: 0 };
                unless_gone(fill(&mut out))?;
                Ok(out.bytes)
            }
            Stream::File(file) => {
                let mut out = Counted { out: &file, bytes: 0 };
                unless_gone(fill(&mut out))?;
                let bytes = out.bytes;
                match rustix::io::retry_on_intr(|| rustix::fs::fdatasync(&file)) {
                    // Pipes and terminals have nothing to write back, and some devices cannot be synced; a disk that could not
                    // be written says so.
                    Ok(()) | Err(Errno::INVAL | Errno::ROFS | Errno::NOSYS | Errno::OPNOTSUPP | Errno::BADF) => {
                        Ok(bytes)
                    }
                    Err(error) => Err(error.into()),
                }
            }
        }
    }
}

/// A reader that closes early has what it wants.
pub fn unless_gone(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

fn with_a_reader(name: &Path, how: OFlags, path: &Path) -> Result<rustix::io::Result<OwnedFd>> {
    let begin = Instant::now();
    loop {
        match open(name, how, Mode::empty()) {
            Err(Errno::NXIO) if begin.elapsed() < READER => std::thread::sleep(Duration::from_millis(20)),
            Err(Errno::NXIO) => {
                let numbers = format!("waited {} s", READER.as_secs());
                return Err(KernelError::refused("write", path, "it is a pipe from which nothing reads", numbers)
                    .hint(format!("cat {} & repeat the command", ramline_units::quoted_path(path))));
            }
            other => return Ok(other),
        }
    }
}
