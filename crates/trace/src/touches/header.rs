//! What a file of touches begins with: its version, its page size, and who made it.

use std::io::{Read, Write};

use super::code::{Numbers, put, put_bytes};
use super::crc::crc32c;
use super::{MAGIC, VERSION, VERSION_OF_LOADS};
use crate::error::TouchesError;

/// A header is never longer.
const LONGEST: u32 = 64 << 10;
/// The page sizes Linux has: 4 to 64 KiB, and room for larger ones.
const PAGE_SIZES: std::ops::RangeInclusive<u32> = 4096..=1 << 21;

/// What holds for a whole file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Bytes of a page.
    pub page: u32,
    /// Who made it.
    pub origin: Origin,
}

/// Where the touches come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// What kind of maker.
    pub maker: Maker,
    /// Its name: of a generator with its sizes, of a recorded command, of an imported format.
    pub name: String,
    /// The seed of a generator.
    pub seed: Option<u64>,
}

/// Who makes files of touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Maker {
    /// A generator: the touches are known exactly.
    Generator,
    /// A recorder, from a workload that ran.
    Recorder,
    /// Another format.
    Import,
}

impl Origin {
    /// Of a generator.
    #[must_use]
    pub fn generated(name: impl Into<String>, seed: Option<u64>) -> Origin {
        Origin { maker: Maker::Generator, name: name.into(), seed }
    }
}

impl Header {
    /// Writes the beginning of a file; how many bytes that are.
    pub(super) fn write(&self, out: &mut impl Write) -> Result<u64, TouchesError> {
        let mut body = Vec::new();
        put(&mut body, u64::from(self.page));
        body.push(match self.origin.maker {
            Maker::Generator => 0,
            Maker::Recorder => 1,
            Maker::Import => 2,
        });
        put_bytes(&mut body, self.origin.name.as_bytes());
        body.push(u8::from(self.origin.seed.is_some()));
        put(&mut body, self.origin.seed.unwrap_or(0));
        if !is_page_size(self.page) {
            return Err(TouchesError::Beyond("a page is 4 KiB to 2 MiB, a power of two"));
        }
        let length = u32::try_from(body.len()).ok().filter(|&length| length <= LONGEST);
        let length = length.ok_or(TouchesError::Beyond("the name of what made it is longer than 64 KiB"))?;
        let mut all = MAGIC.to_vec();
        // Without recorded epochs a file is as it always was, and older readers take it.
        let version = if self.origin.maker == Maker::Recorder { VERSION } else { VERSION_OF_LOADS };
        [version, length, crc32c(0, &body)].iter().for_each(|number| all.extend(number.to_le_bytes()));
        all.extend(body);
        out.write_all(&all)?;
        Ok(all.len() as u64)
    }

    /// Reads the beginning of a file; how many bytes that were.
    pub(super) fn read(from: &mut impl Read) -> Result<(Header, u64), TouchesError> {
        let mut magic = [0; 16];
        let got = fill(from, &mut magic)?;
        if got < magic.len() || magic != *MAGIC {
            let cut = got > 0 && MAGIC.starts_with(magic.get(..got).unwrap_or_default());
            return Err(if cut { TouchesError::NoHeader } else { TouchesError::NotTouches });
        }
        let [version, length, crc] = [number(from)?, number(from)?, number(from)?];
        if !(VERSION_OF_LOADS..=VERSION).contains(&version) {
            return Err(TouchesError::Version { found: version, known: VERSION });
        }
        let damaged = |what| TouchesError::Damaged { at: 0, what };
        if length > LONGEST {
            return Err(damaged("its header is longer than any"));
        }
        let mut body = Vec::new();
        from.take(u64::from(length)).read_to_end(&mut body)?;
        if body.len() as u64 != u64::from(length) {
            return Err(TouchesError::NoHeader);
        }
        if crc32c(0, &body) != crc {
            return Err(damaged("the checksum of its header is another"));
        }
        let header = Header::parse(&body).ok_or_else(|| damaged("its header makes no sense"))?;
        Ok((header, 28 + u64::from(length)))
    }

    fn parse(body: &[u8]) -> Option<Header> {
        let mut from = Numbers::new(body);
        let page = from.small().filter(|&page| is_page_size(page))?;
        let maker = match from.byte()? {
            0 => Maker::Generator,
            1 => Maker::Recorder,
            2 => Maker::Import,
            _ => return None,
        };
        let name = from.text()?;
        let seeded = from.byte()?;
        let seed = from.number()?;
        (from.left() == 0 && seeded < 2 && (seeded == 1 || seed == 0)).then_some(())?;
        Some(Header { page, origin: Origin { maker, name, seed: (seeded == 1).then_some(seed) } })
    }

    /// For a reader that counts in pages of its own.
    ///
    /// # Errors
    /// The file was made with another page size.
    pub const fn check_page(&self, wanted: u32) -> Result<(), TouchesError> {
        if self.page == wanted { Ok(()) } else { Err(TouchesError::PageSize { found: self.page, wanted }) }
    }
}

fn is_page_size(page: u32) -> bool {
    PAGE_SIZES.contains(&page) && page.is_power_of_two()
}

fn number(from: &mut impl Read) -> Result<u32, TouchesError> {
    let mut bytes = [0; 4];
    let got = fill(from, &mut bytes)?;
    if got == bytes.len() { Ok(u32::from_le_bytes(bytes)) } else { Err(TouchesError::NoHeader) }
}

/// Fills as much as there is; how much that was.
pub(super) fn fill(from: &mut impl Read, into: &mut [u8]) -> std::io::Result<usize> {
    let mut got = 0;
    while let Some(rest) = into.get_mut(got..).filter(|rest| !rest.is_empty()) {
        match from.read(rest) {
            Ok(0) => break,
            Ok(more) => got += more,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(got)
}
