//! What the kernel and the machine leave open, drawn for each run.
//!
//! The pages a group pays for beside those of its load are partly known: a page table for each 2 MiB that is mapped, and the index of each file in the
//! page cache. The rest is its overhead.

use ramline_evidence::rng::SplitMix64;

use crate::cost::{Costs, Spread};
use crate::load::{Compact, OF_A_TABLE};
use crate::setting::{Flushes, Setting};

/// Pages of a file whose numbers one page of its index holds: 64 a node, of which a slab has seven a page.
const INDEXED: u64 = 64 * 7;
/// One read takes up to this share more or less than the next.
const JITTER: f64 = 0.4;
/// The kernel may flush the statistics late by up to the time between two flushes divided by this: its timer waits for a processor that is awake.
const LATE: u64 = 4;

/// Random draws of a run, each from 0 to below 1.
#[derive(Debug, Clone, Copy)]
pub struct Draw {
    parts: [f64; THINGS],
    /// Where the chance within the run begins.
    seed: u64,
}

/// Things that are drawn, by their place in a draw.
const THINGS: usize = 10;
const PHASE: usize = 0;
const AROUND: usize = 1;
const OTHERS: usize = 2;
const CLUSTER: usize = 3;
const ELSEWHERE: usize = 4;
const BASE: usize = 5;
const DEVICE: usize = 6;
const PROCESSOR: usize = 7;
const CODEC: usize = 8;
const FIRST_READ: usize = 9;

/// Draws for a number of runs: of each thing every run has another of as many equal parts (Latin hypercube sampling; McKay, Beckman and Conover 1979). The
/// median of 32 runs is so that of 400, where they go one way (else `enough`); drawn each by itself, costs of one seed were 17 % too high in the median.
pub fn draws(runs: u32, seed: u64) -> impl Iterator<Item = Draw> {
    let mut random = SplitMix64::new(seed);
    let shuffled: [Vec<u32>; THINGS] = std::array::from_fn(|_| {
        let mut parts: Vec<u32> = (0..runs).collect();
        shuffle(&mut parts, &mut random);
        parts
    });
    (0..runs as usize).map(move |run| {
        let part = |thing: usize| (f64::from(shuffled[thing][run]) + unit(&mut random)) / f64::from(runs);
        Draw { parts: std::array::from_fn(part), seed: random.next_u64() }
    })
}

impl Draw {
    /// A whole number below `n`; 0 if there is none.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "below n, never negative"
    )]
    fn below(&self, thing: usize, n: u64) -> u64 {
        (self.parts[thing] * n as f64) as u64
    }

    fn small(&self, thing: usize, n: u32) -> u32 {
        u32::try_from(self.below(thing, n.into())).unwrap_or_default()
    }
}

/// Puts them in an order of chance.
fn shuffle(values: &mut [u32], random: &mut SplitMix64) {
    for end in (1..=values.len()).rev() {
        values.swap(usize::try_from(random.below(end as u64)).unwrap_or_default(), end - 1);
    }
}

/// Unknown kernel state of one run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Chance {
    /// When the kernel first flushes the statistics, in nanoseconds from the beginning.
    pub phase: u64,
    /// What a reader of memory.stat draws, each from 0 to below 1.
    pub reads: [f64; 2],
    /// Where a region of less than a page table begins in its blocks of 16.
    pub around: u32,
    /// Pages of other programs that are in the processor's first batch.
    pub others: u32,
    /// Slots of the first read of a swap area: all where nothing was read from swap since the machine was started, since the kernel begins with four hits;
    /// else one, as reads without hits soon leave.
    pub cluster: u32,
    /// Another processor than the load's answers for the disk: drawn as 1 of 2 where there are several, which is assumed.
    pub elsewhere: bool,
    /// The kernel flushes the statistics late by up to this, in nanoseconds.
    pub late: u64,
    /// What a device takes is up to this share more or less, from one time to the next.
    pub jitter: f64,
    /// Where the chance within the run begins.
    pub seed: u64,
}

impl Chance {
    /// The chance of one draw, and the setting with what is drawn of it: its base and costs.
    #[must_use]
    pub fn from_draw(load: &Compact, setting: &Setting, draw: &Draw) -> (Chance, Setting) {
        let every = if let Flushes::Every(every) = setting.flushes { every } else { 0 };
        let chance = Chance {
            phase: draw.below(PHASE, every),
            reads: [draw.parts[PHASE], draw.parts[FIRST_READ]],
            around: draw.small(AROUND, 16),
            others: draw.small(OTHERS, 31),
            cluster: if draw.parts[CLUSTER] < setting.fresh { setting.cluster } else { 1 },
            elsewhere: setting.kernel.several_cpus && draw.small(ELSEWHERE, 2) == 1,
            late: every / LATE,
            jitter: JITTER,
            seed: draw.seed,
        };
        let [least, most] = load.overhead.pages;
        let base = least_base(load) + draw.below(BASE, most.saturating_sub(least));
        let costs = drawn(&setting.costs, draw);
        (chance, Setting { base, costs, ..setting.clone() })
    }
}

/// The least pages that a group pays for beside those of its load.
#[must_use]
pub fn least_base(load: &Compact) -> u64 {
    tables(load) + load.overhead.pages[0].saturating_sub(load.overhead.idle.into())
}

/// Pages of page tables and of the page cache's index.
#[must_use]
pub fn tables(load: &Compact) -> u64 {
    use ramline_trace::generate::Memory::Anonymous;
    let of = |region: &crate::load::Extent| {
        let pages = u64::from(region.pages);
        let mapped = if region.mapped { pages.div_ceil(OF_A_TABLE.into()) } else { 0 };
        mapped + if region.memory == Anonymous { 0 } else { pages.div_ceil(INDEXED) }
    };
    load.regions.iter().map(of).sum()
}

/// Costs as they may be.
fn drawn(costs: &Costs, draw: &Draw) -> Costs {
    let factor = |spread: f64, thing: usize| spread.powf(draw.parts[thing] * 2.0 - 1.0);
    let Spread { device, processor, codec } = costs.spread;
    costs.each(factor(device, DEVICE), factor(processor, PROCESSOR), factor(codec, CODEC))
}

/// From 0 to 1.
#[expect(clippy::cast_precision_loss, reason = "53 bits are exact")]
pub fn unit(random: &mut SplitMix64) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use ramline_trace::generate::{CodePlusData, Load};

    use super::*;

    #[test]
    fn every_run_has_another_part_of_what_may_be() {
        let all: Vec<Draw> = draws(32, 7).collect();
        for thing in 0..THINGS {
            let mut parts: Vec<u64> = all.iter().map(|draw| draw.below(thing, 32)).collect();
            assert_ne!(parts, (0..32).collect::<Vec<_>>());
            parts.sort_unstable();
            assert_eq!(parts, (0..32).collect::<Vec<_>>());
        }
        assert_eq!(draws(1, 7).next().unwrap().below(BASE, 0), 0);
    }

    #[test]
    fn what_two_sizes_leave_of_the_limit_is_their_tables_and_nearly_the_same_rest() {
        let rest = [(24_u64, 452), (32, 521)].map(|(unit, base)| {
            let load = CodePlusData { unit: unit << 20, code: 3, data: 14, rounds: 1, seed: 7, shared: false };
            base - tables(&Compact::decode(&Load::CodePlusData(load)).unwrap())
        });
        assert_eq!(rest, [206, 194]);
    }
}
