//! vm.page-cluster against its hit ratio: swap read-ahead that brings pages that are not used.
//!
//! With every page that is asked for, the kernel reads up to 2^page-cluster pages that lie beside it. One that is then used saves
//! a request; one that is not costs its transfer and the RAM it fills. With `c` the time of a random read and `t` that of
//! one page more in the same request, reading ahead gains when `h · (c − t) > (1 − h) · t`, so when the hit ratio
//! `h` is above `t / c`. On zram one page more costs as much as the first and saves only the fault itself.
//!
//! Needs a window: the hits since boot are another load's. At page-cluster 0 nothing is read ahead and this is silent.

use crate::prelude::*;

pub(super) const RULE: Rule = Rule {
    id: "page-cluster-against-hits",
    looks_for: "swap read-ahead (vm.page-cluster) that brings pages that are not used",
    explain: "page-cluster",
    check,
    cost_if_wrong: "a load that reads its swapped memory in order faults more often; the disk then sees more, smaller reads",
    tune: Tune::Settings(&["vm.page-cluster"]),
};

/// Fewer pages a second than this are no load: 100 pages of 4 KiB are 0.4 MiB/s, and at 10 us each 0.1 % of the time. Over the
/// two seconds of a checkup they also make the ratio certain to 4 points.
pub(crate) const LEAST_PAGES: f64 = 100.0;
/// What a fault costs besides fetching the page: entry, lookup, mapping. About 1 us on machines of the last ten years.
const FAULT_NS: f64 = 1000.0;
/// Where nothing was measured: a flash read takes 80 us, one page more 8 us; a seek 8 ms, one page more 40 us. Of a disk that says
/// it rotates the lower one is taken for 1 %, since virtual disks often say so wrongly.
const FLASH: f64 = 0.1;
const ROTATING: f64 = 0.01;
/// The same for zram: a page takes 3 us to decompress.
const ZRAM: f64 = 0.75;
/// A page read ahead just now may still be used: a short look counts it as wasted.
const LONG_LOOK: Nanos = Nanos(10_000_000_000);

fn check(inputs: &Inputs<'_>) -> Option<Draft> {
    let window = inputs.window?;
    let now = inputs.snapshot.settings.data()?.page_cluster.filter(|value| *value > 0)?;
    let areas = look::areas(inputs.snapshot)?;
    // A disk is what is read ahead from where both are in use: zram mostly skips it.
    let area = areas.iter().find(|a| a.zram().is_none() && a.used.0 > 0).or_else(|| areas.first())?;
    let (ahead, ratio) = hits(&window)?;
    let (even, ground) = break_even(inputs, area);
    if ahead < LEAST_PAGES || ratio >= even {
        return None;
    }
    let zram = area.zram().is_some();
    // zram has nothing to read ahead. A disk may only have too much of it: one step down, then look again.
    let then = if zram { 0 } else { now - 1 };
    let wasted = ahead * (1.0 - ratio);
    let page = Pages(1).bytes(inputs.snapshot.machine.page_size);
    Some(Draft {
        title: format!(
            "Of {ahead:.0} pages a second that swap reads ahead, {} are used: too few for {}",
            percent(ratio),
            if zram { "zram" } else { "this disk" }
        ),
        weight: if wasted * page.as_f64() >= 10_485_760.0 { Weight::Warning } else { Weight::Note },
        effect: format!(
            "about {wasted:.0} pages a second ({:.1} MiB/s) are read for nothing, and each takes the place of another page",
            wasted * page.as_mib()
        ),
        evidence: vec![
            evidence("read ahead", rate(ahead, "pages", window.span), "/proc/vmstat swap_ra"),
            evidence("of these used", percent(ratio), "/proc/vmstat swap_ra_hit / swap_ra, both over the window"),
            evidence("pays above", percent(even), "time of one page more / time of a random read"),
            evidence(
                "vm.page-cluster",
                format!("{now}: up to {} pages a read", 1_u64 << now.clamp(0, 31)),
                "/proc/sys/vm/page-cluster",
            ),
        ]
        .into_iter()
        .chain(ground)
        .collect(),
        confidence: if window.span >= LONG_LOOK { Confidence::Medium } else { Confidence::Low },
        way: Way::one("page-cluster", now, then),
        ..Draft::default()
    })
}

/// Pages read ahead per second, and the share of them that was used.
pub(crate) fn hits(window: &Window<'_>) -> Option<(f64, f64)> {
    let ahead = window.per_second(|s| s.vmstat.data()?.swap_ra)?;
    let hit = window.per_second(|s| s.vmstat.data()?.swap_ra_hit)?;
    (ahead > 0.0).then(|| (ahead, (hit / ahead).min(1.0)))
}

/// The hit ratio from which reading ahead pays on this area, and what that rests on.
pub(crate) fn break_even(inputs: &Inputs<'_>, area: &SwapArea) -> (f64, Option<Evidence>) {
    let cost = look::swap_in_cost(inputs, area);
    if area.zram().is_some() {
        let even = cost.map_or(ZRAM, |cost| cost.mean() / (cost.mean() + FAULT_NS));
        return (even, cost.map(|cost| cost.evidence("one page from zram")));
    }
    let throughput = inputs.tiers.and_then(|tiers| tiers.tier(&format!("swap:{}", area.path))?.throughput.as_ref());
    if let Some((cost, throughput)) = cost.zip(throughput).filter(|(cost, t)| t.median > 0.0 && cost.mean() > 0.0) {
        let page = Pages(1).bytes(inputs.snapshot.machine.page_size);
        let more = page.as_f64() / throughput.median * 1e9;
        return ((more / cost.mean()).min(1.0), Some(cost.evidence("a random read of this area")));
    }
    let turns = look::disk_of(inputs.snapshot, area).and_then(|disk| disk.rotational) == Some(true);
    (if turns { ROTATING } else { FLASH }, None)
}
