//! The algorithms of zram in user space, for machines without zram or without consent.
//!
//! What it is not: the kernel's code. Versions, levels and the way pages are mapped differ, and a read of a zram device
//! adds the block layer; every result says "user space". There is no lzo here: the permissively licensed one
//! (lzokay) is a slow, dense compressor whose numbers say nothing about the kernel's lzo and lzo-rle.

/// Compresses and decompresses single pages.
pub trait Codec {
    /// As zram names it.
    fn name(&self) -> &'static str;
    /// Appends the compressed page to nothing but `out`, whose old contents are lost; false when it did not work.
    fn compress(&mut self, page: &[u8], out: &mut Vec<u8>) -> bool;
    /// Fills `page` from what `compress` gave; false when it did not work.
    fn decompress(&mut self, stored: &[u8], page: &mut [u8]) -> bool;
}

/// All codecs there are here.
pub fn all() -> Vec<Box<dyn Codec>> {
    let mut codecs: Vec<Box<dyn Codec>> = vec![Box::new(Lz4)];
    if let Some(zstd) = Zstd::new() {
        codecs.push(Box::new(zstd));
    }
    codecs
}

/// What zram does with a page: kept as it is when compression gains too little (zsmalloc's huge class starts at about
/// 3264 of 4096 bytes on common configurations).
pub const HUGE_PER_MILLE: usize = 797;

struct Lz4;

impl Codec for Lz4 {
    fn name(&self) -> &'static str {
        "lz4"
    }

    fn compress(&mut self, page: &[u8], out: &mut Vec<u8>) -> bool {
        out.resize(lz4_flex::block::get_maximum_output_size(page.len()), 0);
        let done = lz4_flex::block::compress_into(page, out);
        out.truncate(done.as_ref().map_or(0, |length| *length));
        done.is_ok()
    }

    fn decompress(&mut self, stored: &[u8], page: &mut [u8]) -> bool {
        lz4_flex::block::decompress_into(stored, page).is_ok_and(|length| length == page.len())
    }
}

/// Level 3, the default of the kernel's zram.
struct Zstd {
    compressor: zstd::bulk::Compressor<'static>,
    decompressor: zstd::bulk::Decompressor<'static>,
}

impl Zstd {
    fn new() -> Option<Zstd> {
        Some(Zstd {
            compressor: zstd::bulk::Compressor::new(3).ok()?,
            decompressor: zstd::bulk::Decompressor::new().ok()?,
        })
    }
}

impl Codec for Zstd {
    fn name(&self) -> &'static str {
        "zstd"
    }

    fn compress(&mut self, page: &[u8], out: &mut Vec<u8>) -> bool {
        out.resize(zstd::zstd_safe::compress_bound(page.len()), 0);
        let done = self.compressor.compress_to_buffer(page, out);
        out.truncate(done.as_ref().map_or(0, |length| *length));
        done.is_ok()
    }

    fn decompress(&mut self, stored: &[u8], page: &mut [u8]) -> bool {
        self.decompressor.decompress_to_buffer(stored, page).is_ok_and(|length| length == page.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tiers::PageSample;
    use ramline_sandbox::fill::Fill;

    #[test]
    fn every_codec_gives_back_the_page_it_was_given() {
        for mut codec in all() {
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
        for mut codec in all() {
            let mut stored = Vec::new();
            assert!(codec.compress(page.page(0), &mut stored));
            assert!(!codec.decompress(&stored[..stored.len() / 2], &mut vec![0; 4096]), "{}", codec.name());
        }
    }
}
