//! RAM: the load a processor waits for, and the page a process copies.
//!
//! Not the processor's cache: the buffer is at least twice the last-level cache, in small pages, written
//! once and read once before anything is timed, so that neither faults nor first touches are in the numbers. Address
//! translation is: a page touched at random is seldom in the TLB, in real programs too.

use std::hint::black_box;

use ramline_gather::headroom::memory_headroom;
use ramline_kernel::map::{Advice, Map, Sharing};

use super::run::{BLOCK, PIECE, Run, Tier, TiersError};
use super::timing::TimingPlan;
use crate::prelude::*;

const LINE: u64 = 64;
/// Loads between two readings of the clock: one load is as long as a few readings.
const CHAIN: u64 = 64;

pub fn measure(run: &mut Run<'_>) -> Result<(), TiersError> {
    let cache = hardware::read(&run.options.root).last_level_cache;
    let available = memory_headroom(&run.options.root)?;
    let size = buffer_size(cache, available);
    let mut map = Map::anonymous(size, Sharing::Private)?;
    map.advise(Advice::NoHugePages)?;
    if let Some(bytes) = map.as_mut_slice() {
        // First touch; then a read of every page, so that nothing is left to fault.
        bytes.fill(0);
        black_box(bytes.iter().step_by(4096).map(|byte| u64::from(*byte)).sum::<u64>());
    }
    let larger = cache.is_some_and(|cache| size.0 > cache.0);
    let notes = match cache {
        Some(cache) if !larger => {
            vec![format!("the buffer is not larger than the last-level cache of {cache}: memory is short")]
        }
        Some(_) => Vec::new(),
        None => vec!["the size of the last-level cache is not known here".to_owned()],
    };

    let mut walk = Walk::over(size);
    let loads = run.time(TimingPlan::within_ms(run.millis(400, 200)), CHAIN, |_| walk.steps(&map, CHAIN))?;
    let of_cache = cache.map_or_else(String::new, |cache| format!(", last-level cache {cache}"));
    run.add(Tier {
        id: "ram-load".to_owned(),
        label: "RAM, one load".to_owned(),
        series: Some(loads),
        method: format!(
            "dependent loads of one cache line at random in {size} of private anonymous memory (4 KiB pages, touched twice before{of_cache}); n counts groups of {CHAIN} loads, each number is a group's mean with about 2 ns of address arithmetic"
        ),
        notes: notes.clone(),
        ..Tier::default()
    });

    let mut page = vec![0u8; 4096];
    let mut random = SplitMix64::new(run.options.seed);
    let blocks = size.0 / BLOCK;
    let source = map.as_slice();
    let copies = run.time(TimingPlan::within_ms(run.millis(400, 200)), 1, |_| {
        copy_block(source, random.below(blocks), &mut page);
        Ok(())
    })?;
    let mut piece = vec![0u8; usize::try_from(PIECE).unwrap_or(1 << 20)];
    let throughput = run.sequential(size.0, run.millis(300, 100), "copied in pieces of 1 MiB", |offset| {
        copy_at(source, offset, &mut piece);
        Ok(())
    })?;
    run.add(Tier {
        id: "ram".to_owned(),
        label: "RAM, copy of one 4 KiB page".to_owned(),
        series: Some(copies),
        throughput,
        method: format!("copies of random 4 KiB pages out of {size} of private anonymous memory, one thread"),
        notes,
    });
    Ok(())
}

/// For RAM and tmpfs: twice the last-level cache, between 64 and 512 MiB, and never more than an eighth of what is available.
pub fn buffer_size(cache: Option<Bytes>, available: Bytes) -> Bytes {
    let wanted = cache.unwrap_or(Bytes::from_mib(64)).0.saturating_mul(2);
    let bounded = wanted.clamp(64 << 20, 512 << 20).min(available.0 / 8);
    Bytes((bounded / PIECE).max(1) * PIECE)
}

/// Copies block `block` of the source; past its end nothing is copied.
pub fn copy_block(source: &[u8], block: u64, to: &mut [u8]) {
    copy_at(source, block.saturating_mul(BLOCK), to);
    black_box(&to);
}

fn copy_at(source: &[u8], offset: u64, to: &mut [u8]) {
    let from = usize::try_from(offset).unwrap_or(usize::MAX);
    if let Some(bytes) = from.checked_add(to.len()).and_then(|end| source.get(from..end)) {
        to.copy_from_slice(bytes);
    }
    black_box(&to);
}

/// A walk over every line of a buffer whose next address is known only when the present line has been read.
///
/// Position k+1 is a·k + c + (the byte just read, which is 0) modulo a power of two: a full-period linear congruential
/// generator (Hull and Dobell 1962: c odd, a mod 4 = 1) visits each line once before it repeats. Its low bits are poor,
/// so they become the high bits of the address. No chain has to be built in memory first.
struct Walk {
    position: u64,
    lines: u64,
    bits: u32,
}

impl Walk {
    /// Over the largest power of two of lines within `size`.
    fn over(size: Bytes) -> Walk {
        let bits = (size.0 / LINE).max(2).ilog2();
        Walk { position: 0, lines: 1 << bits, bits }
    }

    #[inline]
    fn next_line(&mut self, read: u8) -> u64 {
        let next = self.position.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        self.position = next.wrapping_add(u64::from(read)) & (self.lines - 1);
        let half = self.bits / 2;
        ((self.position << (self.bits - half)) | (self.position >> half)) & (self.lines - 1)
    }

    #[inline]
    fn steps(&mut self, map: &Map, count: u64) -> Result<(), KernelError> {
        let mut read = 0;
        for _ in 0..count {
            let line = self.next_line(read);
            read = map.touch_read(usize::try_from(line * LINE).unwrap_or(usize::MAX))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_walk_visits_every_line_once_and_seldom_the_next_one() {
        for size in [Bytes(64 * 64), Bytes(1 << 20)] {
            let mut walk = Walk::over(size);
            let lines: Vec<u64> = (0..walk.lines).map(|_| walk.next_line(0)).collect();
            let distinct: std::collections::HashSet<&u64> = lines.iter().collect();
            assert_eq!(distinct.len(), lines.len());
            let near = lines.windows(2).filter(|pair| pair[0].abs_diff(pair[1]) <= 1).count();
            assert!(near * 10 <= lines.len(), "{near} of {} steps go to a neighbour", lines.len());
        }
    }

    #[test]
    fn the_buffer_exceeds_the_cache_unless_memory_is_short() {
        let gib = Bytes::from_gib;
        assert_eq!(buffer_size(Some(Bytes::from_mib(105)), gib(20)), Bytes::from_mib(210));
        assert_eq!(buffer_size(Some(Bytes::from_mib(2)), gib(20)), Bytes::from_mib(64));
        assert_eq!(buffer_size(Some(gib(1)), gib(20)), Bytes::from_mib(512));
        assert_eq!(buffer_size(Some(Bytes::from_mib(105)), gib(1)), Bytes::from_mib(128));
        assert_eq!(buffer_size(None, Bytes::ZERO), Bytes::from_mib(1));
    }

    #[test]
    fn a_block_past_the_end_is_not_copied() {
        let source = vec![7u8; 8192];
        let mut page = vec![0u8; 4096];
        copy_block(&source, 2, &mut page);
        assert_eq!(page, vec![0u8; 4096]);
        copy_block(&source, 1, &mut page);
        assert_eq!(page, vec![7u8; 4096]);
    }
}
