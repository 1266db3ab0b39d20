//! A file of history: its head, and the frames in bytes that may be torn, damaged, or still being written.

use serde::{Deserialize, Serialize};

use crate::frame::{Frame, LARGEST, MARK, Sketch};
use crate::varint::{Input, put};

/// Version of the format. A reader refuses a later one; those before were never released.
pub const VERSION: u64 = 3;
/// How every file begins.
const MAGIC: &[u8] = b"ramline history\n";
/// No head is longer.
const LONGEST_HEAD: usize = 64 << 10;

/// What a file begins with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Head {
    /// `/etc/machine-id`, or what stands for it.
    pub machine_id: Option<String>,
    /// Name of the host.
    pub host: Option<String>,
    /// The boot in which the file was begun.
    pub boot_id: Option<String>,
    /// Version of ramline that began it.
    pub ramline: String,
}

impl Head {
    /// Its bytes: the words `ramline history`, version, length, checksum, and the head as JSON.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let json = serde_json::to_string(self).unwrap_or_default();
        let mut out = MAGIC.to_vec();
        put(&mut out, VERSION);
        put(&mut out, json.len() as u64);
        out.extend_from_slice(&checksum(json.as_bytes()).to_le_bytes());
        out.extend_from_slice(json.as_bytes());
        out
    }
}

fn checksum(json: &[u8]) -> u32 {
    crc::Crc::<u32>::new(&crc::CRC_32_ISCSI).checksum(json)
}

/// Why bytes are no file of history.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotHistory {
    /// It begins with something else.
    #[error("it is no file of 'ramline record'")]
    Other,
    /// A later version wrote it.
    #[error("it has format {0}, this ramline reads up to {VERSION}; try a newer ramline")]
    TooNew(u64),
    /// A version that was never released wrote it.
    #[error("it has format {0}, which no released ramline wrote; try: ramline record --dir ANOTHER_DIR")]
    TooOld(u64),
    /// Its head is cut off or damaged.
    #[error("its head is damaged")]
    Head,
}

/// A file's head, and where its frames begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Begins {
    /// The head.
    pub head: Head,
    /// Bytes before the first frame.
    pub frames_at: usize,
}

impl Begins {
    /// Reads the head.
    ///
    /// # Errors
    /// It is no file of history, of another version, or damaged.
    pub fn read(bytes: &[u8]) -> Result<Begins, NotHistory> {
        let mut input = Input(bytes.strip_prefix(MAGIC).ok_or(NotHistory::Other)?);
        let version = input.number().ok_or(NotHistory::Head)?;
        if version > VERSION {
            return Err(NotHistory::TooNew(version));
        }
        if version < VERSION {
            return Err(NotHistory::TooOld(version));
        }
        let length = input.count().filter(|length| *length <= LONGEST_HEAD).ok_or(NotHistory::Head)?;
        let crc = input.u32().ok_or(NotHistory::Head)?;
        let json = input.take(length).filter(|json| checksum(json) == crc).ok_or(NotHistory::Head)?;
        let head = ramline_units::json::parse_bytes(json).map_err(|_| NotHistory::Head)?;
        Ok(Begins { head, frames_at: bytes.len() - input.0.len() })
    }
}

/// Bytes that are no frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Damage {
    /// Where they begin.
    pub from: usize,
    /// How many.
    pub bytes: usize,
    /// Nothing comes behind them: the end of a frame that was being written.
    pub is_tail: bool,
}

/// An item of a file behind its head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileItem<'a> {
    /// A frame, and where it begins.
    Frame(usize, Frame<'a>),
    /// Bytes that are none.
    Damage(Damage),
}

/// The frames of a file from a place on, and what is damaged between them.
pub fn frames(bytes: &[u8], from: usize) -> impl Iterator<Item = FileItem<'_>> {
    let mut at = from;
    std::iter::from_fn(move || {
        let rest = bytes.get(at..).filter(|rest| !rest.is_empty())?;
        if let Some((frame, length)) = Frame::first(rest) {
            let found = FileItem::Frame(at, frame);
            at += length;
            return Some(found);
        }
        let lost = behind_damage(rest).unwrap_or(rest.len());
        let damage = Damage { from: at, bytes: lost, is_tail: lost == rest.len() };
        at += lost;
        Some(FileItem::Damage(damage))
    })
}

/// The frames of a file from a place on by what they say of themselves, without their checksums; `None` where they do not follow each other to the end:
/// there is damage, or a frame is being written, and [`frames`] has to look.
#[must_use]
pub fn sketches(bytes: &[u8], from: usize) -> Option<Vec<(usize, Sketch)>> {
    let (mut at, mut out) = (from, Vec::new());
    while at < bytes.len() {
        let sketch = Frame::sketch(bytes.get(at..)?)?;
        out.push((at, sketch));
        at += sketch.length;
    }
    Some(out)
}

/// Where the next frame begins. A place that looks like one is only believed with its checksum; what was looked at for that is
/// bounded, so that bytes made to look like many long frames take no more than a few readings of the file.
fn behind_damage(bytes: &[u8]) -> Option<usize> {
    let mut work = 8 * bytes.len().max(LARGEST / 64);
    let mut at = 1;
    while let Some(next) = bytes.get(at..)?.windows(MARK.len()).position(|two| two == MARK) {
        at += next;
        let rest = bytes.get(at..)?;
        let mut input = Input(rest.get(MARK.len()..)?);
        let length = input.byte().and_then(|_| input.count()).filter(|length| *length <= rest.len()).unwrap_or(0);
        if length > 0 {
            work = work.checked_sub(length)?;
            if Frame::first(rest).is_some() {
                return Some(at);
            }
        }
        at += 1;
    }
    None
}
