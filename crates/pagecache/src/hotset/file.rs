//! The file of a hot set: written whole or not at all, read whole or not at all.
//!
//! Writing is that of every result ([`ramline_kernel::output`]). Reading is done twice: once to check length, checksum, counts and every
//! line before anything is done with any of it, keeping nothing; then piece by piece, so that what it costs in memory does not grow with
//! what somebody may have put into it. Nothing in it is trusted: it may come from anywhere.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use ramline_kernel::output::{Format, Output};
use ramline_kernel::{Cause, KernelError, input};
use ramline_units::Bytes;
use serde::{Deserialize, Serialize};

use super::parts::Numbers;
use super::{Entry, Header, MOST_FILES, VERSION};

const MAGIC: &str = "ramline hot set ";
/// How the file begins, and who may read it.
pub const FORMAT: Format = Format { begins: MAGIC.as_bytes(), mode: 0o600 };
/// A line with the longest name and [`super::MOST_NUMBERS`] of the largest numbers is shorter.
const LONGEST: u64 = 32 << 20;
/// linux/limits.h: PATH_MAX, the NUL counted. The kernel opens nothing longer.
const PATH_MAX: usize = 4096;
/// Lines of ours take a thousandth of their length at the least, and a small file may be as regular as it likes.
const MOST_TEXT: (u64, u64) = (256 << 20, 1000);
/// No file is longer: off_t.
const MOST_LENGTH: u64 = i64::MAX.unsigned_abs();
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
    parts: Option<Numbers>,
}

impl Record {
    fn new(entry: &Entry) -> Record {
        let name = crate::remarks::name(&entry.path);
        let parts = entry.parts.clone().map(Numbers);
        let Entry { length, mtime_ns, inode, device, .. } = *entry;
        Record { path: name.path, path_bytes: name.path_bytes, length, mtime_ns, inode, device, parts }
    }

    /// `None` where it makes no sense.
    fn entry(self, page: u64) -> Option<Entry> {
        let Record { length, mtime_ns, inode, device, .. } = self;
        let path = match self.path_bytes {
            Some(bytes) => PathBuf::from(std::ffi::OsStr::from_bytes(&bytes)),
            None => PathBuf::from(self.path),
        };
        let entry = Entry { path, length, mtime_ns, inode, device, parts: self.parts.map(|Numbers(parts)| parts) };
        // Pages are of the file, and a page that is only begun counts.
        let within = entry.parts.as_ref().is_none_or(|parts| parts.end() <= length.div_ceil(page));
        (entry.path.is_absolute() && is_name(&entry.path) && length <= MOST_LENGTH && within).then_some(entry)
    }
}

/// The kernel could open it.
pub fn is_name(path: &Path) -> bool {
    let bytes = path.as_os_str().as_bytes();
    bytes.len() < PATH_MAX && !bytes.contains(&0)
}

/// Writes a hot set to its place; its size.
///
/// # Errors
/// When it cannot be written whole; what was there stays.
pub fn write(output: Output, header: &Header, entries: &[Entry]) -> Result<Bytes, KernelError> {
    output.write_with(|out| fill(out, header, entries)).map(Bytes)
}

fn fill(mut out: &mut dyn Write, header: &Header, entries: &[Entry]) -> io::Result<()> {
    writeln!(out, "{MAGIC}{VERSION}")?;
    let mut frame = zstd::Encoder::new(&mut out, LEVEL)?;
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
    frame.finish()?.flush()
}

type Lines = BufReader<zstd::Decoder<'static, BufReader<File>>>;

/// A hot set of which the header has been read.
pub struct Reading {
    /// Where and when it was saved.
    pub header: Header,
    path: PathBuf,
    file: File,
    size: u64,
}

/// Begins to read a hot set.
///
/// # Errors
/// `Refused` for a file that is none, is one of another version, or is damaged.
pub fn read(path: &Path) -> Result<Reading, KernelError> {
    let failed = |error| KernelError::io("read the hot set", path, error);
    let looked = input::Looked::at(path, true).map_err(failed)?;
    if looked.kind() != rustix::fs::FileType::RegularFile {
        return Err(none(path));
    }
    let file = looked.open().map_err(failed)?;
    let mut first = Vec::new();
    BufReader::new(&file).take(64).read_until(b'\n', &mut first).map_err(failed)?;
    let version = std::str::from_utf8(&first).ok().and_then(|line| line.strip_prefix(MAGIC)?.strip_suffix('\n'));
    // As it is written: no sign, no zeros before it.
    match version.map(|text| (text.parse::<u32>().ok().filter(|number| number.to_string() == text), text)) {
        Some((Some(VERSION), _)) => {}
        Some((Some(other), _)) => {
            let rule = format!("it is a hot set of version {other}, and this ramline reads version {VERSION}");
            return Err(KernelError::refused("read the hot set", path, rule, ""));
        }
        _ => return Err(none(path)),
    }
    let size = file.metadata().map_err(failed)?.len();
    let mut reading = Reading { header: Header::default(), path: path.to_owned(), file, size };
    match reading.lines()?.next()? {
        Line::HotSet(header) if header.is_possible(size) => reading.header = header,
        Line::HotSet(header) => {
            let (files, hot, page) = (header.files, header.hot, header.page);
            let numbers = format!("{files} files, {hot} bytes, pages of {page}, in a file of {}", Bytes(size));
            return Err(damaged(path, &format!("its header cannot be true: {numbers}")));
        }
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
    fn lines(&self) -> Result<Reader<'_>, KernelError> {
        let failed = |error| KernelError::io("read the hot set", &self.path, error);
        let mut file = self.file.try_clone().map_err(failed)?;
        file.rewind().map_err(failed)?;
        let mut file = BufReader::new(file);
        file.read_until(b'\n', &mut Vec::new()).map_err(failed)?;
        let frame = zstd::Decoder::with_buffer(file).map_err(|error| damaged(&self.path, &error.to_string()))?;
        let most = MOST_TEXT.0.max(self.size.saturating_mul(MOST_TEXT.1));
        Ok(Reader { path: &self.path, lines: BufReader::new(frame), left: most, text: Vec::new() })
    }

    /// Reads all of it and keeps nothing: afterwards every line is known to make sense.
    ///
    /// # Errors
    /// `Refused` when it is damaged anywhere: then nothing of it is to be trusted.
    pub fn check(&self) -> Result<(), KernelError> {
        let (mut lines, mut files, mut hot) = (self.lines()?, 0u64, 0u64);
        lines.next()?;
        while let Some(entry) = self.entry(&mut lines, (files, hot))? {
            files = files.saturating_add(1);
            hot = hot.saturating_add(entry.pages(self.header.page).saturating_mul(self.header.page));
            if files > self.header.files {
                return Err(damaged(&self.path, "its counts are wrong"));
            }
            if ramline_kernel::signals::interrupted() {
                return Err(KernelError::refused("read the hot set", &self.path, "interrupted", ""));
            }
        }
        // The checksum stands behind the last line.
        match lines.lines.read(&mut [0]) {
            Ok(0) => Ok(()),
            Ok(_) => Err(damaged(&self.path, "it goes on behind its end")),
            Err(error) => Err(damaged(&self.path, &error.to_string())),
        }
    }

    /// The next file; `None` at the end, whose counts must be those of what was read.
    fn entry(&self, lines: &mut Reader<'_>, read: (u64, u64)) -> Result<Option<Entry>, KernelError> {
        match lines.next()? {
            Line::File(record) => match record.entry(self.header.page) {
                Some(entry) => Ok(Some(entry)),
                None => Err(damaged(&self.path, "a file's line makes no sense")),
            },
            Line::End { files, hot }
                if (files, hot) == read && (files, hot) == (self.header.files, self.header.hot) =>
            {
                Ok(None)
            }
            Line::End { .. } | Line::HotSet(_) => Err(damaged(&self.path, "its counts are wrong")),
        }
    }

    /// All files, in the order in which they are to be read, in pieces of a bounded size. What has been [checked](Reading::check) is read
    /// again; should it have been changed since, it ends there with an error.
    ///
    /// # Errors
    /// It cannot be read, or has been changed.
    pub fn pieces(&self) -> Result<Pieces<'_>, KernelError> {
        let mut lines = self.lines()?;
        lines.next()?;
        Ok(Pieces { reading: self, lines, read: (0, 0), over: false })
    }
}

/// The files of a hot set, piece by piece.
pub struct Pieces<'a> {
    reading: &'a Reading,
    lines: Reader<'a>,
    read: (u64, u64),
    over: bool,
}

/// Files of a piece, and what they may take in memory.
const PIECE: (usize, usize) = (1 << 16, 16 << 20);

impl Iterator for Pieces<'_> {
    type Item = Result<Vec<Entry>, KernelError>;

    fn next(&mut self) -> Option<Self::Item> {
        let (mut entries, mut size, page) = (Vec::new(), 0, self.reading.header.page);
        while !self.over && entries.len() < PIECE.0 && size < PIECE.1 {
            match self.reading.entry(&mut self.lines, self.read) {
                Ok(Some(entry)) => {
                    self.read.0 = self.read.0.saturating_add(1);
                    self.read.1 = self.read.1.saturating_add(entry.pages(page).saturating_mul(page));
                    size += entry.size();
                    entries.push(entry);
                }
                Ok(None) => self.over = true,
                Err(error) => {
                    self.over = true;
                    return Some(Err(error));
                }
            }
        }
        (!entries.is_empty()).then_some(Ok(entries))
    }
}

/// The lines, one after the other.
struct Reader<'a> {
    path: &'a Path,
    lines: Lines,
    /// Bytes that may still come.
    left: u64,
    text: Vec<u8>,
}

impl Reader<'_> {
    fn next(&mut self) -> Result<Line, KernelError> {
        self.text.clear();
        // What one long line needed is not kept for all.
        self.text.shrink_to(1 << 20);
        let got = (&mut self.lines).take(LONGEST.min(self.left)).read_until(b'\n', &mut self.text);
        match got {
            Ok(got) if self.text.ends_with(b"\n") => {
                self.left -= u64::try_from(got).unwrap_or(self.left).min(self.left)
            }
            Ok(got) if u64::try_from(got).is_ok_and(|got| got >= LONGEST.min(self.left)) => {
                return Err(damaged(self.path, "a line is longer than any that is written"));
            }
            Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => {
                return Err(damaged(self.path, &error.to_string()));
            }
            _ => return Err(damaged(self.path, "it is cut short")),
        }
        serde_json::from_slice(&self.text).map_err(|error| damaged(self.path, &error.to_string()))
    }
}

impl Header {
    /// What a file of so many bytes can hold and a machine can have had in memory.
    fn is_possible(&self, size: u64) -> bool {
        // Linux has pages of 4 KiB to 256 KiB, and no physical address beyond 2^52.
        let page = self.page.is_power_of_two() && (4 << 10..=256 << 10).contains(&self.page);
        // Every line differs from the one before in name and inode: it takes more than a quarter of a byte.
        page && self.files <= MOST_FILES && self.files <= size.saturating_mul(4) && self.hot <= 1 << 52
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hotset::Parts;

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

    fn save(path: &Path, header: &Header, entries: &[Entry]) {
        write(Output::open(path, FORMAT, "").unwrap(), header, entries).unwrap();
    }

    fn all(path: &Path) -> Result<Vec<Entry>, KernelError> {
        let reading = read(path)?;
        reading.check()?;
        let mut entries = Vec::new();
        for piece in reading.pieces()? {
            entries.extend(piece?);
        }
        Ok(entries)
    }

    #[test]
    fn what_is_written_is_read_again_and_nothing_stays_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let (path, (header, entries)) = (dir.path().join("hot"), set());
        save(&path, &header, &entries);
        assert_eq!(read(&path).unwrap().header, header);
        assert_eq!(all(&path).unwrap(), entries);
        assert_eq!(entries[1].ranges(4096), [(4096, 8192), (5 * 4096, 4096)]);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_cut_anywhere_or_with_any_byte_changed_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let (path, (header, entries)) = (dir.path().join("hot"), set());
        save(&path, &header, &entries);
        let whole = std::fs::read(&path).unwrap();
        for cut in 0..whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let error = all(&path).unwrap_err();
            assert!(error.is_refused(), "{cut}: {error}");
        }
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x20;
            std::fs::write(&path, &bytes).unwrap();
            // A bit of the frame's own header may mean nothing; then all that is read must be as it was.
            if let Ok(read) = all(&path) {
                assert_eq!(read, entries, "byte {at}");
            }
        }
    }

    #[test]
    fn another_version_and_what_is_no_hot_set_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("hot");
        for (text, want) in [
            ("ramline hot set 2\n", "version 2"),
            ("ramline hot set +1\n", "no hot set"),
            ("ramline hot set 01\n", "no hot set"),
            ("hello\n", "no hot set"),
            ("", "no hot set"),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = read(&path).err().unwrap().to_string();
            assert!(error.contains(want), "{error}");
        }
        assert!(read(dir.path()).err().unwrap().is_refused());
    }

    #[test]
    fn what_cannot_be_true_is_refused_before_anything_is_done() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("hot");
        let refused = |header: &Header, entries: &[Entry]| {
            save(&path, header, entries);
            all(&path).unwrap_err().to_string()
        };
        let (header, entries) = set();
        for bad in [
            Header { page: 2, ..header.clone() },
            Header { page: 1 << 40, ..header.clone() },
            Header { files: 15_000_000, ..header.clone() },
            Header { hot: u64::MAX, ..header.clone() },
        ] {
            let error = refused(&bad, &entries);
            assert!(error.contains("its header cannot be true"), "{error}");
        }
        let error = refused(&Header { files: 1, ..header.clone() }, &entries);
        assert!(error.contains("its counts are wrong"), "{error}");
        let long = PathBuf::from(format!("/{}", "x".repeat(4096)));
        for entry in [
            Entry { length: u64::MAX, ..entries[0].clone() },
            Entry { length: 100, ..entries[1].clone() },
            Entry { path: long, ..entries[0].clone() },
            Entry { path: "relative".into(), ..entries[0].clone() },
        ] {
            let hot = entry.pages(4096).saturating_mul(4096).min(1 << 52);
            let error = refused(&Header { files: 1, hot, ..header.clone() }, &[entry]);
            assert!(error.contains("makes no sense"), "{error}");
        }
    }

    #[test]
    fn a_line_that_never_ends_is_refused_within_its_bound() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("hot");
        let mut bytes = format!("{MAGIC}{VERSION}\n").into_bytes();
        let header = serde_json::to_string(&Line::HotSet(set().0)).unwrap();
        let mut frame = zstd::Encoder::new(&mut bytes, LEVEL).unwrap();
        writeln!(frame, "{header}").unwrap();
        for _ in 0..64 {
            frame.write_all(&[b' '; 1 << 20]).unwrap();
        }
        frame.finish().unwrap();
        std::fs::write(&path, bytes).unwrap();
        let error = all(&path).unwrap_err().to_string();
        assert!(error.contains("longer than any"), "{error}");
    }
}
