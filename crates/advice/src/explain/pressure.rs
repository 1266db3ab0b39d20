//! `pressure`: whether anything waits for memory.

use super::{Answer, Area, LIGHT, Numbers, Topic, sentences};
use crate::Inputs;
use ramline_model::pressure::{self, PressureState};
use ramline_model::verdict;

pub(super) const TOPIC: Topic =
    Topic { id: "pressure", area: Area::Pressure, question: "Is this machine short of memory?", wants: LIGHT, answer };

fn answer(inputs: &Inputs<'_>) -> Answer {
    let seen = pressure::of(inputs.snapshot, inputs.window);
    let mut numbers = Numbers::default();
    let percent = |value: Option<f64>| value.map(|p| format!("{p:.2} % of the time"));
    let memory = seen.memory.as_ref();
    numbers.add(
        "some task waited for memory",
        percent(memory.and_then(pressure::Psi::some_now)),
        "/proc/pressure/memory some",
    );
    numbers.add(
        "all tasks waited at once",
        percent(memory.and_then(pressure::Psi::full_now)),
        "/proc/pressure/memory full",
    );
    numbers.add(
        "some task waited for I/O",
        percent(seen.io.as_ref().and_then(pressure::Psi::some_now)),
        "/proc/pressure/io some",
    );
    if let (Some(rates), Some(span)) = (seen.rates, seen.span) {
        let rate = |value: Option<f64>, unit: &str| value.map(|v| crate::text::rate(v, unit, span));
        numbers.add("file refaults", rate(rates.refault_file, "pages"), "/proc/vmstat workingset_refault_file");
        numbers.add("anonymous refaults", rate(rates.refault_anon, "pages"), "/proc/vmstat workingset_refault_anon");
        numbers.add("major faults", rate(rates.major_faults, "faults"), "/proc/vmstat pgmajfault");
        numbers.add("looked at by reclaim", rate(rates.scanned, "pages"), "/proc/vmstat pgscan_anon + pgscan_file");
        numbers.add(
            "allocations that reclaimed themselves",
            rate(rates.allocstall, "times"),
            "/proc/vmstat allocstall_*",
        );
    }
    let state = match seen.state {
        PressureState::Unknown => "Cannot tell, for no stall times were seen and rates need two looks",
        PressureState::Calm => "No",
        PressureState::Reclaiming => "Not noticeably",
        PressureState::Refaulting if seen.in_groups_only() => "The machine is not, a group of it is",
        PressureState::Refaulting => "Yes",
        PressureState::Stalling => "Yes",
        PressureState::Thrashing => "Yes, badly",
    };
    let short = match verdict::of(inputs.snapshot, inputs.window) {
        Some(verdict) => format!("{state}: {}", verdict.text),
        None => format!("{state}."),
    };
    Answer {
        short,
        numbers: numbers.0,
        mechanism: sentences([
            "Memory is short when work waits for it. The kernel measures that: the share of time in which some task, or all of them, stood still until memory was found (PSI).",
            "The early sign is refaults: pages that were evicted and needed again at once. They cost a read each, long before anything shows as \"full\".",
            "Stocks (free, available, swap used) say how things are stored, not whether anyone waits.",
        ]),
        myth: Some(
            "Little free memory is a problem: a healthy machine keeps little free, because cache uses the rest.".into(),
        ),
        next: "ramline show pressure --for 2s".into(),
    }
}
