//! The algorithms of zram in user space, for machines without zram or without consent.
//!
//! Not the kernel's code: versions, levels and the way pages are mapped differ, and a read of a zram device
//! adds the block layer; every result says "user space". There is no lzo here: the permissively licensed one
//! (lzokay) is a slow, dense compressor whose numbers say nothing about the kernel's lzo and lzo-rle.

use lz4_flex::block;
use zstd::bulk::{Compressor, Decompressor};

/// What zram does with a page: kept as it is when compression gains too little (zsmalloc's huge class starts at about
/// 3264 of 4096 bytes on common configurations).
pub const HUGE_PER_MILLE: usize = 797;
/// Of zstd: the default of the kernel's zram.
const LEVEL: i32 = 3;

/// Compresses and decompresses single pages.
pub enum Codec {
    Lz4,
    Zstd(Compressor<'static>, Decompressor<'static>),
}

impl Codec {
    /// All there are here.
    pub fn all() -> Vec<Codec> {
        let zstd = || Some(Codec::Zstd(Compressor::new(LEVEL).ok()?, Decompressor::new().ok()?));
        [Some(Codec::Lz4), zstd()].into_iter().flatten().collect()
    }

    /// As zram names it.
    pub const fn name(&self) -> &'static str {
        match self {
            Codec::Lz4 => "lz4",
            Codec::Zstd(..) => "zstd",
        }
    }

    /// Puts the compressed page into `out`, whose old contents are lost; false when it did not work.
    pub fn compress(&mut self, page: &[u8], out: &mut Vec<u8>) -> bool {
        let done = match self {
            Codec::Lz4 => {
                out.resize(block::get_maximum_output_size(page.len()), 0);
                block::compress_into(page, out).ok()
            }
            Codec::Zstd(compressor, _) => {
                out.resize(zstd::zstd_safe::compress_bound(page.len()), 0);
                compressor.compress_to_buffer(page, out).ok()
            }
        };
        out.truncate(done.unwrap_or(0));
        done.is_some()
    }

    /// Fills `page` from what `compress` gave; false when it did not work.
    pub fn decompress(&mut self, stored: &[u8], page: &mut [u8]) -> bool {
        let done = match self {
            Codec::Lz4 => block::decompress_into(stored, page).ok(),
            Codec::Zstd(_, decompressor) => decompressor.decompress_to_buffer(stored, page).ok(),
        };
        done == Some(page.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tiers::PageSample;
    use ramline_sandbox::fill::Fill;

    #[test]
    fn every_codec_gives_back_the_page_it_was_given() {
        for mut codec in Codec::all() {
            for fill in Fill::ALL {
                let sample = PageSample::generated(fill, 20, 4096, 3);
                for page in sample.pages() {
                    let (mut stored, mut back) = (Vec::new(), vec![1; 4096]);
                    assert!(codec.compress(page, &mut stored), "{} {fill}", codec.name());
                    assert!(codec.decompress(&stored, &mut back), "{} {fill}", codec.name());
                    assert_eq!(back, page);
                }
            }
        }
    }

    #[test]
    fn a_damaged_page_is_noticed_or_at_least_not_of_full_length() {
        let page = PageSample::generated(Fill::Text, 1, 4096, 3);
        for mut codec in Codec::all() {
            let mut stored = Vec::new();
            assert!(codec.compress(page.page(0), &mut stored));
            assert!(!codec.decompress(&stored[..stored.len() / 2], &mut vec![0; 4096]), "{}", codec.name());
        }
    }
}
