//! One frame: when, what kind, its checksum, its compressed bytes.
//!
//! ```text
//! b5 52 | kind | length of what follows the checksum | CRC-32C | wall clock, ms | since boot, ms | place in the series | CRC of the frame before | bytes
//!   2      1       variable                             4         variable         variable         variable             2
//! ```
//!
//! The checksum is over kind, length, and all behind it. A place of 0 is a whole frame; each next one is one more, and names two bytes of
//! the checksum of the one it belongs to, so that none is ever applied to another frame than that.

use crc::{CRC_32_ISCSI, Crc};
use serde::{Deserialize, Serialize};
use zstd::zstd_safe::{self, CCtx, CParameter, DCtx};

use crate::texts::{self, Names, Texts};
use crate::varint::{Input, put};

/// How a frame begins: what is looked for behind damage.
pub const MARK: [u8; 2] = [0xb5, 0x52];
/// Bytes of no frame are more than this; a length beyond it is damage.
pub const LARGEST: usize = 64 << 20;
/// CRC-32C (RFC 3720, appendix B.4).
static CRC: Crc<u32> = Crc::<u32>::new(&CRC_32_ISCSI);
/// zstd's fastest level with a search for matches: a frame is small, and the next one comes in seconds.
const LEVEL: i32 = 3;
/// So many bytes are compressed: below it the head of zstd's format takes what it saves.
const WORTH: usize = 64;
/// The bit of the kind that says that the bytes are compressed.
const COMPRESSED: u8 = 0x80;

/// What a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Texts, whole or different from those before.
    Texts,
    /// A [`Note`].
    Note,
    /// Of a later version: passed over.
    Unknown,
}

/// When a frame was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Moment {
    /// Milliseconds since 1970, by the clock that may be set.
    pub wall_ms: u64,
    /// Milliseconds since boot, suspended or not: the clock that nothing sets.
    pub boot_ms: u64,
}

/// What happened to the recorder itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Note {
    /// It began.
    Began {
        /// Version of ramline.
        version: String,
        /// The boot.
        boot_id: Option<String>,
        /// Time between frames.
        interval_ms: u64,
    },
    /// It was asked to end.
    Ended {},
    /// Frames could not be written.
    NotWritten {
        /// The first of them, wall clock.
        since_ms: u64,
        /// How many.
        frames: u64,
        /// Why, as the system says it.
        why: String,
    },
}

/// One frame as it lies in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// What it is.
    pub kind: Kind,
    /// When.
    pub at: Moment,
    /// Place in its series: 0 is whole.
    pub place: u64,
    /// Two bytes of the checksum of the frame before it in the series.
    pub after: u16,
    /// Its own checksum.
    pub crc: u32,
    compressed: bool,
    bytes: &'a [u8],
}

impl<'a> Frame<'a> {
    /// The frame at the start of these bytes, and its length; `None` where there is no whole one.
    #[must_use]
    pub fn first(bytes: &'a [u8]) -> Option<(Frame<'a>, usize)> {
        let mut input = Input(bytes.strip_prefix(&MARK)?);
        let kind = input.byte()?;
        let length = input.count().filter(|length| *length <= LARGEST)?;
        let crc = input.u32()?;
        let body = input.take(length)?;
        if checksum(kind, body) != crc {
            return None;
        }
        let whole = bytes.len() - input.0.len();
        let mut input = Input(body);
        let at = Moment { wall_ms: input.number()?, boot_ms: input.number()? };
        let (place, after) = (input.number()?, input.u16()?);
        let compressed = kind & COMPRESSED != 0;
        let kind = match kind & !COMPRESSED {
            1 => Kind::Texts,
            2 => Kind::Note,
            _ => Kind::Unknown,
        };
        Some((Frame { kind, at, place, after, crc, compressed, bytes: input.0 }, whole))
    }

    /// Its bytes, decompressed, with what its [`Series`] has; `None` where they are not what zstd writes, or more than
    /// any frame has.
    #[must_use]
    pub(crate) fn content(&self, series: &Series) -> Option<Vec<u8>> {
        if !self.compressed {
            return Some(self.bytes.to_vec());
        }
        // The length is at the head of what zstd writes: without one, or with too large a one, it is not ours.
        let length = zstd_safe::get_frame_content_size(self.bytes).ok()??;
        let length = usize::try_from(length).ok().filter(|length| *length <= LARGEST)?;
        let mut out = Vec::with_capacity(length);
        let mut zstd = DCtx::try_create()?;
        zstd.ref_prefix(&series.content).ok()?;
        zstd.decompress(&mut out, self.bytes).ok().map(|_| out)
    }

    /// The note that it is.
    #[must_use]
    pub fn note(&self) -> Option<Note> {
        if self.kind != Kind::Note {
            return None;
        }
        ramline_units::json::parse_bytes(&self.content(&Series::default())?).ok()
    }
}

fn checksum(kind: u8, body: &[u8]) -> u32 {
    let mut digest = CRC.digest();
    digest.update(&[kind]);
    digest.update(&(body.len() as u64).to_le_bytes());
    digest.update(body);
    digest.finalize()
}

/// What zstd may refer to in a frame: the content of the whole frame of its series, which has the words of all texts, and that of the frame
/// before it, in which much the same numbers changed.
#[derive(Debug, Default)]
pub struct Series {
    content: Vec<u8>,
    /// Bytes of the whole frame, which stands first.
    whole: usize,
}

impl Series {
    /// Adds the content of a frame.
    pub fn push(&mut self, place: u64, content: &[u8]) {
        self.content.truncate(if place == 0 { 0 } else { self.whole });
        self.content.extend_from_slice(content);
        if place == 0 {
            self.whole = content.len();
        }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.content.clear();
        self.whole = 0;
    }
}

/// Compressed, with what zstd may refer to.
fn compress(content: &[u8], series: &Series) -> Option<Vec<u8>> {
    let mut zstd = CCtx::try_create()?;
    zstd.set_parameter(CParameter::CompressionLevel(LEVEL)).ok()?;
    zstd.ref_prefix(&series.content).ok()?;
    let mut out = Vec::with_capacity(zstd_safe::compress_bound(content.len()));
    zstd.compress2(&mut out, content).ok().map(|_| out)
}

fn bytes(kind: u8, at: Moment, place: u64, after: u16, content: &[u8], series: &Series) -> (Vec<u8>, u32) {
    let mut body = Vec::with_capacity(content.len() + 32);
    put(&mut body, at.wall_ms);
    put(&mut body, at.boot_ms);
    put(&mut body, place);
    body.extend_from_slice(&after.to_le_bytes());
    let packed = Some(content).filter(|content| content.len() >= WORTH).and_then(|c| compress(c, series));
    let packed = packed.filter(|packed| packed.len() < content.len());
    let kind = if packed.is_some() { kind | COMPRESSED } else { kind };
    body.extend_from_slice(packed.as_deref().unwrap_or(content));
    let crc = checksum(kind, &body);
    let mut out = MARK.to_vec();
    out.push(kind);
    put(&mut out, body.len() as u64);
    out.extend_from_slice(&crc.to_le_bytes());
    out.extend_from_slice(&body);
    (out, crc)
}

/// A note as a frame.
#[must_use]
pub fn note(at: Moment, note: &Note) -> Vec<u8> {
    bytes(2, at, 0, 0, serde_json::to_string(note).unwrap_or_default().as_bytes(), &Series::default()).0
}

/// Makes frames, each from the texts and what was in the frame before.
#[derive(Debug, Default)]
pub struct Encoder {
    names: Names,
    last: Texts,
    series: Series,
    place: Option<u64>,
    crc: u32,
}

impl Encoder {
    /// The next frame is whole: the file is another one, the last frame was lost, or it was so long ago.
    pub fn start_anew(&mut self) {
        self.place = None;
    }

    /// Frames since the last whole one, that one too.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.place.map_or(0, |place| place + 1)
    }

    /// The bytes of the next frame.
    pub fn frame(&mut self, at: Moment, now: &Texts) -> Vec<u8> {
        let place = self.place.map_or(0, |place| place + 1);
        if place == 0 {
            self.names.clear();
            self.last.clear();
            self.series.clear();
        }
        let content = texts::write(&mut self.names, &mut self.last, now);
        let after = if place == 0 { 0 } else { low(self.crc) };
        let (frame, crc) = bytes(1, at, place, after, &content, &self.series);
        (self.place, self.crc) = (Some(place), crc);
        self.series.push(place, &content);
        frame
    }
}

/// The two bytes of a checksum that the next frame names.
pub fn low(crc: u32) -> u16 {
    u16::try_from(crc & 0xffff).unwrap_or_default()
}
