//! What a simulation takes of this machine's memory: known from the numbers of pages and touches, before any of it is taken.
//!
//! ```
//! use ramline_sim::footprint::Footprint;
//! use ramline_trace::generate::Load;
//! let of = |size: u64| Footprint::for_load(&Load::named("heap", size, 2, 1).unwrap(), size).at_once(2);
//! assert!(of(64 << 30) > 900 * of(64 << 20) && of(64 << 20) < 64 << 20);
//! ```

use ramline_trace::touch::{Memory, Touches};

use crate::load::PAGE;

/// Of a page: 14 as it begins, and a copy of that for the run (`page`).
const OF_A_PAGE: u64 = 2 * 14;
/// Of a page on a list: 4 in a row that has up to as many gaps as pages, in room that doubles.
const OF_A_ROW: u64 = 16;
/// Of a slot in swap: its owner, the list of those that were given back, its place in a zram's pool and that of its zspages, each in room that doubles.
const OF_A_SLOT: u64 = 32;
/// Of a touch: a word, or two where it is a read of several pages.
const OF_A_WORD: u64 = 4;

/// Words for the pages that the program that touches a load brings, and the first touch of the load.
const OF_THE_PROGRAM: u64 = 1024;

/// Bytes of a simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Footprint {
    /// Words of the decoded fill, with those of the program.
    pub fill: u64,
    /// Words of the decoded rounds.
    pub rounds: u64,
    /// Of the tables while it is decoded.
    pub tables: u64,
    /// Of each run that is simulated at the same time.
    pub run: u64,
}

impl Footprint {
    /// For a load with a swap area of this size in bytes.
    #[must_use]
    pub fn for_load(load: &dyn Touches, swap: u64) -> Footprint {
        let regions = load.regions();
        let pages = |of: &dyn Fn(Memory) -> bool| {
            regions.iter().filter(|one| of(one.memory)).map(|one| one.bytes / PAGE).fold(0, u64::saturating_add)
        };
        let (all, memory) = (pages(&|_| true), pages(&|memory| memory != Memory::File));
        let touches = load.touch_count();
        let words = if load.reads_several_pages() { 2 } else { 1 };
        Footprint {
            fill: memory.saturating_add(OF_THE_PROGRAM),
            rounds: touches.saturating_mul(words),
            tables: load.table_bytes(),
            run: all.saturating_mul(OF_A_PAGE + OF_A_ROW).saturating_add((swap / PAGE).saturating_mul(OF_A_SLOT)),
        }
    }

    /// With several loads of the same pages, each with as many touches.
    #[must_use]
    pub fn with_loads(self, loads: u64) -> Footprint {
        let times = |words: u64| words.saturating_mul(loads.max(1));
        Footprint { fill: times(self.fill), rounds: times(self.rounds), ..self }
    }

    /// The total with a number of runs at the same time.
    #[must_use]
    pub fn at_once(self, runs: u64) -> u64 {
        let words = self.fill.saturating_add(self.rounds).saturating_mul(OF_A_WORD);
        words.saturating_add(self.tables.max(self.run.saturating_mul(runs)))
    }
}

#[cfg(test)]
mod tests {
    use ramline_trace::generate::Load;

    use super::*;
    use crate::load::Compact;

    #[test]
    fn no_load_has_more_words_than_were_foreseen_and_none_is_foreseen_far_too_large() {
        for name in Load::NAMES {
            let Some(load) = Load::named(name, 4 << 20, 2, 256) else { continue };
            let (wanted, is) = (Footprint::for_load(&load, 0), Compact::decode(&load).unwrap());
            let (fill, rounds) = (is.fill.len() as u64, is.rounds.len() as u64);
            assert!(fill <= wanted.fill && wanted.fill <= fill + OF_THE_PROGRAM, "{name}: {fill} {wanted:?}");
            assert!(rounds <= wanted.rounds && wanted.rounds <= 2 * rounds, "{name}: {rounds} {wanted:?}");
            assert!(is.rounds.capacity() as u64 == wanted.rounds, "{name}: the words were copied");
        }
    }
}
