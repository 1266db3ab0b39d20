//! The recent cost of reclaim by kind (`anon_cost`, `file_cost`), by which it is decided how much of each is scanned.
//!
//! Stands for `lru_note_cost` (mm/swap.c), read in 6.1, 6.12 and 6.18, and for the part of `prepare_scan_control` (mm/vmscan.c) that has taken its place in 7.3.

use crate::kernel::Cost;
use crate::memory::statistics::Statistics;
use crate::memory::{ANON, FILE, Memory};

/// A page that was written, or a refault of the working set, counts as this number of pages scanned in vain (SWAP_CLUSTER_MAX).
const TRANSFER: u64 = 32;

/// Adds the cost of pages of a kind that were written or refaulted, and of others scanned in vain.
pub fn note(memory: &mut Memory, kind: usize, transfers: u64, rotated: u64) {
    let cost = match memory.setting.kernel.cost {
        Cost::Transfers => transfers,
        Cost::TransfersAndRotations | Cost::Counted => transfers * TRANSFER + rotated,
    };
    if cost == 0 {
        return;
    }
    if memory.setting.kernel.cost == Cost::Counted {
        memory.counts.cost[kind] += cost;
        return;
    }
    memory.cost[kind] += cost;
    let known = memory.statistics();
    if is_much(memory, &known) {
        halve(memory);
    }
}

/// What the statistics say that it has cost, beyond what they said before; only where the kernel goes by them.
pub fn take(memory: &mut Memory, known: &Statistics) {
    if memory.setting.kernel.cost != Cost::Counted {
        return;
    }
    for kind in [ANON, FILE] {
        memory.cost[kind] += known.cost[kind] - memory.taken[kind];
    }
    memory.taken = known.cost;
    while is_much(memory, known) {
        halve(memory);
    }
}

fn is_much(memory: &Memory, known: &Statistics) -> bool {
    let all: u64 = known.size.iter().flatten().sum();
    memory.cost[ANON] + memory.cost[FILE] > all / 4
}

fn halve(memory: &mut Memory) {
    memory.cost = memory.cost.map(|cost| cost / 2);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Chance;
    use crate::kernel::PRESETS;
    use crate::memory::tests::group;

    #[test]
    fn where_statistics_count_costs_come_when_they_are_summed_up_and_all_at_once() {
        let [_, _, at_once, counted] = PRESETS.map(|kernel| {
            let mut memory = group(1000, kernel, Chance::default());
            (0..2000).for_each(|id| crate::insert::insert(&mut memory, id, 0));
            memory.drain();
            let mut known = memory.statistics();
            [8, 20, 0, 100, 0].map(|transfers| {
                note(&mut memory, ANON, transfers, 0);
                note(&mut memory, FILE, 0, transfers);
                take(&mut memory, &known);
                // Those of the next turn are as old as this one.
                known = memory.statistics();
                memory.cost
            })
        });
        // Costs above a quarter of the pages are halved: once where they are noted, until they are less where they come together.
        assert_eq!(at_once, [[256, 8], [448, 24], [448, 24], [912, 56], [912, 56]]);
        assert_eq!(counted, [[0, 0], [256, 8], [448, 14], [448, 14], [456, 14]]);
    }
}
