//! The compressed pool of zswap is at its limit: what is swapped out next goes to the disk as it is.
//!
//! At `max_pool_percent` of RAM zswap stores nothing more, writes its oldest pages to the swap area, and takes pages again below
//! `accept_threshold_percent` of that limit (`zswap_max_pages` and `zswap_accept_thr_pages` of mm/zswap.c). From the threshold on it is full for what matters here:
//! between the two it has just been full, or is about to be.
//!
//! Worked example: 16 GiB, 20 % and 90 %: the limit is 3.2 GiB, and a pool of 3.0 GiB is above the threshold of 2.9.

use ramline_model::verdict;

use crate::prelude::*;

pub(super) const RULE: Rule = Rule {
    id: "zswap-pool-full",
    looks_for: "a pool of zswap at its limit, with swap on a disk behind it",
    explain: "zram-vs-zswap",
    check,
    cost_if_wrong: "a larger pool takes RAM from programs and page cache; pages that compress badly fill it for little",
    tune: Tune::No("whether a larger pool helps depends on how well the pages compress and how often they are needed"),
};

/// The kernel's defaults, where the files were not seen.
const MAX_POOL_PERCENT: u64 = 20;
const ACCEPT_THRESHOLD_PERCENT: u64 = 90;

fn check(inputs: &Inputs<'_>) -> Option<Draft> {
    let snapshot = inputs.snapshot;
    let zswap = snapshot.zswap.data().filter(|zswap| zswap.enabled)?;
    let meminfo = snapshot.meminfo.data()?;
    let (pool, total) = (meminfo.zswap?, meminfo.mem_total?);
    let stored = meminfo.zswapped.unwrap_or_default();
    let disks: Vec<&SwapArea> = look::areas(snapshot)?.into_iter().filter(|area| area.zram().is_none()).collect();
    let most = zswap.max_pool_percent.unwrap_or(MAX_POOL_PERCENT);
    let limit = total.scale(most, 100)?;
    let threshold = limit.scale(zswap.accept_threshold_percent.unwrap_or(ACCEPT_THRESHOLD_PERCENT), 100)?;
    if disks.is_empty() || pool == Bytes::ZERO || pool < threshold {
        return None;
    }
    let moved = |name: &'static str| inputs.window.and_then(|w| w.per_second(|s| s.vmstat.data()?.get(name)));
    let (out, back) = (moved("zswpwb"), moved("pswpin"));
    let is_busy = out.zip(back).is_some_and(|(out, back)| out > 0.0 && back > 0.0);
    let mut grounds = vec![
        evidence("pool", verdict::amount_of(pool, limit), "/proc/meminfo Zswap; MemTotal and max_pool_percent"),
        evidence("pages in it", stored, "/proc/meminfo Zswapped"),
    ];
    grounds.add("compressed to", pool.share_of(stored).map(percent), "Zswap / Zswapped");
    for area in &disks {
        grounds.put(&format!("swap area {}", area.path), look::area_words(area), "/proc/swaps");
    }
    if let Some(span) = inputs.window.map(|window| window.span) {
        grounds.add("written on to the disk", out.map(|n| rate(n, "pages", span)), "/proc/vmstat zswpwb");
        grounds.add("read from the disk", back.map(|n| rate(n, "pages", span)), "/proc/vmstat pswpin");
    }
    Some(Draft {
        title: format!(
            "The pool of zswap is full ({} at max_pool_percent {most}): what is swapped out next goes to the disk",
            verdict::amount_of(pool, limit)
        ),
        weight: if is_busy { Weight::Warning } else { Weight::Note },
        effect: format!(
            "further pages are written uncompressed to {}; a larger pool keeps more of them in RAM",
            list(&disks.iter().map(|area| area.path.clone()).collect::<Vec<String>>())
        ),
        evidence: grounds,
        confidence: if is_busy { Confidence::High } else { Confidence::Medium },
        change: larger(most),
        ..Draft::default()
    })
}

/// Half as much again, as long as that is no more than half of RAM: beyond it the pool competes with what it is to make room for.
fn larger(now: u64) -> Option<Change> {
    const MOST: u64 = 50;
    let then = now.saturating_add(now / 2).min(MOST);
    let file = "/sys/module/zswap/parameters/max_pool_percent";
    let set = |value: u64| format!("echo {value} > {file}");
    (then > now).then(|| {
        Change::by(format!("lets the pool grow to {then} % of RAM, until the next boot"), [set(then)], [set(now)])
    })
}
