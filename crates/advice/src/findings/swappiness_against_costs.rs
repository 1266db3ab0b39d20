//! vm.swappiness weighs swapping against re-reading otherwise than the measured costs do.
//!
//! r = cost of a random file re-read / cost of a swap-in, with the compression before it where that was measured; the
//! value that matches it is 200·r/(1+r). It is a formula, so
//! the confidence is low; where the sandbox ran arms near both values it decides: faster makes this certain, not faster
//! makes it silent. A disk area behind a fast one caps the value at 100, since what spills there is slow. More than 180 is
//! never named: memory in use would go as well. Under MGLRU only the direction of the formula holds.

use crate::prelude::*;

pub(super) const RULE: Rule = Rule {
    id: "swappiness-against-costs",
    looks_for: "vm.swappiness far from what measured costs imply",
    explain: "swappiness",
    check,
    cost_if_wrong: "more re-reads of files that are in use, program code included; watch workingset_refault_file",
    tune: Tune::Settings(&["vm.swappiness"]),
};

/// Factor between the cost ratio that swappiness stands for and the measured one, below which nothing is said: costs
/// vary by about half from run to run, and the kernel corrects for the rest by itself.
const FAR: f64 = 4.0;

/// An arm counts as being at a value when it is this near.
const NEAR_VALUE: u64 = 20;

fn check(inputs: &Inputs<'_>) -> Option<Draft> {
    let snapshot = inputs.snapshot;
    let areas = look::areas(snapshot)?;
    let first = *areas.first()?;
    let current = u64::try_from(snapshot.settings.data()?.swappiness?).ok()?;
    let (swap_in, reload) = (look::swap_in_cost(inputs, first)?, look::reload_cost(inputs)?);
    let packing = look::compression_cost(inputs, first);
    // A page has to be compressed on its way out; a clean file page leaves for nothing.
    let r = reload.mean() / (swap_in.mean() + packing.map_or(0.0, |cost| cost.mean()));
    let mglru = snapshot.lru_gen.data().is_some_and(ramline_snapshot::switches::LruGen::is_on);
    let implied = balance::swappiness_for_ratio(r.is_finite().then_some(r)?)?;
    let spills = look::slow_behind(&areas).is_some();
    let advised = implied.min(if spills { balance::TWO_TIER_CEILING } else { balance::MOST_SUGGESTED });
    // Under MGLRU 1 would mean "files first".
    let advised = if mglru { advised.max(2) } else { advised };
    let far = stands_for(current).max(stands_for(advised)) / stands_for(current).min(stands_for(advised)).max(1e-6);
    // A swap area slower than the files has a rule of its own, which names the same knob.
    let told = || super::swap_slower_than_reload::RULE.finding(inputs).is_some();
    if far < FAR || look::on_root_disk(snapshot, first) || told() {
        return None;
    }
    let near = |value: u64| {
        move |run: &RunRecord| {
            look::swaps_like(first, run)
                && run.arm.swappiness.is_some_and(|s| value.abs_diff(u64::from(s)) <= NEAR_VALUE)
        }
    };
    let what = format!("swappiness about {advised} against about {current}, in the sandbox");
    let (confidence, proved) = look::prove(inputs.runs, &what, near(advised), near(current), Confidence::Low)?;
    let mut grounds = costs(&swap_in, &reload, r, current, advised);
    grounds.extend(packing.map(|cost| cost.evidence("compressing a page on its way out, charged as well")));
    if spills {
        grounds.put(
            "a slower area behind it",
            "caps the value at 100: what spills over is read from disk",
            "/proc/swaps",
        );
    }
    if mglru {
        grounds.put("MGLRU", "on: only the direction of the formula holds", "/sys/kernel/mm/lru_gen/enabled");
    }
    grounds.extend(proved);
    Some(Draft {
        title: format!("vm.swappiness is {current}; the measured costs imply about {advised}"),
        weight: if confidence == Confidence::High { Weight::Warning } else { Weight::Note },
        effect: effect(&swap_in, &reload, current < advised),
        evidence: grounds,
        confidence,
        already: vec![format!("swap on {} at priority {}", first.path, first.priority)],
        cost_if_wrong: (current < advised).then(|| {
            "more swap-ins of anonymous pages that are in use; watch pswpin and workingset_refault_anon".into()
        }),
        way: Way::one("swappiness", current, advised),
        ..Draft::default()
    })
}

/// The cost ratio a value stands for: s/(200−s); kept off the ends, where it would be nothing or without bound.
#[expect(clippy::cast_precision_loss, reason = "1 to 180")]
fn stands_for(swappiness: u64) -> f64 {
    let s = swappiness.clamp(1, balance::MOST_SUGGESTED) as f64;
    s / (200.0 - s)
}

fn costs(swap_in: &Cost<'_>, reload: &Cost<'_>, r: f64, current: u64, advised: u64) -> Vec<Evidence> {
    let now = balance::for_swappiness(current, false);
    vec![
        reload.evidence("a random re-read of a file"),
        swap_in.evidence("a swap-in"),
        evidence("r, re-read over swap-in", format!("{r:.2}"), "of the means; with compression where it was measured"),
        evidence("implied", format!("{advised}"), "200·r/(1+r)"),
        evidence(
            "vm.swappiness",
            format!("{current}: {} of scanning goes to anonymous pages at equal costs", percent(now.equal_costs)),
            "/proc/sys/vm/swappiness",
        ),
    ]
}

fn effect(swap_in: &Cost<'_>, reload: &Cost<'_>, raise: bool) -> String {
    let Nanos(gap) = crate::text::nanos_of((reload.mean() - swap_in.mean()).abs());
    let gap = Nanos(gap);
    if raise {
        format!("about {gap} for each file page that stays because an idle anonymous page went instead")
    } else {
        format!("about {gap} for each anonymous page that stays because a file page went instead")
    }
}
