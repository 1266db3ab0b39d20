//! The verdict in words: the first line, and the sentences that stand below it.

use super::{LONGEST, SOON_MINUTES, Verdict, VerdictState, amount_of, elsewhere, in_group, room};
use crate::groups::Cause;
use crate::pressure::{self, PressureModel, PsiGap};
use ramline_snapshot::machine::Machine;

/// The sentence with as much in it as fits.
pub(super) fn first_line(verdict: &Verdict, pressure: &PressureModel) -> String {
    let names = in_group::names(verdict.trouble.as_ref());
    let rooms = room::words(verdict);
    let mut line = String::new();
    for who in &names {
        for room in &rooms {
            line = sentence(verdict, pressure, room, who);
            if line.chars().count() < LONGEST {
                return line;
            }
        }
        // What is available stands in the ledger; who is in trouble and why stands here alone.
        let short = verdict.trouble.as_ref().filter(|_| verdict.state == VerdictState::GroupAtLimit);
        let text = short.map(|trouble| in_group::sentence(trouble, pressure, None, who));
        if let Some(text) = text.filter(|text| text.chars().count() < LONGEST) {
            return text;
        }
    }
    line
}

fn sentence(verdict: &Verdict, pressure: &PressureModel, room: &str, who: &str) -> String {
    let percent = |p: Option<f64>| p.map_or("part".to_owned(), |p| format!("{p:.1} %"));
    let some = percent(pressure.memory.as_ref().and_then(pressure::Psi::some_now));
    let full = percent(pressure.memory.as_ref().and_then(pressure::Psi::full_now));
    let killed = pressure.rates.and_then(|r| r.oom_kills).filter(|n| *n > 0);
    match verdict.state {
        VerdictState::Unknown => format!("{}; whether tasks wait for memory is not known.", capital(room)),
        VerdictState::Comfortable if pressure.memory.is_none() => {
            format!("Memory is fine: {room}; nothing is reclaimed (stall times are not measured).")
        }
        VerdictState::Comfortable => match elsewhere::remark(pressure) {
            Some(remark) => format!("Memory is fine: {room}; {remark}."),
            None if pressure.waits_a_little().is_some() => {
                format!("Memory is fine: {room}, no task waits noticeably ({some}).")
            }
            None => format!("Memory is fine: {room}, no task waits for memory."),
        },
        VerdictState::Reclaiming => {
            match pressure.memory.map(|p| p.some_now().unwrap_or(0.0) >= pressure::STALL_PERCENT) {
                Some(true) => format!("Memory is fine: {room}; the kernel reclaims, tasks wait {some} of the time."),
                Some(false) => format!("Memory is fine: {room}; the kernel is reclaiming, no task waits noticeably."),
                None => format!("{}; the kernel is reclaiming (stall times are not measured).", capital(room)),
            }
        }
        VerdictState::ReadAgain => {
            format!("Memory is fine: {room}; tasks wait {some} of the time for evicted pages.")
        }
        VerdictState::Elsewhere if pressure.span.is_some() => {
            format!("{}, but tasks wait {some} of the time; nothing is evicted or read again.", capital(room))
        }
        VerdictState::Elsewhere => {
            format!("{}, yet tasks waited for memory {some} of the last 10 s.", capital(room))
        }
        VerdictState::GroupAtLimit => match (&verdict.trouble, killed) {
            (Some(trouble), None) => in_group::sentence(trouble, pressure, Some(room), who),
            (Some(trouble), _) if trouble.cause == Cause::Killed => {
                in_group::sentence(trouble, pressure, Some(room), who)
            }
            // Where they were killed is not known: not in the one that is worst off.
            (_, Some(n)) => format!("Machine ok: {room}. {} killed at the limit of a group.", processes(n)),
            (None, None) => {
                format!("Machine ok: {room}. {} is at its limit, tasks wait {some} of the time.", capital(who))
            }
        },
        VerdictState::RunningOut => format!("{}, which will not last.", capital(room)),
        VerdictState::Low | VerdictState::NearlyUsedUp => {
            let how = if verdict.state == VerdictState::Low { "low" } else { "nearly used up" };
            let left = amount_of(verdict.machine_available, verdict.total);
            format!("Memory is {how}: {left} available, and {} swap is free.", free_swap(verdict))
        }
        VerdictState::Stalling => match killed {
            Some(n) => format!("Out of memory: {} killed just now; {room}.", processes(n)),
            None => format!("Memory is short: tasks wait for it {some} of the time; {room}."),
        },
        VerdictState::Refaulting if pressure.memory.is_none() => {
            format!("Memory is short: pages in use are read again all the time; {room}.")
        }
        VerdictState::Refaulting => {
            format!("Memory is short: the working set does not fit, tasks wait {some}; {room}.")
        }
        VerdictState::LowZone => format!("Low memory is short: tasks wait {some} of the time; {room}."),
        VerdictState::Thrashing => format!("Thrashing: all tasks wait for memory {full} of the time; {room}."),
    }
}

/// Where the waiting may come from, and what tells: a second look, which a capture does not have.
pub(super) fn elsewhere_tells(machine: &Machine) -> &'static str {
    if machine.captured {
        "A container may be at its limit, or the disk cache too small: one moment does not tell."
    } else {
        "A container may be at its limit, or the disk cache too small: ramline show --for 2s tells."
    }
}

/// What would tell whether tasks wait: a second look at the machine; of a capture the file it lacks.
pub(super) fn to_know(machine: &Machine, pressure: &PressureModel) -> &'static str {
    match pressure.memory_gap {
        _ if !machine.captured => "To know, look twice: ramline show --for 2s",
        Some(PsiGap::NotYet | PsiGap::Off) => {
            "To know, two looks at the running machine are needed; a capture is one moment."
        }
        _ => "/proc/pressure/memory would have told; it is not in this capture.",
    }
}

/// `1 process`, `3 processes`.
pub(super) fn processes(n: u64) -> String {
    if n == 1 { "1 process".to_owned() } else { format!("{n} processes") }
}

/// What is past, and whose it was: no state of the machine.
pub(super) fn killed_in(path: &str, n: u64) -> String {
    let processes = if n == 1 { "1 process was".to_owned() } else { format!("{n} processes were") };
    format!("In group {path} {processes} killed for memory since it was made: ramline explain kill")
}

/// How much of it, or none of it.
fn free_swap(verdict: &Verdict) -> String {
    verdict.swap_free.filter(|free| free.0 > 0).map_or_else(|| "no".to_owned(), |free| format!("{free} of"))
}

pub(super) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// What else belongs to it.
pub(super) fn details(verdict: &Verdict, pressure: &PressureModel, plenty: bool) -> Vec<String> {
    let mut out = Vec::new();
    out.extend(verdict.available_from.words().map(str::to_owned));
    if let Some(group) = &verdict.group {
        let machine = amount_of(verdict.machine_available, verdict.total);
        out.push(format!("This group: {}; the machine has {machine} available.", group.words()));
    }
    if verdict.arc.share_of(verdict.total).is_some_and(|share| share >= 0.01) {
        out.push(format!("{} of this is ZFS cache, which shrinks (slower than page cache).", verdict.arc));
    }
    if verdict.cache_in_use.share_of(verdict.total).is_some_and(|share| share >= 0.01) {
        out.push(format!(
            "{} of that holds files in use; if taken, they are read from disk again.",
            verdict.cache_in_use
        ));
    }
    let soon = verdict.to_low.and_then(|d| d.minutes).filter(|m| *m < SOON_MINUTES && !plenty);
    if let Some(minutes) = soon {
        let when = if minutes < 1.0 { "within a minute".to_owned() } else { format!("in {minutes:.0} min") };
        out.push(format!("At the present pace free memory is used up {when}, with little cache left to drop."));
    }
    out.extend(in_group::detail(verdict, pressure));
    out.extend(besides(verdict, pressure));
    out
}

/// Waiting for the processor or the disk, below a first line that has no place for it; where tasks wait for memory, that is what they wait for the disk for.
fn besides(verdict: &Verdict, pressure: &PressureModel) -> Option<String> {
    let is_apart = matches!(verdict.state, VerdictState::Reclaiming | VerdictState::Low | VerdictState::NearlyUsedUp)
        || (verdict.state == VerdictState::Comfortable && pressure.memory.is_none());
    let remark = elsewhere::remark(pressure).filter(|_| is_apart)?;
    Some(format!("Besides, {remark}."))
}
