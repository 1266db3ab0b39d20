//! LZO1X for single pages, plain and with runs of zeros (lzo-rle), as the kernel's documentation describes the stream
//! (Documentation/staging/lzo.rst).
//!
//! What it is not: the kernel's code, and no decoder for the streams of others: pages are shorter than 16 KiB, so only the short distances
//! are written. A greedy search with one candidate a position, as all fast LZ codes do it; ratios are those of the kernel to within a few
//! hundredths (tests/pages), times are of this code.
//!
//! Worked example: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" is one literal run of 4 and then a copy from 1 back of what is left, less the last
//! bytes, which are always literals.
//!
//! A crate by itself because what is timed is optimised fully, however small the rest of the binary is built.
//!
//! ```
//! let (mut codec, mut out, mut back) = (ramline_lzo::Lzo::new(true), [0; 8192], [1; 4096]);
//! let length = codec.compress(&[0; 4096], &mut out).unwrap();
//! assert!(length < 64 && codec.decompress(&out[..length], &mut back) && back == [0; 4096]);
//! ```

/// Bits of the table of positions: 8192 entries.
const BITS: u32 = 13;
/// The shortest copy, and the shortest run of zeros.
const LEAST: usize = 4;
/// The last bytes of a page are literals.
const TAIL: usize = 20;
/// Copies up to so long from up to so far back take two bytes.
const SHORT: usize = 8;
const NEAR: usize = 1 << 11;
/// Longest run of zeros of one instruction: 11 bits, and 4.
const LONGEST_RUN: usize = (1 << 11) - 1 + LEAST;
/// The end of a stream.
const END: [u8; 3] = [0x11, 0, 0];
/// The first byte of a stream with a version, and the version with runs.
const VERSIONED: [u8; 2] = [17, 1];

/// LZO1X, with runs or without.
pub struct Lzo {
    table: Vec<u16>,
    runs: bool,
}

impl Lzo {
    /// With runs of zeros (lzo-rle) or without (lzo).
    #[must_use]
    pub fn new(runs: bool) -> Lzo {
        Lzo { table: vec![0; 1 << BITS], runs }
    }

    /// The length of the compressed page, which is put into `out`; `None` where that is too short, or the page longer than 16 KiB.
    pub fn compress(&mut self, page: &[u8], out: &mut [u8]) -> Option<usize> {
        // Positions are kept in 16 bits, and distances must be near.
        if page.len() > 1 << 14 {
            return None;
        }
        self.table.fill(0);
        let mut to = Out { bytes: out, at: 0, last: None };
        if self.runs {
            to.put(&VERSIONED)?;
        }
        let (mut at, mut literals) = (LEAST.min(page.len()), 0);
        let end = page.len().saturating_sub(TAIL);
        while at < end {
            let word = word(page, at);
            if self.runs && word == 0 {
                let run = zeros(page, at, end);
                to.literals(&page[literals..at])?;
                to.run(run)?;
                at += run;
                literals = at;
                continue;
            }
            let slot = usize::try_from(word.wrapping_mul(0x9E37_79B1) >> (32 - BITS)).unwrap_or(0);
            let candidate = usize::from(std::mem::replace(&mut self.table[slot], u16::try_from(at).unwrap_or(0)));
            if candidate >= at || self::word(page, candidate) != word {
                // The longer nothing was found, the larger the steps.
                at += 1 + ((at - literals) >> 5);
                continue;
            }
            let length = LEAST + same(page, candidate + LEAST, at + LEAST, end);
            to.literals(&page[literals..at])?;
            to.copy(length, at - candidate)?;
            at += length;
            literals = at;
        }
        to.literals(&page[literals..])?;
        to.put(&END)?;
        Some(to.at)
    }

    /// Fills `page` from what [`Lzo::compress`] gave; false where that is no stream of exactly this page.
    pub fn decompress(&self, stored: &[u8], page: &mut [u8]) -> bool {
        let stored = if self.runs { stored.strip_prefix(&VERSIONED) } else { Some(stored) };
        let done = stored.and_then(|stored| In { bytes: stored, at: 0 }.all(page));
        done.is_some_and(|length| length == page.len())
    }
}

fn word(page: &[u8], at: usize) -> u32 {
    page.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map_or(u32::MAX, u32::from_le_bytes)
}

/// How many bytes from `a` and from `b` on are the same, up to `end`.
fn same(page: &[u8], a: usize, b: usize, end: usize) -> usize {
    let (from, to) = (page.get(a..).unwrap_or_default(), page.get(b..end).unwrap_or_default());
    let whole = from.chunks_exact(8).zip(to.chunks_exact(8)).take_while(|(a, b)| a == b).count() * 8;
    whole + from[whole.min(from.len())..].iter().zip(&to[whole.min(to.len())..]).take_while(|(a, b)| a == b).count()
}

fn zeros(page: &[u8], at: usize, end: usize) -> usize {
    let bytes = page.get(at..(at + LONGEST_RUN).min(end)).unwrap_or_default();
    let whole = bytes.chunks_exact(8).take_while(|word| *word == [0; 8]).count() * 8;
    let run = whole + bytes[whole..].iter().take_while(|byte| **byte == 0).count();
    // The word at the end of the range may reach into the tail.
    run.max(LEAST)
}

/// A stream being written.
struct Out<'a> {
    bytes: &'a mut [u8],
    at: usize,
    /// The byte whose two lowest bits say how many literals follow the last instruction; `None` before the first.
    last: Option<usize>,
}

impl Out<'_> {
    fn put(&mut self, bytes: &[u8]) -> Option<()> {
        self.bytes.get_mut(self.at..self.at + bytes.len())?.copy_from_slice(bytes);
        self.at += bytes.len();
        Some(())
    }

    fn byte(&mut self, value: usize) -> Option<()> {
        self.put(&[u8::try_from(value).ok()?])
    }

    /// What a length goes beyond its field: a zero for each 255, then the rest, which is at least 1.
    fn beyond(&mut self, mut length: usize) -> Option<()> {
        while length > 255 {
            self.byte(0)?;
            length -= 255;
        }
        self.byte(length)
    }

    fn literals(&mut self, bytes: &[u8]) -> Option<()> {
        match (self.last, bytes.len()) {
            (_, 0) => {}
            (Some(last), few @ 1..=3) => *self.bytes.get_mut(last)? |= u8::try_from(few).ok()?,
            (None, length @ 1..=238) => self.byte(17 + length)?,
            (_, length @ 1..=18) => self.byte(length - 3)?,
            (_, length) => {
                self.byte(0)?;
                self.beyond(length - 18)?;
            }
        }
        self.put(bytes)
    }

    fn copy(&mut self, length: usize, distance: usize) -> Option<()> {
        let back = distance - 1;
        if length <= SHORT && distance <= NEAR {
            self.last = Some(self.at);
            self.byte((length - 1) << 5 | (back & 7) << 2)?;
            return self.byte(back >> 3);
        }
        if length <= 33 {
            self.byte(32 | (length - 2))?;
        } else {
            self.byte(32)?;
            self.beyond(length - 33)?;
        }
        self.last = Some(self.at);
        self.byte(back << 2 & 0xff)?;
        self.byte(back >> 6)
    }

    /// A run of zeros: the far copy whose distance no copy has.
    fn run(&mut self, length: usize) -> Option<()> {
        let beyond = length - LEAST;
        self.byte(0x18 | beyond & 7)?;
        self.last = Some(self.at);
        self.put(&[0xfc, 0xff])?;
        self.byte(beyond >> 3)
    }
}

/// A stream being read.
struct In<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl In<'_> {
    fn byte(&mut self) -> Option<usize> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(usize::from(byte))
    }

    fn beyond(&mut self) -> Option<usize> {
        let mut length = 0;
        loop {
            match self.byte()? {
                0 => length += 255,
                rest => return Some(length + rest),
            }
        }
    }

    fn literals(&mut self, length: usize, page: &mut [u8], at: &mut usize) -> Option<()> {
        page.get_mut(*at..*at + length)?.copy_from_slice(self.bytes.get(self.at..self.at + length)?);
        *at += length;
        self.at += length;
        Some(())
    }

    /// The length of what came out.
    fn all(mut self, page: &mut [u8]) -> Option<usize> {
        let mut at = 0;
        let first = usize::from(*self.bytes.first()?);
        if first > 17 {
            self.at = 1;
            self.literals(first - 17, page, &mut at)?;
        }
        loop {
            let few = match self.byte()? {
                short @ 64.. => {
                    let back = self.byte()? << 3 | short >> 2 & 7;
                    copy(page, &mut at, (short >> 5) + 1, back + 1)?;
                    short & 3
                }
                near @ 32..=63 => {
                    let length = if near == 32 { self.beyond()? + 33 } else { near - 30 };
                    let (low, high) = (self.byte()?, self.byte()?);
                    copy(page, &mut at, length, (low >> 2 | high << 6) + 1)?;
                    low & 3
                }
                far @ 16..=31 => {
                    let (low, high) = (self.byte()?, self.byte()?);
                    if [far, low, high] == END.map(usize::from) {
                        return (self.at == self.bytes.len()).then_some(at);
                    }
                    let length = (self.byte()? << 3 | far & 7) + LEAST;
                    page.get_mut(at..at + length)?.fill(0);
                    at += length;
                    low & 3
                }
                run => {
                    let length = if run == 0 { self.beyond()? + 18 } else { run + 3 };
                    self.literals(length, page, &mut at)?;
                    0
                }
            };
            self.literals(few, page, &mut at)?;
        }
    }
}

/// Copies from `distance` back, byte by byte where the two overlap.
fn copy(page: &mut [u8], at: &mut usize, length: usize, distance: usize) -> Option<()> {
    let from = at.checked_sub(distance)?;
    let end = (*at + length <= page.len()).then_some(*at + length)?;
    if distance >= length {
        page.copy_within(from..from + length, *at);
    } else {
        (0..length).for_each(|n| page[*at + n] = page[from + n]);
    }
    *at = end;
    Some(())
}
