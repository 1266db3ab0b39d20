//! The algorithms of zram in user space, page by page, from and into memory of the caller.
//!
//! What it is not: the kernel's code. lz4, lz4hc and zstd are the same libraries in other versions; deflate is another one with the
//! kernel's settings (level 6, window 2^11); lzo and lzo-rle are code of our own ([`ramline_lzo`]). 842 only the kernel has.

mod lzo;

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use lz4::block::{CompressionMode, compress_to_buffer, decompress_to_buffer};
use ramline_lzo::Lzo;

/// Compresses and decompresses single pages.
pub trait Codec {
    /// What the code is.
    fn code(&self) -> String;
    /// The length of the compressed page, which is put into `out`; `None` when it did not work.
    fn compress(&mut self, page: &[u8], out: &mut [u8]) -> Option<usize>;
    /// Fills `page` from what `compress` gave; false when it did not work.
    fn decompress(&mut self, stored: &[u8], page: &mut [u8]) -> bool;
}

/// What `--algorithms` takes, and what is measured without it.
pub const DEFAULT: &[&str] = &["lzo", "lzo-rle", "lz4", "lz4hc", "zstd:1", "zstd:3", "zstd:9", "deflate"];
/// Without a level, as in the kernel's zram.
const LZ4HC_LEVEL: i32 = 9;
const ZSTD_LEVEL: i32 = 3;
const DEFLATE_LEVEL: i32 = 6;
const DEFLATE_WINDOW: u8 = 11;

/// The algorithm of this name, `NAME` or `NAME:LEVEL`.
///
/// # Errors
/// The rule that the name breaks.
pub fn named(name: &str) -> Result<Box<dyn Codec>, String> {
    let (word, level) = match name.split_once(':') {
        Some((word, level)) => {
            let level = level.parse::<i32>().map_err(|_| format!("the level of {name} is no number"))?;
            (word, Some(level))
        }
        None => (name, None),
    };
    let within = |default: i32, range: std::ops::RangeInclusive<i32>| {
        let level = level.unwrap_or(default);
        let rule = || format!("the level of {word} must be from {} to {}", range.start(), range.end());
        if range.contains(&level) { Ok(level) } else { Err(rule()) }
    };
    Ok(match word {
        "lz4" => Box::new(Lz4 { mode: CompressionMode::FAST(within(1, 1..=65_537)?) }),
        "lz4hc" => Box::new(Lz4 { mode: CompressionMode::HIGHCOMPRESSION(within(LZ4HC_LEVEL, 1..=12)?) }),
        "zstd" => Box::new(Zstd::new(within(ZSTD_LEVEL, -7..=22)?).ok_or("zstd could not be set up")?),
        "deflate" => Box::new(Deflate::new(within(DEFLATE_LEVEL, 1..=9)?)),
        "lzo" | "lzo-rle" if level.is_some() => return Err(format!("{word} has no levels")),
        "lzo" => Box::new(Lzo::new(false)),
        "lzo-rle" => Box::new(Lzo::new(true)),
        "842" => return Err("842 is measured only by the kernel: with --prove, as root".to_owned()),
        _ => return Err(format!("{word} is none of lzo, lzo-rle, lz4, lz4hc, zstd, deflate")),
    })
}

struct Lz4 {
    mode: CompressionMode,
}

impl Codec for Lz4 {
    fn code(&self) -> String {
        // 10904 is 1.9.4.
        let version = lz4::version();
        format!("lz4 {}.{}.{}", version / 10_000, version / 100 % 100, version % 100)
    }

    fn compress(&mut self, page: &[u8], out: &mut [u8]) -> Option<usize> {
        compress_to_buffer(page, Some(self.mode), false, out).ok().filter(|length| *length > 0)
    }

    fn decompress(&mut self, stored: &[u8], page: &mut [u8]) -> bool {
        let Ok(length) = i32::try_from(page.len()) else { return false };
        decompress_to_buffer(stored, Some(length), page).is_ok_and(|length| length == page.len())
    }
}

struct Zstd {
    compressor: zstd::bulk::Compressor<'static>,
    decompressor: zstd::bulk::Decompressor<'static>,
}

impl Zstd {
    fn new(level: i32) -> Option<Zstd> {
        Some(Zstd {
            compressor: zstd::bulk::Compressor::new(level).ok()?,
            decompressor: zstd::bulk::Decompressor::new().ok()?,
        })
    }
}

impl Codec for Zstd {
    fn code(&self) -> String {
        format!("zstd {}", zstd::zstd_safe::version_string())
    }

    fn compress(&mut self, page: &[u8], out: &mut [u8]) -> Option<usize> {
        self.compressor.compress_to_buffer(page, out).ok()
    }

    fn decompress(&mut self, stored: &[u8], page: &mut [u8]) -> bool {
        self.decompressor.decompress_to_buffer(stored, page).is_ok_and(|length| length == page.len())
    }
}

/// Without a header, as the kernel's deflate.
struct Deflate {
    compress: Compress,
    decompress: Decompress,
}

impl Deflate {
    fn new(level: i32) -> Deflate {
        let level = Compression::new(u32::try_from(level).unwrap_or(6));
        Deflate {
            compress: Compress::new_with_window_bits(level, false, DEFLATE_WINDOW),
            // Of the largest window, which reads any smaller one: of another the library would allocate it anew for each page, which would be
            // measured, and leave the last page in the memory it gave back.
            decompress: Decompress::new(false),
        }
    }
}

impl Codec for Deflate {
    fn code(&self) -> String {
        "zlib-rs".to_owned()
    }

    fn compress(&mut self, page: &[u8], out: &mut [u8]) -> Option<usize> {
        self.compress.reset();
        let done = self.compress.compress(page, out, FlushCompress::Finish);
        let ended = done.is_ok_and(|status| status == Status::StreamEnd);
        ended.then(|| usize::try_from(self.compress.total_out()).ok()).flatten()
    }

    fn decompress(&mut self, stored: &[u8], page: &mut [u8]) -> bool {
        self.decompress.reset(false);
        let done = self.decompress.decompress(stored, page, FlushDecompress::Finish);
        done.is_ok() && usize::try_from(self.decompress.total_out()).is_ok_and(|length| length == page.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tiers::PageSample;
    use ramline_sandbox::fill::Fill;

    #[test]
    fn every_codec_gives_back_the_page_it_was_given_and_notices_a_damaged_one() {
        for name in DEFAULT.iter().chain(&["lz4:4", "zstd:-1", "deflate:9", "lz4hc:12"]) {
            let mut codec = named(name).unwrap();
            for fill in Fill::ALL {
                let sample = PageSample::generated(fill, 20, 4096, 3);
                for page in sample.pages() {
                    let (mut stored, mut back) = (vec![0; 2 * 4096], vec![1; 4096]);
                    let length = codec.compress(page, &mut stored).unwrap();
                    assert!(codec.decompress(&stored[..length], &mut back), "{name} {fill}");
                    assert_eq!(back, page);
                    assert!(!codec.decompress(&stored[..length / 2], &mut back), "{name} {fill}");
                }
            }
        }
    }

    #[test]
    fn what_is_no_algorithm_is_refused_with_the_rule() {
        let refused = |name| named(name).err().unwrap();
        assert_eq!(refused("lz5"), "lz5 is none of lzo, lzo-rle, lz4, lz4hc, zstd, deflate");
        assert_eq!(refused("zstd:23"), "the level of zstd must be from -7 to 22");
        assert_eq!(refused("zstd:x"), "the level of zstd:x is no number");
        assert_eq!(refused("lzo-rle:1"), "lzo-rle has no levels");
        assert!(refused("842").contains("--prove"));
    }
}
