//! `pressure`: whether anything waits for memory.

use ramline_model::pressure::PressureState;
use ramline_model::verdict;

use crate::findings::group_at_its_limit;
use crate::prelude::*;

pub(super) const TOPIC: Topic = Topic {
    id: "pressure",
    area: Area::Pressure,
    question: "Is this machine short of memory?",
    // With the groups: a group that is short at its own limit is named.
    wants: Wanted { groups: true, ..LIGHT },
    answer,
    mechanism: &[
        "Memory is short when work waits for it. The kernel measures that: the share of time in which some task, or all of them, stood still until memory was found (PSI).",
        "That the working set does not fit takes three things at once: the machine reclaims, pages of the working set are read again, and tasks wait.",
        "Refaults alone are no sign: DAMON, drop_caches, a group's limit and time evict as well, and what is read again costs a read.",
        "Stocks (free, available, swap used) show how memory is used, not whether tasks wait.",
    ],
    myth: "Little free memory is a problem: a healthy machine keeps little free, because cache uses the rest.",
    to_do: "Nothing.",
    next: "ramline show pressure --for 2s",
};

fn answer(inputs: &Inputs<'_>, out: &mut Explanation) -> String {
    let seen = verdict::pressure_with_groups(inputs.snapshot, inputs.window);
    let percent = |value: Option<f64>| value.map(|p| format!("{p:.2} % of the time"));
    let memory = seen.memory.as_ref();
    let value = percent(memory.and_then(pressure::Psi::some_now));
    out.add("some task waited for memory", value, "/proc/pressure/memory some");
    let value = percent(memory.and_then(pressure::Psi::full_now));
    out.add("all tasks waited at once", value, "/proc/pressure/memory full");
    let value = percent(seen.io.as_ref().and_then(pressure::Psi::some_now));
    out.add("some task waited for I/O", value, "/proc/pressure/io some");
    if let (Some(rates), Some(span)) = (seen.rates, seen.span) {
        let rate = |value: Option<f64>, unit: &str| value.map(|v| crate::text::rate(v, unit, span));
        out.add("file pages read again", rate(rates.refault_file, "pages"), "/proc/vmstat workingset_refault_file");
        out.add("swapped pages read again", rate(rates.refault_anon, "pages"), "/proc/vmstat workingset_refault_anon");
        out.add("major faults", rate(rates.major_faults, "faults"), "/proc/vmstat pgmajfault");
        out.add("scanned by reclaim", rate(rates.scanned, "pages"), "/proc/vmstat pgscan_anon + pgscan_file");
        out.add("allocations that reclaimed themselves", rate(rates.allocstall, "times"), "/proc/vmstat allocstall_*");
    }
    let left = available::from_snapshot(inputs.snapshot);
    let room = left.zip(inputs.snapshot.mem_total()).map(|(left, total)| verdict::amount_of(left.bytes, total));
    out.add("available on the machine (now)", room.clone(), left.map_or("", available::Available::source));
    // Its trouble is the group's: the machine and the group are answered each by itself.
    let group = group_at_its_limit(inputs);
    for number in group.iter().flat_map(|group| &group.evidence).take(2) {
        out.put(&format!("the group: {}", number.what), number.value.clone(), &number.source);
    }
    out.first(&["available", "some task waited for memory", "all tasks", "the group", "scanned"]);
    let machine_waits =
        matches!(seen.state, PressureState::Stalling | PressureState::Refaulting | PressureState::Thrashing);
    out.to_do = match (&group, machine_waits) {
        (Some(group), false) => capital(&group.effect) + ".",
        (_, true) => "Find the largest users (ramline show processes); make room, add zram, or add RAM.".into(),
        _ => match seen.state {
            PressureState::Unknown => "Look again over a window: ramline explain pressure --for 2s.".into(),
            PressureState::GroupAtLimit => {
                "Find the group (ramline show cgroups --for 5s), then raise its limit or make its load smaller.".into()
            }
            _ => std::mem::take(&mut out.to_do),
        },
    };
    match (&group, seen.state) {
        (Some(group), _) if !machine_waits => {
            let room = room.map(|room| format!(": {room} available")).unwrap_or_default();
            format!("No, the machine is not{room}. But a group is: {}.", lower(&group.title))
        }
        (None, PressureState::GroupAtLimit) => {
            let room = room.map(|room| format!(": {room} available")).unwrap_or_default();
            format!(
                "No, the machine is not{room}. But tasks of a group wait at its limit: ramline show cgroups --for 5s names it."
            )
        }
        (group, state) => {
            let word = match state {
                PressureState::Unknown => "Cannot tell, for no stall times were seen and rates need two looks",
                PressureState::Calm | PressureState::ReadAgain | PressureState::GroupAtLimit => "No",
                PressureState::Elsewhere | PressureState::Unexplained => "Perhaps a group is",
                PressureState::Reclaiming => "Not noticeably",
                PressureState::Stalling | PressureState::Refaulting => "Yes",
                PressureState::Thrashing => "Yes, badly",
            };
            let also =
                group.as_ref().map(|group| format!(" A group is, too: {}.", lower(&group.title))).unwrap_or_default();
            match crate::headline(inputs) {
                Some(verdict) => format!("{word}. {}{also}", verdict.text),
                None => format!("{word}.{also}"),
            }
        }
    }
}
