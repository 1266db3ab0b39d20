//! Why a group at its limit had to kill: the largest part of what is charged to it.

use ramline_snapshot::kernel_log::{GroupFigures, GroupUse, Report};

use super::types::{Certainty, KillCause, Reason, Verdict};
use crate::prelude::*;

/// The kernel charges in batches (MEMCG_CHARGE_BATCH): usage is that near to the limit when it is hit.
const BATCH_PAGES: u64 = 64;

/// What is charged, by its kind.
#[derive(Debug, Clone, Copy, Default)]
struct Charged {
    anon: Bytes,
    /// Page cache without shared memory.
    file: Bytes,
    shmem: Bytes,
    /// Not written yet, or being written.
    dirty: Bytes,
    kernel: Bytes,
    swap: Bytes,
    swap_cached: Bytes,
}

/// The cause of a kill in a group.
pub(super) fn in_group(report: &Report, page: Bytes) -> Verdict {
    let figures = report.group.clone().unwrap_or_default();
    let limit = figures.memory.and_then(|memory| memory.limit);
    let Some(charged) = charged(&figures) else { return from_tasks(report, &figures, page) };
    let full = |used: Option<GroupUse>| {
        used.and_then(|used| Some(used.usage.0.saturating_add(page.0.saturating_mul(BATCH_PAGES)) >= used.limit?.0))
    };
    let at_limit = [figures.memory, figures.memory_and_swap, figures.swap, figures.kmem]
        .into_iter()
        .any(|used| full(used) == Some(true));
    // Without the lines of limits the kill itself is what says that one was hit.
    let whole = figures
        .memory
        .map_or_else(|| charged.anon + charged.file + charged.shmem + charged.kernel, |memory| memory.usage);
    let mut verdict = largest(
        &charged,
        whole,
        &figures,
        full(figures.memory_and_swap) == Some(true),
        full(figures.swap) == Some(true),
    );
    // The limit of kernel memory alone was hit (version 1).
    if full(figures.kmem) == Some(true) && full(figures.memory) != Some(true) {
        return Verdict::new(KillCause::MemcgKmem, Certainty::Likely);
    }
    if !at_limit && limit.is_some() {
        verdict = verdict.at_most_likely().because(Reason::LimitAbove);
    }
    if limit.is_none() && figures.memory_and_swap.and_then(|used| used.limit).is_none() {
        verdict = verdict.at_most_likely();
    }
    verdict
}

fn largest(charged: &Charged, whole: Bytes, figures: &GroupFigures, memsw_full: bool, swap_full: bool) -> Verdict {
    let more_than_half = |part: Bytes| part.0 > whole.0 / 2;
    if more_than_half(charged.anon)
        || charged.anon >= charged.file.max(charged.kernel).max(charged.shmem) && charged.swap > whole
    {
        return anonymous(charged, figures, memsw_full, swap_full);
    }
    if charged.kernel >= charged.anon.max(charged.file).max(charged.shmem) && charged.kernel > Bytes::ZERO {
        return Verdict::new(
            KillCause::MemcgKmem,
            if more_than_half(charged.kernel) { Certainty::Sure } else { Certainty::Likely },
        );
    }
    if charged.shmem >= charged.anon.max(charged.file) && charged.shmem > Bytes::ZERO {
        return Verdict { also: vec![KillCause::MemcgAnon], ..Verdict::new(KillCause::ShmemTmpfs, Certainty::Likely) };
    }
    if more_than_half(charged.file) {
        // Clean pages of files would have been reclaimed before anything is killed.
        let dirty = charged.dirty.0 > charged.file.0 / 2;
        return Verdict::new(KillCause::MemcgDirtyFile, if dirty { Certainty::Sure } else { Certainty::Likely });
    }
    let parts = [
        (KillCause::MemcgAnon, charged.anon),
        (KillCause::MemcgDirtyFile, charged.file),
        (KillCause::ShmemTmpfs, charged.shmem),
    ];
    let largest = parts.into_iter().max_by_key(|(_, bytes)| *bytes).filter(|(_, bytes)| *bytes > Bytes::ZERO);
    largest.map_or_else(Verdict::default, |(cause, _)| Verdict::new(cause, Certainty::Likely))
}

/// Anonymous memory: was there anywhere to swap it to?
fn anonymous(charged: &Charged, figures: &GroupFigures, memsw_full: bool, swap_full: bool) -> Verdict {
    // The same pages are in memory and in swap, and count in both.
    if charged.swap_cached.0 > charged.anon.0 / 2 && charged.swap_cached > Bytes::ZERO {
        return Verdict { also: vec![KillCause::MemcgAnon], ..Verdict::new(KillCause::MemcgSwap, Certainty::Likely) };
    }
    if charged.swap > Bytes::ZERO && (memsw_full || swap_full) {
        return Verdict { also: vec![KillCause::MemcgAnon], ..Verdict::new(KillCause::MemcgSwap, Certainty::Likely) };
    }
    let no_swap_limit = figures.swap.is_none_or(|swap| swap.limit.is_none()) && !memsw_full;
    if charged.swap > Bytes::ZERO && no_swap_limit {
        // Swap of the machine is not in the report: full or slow, it was not enough.
        return Verdict { also: vec![KillCause::MemcgSwap], ..Verdict::new(KillCause::MemcgAnon, Certainty::Likely) };
    }
    Verdict::new(KillCause::MemcgAnon, Certainty::Sure)
}

/// Statistics of either version; `None` where there are none.
fn charged(figures: &GroupFigures) -> Option<Charged> {
    let value = |name: &str| figures.statistic_named(name);
    let some = |name: &str| value(name).unwrap_or_default();
    // Version 2.
    if let (Some(anon), Some(file)) = (value("anon"), value("file")) {
        let kernel = value("kernel").unwrap_or_else(|| {
            some("slab") + some("kernel_stack") + some("pagetables") + some("percpu") + some("vmalloc") + some("sock")
        });
        let swap = figures.swap.map(|swap| swap.usage).unwrap_or_default();
        let shmem = some("shmem");
        return Some(Charged {
            anon,
            file: file.saturating_sub(shmem),
            shmem,
            dirty: some("file_dirty") + some("file_writeback"),
            kernel: kernel + if value("kernel").is_some() { some("sock") } else { Bytes::ZERO },
            swap,
            swap_cached: some("swapcached"),
        });
    }
    // Version 1; those of all groups below begin with "total_".
    let either = |name: &str| value(&format!("total_{name}")).or_else(|| value(name));
    let (cache, rss) = (either("cache")?, either("rss")?);
    let shmem = either("shmem").unwrap_or_default();
    let dirty = either("dirty").unwrap_or_default() + either("writeback").unwrap_or_default();
    let kernel = figures.kmem.map(|kmem| kmem.usage).unwrap_or_default();
    let swap = either("swap").unwrap_or_default();
    Some(Charged { anon: rss, file: cache.saturating_sub(shmem), shmem, dirty, kernel, swap, swap_cached: Bytes::ZERO })
}

/// Without statistics: what the tasks have, beside the limit.
fn from_tasks(report: &Report, figures: &GroupFigures, page: Bytes) -> Verdict {
    let killed: Bytes = report.kills.iter().filter_map(|kill| kill.anon).sum();
    let rss = Bytes(report.tasks.total.rss.saturating_mul(page.0)).max(killed);
    let Some(usage) = figures.memory.map(|memory| memory.usage) else { return Verdict::default() };
    // It may be shared memory as well.
    if rss.0 > usage.0 / 2 {
        let swapped = report.tasks.total.swapents > 0;
        let also = if swapped { vec![KillCause::MemcgSwap] } else { Vec::new() };
        return Verdict { also, ..Verdict::new(KillCause::MemcgAnon, Certainty::Likely) };
    }
    Verdict::default()
}
