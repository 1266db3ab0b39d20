//! What the kernel and the machine leave open, drawn for each run.
//!
//! The pages a group pays for beside those of its load are partly known: a page table for each 2 MiB that is mapped, and the index of each file in the
//! page cache. The rest is the program itself, and what the kernel keeps for it.

use ramline_evidence::rng::SplitMix64;

use crate::cost::{Costs, Spread};
use crate::load::{Compact, OF_A_TABLE, Program};
use crate::setting::{Setting, Sums};

/// Pages of a file whose numbers one page of its index holds: 64 a node, of which a slab has seven a page.
const INDEXED: u64 = 64 * 7;
/// One read takes up to so much more or less than the next.
const JITTER: f64 = 0.4;
/// The kernel may sum up the statistics up to so much late, in parts of the time between: its timer waits for a processor that is awake.
const LATE: u64 = 4;
/// And who reads them: a reader of every 100 ms came 0.1 to 0.2 ms late, 18 times of 18 (traced, `memcg:memcg_flush_stats`).
const READER_LATE: u64 = 500;

/// One draw.
#[derive(Debug, Clone, Copy, Default)]
pub struct Chance {
    /// When the kernel first sums up the statistics, or who reads them does so, in nanoseconds from the beginning.
    pub phase: u64,
    /// Where a region of less than a page table begins in its blocks of 16.
    pub around: u32,
    /// Pages of other programs that are in the processor's first batch.
    pub others: u32,
    /// Slots of the first read of a swap area: what the reads of other programs before it leave.
    pub cluster: u32,
    /// Another processor than the load's answers for the disk: drawn as 1 of 2 where there are several, which is assumed.
    pub elsewhere: bool,
    /// A look at the statistics comes up to so much late, in nanoseconds.
    pub late: u64,
    /// What a device takes is up to this share more or less, from one time to the next.
    pub jitter: f64,
    /// Where the chance within the run begins.
    pub seed: u64,
}

impl Chance {
    /// One draw, and the setting with what is drawn of it: its base and costs.
    #[must_use]
    pub fn draw(load: &Compact, setting: &Setting, random: &mut SplitMix64) -> (Chance, Setting) {
        let ([soonest, latest], late) = match setting.sums {
            Sums::AtOnce => ([0; 2], 0),
            Sums::Every(every) => ([0, every], every / LATE),
            Sums::Watched { every, first } => (first, every / READER_LATE),
        };
        let chance = Chance {
            phase: soonest + random.below(latest.saturating_sub(soonest)),
            around: u32::try_from(random.below(16)).unwrap_or_default(),
            others: u32::try_from(random.below(31)).unwrap_or_default(),
            cluster: setting.cluster >> random.below(u64::from(setting.cluster.max(1).ilog2()) + 1),
            elsewhere: setting.kernel.several_cpus && random.below(2) == 1,
            late,
            jitter: JITTER,
            seed: random.next_u64(),
        };
        let [least, most] = own(load);
        let base = least_base(load) + random.below(most.saturating_sub(least));
        let costs = drawn(&setting.costs, random);
        (chance, Setting { base, costs, ..setting.clone() })
    }
}

/// The least pages that a group pays for beside those of its load.
#[must_use]
pub fn least_base(load: &Compact) -> u64 {
    let can_leave = load.program.map_or(0, |(program, _)| u64::from(program.idle + program.report));
    tables(load) + own(load)[0].saturating_sub(can_leave)
}

fn own(load: &Compact) -> [u64; 2] {
    load.program.map_or(Program::OWN, |(program, _)| program.own)
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
fn drawn(costs: &Costs, random: &mut SplitMix64) -> Costs {
    let mut factor = |spread: f64| spread.powf(unit(random) * 2.0 - 1.0);
    let Spread { device, processor, codec } = costs.spread;
    costs.each(factor(device), factor(processor), factor(codec))
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
    fn what_two_sizes_leave_of_the_limit_is_their_tables_and_nearly_the_same_rest() {
        let rest = [(24_u64, 452), (32, 521)].map(|(unit, base)| {
            let load = CodePlusData { unit: unit << 20, code: 3, data: 14, rounds: 1, seed: 7, shared: false };
            base - tables(&Compact::of(&Load::CodePlusData(load)).unwrap())
        });
        assert_eq!(rest, [206, 194]);
    }
}
