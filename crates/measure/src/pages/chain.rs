//! How many pages a zspage may have in this kernel, found by where zram begins to keep pages as they are.
//!
//! What it is not: reading the kernel's configuration, which is not everywhere. A page of zeros followed by random bytes compresses to
//! about as many bytes as are random, whatever the algorithm; the other way round LZO, which skips ahead in what does not compress,
//! misses where the zeros begin. The watermark of huge pages lies between the longest length that was stored compressed and the first
//! that was not, and each chain has a watermark of its own.

use std::os::unix::fs::FileExt;

use ramline_evidence::pages::Lengths;
use ramline_evidence::rng::SplitMix64;
use ramline_kernel::KernelError;
use ramline_kernel::direct::Buffer;
use ramline_kernel::zram::Device;
use ramline_model::zsmalloc::Zsmalloc;
use ramline_units::Bytes;

use super::bench::open;
use super::error::PagesError;
use super::sample::{stop_if_interrupted, wide};

/// What was found on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probed {
    /// The longest length that was kept compressed.
    pub longest: u64,
    /// The chain with that watermark; `None` where none has it.
    pub chain: Option<u64>,
}

/// Writes generated pages only, to a device whose size is not yet set.
pub fn probe(device: &Device, page: usize) -> Result<Probed, PagesError> {
    let from = page * 3 / 4;
    device.set_disksize(Bytes(wide(page * page)))?;
    let file = open(device)?;
    let mut buffer = Buffer::new(page)?;
    let mut random = SplitMix64::new(256);
    let mut before = device.mm_stat()?.compr_data_size;
    let mut longest = 0;
    for (at, random_bytes) in (from..page - 16).step_by(4).enumerate() {
        stop_if_interrupted()?;
        let bytes = buffer.bytes_mut();
        bytes.fill(0);
        bytes[page - random_bytes..].iter_mut().for_each(|byte| *byte = random.next_u64().to_le_bytes()[0]);
        let written = file.write_all_at(buffer.bytes(), wide(at * page));
        written.map_err(|error| KernelError::io("write to", device.node(), error))?;
        let after = device.mm_stat()?.compr_data_size;
        let length = after.0.saturating_sub(before.0);
        if length < wide(page) {
            longest = longest.max(length);
        }
        before = after;
    }
    Ok(Probed { longest, chain: chain_below(wide(page), longest) })
}

/// The chain whose watermark is the first above the longest length stored compressed; lengths are known to within 4 bytes, watermarks
/// are 16 and more apart.
fn chain_below(page: u64, longest: u64) -> Option<u64> {
    let near = longest + 1..=longest + Lengths::step(page) - 1;
    near.filter_map(|huge_from| Zsmalloc::chain_with(page, huge_from)).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_length_that_is_kept_compressed_tells_the_chain() {
        // Chain 8 keeps up to 3624 bytes compressed, chain 4 up to 3256.
        assert_eq!(
            [3624, 3621, 3256, 3254].map(|longest| chain_below(4096, longest)),
            [Some(8), Some(8), Some(4), Some(4)]
        );
        assert_eq!(chain_below(4096, 3000), None);
    }
}
