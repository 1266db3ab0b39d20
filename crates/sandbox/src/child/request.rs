//! What a worker can be asked to do, each with one file.

use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::FileExt;

use ramline_kernel::direct::{Buffer, Direct};
use ramline_kernel::stream::{self, Hint};

use crate::prelude::*;
use crate::scratch::{open, touch};

/// Bytes of one read(2): what cp and tar use.
const PIECE: usize = 128 << 10;
/// So far behind itself a considerate reader lets go: a few windows of read-ahead.
const BEHIND: u64 = 1 << 20;

/// A way of reading a whole file from its beginning to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadMethod {
    /// read(2).
    Plain,
    /// read(2), and POSIX_FADV_DONTNEED on what lies behind.
    DontNeed,
    /// read(2) after POSIX_FADV_NOREUSE.
    NoReuse,
    /// preadv2(2) with RWF_DONTCACHE.
    DontCache,
    /// O_DIRECT.
    Direct,
    /// Through a mapping, touching each page.
    Mapped,
    /// The same after POSIX_FADV_NOREUSE.
    MappedNoReuse,
}

/// What a worker can be asked to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each variant says what its fields are")]
pub enum Request {
    /// Read a file from beginning to end.
    Read { path: PathBuf, how: ReadMethod },
    /// Map a file, touch each of its pages and keep the mapping.
    Map { path: PathBuf },
    /// Touch each page of the kept mapping again.
    Touch,
    /// Open a file for reading and writing, or only for reading, and keep it; a file that is not there is made.
    Open { path: PathBuf, write: bool },
    /// pread64(2) of the kept file: `times` calls of `length` bytes from `at` on, `step` apart.
    Pread { at: u64, length: usize, times: u64, step: u64 },
    /// pwrite64(2) in the same way.
    Pwrite { at: u64, length: usize, times: u64, step: u64 },
    /// fsync(2) of the kept file.
    Fsync,
    /// pread64(2) of one byte at random pages of the first `span` bytes.
    Random { calls: u64, span: u64, seed: u64 },
}

/// What a request cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Response {
    /// Wall time.
    pub took: Nanos,
    /// User time.
    pub user: Nanos,
    /// System time.
    pub system: Nanos,
    /// Faults that needed I/O.
    pub major_faults: u64,
    /// Faults that did not.
    pub minor_faults: u64,
    /// Bytes read, written or touched.
    pub bytes: Bytes,
    /// Single calls or touches made.
    pub calls: u64,
}

/// Executes requests, and keeps a mapping and a file between them.
#[derive(Debug, Default)]
pub struct Executor {
    map: Option<Map>,
    file: Option<(File, PathBuf)>,
    // Touched before it is used, so that a call that is recorded has no faults in it.
    buffer: Vec<u8>,
    offsets: Vec<u64>,
}

impl Executor {
    /// Executes a request and says what it cost.
    ///
    /// # Errors
    /// The request's.
    pub fn execute(&mut self, request: &Request) -> Result<Response> {
        self.make_ready(request);
        let (before, begin) = (process::own_usage()?, process::monotonic());
        let (bytes, calls) = self.work(request)?;
        let (end, after) = (process::monotonic(), process::own_usage()?);
        let used = after.since(&before)?;
        Ok(Response {
            took: end.saturating_sub(begin),
            user: used.user,
            system: used.system,
            major_faults: used.majflt,
            minor_faults: used.minflt,
            bytes: Bytes(bytes),
            calls,
        })
    }

    /// What a request needs and is no part of its cost.
    fn make_ready(&mut self, request: &Request) {
        if let Request::Pread { length, .. } | Request::Pwrite { length, .. } = request {
            self.buffer = vec![7; *length];
        }
        if let Request::Random { calls, span, seed } = request {
            let (mut rng, page) = (SplitMix64::new(*seed), process::page_size());
            self.buffer = vec![7; 1];
            self.offsets = (0..*calls).map(|_| rng.below((span / page).max(1)) * page).collect();
        }
    }

    /// Bytes and calls.
    fn work(&mut self, request: &Request) -> Result<(u64, u64)> {
        match request {
            Request::Read { path, how } => read(path, *how),
            Request::Map { path } => {
                let map = scratch::map(path)?;
                let done = touch(&map)?;
                self.map = Some(map);
                Ok(done)
            }
            Request::Touch => {
                self.map.as_ref().map_or_else(|| Err(LabError::Workload("nothing is mapped".to_owned())), touch)
            }
            Request::Open { path, write } => {
                let file = OpenOptions::new().read(true).write(*write).create(*write).truncate(false).open(path);
                self.file = Some((file.map_err(|error| LabError::file("open", path, error))?, path.clone()));
                Ok((0, 1))
            }
            Request::Pread { at, times, step, .. } => {
                let mut bytes = 0;
                for index in 0..*times {
                    bytes += self.on_file("read", |file, buffer| file.read_at(buffer, at + index * step))?;
                }
                Ok((u64::try_from(bytes).unwrap_or(u64::MAX), *times))
            }
            Request::Pwrite { at, length, times, step } => {
                for index in 0..*times {
                    self.on_file("write", |file, buffer| file.write_all_at(buffer, at + index * step))?;
                }
                Ok((u64::try_from(*length).unwrap_or(u64::MAX).saturating_mul(*times), *times))
            }
            Request::Fsync => self.on_file("sync", |file, _| file.sync_all()).map(|()| (0, 1)),
            Request::Random { calls, .. } => {
                for index in 0..self.offsets.len() {
                    let at = self.offsets[index];
                    self.on_file("read", |file, buffer| file.read_at(buffer, at))?;
                }
                Ok((*calls, *calls))
            }
        }
    }

    /// A call on the kept file, with the buffer.
    #[inline]
    fn on_file<T>(
        &mut self,
        what: &'static str,
        call: impl FnOnce(&File, &mut [u8]) -> std::io::Result<T>,
    ) -> Result<T> {
        let (file, path) = self.file.as_ref().ok_or_else(|| LabError::Workload("no file is open".to_owned()))?;
        call(file, &mut self.buffer).map_err(|error| LabError::file(what, path, error))
    }
}

fn read(path: &Path, how: ReadMethod) -> Result<(u64, u64)> {
    if how == ReadMethod::Direct {
        return direct(path);
    }
    let mut file = open(path)?;
    if matches!(how, ReadMethod::NoReuse | ReadMethod::MappedNoReuse) {
        stream::advise(&file, path, 0, 0, Hint::NoReuse)?;
    }
    if matches!(how, ReadMethod::Mapped | ReadMethod::MappedNoReuse) {
        return touch(&Map::file(&file, path)?);
    }
    let mut piece = vec![0u8; PIECE];
    let (mut at, mut calls, mut dropped) = (0, 0, 0);
    loop {
        let got = match how {
            ReadMethod::DontCache => stream::read_uncached(&file, path, &mut piece, at)?,
            _ => file.read(&mut piece).map_err(|error| LabError::file("read", path, error))?,
        };
        let end = got == 0;
        at += u64::try_from(got).unwrap_or(0);
        calls += 1;
        if how == ReadMethod::DontNeed && (end && at > dropped || at >= dropped + BEHIND) {
            stream::advise(&file, path, dropped, at - dropped, Hint::DontNeed)?;
            dropped = at;
        }
        if end {
            return Ok((at, calls));
        }
    }
}

fn direct(path: &Path) -> Result<(u64, u64)> {
    let file = Direct::open(path)?;
    let mut buffer = Buffer::new(PIECE)?;
    let piece = u64::try_from(PIECE).unwrap_or(0);
    let whole = file.size().0 / piece * piece;
    for at in (0..whole).step_by(PIECE) {
        file.read_at(&mut buffer, at)?;
    }
    // The rest is shorter than a piece and need not be aligned.
    let mut rest = vec![0u8; usize::try_from(file.size().0 - whole).unwrap_or(0)];
    open(path)?.read_exact_at(&mut rest, whole).map_err(|error| LabError::file("read", path, error))?;
    Ok((file.size().0, whole / piece + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn every_way_reads_the_whole_file() {
        let mut file = tempfile::NamedTempFile::new_in(".").unwrap();
        let size = (9 << 20) + 4096;
        file.write_all(&vec![3; size]).unwrap();
        file.as_file().sync_all().unwrap();
        for how in [
            ReadMethod::Plain,
            ReadMethod::DontNeed,
            ReadMethod::NoReuse,
            ReadMethod::DontCache,
            ReadMethod::Direct,
            ReadMethod::Mapped,
            ReadMethod::MappedNoReuse,
        ] {
            let done = Executor::default().execute(&Request::Read { path: file.path().to_owned(), how });
            match done {
                Ok(done) => assert_eq!(done.bytes.0, u64::try_from(size).unwrap(), "{how:?}"),
                Err(error) => assert!(matches!(how, ReadMethod::DontCache | ReadMethod::Direct), "{how:?}: {error}"),
            }
        }
    }

    #[test]
    fn a_mapping_is_kept_from_one_request_to_the_next() {
        let mut file = tempfile::NamedTempFile::new_in(".").unwrap();
        file.write_all(&[3; 40960]).unwrap();
        let mut executor = Executor::default();
        assert!(executor.execute(&Request::Touch).is_err());
        executor.execute(&Request::Map { path: file.path().to_owned() }).unwrap();
        // Faults are the process's, and other tests run in it at the same time: a mapping that is made anew faults each time, a kept one not.
        let again = (0..50).map(|_| executor.execute(&Request::Touch).unwrap());
        let again = again.min_by_key(|done| done.minor_faults + done.major_faults).unwrap();
        assert_eq!((again.calls, again.minor_faults, again.major_faults), (40960 / process::page_size(), 0, 0));
    }
}
