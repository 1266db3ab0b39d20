//! Our LZO1X as one of the algorithms.

use ramline_lzo::Lzo;

use super::Codec;

impl Codec for Lzo {
    fn code(&self) -> String {
        "lzo1x of ramline".to_owned()
    }

    fn compress(&mut self, page: &[u8], out: &mut [u8]) -> Option<usize> {
        Lzo::compress(self, page, out)
    }

    fn decompress(&mut self, stored: &[u8], page: &mut [u8]) -> bool {
        Lzo::decompress(self, stored, page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tiers::PageSample;
    use ramline_evidence::rng::SplitMix64;
    use ramline_sandbox::fill::Fill;

    fn pages() -> Vec<Vec<u8>> {
        let mut random = SplitMix64::new(5);
        let mut out: Vec<Vec<u8>> = Vec::new();
        for fill in Fill::ALL {
            out.extend(PageSample::generated(fill, 40, 4096, 9).pages().map(<[u8]>::to_vec));
        }
        // Islands of random bytes of any length in runs of any length of any byte.
        for _ in 0..400 {
            let mut page = Vec::new();
            while page.len() < 4096 {
                let (run, island) = (random.below(300), random.below(40));
                let byte = if random.below(2) == 0 { 0 } else { random.next_u64().to_le_bytes()[0] };
                page.extend((0..run).map(|_| byte));
                page.extend((0..island).map(|_| random.next_u64().to_le_bytes()[0]));
            }
            page.truncate(4096);
            out.push(page);
        }
        out
    }

    #[test]
    fn another_decoder_reads_the_plain_stream() {
        let mut codec = Lzo::new(false);
        for page in pages() {
            let mut out = vec![0; 8192];
            let length = codec.compress(&page, &mut out).unwrap();
            let back = lzokay_native::decompress_all(&out[..length], Some(4096)).unwrap();
            assert_eq!(back, page);
        }
    }

    #[test]
    fn both_streams_come_back_and_a_damaged_one_does_not() {
        for mut codec in [Lzo::new(false), Lzo::new(true)] {
            for page in pages() {
                let (mut out, mut back) = (vec![0; 8192], vec![1; 4096]);
                let length = codec.compress(&page, &mut out).unwrap();
                assert!(codec.decompress(&out[..length], &mut back));
                assert_eq!(back, page);
                assert!(!codec.decompress(&out[..length / 2], &mut back));
                out[length / 3] ^= 0x55;
                // Whatever comes of it, nothing is read or written beyond the ends.
                codec.decompress(&out[..length], &mut back);
            }
        }
    }

    #[test]
    fn a_run_of_zeros_is_one_instruction() {
        let mut page = vec![0; 4096];
        page[..8].copy_from_slice(b"wxyz1234");
        page[4095] = 1;
        let length = |runs| Lzo::new(runs).compress(&page, &mut vec![0; 8192]).unwrap();
        // Version 2, literals 1 + 8, two runs of up to 2051 in 4 bytes each, and the last 20 bytes, with two that say so, and 3 for the end.
        assert_eq!(length(true), 2 + 9 + 2 * 4 + 22 + 3);
        assert!(length(false) > 40);
    }
}
