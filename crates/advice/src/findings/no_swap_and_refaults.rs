//! No swap area, and file pages are evicted and read again at a rate: memory is short, and only the cache pays.
//!
//! Needs a window. Fires when at least [`REFAULTS_PER_S`] pages/s come back, they are missed, and there is anonymous
//! memory that swap could take instead. Missed means that programs stop for them (major faults) or that the kernel's own
//! test calls them working set. That test alone is not enough: without swap it compares with the active file pages only,
//! and a thrashing machine has few (code-plus-data at 8 MiB of read-ahead: 120,000 refaults and 0 activations a second).
//! A backup that reads past the cache refaults too, but maps nothing and is not activated: then this is silent.

use ramline_model::pressure::reclaimed_in_groups_only;

use crate::prelude::*;

pub(super) const RULE: Rule = Rule {
    id: "no-swap-and-refaults",
    looks_for: "no swap area while file pages are evicted and read again",
    explain: "no-swap",
    check,
    cost_if_wrong: "a swap area that is not needed stays empty: zram then costs about 0.4 % of its size in RAM",
    tune: Tune::Lines(&[(ramline_plan::Topic::Swap, "swap on disk"), (ramline_plan::Topic::Zram, "zram")]),
};

/// Share of the refaults that the kernel itself judged as working set (activated at once).
const LEAST_ACTIVATED: f64 = 0.1;

/// Major faults per second from which programs wait: 1 % of the time at 1 ms each, with a window of read-ahead.
const LEAST_FAULTS: f64 = 10.0;

/// Anonymous memory, as a share of RAM, below which swap could give nothing back worth having. Both lists count: without
/// swap the kernel does not age anonymous pages, so which list they are on says nothing. A guest with 545 MiB in an idle
/// tmpfs had 8 MiB of it on the inactive list, and 566 MiB a minute later.
const LEAST_ANONYMOUS: f64 = 0.1;

fn check(inputs: &Inputs<'_>) -> Option<Draft> {
    let snapshot = inputs.snapshot;
    let window = inputs.window?;
    if !look::areas(snapshot)?.is_empty() {
        return None;
    }
    let seen = look::refaults(&window)?;
    let activated = seen.activated.is_none_or(|activated| activated >= seen.per_second * LEAST_ACTIVATED);
    let missed = activated || seen.faults.is_some_and(|faults| faults >= LEAST_FAULTS);
    let meminfo = snapshot.meminfo.data()?;
    let (total, anonymous) = (meminfo.mem_total?, meminfo.active_anon? + meminfo.inactive_anon?);
    if seen.per_second < REFAULTS_PER_S || !missed || anonymous.share_of(total)? < LEAST_ANONYMOUS {
        return None;
    }
    let what = "with swap against without, in the sandbox";
    let without = |run: &_| !look::has_swap(run);
    let (confidence, proved) = look::prove(inputs.runs, what, look::has_swap, without, Confidence::Medium)?;
    let stalls = look::stall(snapshot).map_or(0.0, |stall| stall.avg10);
    let weight = if stalls >= 10.0 { Weight::Critical } else { Weight::Warning };
    let back = Pages(1).bytes(snapshot.machine.page_size).as_f64() * seen.per_second / (1024.0 * 1024.0);
    let in_a_group = reclaimed_in_groups_only(&window) == Some(true);
    // Evicted by DAMON, drop_caches or long ago, and read again now: swap would change nothing.
    if !in_a_group && !look::machine_reclaims(&window) {
        return None;
    }
    let place = if in_a_group { " inside a group at its own limit" } else { "" };
    Some(Draft {
        title: format!(
            "No swap, and {:.0} file pages a second ({back:.1} MiB/s) are evicted and read again{place}",
            seen.per_second
        ),
        weight,
        // Which one it is this rule does not know.
        group: in_a_group.then(String::new),
        effect: if in_a_group { effect_in_group(inputs) } else { effect(inputs, anonymous) },
        evidence: grounds(inputs, seen, anonymous, total).into_iter().chain(proved).collect(),
        confidence,
        way: if in_a_group { Way::Own } else { Way::Lines("compressed swap in RAM, a swap file, or both") },
        ..Draft::default()
    })
}

fn effect_in_group(inputs: &Inputs<'_>) -> String {
    let free = available::bytes(inputs.snapshot);
    let free = free.map(|free| format!(" ({free} are available)")).unwrap_or_default();
    format!("the machine itself is not short of memory{free}: raise the limit of that group first, or give it swap")
}

fn effect(inputs: &Inputs<'_>, anonymous: Bytes) -> String {
    let moved = format!(
        "of {anonymous} of anonymous memory and tmpfs, what is idle could move out and leave its room to the files in use"
    );
    // Pages times the time of a read is no waiting: read-ahead brings many at once. What tasks waited the kernel measures.
    match look::stall(inputs.snapshot).filter(|some| some.avg10 > 0.0) {
        Some(some) => format!("{moved}; tasks waited for memory {:.1} % of the last 10 s", some.avg10),
        None => moved,
    }
}

fn grounds(inputs: &Inputs<'_>, seen: Refaults, anonymous: Bytes, total: Bytes) -> Vec<Evidence> {
    let mut out = vec![
        evidence("swap areas", "none", "/proc/swaps"),
        evidence("file refaults", rate(seen.per_second, "pages", seen.span), "/proc/vmstat workingset_refault_file"),
    ];
    let value = seen.faults.map(|faults| rate(faults, "faults", seen.span));
    out.add("major faults", value, "/proc/vmstat pgmajfault");
    let value = seen.activated.map(|activated| rate(activated, "pages", seen.span));
    out.add("of these, working set by the kernel's own test", value, "/proc/vmstat workingset_activate_file");
    if let Some(window) = inputs.window.filter(|window| reclaimed_in_groups_only(window) == Some(true)) {
        let value = format!("none over {}", window.span);
        out.put("pages the machine itself looked at to evict", value, "/proc/vmstat pgscan_kswapd + pgscan_direct");
    }
    let value = format!("{anonymous}, {} of {total}", percent(anonymous.share_of(total).unwrap_or(0.0)));
    out.put("anonymous memory and tmpfs", value, "/proc/meminfo Active(anon) + Inactive(anon)");
    let value = look::stall(inputs.snapshot).map(|stall| format!("{:.2} % of the last 10 s", stall.avg10));
    out.add("tasks waiting for memory", value, "/proc/pressure/memory some");
    out
}
