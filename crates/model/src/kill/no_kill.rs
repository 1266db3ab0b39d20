//! Failures and stalls in which nothing is killed.

use ramline_snapshot::kernel_log::{Report, ReportKind, Stuck, StuckKind};

use super::machine::machine;
use super::sum::{KillSum, PartKind};
use super::types::{Certainty, KillCause, Reason, Verdict};
use super::zones::ZoneState;
use crate::prelude::*;

/// Functions that write memory out to swap: a request from inside of them needs memory to free memory.
const SWAPS_OUT: [&str; 9] = [
    "nfs_swap_rw",
    "swap_writepage",
    "__swap_writepage",
    "swap_writeout",
    "zswap_store",
    "zswap_frontswap_store",
    "folio_alloc_swap",
    "add_to_swap",
    "zram_bio_write",
];
/// Functions of reclaim.
const RECLAIMS: [&str; 6] =
    ["shrink_node", "shrink_lruvec", "shrink_zone", "try_to_free_pages", "do_try_to_free_pages", "kswapd"];
/// Functions in which a task waits for a page of swap.
const SWAPS_IN: [&str; 4] = ["do_swap_page", "swap_readpage", "swap_read_folio", "shmem_swapin"];
/// Blocks above this the kernel does not try hard for (PAGE_ALLOC_COSTLY_ORDER).
const COSTLY: i32 = 3;

/// A request that failed or waited.
pub(super) fn failure(report: &Report, sum: Option<&KillSum>, zones: &[ZoneState], page_assumed: bool) -> Verdict {
    if report.kind == ReportKind::Stall {
        let ms = report.stalled_ms.unwrap_or_default();
        return Verdict::new(KillCause::ThrashFreeze, Certainty::Likely).because(Reason::Stalled(ms));
    }
    let trigger = report.trigger.as_ref();
    let order = trigger.and_then(|trigger| trigger.order).unwrap_or_default();
    let allowed: Vec<&ZoneState> = zones.iter().filter(|zone| zone.allowed).collect();
    let fragmented = order > 0
        && !allowed.is_empty()
        && allowed.iter().all(|zone| zone.is_below() || zone.block == Some(false))
        && allowed.iter().any(|zone| zone.block == Some(false) && !zone.is_below());
    if fragmented {
        return Verdict::new(KillCause::Fragmentation, Certainty::Sure);
    }
    let from = report.functions.iter().find(|function| SWAPS_OUT.iter().any(|name| is(function, name)));
    if let Some(from) = from {
        return Verdict::new(KillCause::ReclaimDeadlock, Certainty::Likely).because(Reason::FromReclaim(from.clone()));
    }
    let atomic = trigger.and_then(|trigger| trigger.gfp.as_ref()).is_some_and(|gfp| gfp.is_atomic());
    let reclaim = report.functions.iter().find(|function| RECLAIMS.iter().any(|name| is(function, name)));
    let reclaimable = sum.is_none_or(|sum| {
        sum.part(PartKind::File) > sum.part(PartKind::Free) || sum.swap_free.is_some_and(|free| free > Bytes::ZERO)
    });
    if order <= 1 && reclaimable && (atomic || reclaim.is_some()) {
        let above = allowed.is_empty() || allowed.iter().any(|zone| zone.could_serve());
        let confidence = if above || !atomic { Certainty::Likely } else { Certainty::Sure };
        let verdict = Verdict::new(KillCause::AtomicBurst, confidence);
        return match (atomic, reclaim) {
            (true, _) => verdict.because(Reason::MayNotWait),
            (false, from) => verdict.because(Reason::FromReclaim(from.cloned().unwrap_or_default())),
        };
    }
    if order > COSTLY && (allowed.is_empty() || allowed.iter().any(|zone| zone.block.is_none())) {
        return Verdict::new(KillCause::Fragmentation, Certainty::Likely);
    }
    machine(report, sum, zones, page_assumed)
}

fn is(function: &str, name: &str) -> bool {
    // The compiler's own endings, and parts it cut off.
    function == name || function.strip_prefix(name).is_some_and(|rest| rest.starts_with(['.', '_']))
}

/// Tasks that were stuck: for memory, where their stacks say so.
pub(super) fn stuck(all: &[&Stuck]) -> Verdict {
    let waits = |stuck: &Stuck, names: &[&str]| {
        stuck.functions.iter().any(|function| names.iter().any(|name| function.starts_with(name)))
    };
    let longest = all.iter().filter_map(|stuck| stuck.seconds).max();
    let count = u64::try_from(all.len()).unwrap_or(u64::MAX);
    let reason = Reason::Stuck(count, longest);
    let in_reclaim = all.iter().filter(|stuck| waits(stuck, &RECLAIMS) || waits(stuck, &SWAPS_IN)).count();
    let writing = all.iter().any(|stuck| waits(stuck, &RECLAIMS) && waits(stuck, &SWAPS_OUT));
    if writing {
        return Verdict::new(KillCause::ReclaimDeadlock, Certainty::Likely).because(reason);
    }
    // One task may wait for one disk; several in reclaim and swap-in wait for memory.
    if in_reclaim > 1 {
        return Verdict::new(KillCause::ThrashFreeze, Certainty::Likely).because(reason);
    }
    let hugetlb = all.iter().any(|stuck| stuck.kind == Some(StuckKind::NoHugePage));
    if hugetlb {
        return Verdict::new(KillCause::HugepagesReserved, Certainty::Likely);
    }
    Verdict::default().because(reason)
}
