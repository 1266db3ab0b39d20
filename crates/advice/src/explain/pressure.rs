//! `pressure`: whether anything waits for memory.

use super::{Answer, Area, LIGHT, Numbers, Topic, sentences};
use crate::Inputs;
use ramline_model::pressure::{self, PressureState};

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
        PressureState::GroupAtLimit => "No, but a group is at its limit",
        PressureState::ReadAgain | PressureState::Elsewhere => "No",
        PressureState::Stalling | PressureState::Refaulting => "Yes",
        PressureState::Thrashing => "Yes, badly",
    };
    let short = match crate::headline(inputs) {
        Some(verdict) => format!("{state}. {}", verdict.text),
        None => format!("{state}."),
    };
    Answer {
        short,
        numbers: numbers.0,
        mechanism: sentences([
            "Memory is short when work waits for it. The kernel measures that: the share of time in which some task, or all of them, stood still until memory was found (PSI).",
            "That the working set does not fit takes three things at once: the machine reclaims, pages of the working set come back, and tasks wait.",
            "Pages that come back alone are no sign: DAMON, drop_caches, a group's limit and time evict as well, and what is read again costs a read.",
            "Stocks (free, available, swap used) say how things are stored, not whether anyone waits.",
        ]),
        myth: Some(
            "Little free memory is a problem: a healthy machine keeps little free, because cache uses the rest.".into(),
        ),
        next: "ramline show pressure --for 2s".into(),
    }
}
