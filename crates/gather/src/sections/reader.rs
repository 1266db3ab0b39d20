//! Reads files below the root: bounded, regular files only, and, when asked, on record.

use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{FileExt, FileTypeExt};

use ramline_kernel::process::boottime;
use ramline_snapshot::{Malformed, Noted};

use super::meta::Meta;
pub use super::not_read::NotRead;
use super::open::{Open, OpenGroups};
use crate::prelude::*;

/// No file of the kernel that we read is larger; a captured one that is, is not a capture.
const LARGEST: usize = 32 << 20;

/// Of sysfs the kernel gives a page; what is taken apart word by word must not be a book.
const LARGEST_KNOB: usize = 1 << 20;

/// What one read asks for: more than the kernel gives at once of most of its files.
const PIECE: usize = 8 << 10;

/// `/dev/null`, major 1 and minor 3, as the kernel numbers devices.
const NULL_DEVICE: u64 = 0x103;

/// ENODEV: a file of a control group that was removed after it was opened.
const NO_DEVICE: i32 = rustix::io::Errno::NODEV.raw_os_error();

pub struct Reader<'a> {
    pub root: &'a Root,
    meta: Option<Meta>,
    tape: Option<RefCell<BTreeMap<String, Option<String>>>>,
    /// Texts that stand for all files.
    given: Option<&'a BTreeMap<String, String>>,
    /// When all must have been read.
    pub end: Option<Instant>,
    /// Files that stay open after this reading.
    open: Option<&'a Open>,
}

impl<'a> Reader<'a> {
    pub fn new(root: &'a Root) -> Self {
        let meta = if root.is_live() { None } else { Some(Meta::load(root)) };
        Reader { root, meta, tape: None, given: None, end: None, open: None }
    }

    /// One that reads nothing: texts of this machine's files, read before.
    pub fn given(root: &'a Root, texts: &'a BTreeMap<String, String>) -> Self {
        Reader { given: Some(texts), ..Reader::new(root) }
    }

    /// One of this machine that leaves files open for the next reading, and uses what the last one left.
    pub fn with_open(root: &'a Root, open: &'a Open) -> Self {
        Reader { open: Some(open).filter(|_| root.is_live()), ..Reader::new(root) }
    }

    /// One that stops at this moment where a section is read piece by piece.
    pub fn until(root: &'a Root, end: Instant) -> Self {
        Reader { end: Some(end), ..Reader::new(root) }
    }

    /// Control groups that stay open after this reading.
    pub fn open_groups(&self) -> Option<&'a OpenGroups> {
        self.open.map(|open| &open.groups)
    }

    /// When a section ends that may take so long by itself.
    pub fn ends(&self, most: Duration) -> Instant {
        let own = Instant::now() + most;
        self.end.map_or(own, |end| end.min(own))
    }

    pub fn recording(root: &'a Root) -> Self {
        Reader { tape: Some(RefCell::default()), ..Reader::new(root) }
    }

    /// What a captured tree knows beyond its files; `None` on the live machine.
    pub const fn meta(&self) -> Option<&Meta> {
        self.meta.as_ref()
    }

    /// Files read so far; `None` as text where the kernel refused.
    pub fn recorded(&self) -> BTreeMap<String, Option<String>> {
        self.tape.as_ref().map(|t| t.borrow().clone()).unwrap_or_default()
    }

    /// True when what is read is kept.
    pub const fn is_recording(&self) -> bool {
        self.tape.is_some()
    }

    /// Keeps texts that were read without this reader.
    pub fn record(&self, texts: Vec<(String, Option<String>)>) {
        if let Some(tape) = &self.tape {
            tape.borrow_mut().extend(texts);
        }
    }

    pub fn text(&self, path: impl AsRef<Path>) -> Result<String, NotRead> {
        self.on_record(path.as_ref(), self.read(path.as_ref()))
    }

    fn on_record(&self, path: &Path, read: Result<String, NotRead>) -> Result<String, NotRead> {
        if let (Some(tape), Ok(_) | Err(NotRead::Denied)) = (&self.tape, &read) {
            tape.borrow_mut().insert(path.to_string_lossy().into_owned(), read.clone().ok());
        }
        read
    }

    fn read(&self, path: &Path) -> Result<String, NotRead> {
        if let Some(texts) = self.given {
            return path.to_str().and_then(|path| texts.get(path)).cloned().ok_or(NotRead::Absent);
        }
        if self.meta.as_ref().is_some_and(|m| m.denied.iter().any(|d| Path::new(d) == path)) {
            return Err(NotRead::Denied);
        }
        let full = self.root.path(path);
        if !self.root.is_live() {
            // A captured tree may hold anything: a FIFO or a link to a device in it must not hang us.
            regular(&std::fs::symlink_metadata(&full).map_err(classify)?)?;
        }
        let open = || File::open(&full).map_err(classify);
        let knob = path.starts_with("/sys") && !path.starts_with("/sys/fs/cgroup");
        let largest = if knob { LARGEST_KNOB } else { LARGEST };
        let bytes = match self.open {
            Some(open_files) => open_files.files.read(path, open, |file| whole(file, largest, knob))?,
            None => whole(&open()?, largest, knob)?,
        };
        Ok(String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()))
    }

    /// Text of a configuration file, which an administrator may have made anything: what is not a file is not opened.
    /// A link to `/dev/null` takes a file out of effect, and is an empty one.
    pub fn config(&self, path: &str) -> Result<String, NotRead> {
        self.on_record(Path::new(path), self.peek(path))
    }

    /// The same, without putting it on record: of many files only some may turn out to matter.
    pub fn peek(&self, path: &str) -> Result<String, NotRead> {
        if let (true, Ok(meta)) = (self.root.is_live(), std::fs::metadata(self.root.path(path))) {
            if meta.file_type().is_char_device() && meta.rdev() == NULL_DEVICE {
                return Ok(String::new());
            }
            regular(&meta)?;
        }
        self.read(Path::new(path))
    }

    /// Text of a file inside a section; why it could not be used goes to `unseen`.
    pub fn text_or(&self, path: String, unseen: &mut Vec<Unseen>) -> Option<String> {
        self.or_unseen(self.text(&path), path, unseen)
    }

    /// The same of a configuration file.
    pub fn config_or(&self, path: &str, unseen: &mut Vec<Unseen>) -> Option<String> {
        self.or_unseen(self.config(path), path.to_owned(), unseen)
    }

    fn or_unseen(&self, read: Result<String, NotRead>, path: String, unseen: &mut Vec<Unseen>) -> Option<String> {
        match read {
            Ok(text) => return Some(text),
            Err(NotRead::Absent) => {}
            Err(NotRead::Denied) => unseen.push(Unseen::denied(path)),
            // In a captured tree that is garbage, on the machine the kernel's answer.
            Err(NotRead::Unusable(why)) => {
                unseen.push(Unseen { garbage: !self.root.is_live(), ..Unseen::new(path, why) });
            }
        }
        None
    }

    /// Directories in a directory, sorted, links not followed.
    pub fn directories(&self, dir: &Path) -> Result<Vec<OsString>, NotRead> {
        let entries = std::fs::read_dir(self.root.path(dir)).map_err(classify)?;
        let all = entries.collect::<Result<Vec<_>, _>>().map_err(classify)?;
        let directories = all.iter().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        let mut names: Vec<OsString> = directories.map(std::fs::DirEntry::file_name).collect();
        names.sort();
        Ok(names)
    }

    /// Trimmed text of a file, if there is one.
    pub fn word(&self, path: &str) -> Option<String> {
        self.text(path).ok().map(|t| t.trim().to_owned())
    }

    pub fn number(&self, path: &str) -> Option<u64> {
        self.word(path)?.parse().ok()
    }

    /// A number that is there or not; one that is no number goes to `unseen`.
    pub fn number_or(&self, path: &str, unseen: &mut Vec<Unseen>) -> Option<u64> {
        let text = self.word(path)?;
        text.parse().map_err(|_| unseen.push((&Malformed::new(path, 0, &text)).into())).ok()
    }

    /// Names in a directory, sorted; empty when there is none.
    pub fn names(&self, dir: &str) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.root.path(dir)) else { return Vec::new() };
        let mut names: Vec<String> = entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// True when the path exists below the root.
    pub fn exists(&self, path: impl AsRef<Path>) -> bool {
        self.root.path(path).exists()
    }

    /// One section from one file.
    pub fn section<T>(&self, path: &str, parse: impl FnOnce(&Noted, &str) -> Result<T, Malformed>) -> Seen<T> {
        let start = self.clock();
        match self.text(path) {
            Ok(text) => {
                let from = Noted::new(path);
                match parse(&from, &text) {
                    Ok(data) => self.seen(data, start, from.note()),
                    Err(malformed) => Seen::Malformed(malformed),
                }
            }
            Err(NotRead::Denied) => Seen::Denied { path: path.to_owned() },
            Err(NotRead::Absent) => Seen::Absent { path: path.to_owned() },
            Err(NotRead::Unusable(why)) => Seen::Malformed(Malformed { path: path.to_owned(), line: 0, text: why }),
        }
    }

    /// A section that is always seen, with its time and cost.
    pub fn timed<T>(&self, make: impl FnOnce() -> T) -> Seen<T> {
        let start = self.clock();
        let data = make();
        self.seen(data, start, None)
    }

    fn seen<T>(&self, data: T, start: Option<Nanos>, skipped: Option<Unseen>) -> Seen<T> {
        let cost = self.clock().zip(start).map(|(end, start)| end.saturating_sub(start));
        Seen::Seen { data, at: start, cost, skipped }
    }

    /// Boot-time clock; none in a captured tree, whose answers must not depend on when they are asked.
    fn clock(&self) -> Option<Nanos> {
        self.root.is_live().then(boottime)
    }
}

/// The whole file in as few reads as the kernel allows: its files tell no length, and the standard library begins with 32 bytes. A knob of
/// sysfs is at most a page and comes in one piece.
fn whole(file: &File, largest: usize, knob: bool) -> Result<Vec<u8>, NotRead> {
    let (mut bytes, mut piece) = (Vec::new(), [0; PIECE]);
    loop {
        match read_at(file, &mut piece, bytes.len()) {
            Ok(0) => return Ok(bytes),
            Ok(count) => {
                bytes.extend_from_slice(piece.get(..count).unwrap_or_default());
                if knob && count < PIECE {
                    return Ok(bytes);
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(classify(error)),
        }
        if bytes.len() > largest {
            return Err(NotRead::Unusable(format!("larger than {} MiB", largest >> 20)));
        }
    }
}

/// Reads from there on; what has no places, as a FIFO in /run may be, gives what comes next.
fn read_at(mut file: &File, piece: &mut [u8], at: usize) -> std::io::Result<usize> {
    match file.read_at(piece, u64::try_from(at).unwrap_or(u64::MAX)) {
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::SPIPE.raw_os_error()) => file.read(piece),
        read => read,
    }
}

fn regular(meta: &std::fs::Metadata) -> Result<(), NotRead> {
    meta.is_file().then_some(()).ok_or_else(|| NotRead::Unusable("not a regular file".to_owned()))
}

fn classify(error: std::io::Error) -> NotRead {
    match (error.kind(), error.raw_os_error()) {
        (ErrorKind::NotFound | ErrorKind::NotADirectory, _) | (_, Some(NO_DEVICE)) => NotRead::Absent,
        (ErrorKind::PermissionDenied, _) => NotRead::Denied,
        _ => NotRead::Unusable(error.to_string()),
    }
}
