//! Huge pages that were set aside and that no process uses: RAM that is lost to everything else.
//!
//! A pool of huge pages leaves the page allocator when it is filled, before any program asks. Pages that are free and not promised to a
//! mapping serve no program; reclaim cannot touch them, and they are not part of what is available.

use ramline_snapshot::hugepages::HugePool;

use crate::prelude::*;

pub(super) const RULE: Rule = Rule {
    id: "huge-pages-unused",
    looks_for: "huge pages that were set aside and that no process uses",
    explain: "hugepages",
    check,
    cost_if_wrong: "a program that starts later and asks for them finds too few and falls back or does not start; getting them again may fail once memory is fragmented",
    tune: Tune::No(
        "who asked for the pool, and whether a program is still to come for it, only its administrator knows",
    ),
};

/// One hundredth of RAM, and no less than this: a program that sizes its pool by the rule of thumb leaves some pages over.
const LEAST: Bytes = Bytes::from_mib(64);
const LEAST_SHARE: f64 = 0.01;
/// So soon after boot the program they are for may not have started.
const SETTLED: Nanos = Nanos(600_000_000_000);

fn check(inputs: &Inputs<'_>) -> Option<Draft> {
    let snapshot = inputs.snapshot;
    let total = snapshot.mem_total()?;
    let pool = snapshot.hugepages.data()?.iter().max_by_key(|pool| pool.bytes(lasting(pool)))?;
    let unused = lasting(pool);
    let lost = pool.bytes(unused);
    let share = lost.share_of(total)?;
    if lost < LEAST || share < LEAST_SHARE {
        return None;
    }
    let young = snapshot.machine.uptime.is_none_or(|uptime| uptime < SETTLED);
    Some(Draft {
        title: format!(
            "{lost} of RAM are set aside as huge pages of {} that no process uses, {}",
            pool.page,
            percent(share)
        ),
        weight: if share >= 0.05 { Weight::Warning } else { Weight::Note },
        effect: format!("{lost} for everything else"),
        evidence: vec![
            evidence("in the pool", format!("{} pages, {}", pool.total, pool.bytes(pool.total)), "nr_hugepages"),
            evidence("free", pool.free.to_string(), "free_hugepages"),
            evidence("of these promised to a mapping", pool.reserved.to_string(), "resv_hugepages"),
        ],
        // What they are for may start later; that they are unused now is certain.
        confidence: if young { Confidence::Low } else { Confidence::High },
        change: Some(change(pool, pool.total - unused)),
        ..Draft::default()
    })
}

/// Unused pages of the lasting pool: surplus pages go by themselves.
fn lasting(pool: &HugePool) -> u64 {
    pool.unused().saturating_sub(pool.surplus).min(pool.total)
}

fn change(pool: &HugePool, keep: u64) -> Change {
    let set = |count: u64| {
        if pool.default_size {
            format!("sysctl -w vm.nr_hugepages={count}")
        } else {
            format!("echo {count} > /sys/kernel/mm/hugepages/hugepages-{}kB/nr_hugepages", pool.page.0 >> 10)
        }
    };
    Change::by(
        "gives the unused ones back until the next boot; to keep it: vm.nr_hugepages in sysctl.d, hugepages= on the kernel's command line",
        [set(keep)],
        [set(pool.total)],
    )
}
