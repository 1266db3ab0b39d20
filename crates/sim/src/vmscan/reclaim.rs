//! How much of which list is looked at, until enough is free.
//!
//! Stands for `do_try_to_free_pages`, `prepare_scan_control`, `get_scan_count` and `shrink_lruvec` (mm/vmscan.c) for a group at its limit; read in
//! 6.18. Each pass opens a plug. The lists of MGLRU have their own way (`lru_gen::shrink`). Left out: protection (memory.low), reclaim of slabs, groups below this one.

use ramline_model::balance::weights;

use crate::kernel::{BATCH, PRIORITY};
use crate::lru_cost;
use crate::memory::{ANON, FILE, Memory};
use crate::vmscan::lru_gen;
use crate::vmscan::shrink_list;

/// One reclaim: which lists may be deactivated, and what this pass trims.
struct Scan {
    may_deactivate: [bool; 2],
    skipped: bool,
    force: bool,
    trim: bool,
    wanted: u64,
    reclaimed: u64,
}

/// Reclaims this number of pages if it can, and at least a batch; how many were freed.
pub fn reclaim(memory: &mut Memory, pages: u64) -> u64 {
    memory.settle();
    let (wanted, reclaimed) = (pages.max(BATCH), 0);
    let mut scan = Scan { may_deactivate: [false; 2], skipped: false, force: false, trim: false, wanted, reclaimed };
    passes(memory, &mut scan);
    // A second walk over all groups, which here is one.
    if scan.reclaimed == 0 && memory.setting.kernel.second_walk {
        passes(memory, &mut scan);
    }
    if scan.reclaimed == 0 && scan.skipped {
        scan.force = true;
        passes(memory, &mut scan);
    }
    scan.reclaimed
}

fn passes(memory: &mut Memory, scan: &mut Scan) {
    for priority in (0..=PRIORITY).rev() {
        memory.plug.open();
        if let Some(mglru) = memory.setting.kernel.mglru() {
            scan.reclaimed += lru_gen::shrink::pass(memory, mglru, priority, scan.wanted - scan.reclaimed);
        } else {
            prepare(memory, scan, priority);
            shrink_lists(memory, scan, priority);
        }
        memory.unplug();
        if scan.reclaimed >= scan.wanted {
            break;
        }
    }
    memory.seen = memory.statistics().activated;
}

fn prepare(memory: &mut Memory, scan: &mut Scan, priority: u32) {
    let statistics = memory.statistics();
    lru_cost::take(memory, &statistics);
    for kind in [ANON, FILE] {
        let is_low = inactive_is_low(statistics.size[kind]);
        scan.may_deactivate[kind] = scan.force || statistics.activated[kind] != memory.seen[kind] || is_low;
    }
    scan.trim = statistics.size[FILE][0] >> priority > 0 && !scan.may_deactivate[FILE];
}

/// The inactive list is too short for its active one.
fn inactive_is_low([inactive, active]: [u64; 2]) -> bool {
    let gb = (inactive + active) >> 18;
    let ratio = if gb > 0 { (10 * gb).isqrt() } else { 1 };
    inactive * ratio < active
}

/// Pages to look at, by kind, inactive and active.
fn targets(memory: &Memory, scan: &Scan, priority: u32) -> [[u64; 2]; 2] {
    let size = |kind: usize| [0, 1].map(|active| memory.lists[kind][active].len >> priority);
    let swappiness = memory.setting.swappiness;
    if !memory.can_swap() || swappiness == 0 {
        return [[0; 2], size(FILE)];
    }
    if priority == 0 {
        return [size(ANON), size(FILE)];
    }
    if scan.trim {
        return [[0; 2], size(FILE)];
    }
    let weights = weights(swappiness, memory.cost[ANON], memory.cost[FILE]);
    let all = weights.anon + weights.file;
    let part = |n: u64, weight: u128| u64::try_from(u128::from(n) * weight / all).unwrap_or(n);
    [size(ANON).map(|n| part(n, weights.anon)), size(FILE).map(|n| part(n, weights.file))]
}

fn shrink_lists(memory: &mut Memory, scan: &mut Scan, priority: u32) {
    let wanted = targets(memory, scan, priority);
    let mut left = wanted;
    let mut freed = 0;
    while left[ANON][0] > 0 || left[FILE][0] > 0 || left[FILE][1] > 0 {
        for kind in [ANON, FILE] {
            for active in [0, 1] {
                let n = left[kind][active].min(BATCH);
                left[kind][active] -= n;
                if n == 0 {
                    continue;
                }
                match active {
                    0 => freed += shrink_list::inactive(memory, kind, n),
                    _ if scan.may_deactivate[kind] => shrink_list::active(memory, kind, n),
                    _ => scan.skipped = true,
                }
            }
        }
        if freed < scan.wanted {
            continue;
        }
        let remains = left.map(|[inactive, active]| inactive + active);
        if remains.contains(&0) {
            break;
        }
        // The shorter rest is let go, and of the other kind as large a share is looked at as was of this one.
        let (less, more) = if remains[FILE] > remains[ANON] { (ANON, FILE) } else { (FILE, ANON) };
        let share = remains[less] * 100 / (wanted[less][0] + wanted[less][1] + 1);
        left[less] = [0; 2];
        for active in [0, 1] {
            let done = wanted[more][active] - left[more][active];
            left[more][active] = (wanted[more][active] * (100 - share) / 100).saturating_sub(done);
        }
    }
    scan.reclaimed += freed;
    if memory.can_swap() && inactive_is_low(memory.statistics().size[ANON]) {
        shrink_list::active(memory, ANON, BATCH);
    }
}
