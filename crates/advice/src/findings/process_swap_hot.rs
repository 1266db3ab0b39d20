//! A process whose swap is hot: it keeps faulting on pages that were swapped out.
//!
//! Needs a window with the processes in both looks. The kernel counts a process's major faults, not what they were for; so the faults
//! of the whole machine that cannot have been swap-ins are all taken from this process, and what is left is a lower bound:
//! `faults − (all faults − swap-ins / pages a swap-in)`.
//!
//! Fires when waiting for these takes at least a hundredth of the time at the measured cost of a swap-in, or, where that was not
//! measured, when there are as many as refaults would have to be (100 a second at 100 us).

use ramline_model::{group, groups};

use crate::prelude::*;

pub(super) const RULE: Rule = Rule {
    id: "process-swap-hot",
    looks_for: "a process that keeps faulting on its swapped pages",
    explain: "swap-in-use",
    check,
    cost_if_wrong: "a program that starts again after a pause takes its pages back once and is then quiet: look again",
    tune: Tune::No("it is the memory of one program: its size or its limit"),
};

/// Share of the time spent waiting from which it is noticed.
const NOTICED: f64 = 0.01;
/// A process with less than this in swap cannot keep faulting on it.
const LEAST_SWAP: Bytes = Bytes::from_mib(1);

/// A process with its major faults per second, and the least of them that were swap-ins.
struct Hot<'a> {
    process: &'a Process,
    group: Option<&'a str>,
    faults: f64,
    swap_ins: f64,
}

fn check(inputs: &Inputs<'_>) -> Option<Draft> {
    let window = inputs.window?;
    let areas = look::areas(inputs.snapshot)?;
    let area = areas.iter().find(|area| area.used.0 > 0)?;
    let all = window.per_second(|s| s.vmstat.data()?.pgmajfault)?;
    let pages = window.per_second(look::swapped_in)?;
    // From zram a swap-in brings its page alone, from a disk up to a cluster.
    let disk = areas.iter().any(|area| area.zram().is_none() && area.used.0 > 0);
    let cluster = inputs.snapshot.settings.data().and_then(|s| s.page_cluster).unwrap_or(3).clamp(0, 10);
    let events = if disk { pages / f64::from(1_u32 << cluster) } else { pages };
    let others = (all - events).max(0.0);
    let hot = hottest(&window, others)?;
    let cost = look::swap_in_cost(inputs, area);
    let waiting = cost.map(|cost| hot.swap_ins * cost.mean() / 1e9);
    if waiting.map_or(hot.swap_ins < REFAULTS_PER_S, |share| share < NOTICED) {
        return None;
    }
    let name = format!("{} (process {})", hot.process.name, hot.process.pid);
    Some(Draft {
        title: format!("{name} waits for its swapped pages: at least {:.0} swap-ins a second", hot.swap_ins),
        weight: Weight::Warning,
        group: hot.group.and_then(|path| group::limited_at(&window, path)).map(str::to_owned),
        effect: effect(waiting, inputs),
        evidence: grounds(&hot, &window, all, pages, cost),
        confidence: Confidence::Medium,
        ..Draft::default()
    })
}

/// The process with the most swap-ins that must have been its own.
fn hottest<'a>(window: &Window<'a>, others: f64) -> Option<Hot<'a>> {
    let processes = window.after.processes.data()?;
    let list = &processes.list;
    let own = |process: &'a Process| {
        let group = process.group.and_then(|at| processes.groups.get(usize::try_from(at).ok()?)).map(String::as_str);
        if process.swap? < LEAST_SWAP || group.is_some_and(groups::is_sandbox) {
            return None;
        }
        let counter = |s: &Snapshot| {
            let same = |p: &&Process| (p.pid, p.started_ticks) == (process.pid, process.started_ticks);
            s.processes.data()?.list.iter().find(same)?.major_faults
        };
        let faults = window.per_second(counter)?;
        Some(Hot { process, group, faults, swap_ins: faults - others })
    };
    list.iter().filter_map(own).filter(|hot| hot.swap_ins > 0.0).max_by(|a, b| a.swap_ins.total_cmp(&b.swap_ins))
}

fn effect(waiting: Option<f64>, inputs: &Inputs<'_>) -> String {
    let available = available::bytes(inputs.snapshot);
    let room = available.map(|available| format!("{available} is available")).unwrap_or_default();
    let time = match waiting {
        Some(share) => format!("about {} of the time is waiting for swap", percent(share.min(1.0))),
        None => "each is a wait for swap".to_owned(),
    };
    format!(
        "{time}; {room}: more RAM, a higher limit of its group, or protection of the group (memory.low) keeps its pages in"
    )
}

fn grounds(hot: &Hot<'_>, window: &Window<'_>, all: f64, pages: f64, cost: Option<Cost<'_>>) -> Vec<Evidence> {
    let pid = hot.process.pid;
    let mut out = vec![
        evidence("its major faults", rate(hot.faults, "faults", window.span), format!("/proc/{pid}/stat majflt")),
        evidence("all major faults", rate(all, "faults", window.span), "/proc/vmstat pgmajfault"),
        evidence("pages swapped in", rate(pages, "pages", window.span), "/proc/vmstat pswpin + swpin_zero + zswpin"),
        evidence("it has in swap", hot.process.swap.unwrap_or_default(), format!("/proc/{pid}/status VmSwap")),
    ];
    out.extend(cost.map(|cost| cost.evidence("one swap-in")));
    out
}
