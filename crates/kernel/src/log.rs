//! Logs, read piece by piece: a file or pipe that was named, standard input, the kernel's buffer, the journal, what outlived a panic.
//!
//! Nothing is kept: a log may be larger than memory.
//!
//! ```
//! use ramline_kernel::log;
//! # let dir = std::env::temp_dir().join(format!("ramline-doc-log-{}", std::process::id()));
//! # std::fs::create_dir_all(&dir)?;
//! std::fs::write(dir.join("dmesg"), "[ 1.0] x\n")?;
//! let mut bytes = 0;
//! log::named("read", &dir.join("dmesg"), |piece| bytes += piece.len())?;
//! assert_eq!(bytes, 9);
//! # std::fs::remove_dir_all(&dir)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod kept;

use std::io::{self, Read};
use std::process::Stdio;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, FileType, Mode};

use crate::input::{Looked, kind_name};
use crate::prelude::*;
use crate::program;

pub use kept::kept;

/// Bytes read at once: more than a record of the kernel's buffer may have (8 KiB with its escapes).
const PIECE: usize = 64 << 10;
/// A pipe may send nothing for so long.
const SILENCE: Timespec = Timespec { tv_sec: 600, tv_nsec: 0 };
/// How far back the journal is read.
const SINCE: &str = "--since=-7d";
/// Programs that kill for memory, as they name themselves in the journal.
const KILLERS: [&str; 5] = ["systemd-oomd", "earlyoom", "nohang", "nohang-desktop", "kubelet"];

/// Reads what was named: a regular file, a pipe, or `-` for standard input.
///
/// # Errors
/// It cannot be read; `Refused` for what is neither, and for a pipe that sends nothing for ten minutes.
pub fn named(tried: &str, path: &Path, each: impl FnMut(&[u8])) -> Result<()> {
    if path == Path::new("-") {
        return pieces(tried, path, io::stdin().lock(), each);
    }
    let looked = Looked::at(path, true).tried(tried, path)?;
    match looked.kind() {
        FileType::RegularFile => pieces(tried, path, looked.open().tried(tried, path)?, each),
        FileType::Fifo => {
            let pipe = looked.open().tried(tried, path)?;
            pieces(tried, path, Waiting(&pipe), each)
        }
        kind => Err(KernelError::refused(tried, path, format!("it is {}, and a log is wanted", kind_name(kind)), "")),
    }
}

/// A pipe that was opened without waiting: each read waits for its writer.
struct Waiting<'a>(&'a File);

impl Read for Waiting<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut polled = [PollFd::new(self.0, PollFlags::IN)];
        match poll(&mut polled, Some(&SILENCE))? {
            0 => Err(io::Error::new(io::ErrorKind::TimedOut, "nothing was written into the pipe for 600 s")),
            _ => self.0.read(buffer),
        }
    }
}

fn pieces(tried: &str, path: &Path, mut from: impl Read, mut each: impl FnMut(&[u8])) -> Result<()> {
    let mut buffer = vec![0; PIECE];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(got) => each(buffer.get(..got).unwrap_or_default()),
            Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {}
            Err(error) => return Err(KernelError::io(tried, path, error)),
        }
    }
}

/// Reads what the kernel's buffer holds, and does not wait for more.
///
/// # Errors
/// `Denied` without CAP_SYSLOG where kernel.dmesg_restrict is set, as open(2) otherwise.
pub fn buffer(root: &Root, mut each: impl FnMut(&[u8])) -> Result<()> {
    let (tried, path) = ("read the kernel's log", root.path("/dev/kmsg"));
    let how = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut file = File::from(openat(CWD, &path, how, Mode::empty()).tried(tried, &path)?);
    let mut buffer = vec![0; PIECE];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(got) => each(buffer.get(..got).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            // Records were overwritten while they were read: the next one is the oldest there is.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe || error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(KernelError::io(tried, &path, error)),
        }
    }
}

/// Reads what the journal holds of the kernel and of programs that kill, of the last seven days.
///
/// # Errors
/// There is no journalctl, or it ends with an error.
pub fn journal(each: impl FnMut(&[u8])) -> Result<()> {
    let (tried, path) = ("read the journal", Path::new("journalctl"));
    let mut command = program::command("journalctl")?;
    command.args(["--no-pager", "--quiet", "--output=short-iso", SINCE, "_TRANSPORT=kernel"]);
    for name in KILLERS {
        command.arg("+").arg(format!("SYSLOG_IDENTIFIER={name}"));
    }
    let mut child =
        command.stdin(Stdio::null()).stderr(Stdio::null()).stdout(Stdio::piped()).spawn().tried(tried, path)?;
    let read = child.stdout.take().map_or(Ok(()), |out| pieces(tried, path, out, each));
    let ended = child.wait().tried(tried, path)?;
    read?;
    if ended.success() { Ok(()) } else { Err(KernelError::refused(tried, path, "it ended with an error", "")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_log_is_refused_and_a_file_is_read_whole() {
        let dir = tempfile::tempdir().unwrap();
        assert!(named("read", dir.path(), |_| {}).unwrap_err().to_string().contains("a log is wanted"));
        assert!(named("read", Path::new("/dev/zero"), |_| {}).is_err());
        let path = dir.path().join("log");
        std::fs::write(&path, vec![b'x'; 200_000]).unwrap();
        let mut bytes = 0;
        named("read", &path, |piece| bytes += piece.len()).unwrap();
        assert_eq!(bytes, 200_000);
    }
}
