//! What the kernel and the machine leave open, drawn for each run.
//!
//! The pages a group pays for beside those of its load are partly known: a page table for each 2 MiB that is mapped, and the index of each file in the
//! page cache. The rest is the program itself, and what the kernel keeps for it.

use ramline_evidence::rng::SplitMix64;

use crate::cost::Costs;
use crate::load::Compact;
use crate::setting::{Setting, Sums};

/// Pages of the program itself, with those that can leave RAM, and of what the kernel keeps for the group, besides tables; a stock of 64 to each side.
/// What two sizes of code-plus-data without swap leave of the limit, less their tables, is 206 and 194; what a group's own counters say at the end of a
/// load is 126 to 173 pages of anonymous memory, 17 to 28 of the kernel's, 20 to 40 of code.
const OWN: [u64; 2] = [138, 266];
/// Pages of a file whose numbers one page of its index holds: 64 a node, of which a slab has seven a page.
const INDEXED: u64 = 64 * 7;
/// Pages of one page table.
const OF_A_TABLE: u64 = 512;
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
    /// Where a file's pages begin in the page tables' blocks of 16.
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
        let (every, late) = match setting.sums {
            Sums::AtOnce => (0, LATE),
            Sums::Every(every) => (every, LATE),
            Sums::Watched(every) => (every, READER_LATE),
        };
        let chance = Chance {
            phase: random.below(every),
            around: u32::try_from(random.below(16)).unwrap_or_default(),
            others: u32::try_from(random.below(31)).unwrap_or_default(),
            cluster: setting.cluster >> random.below(u64::from(setting.cluster.max(1).ilog2()) + 1),
            elsewhere: setting.kernel.several_cpus && random.below(2) == 1,
            late: every / late,
            jitter: JITTER,
            seed: random.next_u64(),
        };
        let base = least_base(load) + random.below(OWN[1] - OWN[0]);
        let costs = drawn(&setting.costs, random);
        (chance, Setting { base, costs, ..setting.clone() })
    }
}

/// The least pages that a group pays for beside those of its load.
#[must_use]
pub fn least_base(load: &Compact) -> u64 {
    let can_leave = load.program.map_or(0, |(program, _)| u64::from(program.idle + program.report));
    tables(load) + OWN[0].saturating_sub(can_leave)
}

/// Pages of page tables and of the page cache's index.
#[must_use]
pub fn tables(load: &Compact) -> u64 {
    use ramline_trace::generate::Memory::Anonymous;
    let of = |region: &crate::load::Extent| {
        let pages = u64::from(region.pages);
        let mapped = if region.mapped { pages.div_ceil(OF_A_TABLE) } else { 0 };
        mapped + if region.memory == Anonymous { 0 } else { pages.div_ceil(INDEXED) }
    };
    load.regions.iter().map(of).sum()
}

/// Costs as they may be: all that a device takes more or less together, and all that a processor takes.
fn drawn(costs: &Costs, random: &mut SplitMix64) -> Costs {
    let mut factor = || costs.spread.powf(unit(random) * 2.0 - 1.0);
    let (device, processor) = (factor(), factor());
    let of_device = |cost: [f64; 2]| cost.map(|ns| ns * device);
    Costs {
        hit: costs.hit * processor,
        minor: costs.minor * processor,
        fill: costs.fill * processor,
        call: costs.call * processor,
        copy: costs.copy * processor,
        scan: costs.scan * processor,
        read: of_device(costs.read),
        swap_read: of_device(costs.swap_read),
        swap_write: [costs.swap_write[0] * processor, costs.swap_write[1] * device],
        compress: costs.compress * processor,
        decompress: costs.decompress * processor,
        spread: costs.spread,
    }
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
