//! The machine in one sentence, true by itself: a status, the sentence, and the number that decides it.
//!
//! It goes by what tasks wait for (PSI) and by who makes them wait: the machine's own reclaim, a group's limit, or pages that were
//! evicted earlier. Not a reading of what is available, which called machines fine that were frozen; and it says so when it
//! lacks a window.
//!
//! **Available** is one number everywhere: MemAvailable, the kernel's own estimate of what new programs can take without swapping, as `free`
//! prints it, and what a ZFS cache gives back beside it ([`crate::available`]); in a group with a limit what that leaves, if it is less. The part of it that is page cache in use, which would be missed, stands
//! beside it and is never taken off in silence.
//!
//! Worked example: `Memory is fine: 22.9 of 23.5 GiB available, no task waits for memory.`

mod elsewhere;
mod growth;
mod in_group;
mod kinds;
mod low_zone;
mod reclaimable;
mod room;
mod seen_from;
mod words;

use crate::available;
use crate::group::{self, GroupRoom};
use crate::groups::{self, Trouble};
use crate::ledger::{Ledger, Term};
use crate::prelude::*;
use crate::pressure::{self, PressureModel, PressureState};
use crate::watermarks::{self, Band, Watermarks};

pub use crate::available::AvailableFrom;
pub use elsewhere::OFTEN;
pub use growth::Growing;
pub use in_group::trouble_sentence;
pub use kinds::{
    Basis, Deciding, LITTLE, LITTLE_SHARE, LONGEST, LOW_SHARE, SOON_MINUTES, Status, Verdict, VerdictState, amount_of,
    low_mark,
};
pub use room::Room;
pub use seen_from::View;

/// The verdict; `None` without MemTotal.
#[must_use]
pub fn from_snapshot(snapshot: &Snapshot, window: Option<Window<'_>>) -> Option<Verdict> {
    let ledger = Ledger::from_snapshot(snapshot)?;
    let pressure = pressure::from_snapshot(snapshot, window);
    let marks = watermarks::from_snapshot(snapshot, window);
    let room = Room::from_available(available::with(snapshot, &ledger, marks.as_ref()), snapshot.meminfo.data());
    let trouble = groups::worst(snapshot, window.as_ref());
    let mut verdict = judge(&ledger, &pressure, marks.as_ref(), group::from_snapshot(snapshot), room, trouble);
    window.as_ref().and_then(growth::from_window).iter().for_each(|growing| growth::put(&mut verdict, growing));
    if verdict.trouble.is_none() {
        verdict.details.extend(groups::most_killed(snapshot).map(|(group, n)| words::killed_in(&group.path, n)));
    }
    if verdict.state == VerdictState::Elsewhere && !matches!(verdict.basis, Basis::Window { .. }) {
        verdict.details.push(words::elsewhere_tells(&snapshot.machine).to_owned());
    }
    verdict.details.extend(ledger.not_believed());
    verdict.details.extend(reclaimable::slab(snapshot, &ledger));
    verdict.details.extend(reclaimable::balloon(&ledger));
    verdict.details.extend(reclaimable::without_cpus(&snapshot.machine, &ledger));
    verdict.view = View::from_machine(&snapshot.machine);
    // In a container with lxcfs the counters are the host's: a second look tells no more.
    if verdict.state == VerdictState::Unknown && verdict.view != Some(View::Lxcfs) {
        verdict.details.push(words::to_know(&snapshot.machine, &pressure).to_owned());
    }
    verdict.details.extend(verdict.view.map(|view| view.words().to_owned()));
    Some(verdict)
}

/// Pressure with the state that the first line has: what one reading says of a group is in it.
#[must_use]
pub fn pressure_with_groups(snapshot: &Snapshot, window: Option<Window<'_>>) -> PressureModel {
    let verdict = from_snapshot(snapshot, window);
    let mut out = pressure::from_snapshot(snapshot, window);
    if verdict.is_some_and(|verdict| verdict.state == VerdictState::GroupAtLimit) {
        out.state = PressureState::GroupAtLimit;
    }
    out
}

/// The verdict from its parts; `room` is the machine's, `trouble` the group that is worst off at its limit, where one is.
#[must_use]
pub fn judge(
    ledger: &Ledger,
    pressure: &PressureModel,
    marks: Option<&Watermarks>,
    group: Option<GroupRoom>,
    room: Room,
    trouble: Option<Trouble>,
) -> Verdict {
    let available = room.available;
    let nodes = marks.map(|m| m.nodes.as_slice()).unwrap_or_default();
    let band = nodes.iter().map(|n| n.band).min();
    let to_low = nodes.iter().map(|n| n.to_low).min_by_key(|d| d.bytes);
    let short = low_zone::short(nodes, pressure, room);
    let plenty = available.share_of(ledger.total).is_some_and(|share| share >= pressure::PLENTY);
    let state = match pressure.state {
        PressureState::Thrashing => VerdictState::Thrashing,
        _ if short.is_some() => VerdictState::LowZone,
        PressureState::Unknown => VerdictState::Unknown,
        PressureState::Elsewhere | PressureState::Unexplained => VerdictState::Elsewhere,
        PressureState::Refaulting => VerdictState::Refaulting,
        PressureState::Stalling => VerdictState::Stalling,
        _ if room.is_nearly_used_up(ledger.total) => VerdictState::NearlyUsedUp,
        PressureState::GroupAtLimit => VerdictState::GroupAtLimit,
        _ if room.is_low(ledger.total) => VerdictState::Low,
        PressureState::ReadAgain => VerdictState::ReadAgain,
        PressureState::Reclaiming => VerdictState::Reclaiming,
        PressureState::Calm if band.is_some_and(|b| b <= Band::MinToLow) => VerdictState::Reclaiming,
        PressureState::Calm => VerdictState::Comfortable,
    };
    let state = in_group::state(state, trouble.as_ref(), pressure);
    let basis = match (pressure.span, pressure.memory.and_then(|m| m.some)) {
        (Some(span), _) => Basis::Window { span },
        (None, Some(_)) => Basis::Averages,
        (None, None) => Basis::Nothing,
    };
    let active =
        ledger.line(Term::FileClean).and_then(|clean| clean.children.iter().find(|c| c.id == Term::FileActive));
    let here = group.as_ref().map_or(available, |g| g.room.min(available));
    let mut verdict = Verdict {
        status: match trouble.as_ref().filter(|_| state == VerdictState::GroupAtLimit) {
            Some(trouble) if trouble.is_frozen() => Status::Warning,
            _ => status(state),
        },
        state,
        text: String::new(),
        details: Vec::new(),
        deciding: None,
        total: ledger.total,
        available: here,
        machine_available: available,
        available_from: room.from,
        view: None,
        swap_free: room.swap,
        cache_in_use: active.map_or(Bytes::ZERO, |active| active.bytes.min(available)),
        arc: room.arc,
        group,
        trouble,
        basis,
        band,
        to_low,
    };
    verdict.deciding = deciding(&verdict, pressure);
    match short {
        Some(zones) => low_zone::say(&mut verdict, zones, pressure),
        None => verdict.text = words::first_line(&verdict, pressure),
    }
    verdict.details.extend(words::details(&verdict, pressure, plenty));
    verdict
}

const fn status(state: VerdictState) -> Status {
    match state {
        VerdictState::Unknown => Status::Unknown,
        VerdictState::Comfortable | VerdictState::Reclaiming | VerdictState::ReadAgain => Status::Ok,
        VerdictState::Elsewhere | VerdictState::GroupAtLimit | VerdictState::RunningOut | VerdictState::Low => {
            Status::Note
        }
        VerdictState::NearlyUsedUp | VerdictState::Stalling | VerdictState::LowZone => Status::Warning,
        VerdictState::Refaulting | VerdictState::Thrashing => Status::Critical,
    }
}

fn deciding(verdict: &Verdict, pressure: &PressureModel) -> Option<Deciding> {
    let killed = pressure.rates.and_then(|r| r.oom_kills).filter(|n| *n > 0).map(Deciding::Killed);
    let some = || pressure.memory.and_then(|p| p.some_now()).map(Deciding::Waiting);
    match verdict.state {
        VerdictState::Unknown => None,
        VerdictState::Comfortable | VerdictState::Reclaiming => Some(Deciding::Available(verdict.available)),
        VerdictState::Low | VerdictState::NearlyUsedUp => Some(Deciding::Available(verdict.machine_available)),
        VerdictState::Thrashing => pressure.memory.and_then(|p| p.full_now()).map(Deciding::Standing),
        VerdictState::GroupAtLimit => killed.or_else(|| in_group::deciding(verdict.trouble.as_ref())).or_else(some),
        VerdictState::Stalling => killed.or_else(some),
        _ => some(),
    }
}

#[cfg(test)]
mod tests;
