//! How bytes are brought into the page cache: of small pieces a copy is read, large ones go through a pipe that copies nothing.
//!
//! splice(2) puts references to the pages of a file into a pipe, and from there into /dev/null: a fraction of the processor time of read(2). Each call
//! says of every folio it meets that it was used (since 6.5), and one that is met twice moves to the active list, where what nobody has used yet would
//! push out what somebody uses. That is why the pipe holds the largest folio (on 4 KiB pages 512 of them), and pieces, windows and stretches end where
//! such a folio may end: then each is met once. sendfile(2) has a pipe of 16 pages and does not do. Where such a pipe cannot be had (without
//! root it holds 1 MiB), all is read by read(2).

use std::os::unix::fs::FileExt;

use rustix::fs::{FileType, Mode, OFlags, fstat, major, minor, open};
use rustix::pipe::{PipeFlags, SpliceFlags, fcntl_setpipe_size, pipe_with, splice};

use crate::prelude::*;

/// What one read(2) asks for.
const PIECE: usize = 512 << 10;
/// The largest folio, and what the pipe holds.
const FOLIO: usize = 2 << 20;

/// Of one thread.
pub struct Reader {
    buffer: Vec<u8>,
    large: Way,
}

/// How large pieces are brought in.
enum Way {
    /// A pipe is made for the first of them.
    Untried,
    Pipe(Pipe),
    Copy,
}

struct Pipe {
    from: OwnedFd,
    into: OwnedFd,
    nowhere: OwnedFd,
}

impl Reader {
    /// Without a pipe pieces are small, as is wanted where there is a rate.
    pub fn new(with_pipe: bool) -> Reader {
        Reader { buffer: vec![0; PIECE], large: if with_pipe { Way::Untried } else { Way::Copy } }
    }

    /// Brings in bytes from an offset up to an end, as many as one piece holds, and says how many; none where the file ends.
    ///
    /// # Errors
    /// As read(2).
    pub fn read(&mut self, file: &File, at: u64, end: u64) -> io::Result<usize> {
        let wanted = usize::try_from(end.saturating_sub(at)).unwrap_or(usize::MAX);
        if wanted > PIECE {
            if matches!(self.large, Way::Untried) {
                self.large = Pipe::new().map_or(Way::Copy, Way::Pipe);
            }
            if let Way::Pipe(pipe) = &self.large {
                match pipe.pass(file, at, wanted) {
                    Ok(got) => return Ok(got),
                    Err(Failed::Call(error @ (Errno::INTR | Errno::IO))) => return Err(error.into()),
                    // A filter of system calls forbids it, or something is left in the pipe.
                    Err(Failed::Call(Errno::NOSYS | Errno::PERM) | Failed::Drain) => self.large = Way::Copy,
                    // Not this file or not now: what read(2) says of it is told.
                    Err(Failed::Call(_)) => {}
                }
            }
        }
        let most = wanted.min(self.buffer.len());
        file.read_at(&mut self.buffer[..most], at)
    }
}

/// Why nothing came through the pipe.
enum Failed {
    Call(Errno),
    Drain,
}

impl Pipe {
    fn new() -> io::Result<Pipe> {
        // Folios of larger pages may be larger.
        if process::page_size() != 4096 {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let nowhere = open("/dev/null", OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?;
        // Anything else of that name would keep what it is given.
        let found = fstat(&nowhere)?;
        if !FileType::from_raw_mode(found.st_mode).is_char_device()
            || (major(found.st_rdev), minor(found.st_rdev)) != (1, 3)
        {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let (from, into) = pipe_with(PipeFlags::CLOEXEC)?;
        fcntl_setpipe_size(&into, FOLIO)?;
        Ok(Pipe { from, into, nowhere })
    }

    /// Up to the end of the folio at most.
    fn pass(&self, file: &File, at: u64, wanted: usize) -> Result<usize, Failed> {
        let within = usize::try_from(at % FOLIO as u64).unwrap_or(0);
        let mut offset = at;
        let got = splice(file, Some(&mut offset), &self.into, None, wanted.min(FOLIO - within), SpliceFlags::empty())
            .map_err(Failed::Call)?;
        let mut left = got;
        while left > 0 {
            match splice(&self.from, None, &self.nowhere, None, left, SpliceFlags::empty()) {
                Ok(out) if out > 0 => left -= out,
                Err(Errno::INTR) => {}
                _ => return Err(Failed::Drain),
            }
        }
        Ok(got)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All of a file, as often as asked, and how many calls it took.
    fn calls(reader: &mut Reader, file: &File, from: u64) -> (u64, usize) {
        let (mut at, mut calls) = (from, 0);
        loop {
            let got = reader.read(file, at, u64::MAX).unwrap();
            if got == 0 {
                return (at, calls);
            }
            at += got as u64;
            calls += 1;
        }
    }

    #[test]
    fn all_of_a_file_passes_with_and_without_a_pipe() {
        let path = std::env::temp_dir().join(format!("ramline-reader-{}", std::process::id()));
        let length = 3 * FOLIO as u64 + 12_345;
        std::fs::write(&path, vec![1u8; usize::try_from(length).unwrap()]).unwrap();
        let file = File::open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(calls(&mut Reader::new(false), &file, 0).0, length);
        let mut reader = Reader::new(true);
        let (end, through) = calls(&mut reader, &file, 4096);
        assert_eq!(end, length);
        if matches!(reader.large, Way::Pipe(_)) {
            assert!(through <= 8, "{through} calls: pieces are as large as the pipe");
        }
        // Nothing stays in the pipe: the next file is read as well.
        assert_eq!(calls(&mut reader, &file, 0).0, length);
    }
}
