//! The lab's observer: reads memory.stat of the group at regular times (`Observer`, crates/sandbox/src/observe.rs), which flushes its statistics.

use std::sync::Arc;

use ramline_evidence::rng::SplitMix64;
use ramline_sim::beside::{MakeStatReader, StatReader, StatReaders};
use ramline_sim::memory::statistics::next_turn;

/// A read comes up to one part in so many of its turn late: one of every 100 ms came 0.1 to 0.2 ms late, 18 times of 18 (traced, `memcg:memcg_flush_stats`).
const LATE: u64 = 500;

/// When the rounds of a measured run began, between two reads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundsBegin {
    /// Nanoseconds from the beginning of the rounds to the first read in them.
    pub first_read: u64,
    /// The part of the fill, by time, that was done at the read before; 0 where that came before the fill. Taken for the same part of its touches.
    pub filled: f64,
}

/// The reads of runs.
#[derive(Debug)]
pub struct Reads {
    /// Nanoseconds from one to the next.
    pub every: u64,
    /// The first is between these, from when the load begins to fill its memory.
    pub first: [u64; 2],
    /// How the rounds of measured runs began; each simulation takes one of them. Empty where none is known.
    pub rounds: Vec<RoundsBegin>,
}

impl Reads {
    /// Shared by the simulations of a setting.
    #[must_use]
    pub fn shared(every: u64, first: [u64; 2], rounds: Vec<RoundsBegin>) -> StatReaders {
        Arc::new(Reads { every, first, rounds })
    }
}

impl MakeStatReader for Reads {
    fn stat_reader(&self, [first, rounds]: [f64; 2]) -> Box<dyn StatReader> {
        let [soonest, latest] = self.first;
        let first = soonest + part(first, latest.saturating_sub(soonest));
        let at = part(rounds, self.rounds.len() as u64);
        let rounds = self.rounds.get(usize::try_from(at).unwrap_or(usize::MAX)).copied();
        Box::new(Reader { every: self.every, first, rounds })
    }
}

/// A part of a whole number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a part below 1 of nanoseconds or of a number of runs"
)]
fn part(share: f64, of: u64) -> u64 {
    (share * of as f64) as u64
}

#[derive(Debug)]
struct Reader {
    every: u64,
    first: u64,
    rounds: Option<RoundsBegin>,
}

impl StatReader for Reader {
    fn first(&self) -> u64 {
        self.first
    }

    fn next(&mut self, due: u64, clock: u64, random: &mut SplitMix64) -> u64 {
        next_turn(due, clock, self.every) + random.below(self.every / LATE)
    }

    fn last_in_fill(&self) -> Option<f64> {
        Some(self.rounds?.filled)
    }

    fn first_in_rounds(&self, begin: u64) -> Option<u64> {
        Some(begin + self.rounds?.first_read)
    }
}

#[cfg(test)]
mod tests {
    use ramline_sim::chance::{Chance, draws};
    use ramline_sim::load::Compact;
    use ramline_sim::memory::{Flushes, Setting};

    use super::*;
    use crate::tests::setting;

    #[test]
    fn beginnings_of_rounds_that_are_known_are_drawn_as_evenly_as_can_be() {
        let rounds: Vec<RoundsBegin> =
            [10, 20, 30, 40].map(|first_read| RoundsBegin { first_read, filled: 0.5 }).into();
        let load = Compact::new(&[], [].into_iter(), [].into_iter(), 1).unwrap();
        let drawn = |reads: &StatReaders| {
            let setting = Setting { flushes: Flushes::By(Arc::clone(reads)), ..setting() };
            let begin = |draw| reads.stat_reader(Chance::from_draw(&load, &setting, &draw).0.reads).first_in_rounds(0);
            let mut all: Vec<_> = draws(8, 7).map(begin).collect();
            all.sort_unstable();
            all
        };
        let twice: Vec<_> = rounds.iter().flat_map(|begin| [Some(begin.first_read); 2]).collect();
        assert_eq!(drawn(&Reads::shared(100, [0, 100], rounds)), twice);
        assert_eq!(drawn(&Reads::shared(100, [0, 100], Vec::new())), vec![None; 8]);
    }

    #[test]
    fn the_first_read_is_in_its_turn_and_the_next_ones_make_up_for_none() {
        let reads = Reads { every: 100, first: [80, 99], rounds: Vec::new() };
        assert_eq!([0.0, 0.5, 0.99].map(|draw| reads.stat_reader([draw, 0.0]).first()), [80, 89, 98]);
        let mut reader = reads.stat_reader([0.0; 2]);
        let mut random = SplitMix64::new(1);
        assert_eq!(
            [(30, 30), (30, 129), (130, 380)].map(|(due, at)| reader.next(due, at, &mut random)),
            [130, 130, 430]
        );
    }
}
