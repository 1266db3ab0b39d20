//! The file of a hot set: written whole or not at all, read whole or not at all.
//!
//! Writing: into `.NAME.partial` beside it (0600, held by a lock, so that one left by a killed save is told from one of a save at
//! work), synced, renamed over the old one, and the directory synced. Reading checks length, checksum and counts before anything
//! is done with it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use ramline_kernel::{Cause, KernelError, process};
use ramline_units::Bytes;
use serde::{Deserialize, Serialize};

use super::{Entry, Header, Parts, VERSION};

const MAGIC: &str = "ramline hot set ";
/// No line of a hot set is longer: a guard against what is none.
const LONGEST: u64 = 256 << 20;
/// More gains little here and costs time.
const LEVEL: i32 = 3;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    HotSet(Header),
    File(Record),
    End { files: u64, hot: u64 },
}

#[derive(Serialize, Deserialize)]
struct Record {
    path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path_bytes: Option<Vec<u8>>,
    length: u64,
    mtime_ns: i64,
    inode: u64,
    device: u64,
    /// Gap and length in pages by turns; left out where all of the file was hot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parts: Option<Vec<u64>>,
}

impl Record {
    fn new(entry: &Entry) -> Record {
        let name = crate::remarks::name(&entry.path);
        let parts = entry.parts.as_ref().map(|parts| parts.numbers().collect());
        let Entry { length, mtime_ns, inode, device, .. } = *entry;
        Record { path: name.path, path_bytes: name.path_bytes, length, mtime_ns, inode, device, parts }
    }

    fn entry(self) -> Option<Entry> {
        let Record { length, mtime_ns, inode, device, .. } = self;
        let path = match self.path_bytes {
            Some(bytes) => PathBuf::from(std::ffi::OsStr::from_bytes(&bytes)),
            None => PathBuf::from(self.path),
        };
        let parts = match self.parts {
            Some(numbers) => Some(Parts::from_numbers(&numbers)?),
            None => None,
        };
        path.is_absolute().then_some(Entry { path, length, mtime_ns, inode, device, parts })
    }
}

/// Writes a hot set in the place of what is there; its size as a file.
///
/// # Errors
/// When it cannot be written whole; what was there stays. `Refused` while another save of it is at work.
pub fn write(path: &Path, header: &Header, entries: &[Entry]) -> Result<Bytes, KernelError> {
    let failed = |error| KernelError::io("write the hot set", path, error);
    let (dir, partial) = places(path)?;
    let mut draft = Draft::make(path, partial)?;
    let size = fill(&mut draft.file, header, entries).map_err(failed)?;
    draft.file.sync_all().map_err(failed)?;
    std::fs::rename(&draft.path, path).map_err(failed)?;
    draft.done = true;
    process::sync_dir(&dir)?;
    Ok(Bytes(size))
}

/// The directory of the file, and what stands beside it while it is written.
fn places(path: &Path) -> Result<(PathBuf, PathBuf), KernelError> {
    let Some(name) = path.file_name() else {
        return Err(KernelError::refused("write the hot set", path, "it names no file", ""));
    };
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned();
    let mut partial = std::ffi::OsString::from(".");
    partial.push(name);
    partial.push(".partial");
    let partial = dir.join(partial);
    Ok((dir, partial))
}

fn fill(file: &mut File, header: &Header, entries: &[Entry]) -> io::Result<u64> {
    let mut out = BufWriter::new(&mut *file);
    writeln!(out, "{MAGIC}{VERSION}")?;
    let mut frame = zstd::Encoder::new(out, LEVEL)?;
    frame.include_checksum(true)?;
    let mut text = Vec::new();
    let mut put = |line: &Line| {
        text.clear();
        serde_json::to_writer(&mut text, line)?;
        text.push(b'\n');
        frame.write_all(&text)
    };
    put(&Line::HotSet(header.clone()))?;
    for entry in entries {
        put(&Line::File(Record::new(entry)))?;
    }
    put(&Line::End { files: header.files, hot: header.hot })?;
    frame.finish()?.flush()?;
    Ok(file.metadata()?.len())
}

/// A file that is being written; removed when that comes to nothing.
struct Draft {
    file: File,
    path: PathBuf,
    done: bool,
}

impl Draft {
    fn make(path: &Path, partial: PathBuf) -> Result<Draft, KernelError> {
        let failed = |error| KernelError::io("write the hot set", path, error);
        // One that a killed save left, and one more that came in between.
        for _ in 0..3 {
            // create_new follows no link.
            match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&partial) {
                Ok(file) => match file.try_lock() {
                    Ok(()) if is_still(&file, &partial) => return Ok(Draft { file, path: partial, done: false }),
                    _ => continue,
                },
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => remove_left_over(path, &partial)?,
                Err(error) => return Err(failed(error)),
            }
        }
        Err(at_work(path))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.done {
            // Nobody is left to tell; the next save removes it.
            drop(std::fs::remove_file(&self.path));
        }
    }
}

fn at_work(path: &Path) -> KernelError {
    KernelError::refused("write the hot set", path, "another save of it is at work", "")
}

fn is_still(file: &File, path: &Path) -> bool {
    let at = std::fs::symlink_metadata(path);
    file.metadata().ok().zip(at.ok()).is_some_and(|(a, b)| (a.dev(), a.ino()) == (b.dev(), b.ino()))
}

/// Removes what a killed save left: nobody holds it any more.
fn remove_left_over(path: &Path, partial: &Path) -> Result<(), KernelError> {
    let failed = |error| KernelError::io("remove what a killed save left", partial, error);
    let meta = match std::fs::symlink_metadata(partial) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other.map_err(failed)?,
    };
    if meta.is_file() {
        match File::open(partial).map_err(failed)?.try_lock() {
            Err(TryLockError::WouldBlock) => return Err(at_work(path)),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
            Ok(()) => {}
        }
    }
    std::fs::remove_file(partial).map_err(failed)
}

/// A hot set that is being read, beyond its header.
pub struct Reading {
    /// Where and when it was saved.
    pub header: Header,
    path: PathBuf,
    lines: BufReader<zstd::Decoder<'static, BufReader<File>>>,
}

/// Begins to read a hot set.
///
/// # Errors
/// `Refused` for a file that is none, is one of another version, or is damaged.
pub fn read(path: &Path) -> Result<Reading, KernelError> {
    let failed = |error| KernelError::io("read the hot set", path, error);
    let file = File::open(path).map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(none(path));
    }
    let mut file = BufReader::new(file);
    let mut first = Vec::new();
    (&mut file).take(64).read_until(b'\n', &mut first).map_err(failed)?;
    let version = std::str::from_utf8(&first).ok().and_then(|line| line.strip_prefix(MAGIC)?.strip_suffix('\n'));
    match version.map(str::parse::<u32>) {
        Some(Ok(VERSION)) => {}
        Some(Ok(other)) => {
            let rule = format!("it is a hot set of version {other}, and this ramline reads version {VERSION}");
            return Err(KernelError::refused("read the hot set", path, rule, ""));
        }
        _ => return Err(none(path)),
    }
    let lines = BufReader::new(zstd::Decoder::with_buffer(file).map_err(|error| damaged(path, &error.to_string()))?);
    let mut reading = Reading { header: Header::default(), path: path.to_owned(), lines };
    match reading.line()? {
        Line::HotSet(header) if header.page.is_power_of_two() => reading.header = header,
        _ => return Err(damaged(path, "its header is wrong")),
    }
    Ok(reading)
}

fn none(path: &Path) -> KernelError {
    let rule = format!("it is no hot set: it does not begin with '{}'", MAGIC.trim_end());
    KernelError::refused("read the hot set", path, rule, "").hint("ramline cache save FILE")
}

const DAMAGED: &str = "it is damaged";

/// It is a hot set, and cut short or changed since it was written.
#[must_use]
pub fn is_damaged(error: &KernelError) -> bool {
    matches!(&error.cause, Cause::Refused { rule, .. } if rule == DAMAGED)
}

fn damaged(path: &Path, how: &str) -> KernelError {
    KernelError::refused("read the hot set", path, DAMAGED, how).hint("ramline cache save FILE")
}

impl Reading {
    fn line(&mut self) -> Result<Line, KernelError> {
        let mut text = Vec::new();
        let got = (&mut self.lines).take(LONGEST).read_until(b'\n', &mut text);
        match got {
            Ok(_) if text.ends_with(b"\n") => {}
            Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => {
                return Err(damaged(&self.path, &error.to_string()));
            }
            _ => return Err(damaged(&self.path, "it is cut short")),
        }
        serde_json::from_slice(&text).map_err(|error| damaged(&self.path, &error.to_string()))
    }

    /// All files, in the order in which they are to be read.
    ///
    /// # Errors
    /// `Refused` when it is damaged anywhere: then nothing of it is to be trusted.
    pub fn all(mut self) -> Result<Vec<Entry>, KernelError> {
        let (mut entries, mut hot) = (Vec::new(), 0u64);
        loop {
            match self.line()? {
                Line::File(record) => {
                    let entry = record.entry().ok_or_else(|| damaged(&self.path, "a file's line makes no sense"))?;
                    hot = hot.saturating_add(entry.pages(self.header.page).saturating_mul(self.header.page));
                    entries.push(entry);
                }
                Line::End { files, hot: told } if u64::try_from(entries.len()) == Ok(files) && told == hot => break,
                Line::End { .. } | Line::HotSet(_) => return Err(damaged(&self.path, "its counts are wrong")),
            }
        }
        // The checksum stands behind the last line.
        match self.lines.read(&mut [0]) {
            Ok(0) => Ok(entries),
            Ok(_) => Err(damaged(&self.path, "it goes on behind its end")),
            Err(error) => Err(damaged(&self.path, &error.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set() -> (Header, Vec<Entry>) {
        let entry = |name: &[u8], parts| Entry {
            path: PathBuf::from(std::ffi::OsStr::from_bytes(name)),
            length: 6 * 4096,
            mtime_ns: -7,
            inode: 3,
            device: 9,
            parts,
        };
        let entries = vec![entry(b"/a b\n", None), entry(b"/c\xff", Parts::from_numbers(&[1, 2, 2, 1]))];
        (Header { page: 4096, files: 2, hot: 9 * 4096, boot: "b".to_owned(), ..Header::default() }, entries)
    }

    #[test]
    fn what_is_written_is_read_again_and_nothing_stays_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let (path, (header, entries)) = (dir.path().join("hot"), set());
        // As a killed save leaves it.
        std::fs::write(dir.path().join(".hot.partial"), "half").unwrap();
        write(&path, &header, &entries).unwrap();
        let reading = read(&path).unwrap();
        assert_eq!(reading.header, header);
        assert_eq!(reading.all().unwrap(), entries);
        assert_eq!(entries[1].ranges(4096), [(4096, 8192), (5 * 4096, 4096)]);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_cut_anywhere_or_with_any_byte_changed_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let (path, (header, entries)) = (dir.path().join("hot"), set());
        write(&path, &header, &entries).unwrap();
        let whole = std::fs::read(&path).unwrap();
        for cut in 0..whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let error = read(&path).and_then(Reading::all).unwrap_err();
            assert!(error.is_refused(), "{cut}: {error}");
        }
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x20;
            std::fs::write(&path, &bytes).unwrap();
            // A bit of the frame's own header may mean nothing; then all that is read must be as it was.
            if let Ok(read) = read(&path).and_then(Reading::all) {
                assert_eq!(read, entries, "byte {at}");
            }
        }
    }

    #[test]
    fn another_version_and_what_is_no_hot_set_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("hot");
        for (text, want) in [("ramline hot set 2\n", "version 2"), ("hello\n", "no hot set"), ("", "no hot set")] {
            std::fs::write(&path, text).unwrap();
            let error = read(&path).err().unwrap().to_string();
            assert!(error.contains(want), "{error}");
        }
        assert!(read(dir.path()).err().unwrap().is_refused());
    }

    #[test]
    fn a_save_at_work_is_not_disturbed() {
        let dir = tempfile::tempdir().unwrap();
        let (path, (header, entries)) = (dir.path().join("hot"), set());
        let (_, partial) = places(&path).unwrap();
        let draft = Draft::make(&path, partial).unwrap();
        assert!(write(&path, &header, &entries).unwrap_err().is_refused());
        drop(draft);
        write(&path, &header, &entries).unwrap();
    }
}
