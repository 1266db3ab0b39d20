//! What the first line says of the group that is worst off at its own limit.
//!
//! With one reading too: the kernel averages a group's waiting by itself. It is told where the machine has no trouble of its own that is worse,
//! and where the group's waiting is most of the machine's: what waits besides it has to be looked at again.

use super::{Deciding, Verdict, VerdictState, amount_of, words};
use crate::groups::{self, Cause, Knob, Trouble};
use crate::pressure::{PressureModel, Psi, STALL_PERCENT};

/// A group whose tasks wait at least this share of the machine's waiting is where most of it is: some task waits on the machine whenever one of
/// the group does, so the group's share is never larger but for the moment of reading.
const MOST: f64 = 0.5;
/// All tasks of a group wait most of the time: it stands rather than runs.
const STANDS: f64 = 50.0;
/// From this share on nothing worth a word waits besides.
const ALL: f64 = 0.9;

/// The state with the group in it.
pub(super) fn state(state: VerdictState, trouble: Option<&Trouble>, pressure: &PressureModel) -> VerdictState {
    let Some(trouble) = trouble.filter(|trouble| trouble.is_telling()) else { return state };
    let machine = pressure.memory.as_ref().and_then(Psi::some_now).unwrap_or_default();
    let explains = |share: f64| trouble.waits.is_some_and(|waits| waits >= machine * share);
    let is_group = match state {
        VerdictState::Unknown | VerdictState::Comfortable | VerdictState::Reclaiming | VerdictState::Low => true,
        VerdictState::ReadAgain | VerdictState::Elsewhere => {
            trouble.cause == Cause::StuckInOom || explains(MOST) || (trouble.is_full() && machine < STALL_PERCENT)
        }
        // From one reading, and little is available: a group that stands still at its own limit does so whatever the machine has.
        VerdictState::Stalling | VerdictState::Thrashing => {
            pressure.rates.is_none() && trouble.is_frozen() && explains(ALL)
        }
        _ => false,
    };
    if is_group { VerdictState::GroupAtLimit } else { state }
}

/// The number that decides.
pub(super) fn deciding(trouble: Option<&Trouble>) -> Option<Deciding> {
    let trouble = trouble?;
    let stands = trouble.stands.filter(|_| trouble.is_frozen()).map(Deciding::Standing);
    stands.or(trouble.waits.map(Deciding::Waiting))
}

/// What it may be called, the longest first; the last is short enough anywhere.
pub(super) fn names(trouble: Option<&Trouble>) -> Vec<String> {
    let mut out = Vec::new();
    if let Some(path) = trouble.map(|trouble| trouble.path.as_str()) {
        if groups::is_sandbox(path) {
            out.push("a sandbox of ramline".to_owned());
        } else if path == "/" {
            out.push("this group".to_owned());
        } else {
            let last = path.rsplit('/').next().unwrap_or(path);
            // The id of a container is found by `show cgroups` as its path is.
            let owner = groups::owner(path).filter(|owner| last.contains(&owner.name)).map(|owner| owner.name);
            out.extend(
                [Some(path.to_owned()), Some(last.to_owned()), owner]
                    .into_iter()
                    .flatten()
                    .map(|n| format!("group {n}")),
            );
        }
    }
    out.push("a group".to_owned());
    out
}

/// The sentence; without room where it is too long with it.
pub(super) fn sentence(trouble: &Trouble, pressure: &PressureModel, room: Option<&str>, who: &str) -> String {
    let what = what(trouble, pressure, who);
    match room {
        Some(room) => format!("Machine ok: {room}. {what}"),
        None => format!("Machine ok. {what}"),
    }
}

fn what(trouble: &Trouble, pressure: &PressureModel, who: &str) -> String {
    let machine = pressure.memory.as_ref().and_then(Psi::some_now);
    let percent = |p: Option<f64>| p.map_or("part".to_owned(), |p| format!("{p:.1} %"));
    let some = percent(trouble.waits.or(machine));
    let full = percent(trouble.stands);
    let capital = words::capital(who);
    let killed = trouble.kills_now.filter(|n| *n > 0);
    let place = if trouble.knob == Knob::High { "memory.high" } else { "its limit" };
    match trouble.cause {
        Cause::StuckInOom => format!("{capital} is out of memory with kills off: its tasks stand still."),
        Cause::Killed => {
            format!("{} killed at the limit of {who}.", words::processes(killed.unwrap_or_default()))
        }
        Cause::NothingToReclaim if trouble.is_frozen() => {
            let how = if trouble.stands.is_some_and(|full| full >= STANDS) { "is frozen" } else { "is slowed down" };
            format!("{capital} {how} at {place}: all its tasks wait {full} of the time.")
        }
        Cause::NothingToReclaim if !trouble.waits_now() => {
            format!("{capital} has filled its limit, and nothing of it can be reclaimed.")
        }
        Cause::NothingToReclaim => {
            format!("{capital} is at {place}, nothing to reclaim: tasks wait {some} of the time.")
        }
        Cause::Dirty => format!("{capital} is at {place}: tasks wait {some} of the time for writes."),
        Cause::OwnsSwap => {
            let (swap, used) = (trouble.swap.unwrap_or_default(), trouble.swap_used.unwrap_or_default());
            format!("{capital} is at {place} and has {} of used swap.", amount_of(swap, used))
        }
        Cause::Swaps => format!("{capital} is at {place}: tasks wait {some} of the time for swap."),
        Cause::LosesCache | Cause::Waits => format!("{capital} is at {place}, tasks wait {some} of the time."),
    }
}

/// A group that is in trouble beside what the first line says, and where to look.
pub(super) fn detail(verdict: &Verdict, pressure: &PressureModel) -> Option<String> {
    let trouble = verdict.trouble.as_ref().filter(|trouble| trouble.is_telling())?;
    if verdict.state == VerdictState::GroupAtLimit {
        return Some("Why, and what to do: ramline explain cgroup-memory".to_owned());
    }
    Some(trouble_sentence(trouble, pressure))
}

/// The group in a sentence by itself, named by its path.
#[must_use]
pub fn trouble_sentence(trouble: &Trouble, pressure: &PressureModel) -> String {
    what(trouble, pressure, &names(Some(trouble)).into_iter().next().unwrap_or_default())
}
