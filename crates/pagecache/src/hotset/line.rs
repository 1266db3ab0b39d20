//! The lines of a hot set, and how they are written: a header, a line a file, an end with the counts.
//!
//! The file comes to its place whole or not at all, as every result does ([`ramline_kernel::output`]).

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use ramline_kernel::KernelError;
use ramline_kernel::output::{Format, Output};
use ramline_units::Bytes;
use serde::{Deserialize, Serialize};

use super::parts::Numbers;
use super::{Entry, Header, VERSION};

/// How the first line begins; behind it stands the version.
pub const MAGIC: &str = "ramline hot set ";
/// How the file begins, and who may read it.
pub const FORMAT: Format = Format { begins: MAGIC.as_bytes(), mode: 0o600 };
/// linux/limits.h: PATH_MAX, the NUL counted. The kernel opens nothing longer.
const PATH_MAX: usize = 4096;
/// No file is longer: off_t.
const MOST_LENGTH: u64 = i64::MAX.unsigned_abs();
/// More gains little here and costs time.
const LEVEL: i32 = 3;

/// One line.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    HotSet(Header),
    File(Record),
    End { files: u64, hot: u64 },
}

#[derive(Serialize, Deserialize)]
pub struct Record {
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
    pub fn entry(self, page: u64) -> Option<Entry> {
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
