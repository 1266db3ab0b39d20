//! `swappiness`: what the value does here, and what the measured costs would imply.

use super::opinion;
use crate::prelude::*;

pub(super) const TOPIC: Topic = Topic {
    id: "swappiness",
    area: Area::Swap,
    question: "What does vm.swappiness do here?",
    wants: opinion::WANTS,
    answer,
    mechanism: &[
        "When the kernel needs room it looks at anonymous pages (which would be swapped) and at file pages (which would be dropped). swappiness s, from 0 to 200, states how cheap a swap-in is against a re-read: 100 means the same.",
        "Anonymous pages get s·(3T+1)/(T+a+1) of the scanning, file pages (200−s)·(3T+1)/(T+f+1), with a and f the costs the kernel counted lately and T = a+f. It does not show a and f, so the share is a band, not a number.",
        "With plenty of file pages used only once and none missed, only those go, whatever the value. With hardly any file pages left, anonymous ones go, on the whole machine even at 0. A group at its limit drops file pages only at 0 (memory.swappiness of version 1, vm.swappiness on version 2), and is killed with swap free.",
        "With the multi-generational LRU (MGLRU) the kernel compares the refaults of both kinds instead; 0 means files only, 1 files first, 200 anonymous first.",
    ],
    myth: "It is a percentage of RAM at which swapping begins, or 0 turns swap off: neither. Lower is not faster either: it is faster only where swapping really costs more than reading.",
    to_do: "Measure first (next line); `ramline tune plan vm` then says which value these costs speak for.",
    next: "ramline measure tiers",
};

fn answer(inputs: &Inputs<'_>, out: &mut Explanation) -> String {
    let snapshot = inputs.snapshot;
    let current = snapshot.settings.data().and_then(|s| u64::try_from(s.swappiness?).ok());
    let mglru = look::is_mglru(snapshot);
    let areas = look::areas(snapshot);
    out.add("vm.swappiness", current, "/proc/sys/vm/swappiness");
    let own = snapshot.cgroups.data().and_then(|c| c.own.as_ref()?.swappiness);
    out.add("swappiness of this group", own, "memory.swappiness");
    if let Some(now) = current.map(|s| balance::for_swappiness(s, mglru)).filter(|_| !mglru) {
        out.add("process memory, share of scanning at equal costs", Some(percent(now.equal_costs)), "s/200");
        let band = format!("{} to {}", percent(now.file_costless), percent(now.anon_costless));
        out.put(
            "that share moves between",
            band,
            "s/(400-s), if re-reading costs nothing, and 2s/(200+s), if swapping does",
        );
    }
    let value = mglru.then_some("on: the shares do not apply, the direction does");
    out.add("MGLRU", value, "/sys/kernel/mm/lru_gen/enabled");
    let costs = areas.as_ref().and_then(|a| look::swap_in_cost(inputs, a.first()?)).zip(look::reload_cost(inputs));
    let mut implied = None;
    if let Some((swap_in, reload)) = costs {
        let r = reload.mean() / swap_in.mean();
        out.numbers.push(reload.evidence("a random re-read of a file"));
        out.numbers.push(swap_in.evidence("a swap-in"));
        implied = balance::swappiness_for_ratio(r);
        let value = implied.map(|s| format!("{s} (r = {r:.2})"));
        out.add("implied by these costs", value, "200·r/(1+r), r = re-read over swap-in");
    }
    if matches!(areas.as_deref(), Some([])) {
        out.to_do = "Nothing: without swap the setting has no effect.".into();
    }
    if let Some(planned) =
        opinion::for_targets(inputs, &["vm.swappiness"]).filter(|_| !matches!(areas.as_deref(), Some([])))
    {
        out.to_do = planned;
    }
    match (current, areas.as_deref()) {
        (None, _) => unseen(inputs, "settings"),
        (Some(s), Some([])) => {
            format!("vm.swappiness ({s}) does nothing here: there is no swap, so only file pages can be reclaimed.")
        }
        (Some(s), _) => {
            let words = match s {
                0 if mglru => "only file pages are reclaimed (MGLRU)".to_owned(),
                0 => "process memory is spared until file pages have nearly run out".to_owned(),
                _ if mglru => mglru_words(s),
                _ => format!(
                    "at equal costs {} of scanning goes to process memory",
                    percent(balance::for_swappiness(s, false).equal_costs)
                ),
            };
            let implied = implied.map(|i| format!(" The measured costs imply about {i}.")).unwrap_or_default();
            format!("vm.swappiness is {s}: {words}.{implied}")
        }
    }
}

/// What a weight means where the kernel goes by generations, which know no share of scanning.
fn mglru_words(swappiness: u64) -> String {
    let files = 200_u64.saturating_sub(swappiness);
    match swappiness.cmp(&files) {
        std::cmp::Ordering::Less => {
            format!("the kernel prefers to drop file cache over swapping, {files} to {swappiness} (MGLRU)")
        }
        std::cmp::Ordering::Equal => "the kernel drops file cache and swaps alike (MGLRU)".to_owned(),
        std::cmp::Ordering::Greater => {
            format!("the kernel prefers to swap over dropping file cache, {swappiness} to {files} (MGLRU)")
        }
    }
}
