//! One frame: when, what kind, its checksum, its compressed bytes.
//!
//! ```text
//! b5 52 | kind | length of what follows the checksum | CRC-32C | wall clock, ms | since boot, ms | place in the series | CRC of the frame before | bytes
//!   2      1       variable                             4         variable         variable         variable             2
//! ```
//!
//! The checksum is over kind, length, and all behind it. A place of 0 is a whole frame; each next one is one more, and names two bytes of
//! the checksum of the one it belongs to, so that none is ever applied to another frame than that.

use std::collections::VecDeque;

use crc::{CRC_32_ISCSI, Crc, Table};
use serde::{Deserialize, Serialize};
use zstd::zstd_safe::{self, CCtx, DCtx};

use crate::texts::{self, Names, Texts};
use crate::varint::{Input, put};

/// How a frame begins: what is looked for behind damage.
pub const MARK: [u8; 2] = [0xb5, 0x52];
/// Bytes of no frame are more than this; a length beyond it is damage.
pub const LARGEST: usize = 64 << 20;
/// CRC-32C (RFC 3720, appendix B.4).
static CRC: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_ISCSI);
/// zstd's fastest level with a search for matches: a frame is small, and the next one comes in seconds.
const LEVEL: i32 = 3;
/// So many bytes are compressed: below it the head of zstd's format takes what it saves.
const WORTH: usize = 64;
/// The bit of the kind that says that the bytes are compressed.
const COMPRESSED: u8 = 0x80;
/// The bit that says that they refer to the last frames alone and not to the whole one of their series.
const BY_LAST: u8 = 0x40;
/// A content of fewer bytes and without words refers to the last frames alone, since zstd goes through all that it may refer to first. Words (names of a program
/// that begins) are in the whole frame.
const SMALL: usize = 2 << 10;
/// Frames before one that it may refer to: of counters alone there are two between those of who holds memory, and so one of each kind is among them.
const LAST: usize = 4;

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

impl Kind {
    const fn from_byte(byte: u8) -> Kind {
        match byte & !(COMPRESSED | BY_LAST) {
            1 => Kind::Texts,
            2 => Kind::Note,
            _ => Kind::Unknown,
        }
    }
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
    by_last: bool,
    bytes: &'a [u8],
}

/// What a frame says of itself before its checksum was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sketch {
    /// What it is.
    pub kind: Kind,
    /// When.
    pub at: Moment,
    /// Place in its series.
    pub place: u64,
    /// Bytes from its beginning to the next one's.
    pub length: usize,
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
        let (compressed, by_last, kind) = (kind & COMPRESSED != 0, kind & BY_LAST != 0, Kind::from_byte(kind));
        Some((Frame { kind, at, place, after, crc, compressed, by_last, bytes: input.0 }, whole))
    }

    /// The same without its checksum: from frame to frame a whole file takes a millisecond, and what is decoded later is checked then.
    #[must_use]
    pub fn sketch(bytes: &[u8]) -> Option<Sketch> {
        let mut input = Input(bytes.strip_prefix(&MARK)?);
        let kind = Kind::from_byte(input.byte()?);
        let length = input.count().filter(|length| *length <= LARGEST)?;
        input.u32()?;
        let body = input.take(length)?;
        let whole = bytes.len() - input.0.len();
        let mut input = Input(body);
        let at = Moment { wall_ms: input.number()?, boot_ms: input.number()? };
        Some(Sketch { kind, at, place: input.number()?, length: whole })
    }

    /// Its bytes, decompressed, with what its [`Series`] has; `None` where they are not what zstd writes, or more than
    /// any frame has.
    #[must_use]
    pub(crate) fn content(&self, series: &Series, zstd: &mut Decompressor) -> Option<Vec<u8>> {
        if !self.compressed {
            return Some(self.bytes.to_vec());
        }
        // The length is at the head of what zstd writes: without one, or with too large a one, it is not ours.
        let length = zstd_safe::get_frame_content_size(self.bytes).ok()??;
        let length = usize::try_from(length).ok().filter(|length| *length <= LARGEST)?;
        let mut out = Vec::with_capacity(length);
        zstd.0.decompress_using_dict(&mut out, self.bytes, series.prefix(self.by_last)).ok().map(|_| out)
    }

    /// The note that it is.
    #[must_use]
    pub fn note(&self) -> Option<Note> {
        if self.kind != Kind::Note {
            return None;
        }
        ramline_units::json::parse_bytes(&self.content(&Series::default(), &mut Decompressor::default())?).ok()
    }
}

fn checksum(kind: u8, body: &[u8]) -> u32 {
    let mut digest = CRC.digest();
    digest.update(&[kind]);
    digest.update(&(body.len() as u64).to_le_bytes());
    digest.update(body);
    digest.finalize()
}

/// What zstd may refer to in a frame: the content of the whole frame of its series, which has the words of all texts, and those of the
/// frames before it, in which much the same numbers changed.
#[derive(Debug, Default)]
pub struct Series {
    content: Vec<u8>,
    /// Bytes of the whole frame, which stands first.
    whole: usize,
    /// Bytes of each of the last frames behind it.
    last: VecDeque<usize>,
}

impl Series {
    /// Adds the content of a frame.
    pub fn push(&mut self, place: u64, content: &[u8]) {
        if place == 0 {
            self.clear();
            self.whole = content.len();
        } else {
            if self.last.len() >= LAST {
                let oldest = self.last.pop_front().unwrap_or(0);
                self.content.drain(self.whole..self.whole + oldest);
            }
            self.last.push_back(content.len());
        }
        self.content.extend_from_slice(content);
    }

    fn prefix(&self, by_last: bool) -> &[u8] {
        self.content.get(if by_last { self.whole } else { 0 }..).unwrap_or_default()
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.content.clear();
        self.last.clear();
        self.whole = 0;
    }
}

/// zstd's memory, used again from frame to frame: to get it anew takes longer than a frame.
pub struct Compressor(CCtx<'static>);

/// The same for reading.
pub struct Decompressor(DCtx<'static>);

impl Default for Compressor {
    fn default() -> Self {
        Compressor(CCtx::create())
    }
}

impl Default for Decompressor {
    fn default() -> Self {
        Decompressor(DCtx::create())
    }
}

impl std::fmt::Debug for Compressor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Compressor")
    }
}

impl std::fmt::Debug for Decompressor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Decompressor")
    }
}

/// Compressed, with what zstd may refer to.
fn compress(content: &[u8], prefix: &[u8], zstd: &mut Compressor) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(zstd_safe::compress_bound(content.len()));
    // What it may refer to is content and not a dictionary of zstd's own form: no content begins as such a one does, since its first bytes are the
    // length of its steps and a code below 4.
    zstd.0.compress_using_dict(&mut out, content, prefix, LEVEL).ok().map(|_| out)
}

fn bytes(
    kind: u8,
    at: Moment,
    (place, after): (u64, u16),
    content: &[u8],
    series: &Series,
    zstd: &mut Compressor,
) -> (Vec<u8>, u32) {
    let mut body = Vec::with_capacity(content.len() + 32);
    put(&mut body, at.wall_ms);
    put(&mut body, at.boot_ms);
    put(&mut body, place);
    body.extend_from_slice(&after.to_le_bytes());
    let has_words = content.windows(2).any(|pair| pair == b"\":");
    let by_last = place > 0 && content.len() < SMALL && !has_words;
    let packed = Some(content).filter(|content| content.len() >= WORTH);
    let packed = packed.and_then(|content| compress(content, series.prefix(by_last), zstd));
    let packed = packed.filter(|packed| packed.len() < content.len());
    let kind = match packed {
        Some(_) if by_last => kind | COMPRESSED | BY_LAST,
        Some(_) => kind | COMPRESSED,
        None => kind,
    };
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
    let json = serde_json::to_string(note).unwrap_or_default();
    bytes(2, at, (0, 0), json.as_bytes(), &Series::default(), &mut Compressor::default()).0
}

/// Makes frames, each from the texts and what was in the frame before.
#[derive(Debug, Default)]
pub struct Encoder {
    names: Names,
    last: Texts,
    series: Series,
    zstd: Compressor,
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
        let (frame, crc) = bytes(1, at, (place, after), &content, &self.series, &mut self.zstd);
        (self.place, self.crc) = (Some(place), crc);
        self.series.push(place, &content);
        frame
    }
}

/// The two bytes of a checksum that the next frame names.
pub fn low(crc: u32) -> u16 {
    u16::try_from(crc & 0xffff).unwrap_or_default()
}
