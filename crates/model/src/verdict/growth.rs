//! Memory that is running out: what grows between two looks, and how long what is left lasts at that rate.
//!
//! Said of process memory and of shared memory (a tmpfs, a memfd); kernel memory has a finding, which says more of it. Two looks cannot tell a leak from a
//! program that fills its cache and stops, so this is a note and states what was measured. It takes four things at once:
//! - what is left, available memory and free swap, falls, and what grows explains at least half of that;
//! - it lasts at most [`REACH`] times the look: nothing is extrapolated further, so 2 s speak of one minute and 60 s of half an hour. A longer look reaches further;
//! - what grows already holds a quarter of what is left. Grown at this rate it has taken size / rate, and is said to go on for at most four times as long as it has:
//!   a program that has just begun is not said to never end;
//! - nothing stops it first: no room of its tmpfs that is smaller than what is left.
//!
//! Worked example: 434 MiB left, shared memory grew by 30 MiB in 2 s to 400: it lasts 29 s at this rate.

use super::words::capital;
use super::{Deciding, LONGEST, Status, Verdict, VerdictState, amount_of};
use crate::available;
use crate::prelude::*;

/// What is left must last longer than so many looks, or it is said.
pub const REACH: f64 = 30.0;
/// What grows holds at least this share of what is left.
const HOLDS: f64 = 0.25;
/// Less is no growth: programs start.
const LEAST: Bytes = Bytes::from_mib(4);
/// A shorter look tells nothing.
const SHORTEST: Nanos = Nanos(1_000_000_000);

/// What grows.
#[derive(Debug, Clone, PartialEq)]
pub struct Growing {
    /// In words: `process 812 (java)`.
    pub what: String,
    /// Bytes a second.
    pub per_second: f64,
    /// What is left: available memory, and swap where it can take what grows.
    pub left: Bytes,
    /// How long that lasts at this rate, in seconds.
    pub seconds: f64,
}

/// A candidate: its name, then and now, and where it ends by itself.
struct Candidate {
    what: String,
    grown: Bytes,
    holds: Bytes,
    ends_after: Option<Bytes>,
}

/// What grows so that what is left will not last; `None` where nothing does, or not enough was seen.
#[must_use]
pub fn from_window(window: &Window<'_>) -> Option<Growing> {
    if window.span < SHORTEST {
        return None;
    }
    let left = |seen: &Snapshot| Some(available::bytes(seen)? + seen.meminfo.data()?.swap_free.unwrap_or_default());
    let (before, after) = (left(window.before)?, left(window.after)?);
    let fallen = before.checked_sub(after)?;
    let found = [shared(window), anonymous(window)].into_iter().flatten().max_by_key(|found| found.grown)?;
    let per_second = found.grown.as_f64() / window.span.as_secs_f64();
    let seconds = after.as_f64() / per_second;
    let is_said = found.grown >= LEAST
        && found.grown.as_f64() * 2.0 >= fallen.as_f64()
        && fallen.as_f64() * 2.0 >= found.grown.as_f64()
        && seconds <= REACH * window.span.as_secs_f64()
        && found.holds.as_f64() >= after.as_f64() * HOLDS
        && found.ends_after.is_none_or(|room| room >= after);
    is_said.then_some(Growing { what: found.what, per_second, left: after, seconds })
}

/// Shared memory: the tmpfs that grew, where one explains it, and memfd and segments otherwise.
fn shared(window: &Window<'_>) -> Option<Candidate> {
    let of = |seen: &Snapshot| seen.meminfo.data()?.shmem;
    let (before, after) = (of(window.before)?, of(window.after)?);
    let grown = after.checked_sub(before)?;
    let used = |seen: &Snapshot, at: &str| {
        let mount = seen.mounts.data()?.iter().find(|mount| mount.at == at && mount.fs == "tmpfs" && !mount.hidden)?;
        let capacity = mount.capacity?;
        Some((capacity.size.saturating_sub(capacity.free), capacity.free, capacity.size))
    };
    let mounts = window.after.mounts.data().map(Vec::as_slice).unwrap_or_default();
    let filled = mounts.iter().filter_map(|mount| {
        let (then, now) = (used(window.before, &mount.at)?, used(window.after, &mount.at)?);
        Some((&mount.at, now.0.checked_sub(then.0)?, now))
    });
    let most = filled.max_by_key(|(_, grown, _)| *grown).filter(|(_, own, _)| own.0 >= grown.0 / 2);
    Some(match most {
        // A size of 0 is no limit.
        Some((at, _, (holds, free, size))) => {
            Candidate { what: format!("the tmpfs on {at}"), grown, holds, ends_after: (size.0 > 0).then_some(free) }
        }
        None => Candidate { what: "shared memory (memfd, segments)".into(), grown, holds: after, ends_after: None },
    })
}

/// Process memory, with what of it went to swap: the process that grew, where one explains it.
fn anonymous(window: &Window<'_>) -> Option<Candidate> {
    let of = |seen: &Snapshot| {
        let meminfo = seen.meminfo.data()?;
        Some(meminfo.anon_pages? + meminfo.swap_used().unwrap_or_default())
    };
    let (before, after) = (of(window.before)?, of(window.after)?);
    let grown = after.checked_sub(before)?;
    let all = Candidate { what: "process memory".into(), grown, holds: after, ends_after: None };
    let (Some(then), Some(now)) = (window.before.processes.data(), window.after.processes.data()) else {
        return Some(all);
    };
    let size = |process: &Process| process.rss_anon.unwrap_or_default() + process.swap.unwrap_or_default();
    let then: HashMap<_, _> = then.list.iter().map(|one| ((one.pid, one.started_ticks), size(one))).collect();
    let by =
        |one: &Process| size(one).saturating_sub(then.get(&(one.pid, one.started_ticks)).copied().unwrap_or_default());
    match now.list.iter().max_by_key(|one| by(one)).filter(|one| by(one).0 >= grown.0 / 2) {
        Some(one) => {
            let what = format!("process {} ({})", one.pid, one.name.escape_debug());
            Some(Candidate { what, holds: size(one), ..all })
        }
        None => Some(all),
    }
}

/// Puts it into a verdict that has nothing worse to say.
pub(super) fn put(verdict: &mut Verdict, growing: &Growing) {
    if verdict.status != Status::Ok || verdict.group.is_some() {
        return;
    }
    let rate = format!("{:.1} MiB/s", growing.per_second / f64::from(1 << 20));
    let room = amount_of(verdict.machine_available, verdict.total);
    let lasts = lasts(growing.seconds);
    let long = format!("{room} available, which lasts {lasts}: {} grows by {rate}.", growing.what);
    let short = format!("{} available lasts {lasts}: {} grows by {rate}.", verdict.machine_available, growing.what);
    let fits = |text: &String| text.chars().count() < LONGEST;
    let nameless = format!("{} available lasts {lasts} at the present growth.", verdict.machine_available);
    let text = [long.clone(), short].into_iter().find(fits).unwrap_or(nameless);
    if !text.contains(&growing.what) {
        verdict.details.insert(0, format!("{}.", capital(&long)));
    }
    verdict.state = VerdictState::RunningOut;
    verdict.status = Status::Note;
    verdict.deciding = Some(Deciding::Available(verdict.machine_available));
    verdict.text = text;
    if growing.left > verdict.machine_available {
        verdict.details.insert(0, "Free swap is counted in it.".to_owned());
    }
    verdict
        .details
        .insert(0, "If it stops by itself all is well: a leak and a cache that fills look the same.".to_owned());
}

fn lasts(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("about {s:.0} s"),
        s if s < 5400.0 => format!("about {:.0} min", s / 60.0),
        s => format!("about {:.0} hours", s / 3600.0),
    }
}

#[cfg(test)]
mod tests;
