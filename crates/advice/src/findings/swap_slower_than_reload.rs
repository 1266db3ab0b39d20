//! Swapping in from a disk was measured as slower than reading the same amount of a file again.
//!
//! Then every anonymous page the kernel parks to keep a file page is a loss. Two areas on one device are not judged:
//! what differs between them is noise. Needs the measured tiers. It is a formula over costs, so the confidence is low;
//! where the sandbox ran arms near both values it decides: faster makes this certain, not faster makes it silent.

use crate::prelude::*;

pub(super) const RULE: Rule = Rule {
    id: "swap-slower-than-reload",
    looks_for: "swap-ins measured slower than re-reading a file",
    explain: "swappiness",
    check,
    cost_if_wrong: "too low a value drops program code and data files that are in use; watch workingset_refault_file",
    tune: Tune::Settings(&["vm.swappiness"]),
};

/// Medians of a few hundred reads of one idle device differ by less.
const CLEARLY_SLOWER: f64 = 2.0;

/// An arm counts as being at a value when it is this near.
const NEAR_VALUE: u64 = 20;

/// Fewer operations than this have no mean worth judging.
const LEAST_OPERATIONS: u64 = 50;

fn check(inputs: &Inputs<'_>) -> Option<Draft> {
    let snapshot = inputs.snapshot;
    let first = *look::areas(snapshot)?.first()?;
    let (swap_in, reload) = (look::swap_in_cost(inputs, first)?, look::reload_cost(inputs)?);
    let enough = swap_in.latency.n.min(reload.latency.n) >= LEAST_OPERATIONS;
    let times = swap_in.mean() / reload.mean();
    if !enough || !(CLEARLY_SLOWER..f64::INFINITY).contains(&times) || look::on_root_disk(snapshot, first) {
        return None;
    }
    let current = u64::try_from(snapshot.settings.data()?.swappiness?).ok()?;
    let advised = balance::swappiness_for_ratio(1.0 / times)?.max(1);
    if current <= advised {
        return None;
    }
    // Between two values this close no arm decides; then an arm at the one is not an arm at the other.
    let middle = u64::midpoint(current, advised);
    let at = |value: u64| {
        move |run: &RunRecord| {
            look::swaps_like(first, run)
                && run.arm.swappiness.is_some_and(|s| {
                    let s = u64::from(s);
                    value.abs_diff(s) <= NEAR_VALUE && (s > middle) == (value > middle)
                })
        }
    };
    let what = format!("swappiness about {advised} against about {current}, in the sandbox");
    let (confidence, proved) = look::prove(inputs.runs, &what, at(advised), at(current), Confidence::Low)?;
    let mut grounds = vec![
        swap_in.evidence(&format!("a swap-in from {}", first.path)),
        reload.evidence("a random re-read of a file"),
        evidence("vm.swappiness", current.to_string(), "/proc/sys/vm/swappiness"),
        evidence("implied", advised.to_string(), format!("200·r/(1+r) with r = {:.2}", 1.0 / times)),
    ];
    let flow = inputs.window.and_then(|w| Some((w.per_second(|s| s.vmstat.data()?.pswpin)?, w.span)));
    let flows = flow.is_some_and(|(per_second, _)| per_second >= 1.0);
    if let Some((per_second, span)) = flow {
        grounds.put("swap-ins", rate(per_second, "pages", span), "/proc/vmstat pswpin");
    }
    grounds.extend(proved);
    Some(Draft {
        title: format!("A swap-in from {} takes {times:.1} times as long as reading a file again", first.path),
        weight: if flows { Weight::Warning } else { Weight::Note },
        effect: format!(
            "about {} lost on each page that is swapped in to keep a file page",
            crate::text::nanos_of(swap_in.mean() - reload.mean())
        ),
        evidence: grounds,
        confidence,
        already: vec![format!("swap on {} at priority {}", first.path, first.priority)],
        way: Way::one("swappiness", current, advised),
        ..Draft::default()
    })
}
