//! The machine in one sentence.
//!
//! What it is: a typed state, its numbers and the sentence made of them. It goes by PSI, refaults and the distance
//! to the watermarks. What it is not: a reading of MemAvailable, which called machines fine that were frozen; and
//! it says so when it lacks a window.
//!
//! "Without waiting" is free memory (lists of the CPUs included, the `min` reserve excluded) and clean page cache that
//! is on the inactive list: none of it has to be written or swapped out first, though what is dropped costs a read if it
//! is needed again. While evicted pages come back, no cache counts. A group with a limit gets no more than that leaves.
//!
//! Worked example:
//! `22.2 GiB of 23.5 GiB can be had without waiting for a write or a swap-out; nothing waits for memory.`

use ramline_snapshot::{Snapshot, Window};
use ramline_units::{Bytes, Nanos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::group::{self, GroupRoom};
use crate::ledger::{Ledger, Term};
use crate::pressure::{self, PressureModel, PressureState};
use crate::watermarks::{self, Band, Distance, Watermarks};

/// A wake-up of kswapd nearer than this is worth a clause.
pub const SOON_MINUTES: f64 = 60.0;
/// Clean cache on the inactive list above this share of RAM makes the wake-up of kswapd no news: it drops cache then.
pub const CACHE_SHARE: f64 = 0.1;

/// What the judgement rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Rates over a window.
    Window {
        /// Its length.
        span: Nanos,
    },
    /// PSI's own averages of the last 10 s; refaults are not known.
    Averages,
    /// Neither: nothing can be said about waiting.
    Nothing,
}

/// The state in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VerdictState {
    /// Nothing can be said about waiting.
    Unknown,
    /// Nothing waits, and no reclaim is near.
    Comfortable,
    /// Reclaim works or kswapd is awake; nothing waits noticeably.
    Reclaiming,
    /// The working set does not fit, or that of a group at its limit.
    Refaulting,
    /// Tasks wait for memory.
    Stalling,
    /// Everything waits for memory.
    Thrashing,
}

/// The machine in one sentence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// The state.
    pub state: VerdictState,
    /// The sentence.
    pub text: String,
    /// MemTotal.
    pub total: Bytes,
    /// What can be had without waiting for a write or a swap-out; at most what our group's limit leaves.
    pub without_cost: Bytes,
    /// The same for the machine, whatever our group may use.
    #[serde(default)]
    pub machine_without_cost: Bytes,
    /// Our group, where it has a limit below MemTotal.
    #[serde(default)]
    pub group: Option<GroupRoom>,
    /// What the judgement rests on.
    pub basis: Basis,
    /// The band of the node that is worst off.
    pub band: Option<Band>,
    /// To waking kswapd, on the node that is nearest to it.
    pub to_low: Option<Distance>,
}

/// The verdict; `None` without MemTotal.
#[must_use]
pub fn of(snapshot: &Snapshot, window: Option<Window<'_>>) -> Option<Verdict> {
    let ledger = Ledger::of(snapshot)?;
    let pressure = pressure::of(snapshot, window);
    let marks = watermarks::of(snapshot, window);
    Some(judge(&ledger, &pressure, marks.as_ref(), group::of(snapshot)))
}

/// The verdict from its parts.
#[must_use]
pub fn judge(
    ledger: &Ledger,
    pressure: &PressureModel,
    marks: Option<&Watermarks>,
    group: Option<GroupRoom>,
) -> Verdict {
    let nodes = marks.map(|m| m.nodes.as_slice()).unwrap_or_default();
    let band = nodes.iter().map(|n| n.band).min();
    let to_low = nodes.iter().map(|n| n.to_low).min_by_key(|d| d.bytes);
    let state = match pressure.state {
        PressureState::Unknown => VerdictState::Unknown,
        PressureState::Thrashing => VerdictState::Thrashing,
        PressureState::Stalling => VerdictState::Stalling,
        PressureState::Refaulting => VerdictState::Refaulting,
        PressureState::Reclaiming => VerdictState::Reclaiming,
        PressureState::Calm if band.is_some_and(|b| b <= Band::MinToLow) => VerdictState::Reclaiming,
        PressureState::Calm => VerdictState::Comfortable,
    };
    let basis = match (pressure.span, pressure.memory.and_then(|m| m.some)) {
        (Some(span), _) => Basis::Window { span },
        (None, Some(_)) => Basis::Averages,
        (None, None) => Basis::Nothing,
    };
    let reserve: Bytes = nodes.iter().map(|n| n.min).sum();
    // A group that thrashes at its limit says nothing about the machine's cache.
    let calm = matches!(state, VerdictState::Comfortable | VerdictState::Reclaiming | VerdictState::Unknown)
        || pressure.in_groups_only();
    let idle = idle_cache(ledger);
    let cache = if calm { idle } else { Bytes::ZERO };
    let machine = ledger.bytes(Term::Free) + ledger.bytes(Term::CpuLists) - reserve + cache;
    let mut verdict = Verdict {
        state,
        text: String::new(),
        total: ledger.total,
        without_cost: group.as_ref().map_or(machine, |g| g.room.min(machine)),
        machine_without_cost: machine,
        group,
        basis,
        band,
        to_low,
    };
    let droppable = idle.share_of(ledger.total).is_some_and(|share| share > CACHE_SHARE);
    verdict.text = sentence(&verdict, pressure, droppable);
    verdict
}

/// Clean cache on the inactive list: the clean line less the active list, since dirty pages are counted apart.
fn idle_cache(ledger: &Ledger) -> Bytes {
    let Some(clean) = ledger.line(Term::FileClean) else { return Bytes::ZERO };
    let active = clean.children.iter().find(|c| c.id == Term::FileActive).map_or(Bytes::ZERO, |c| c.bytes);
    clean.bytes - active
}

fn sentence(verdict: &Verdict, pressure: &PressureModel, droppable: bool) -> String {
    let Verdict { total, without_cost, machine_without_cost, .. } = verdict;
    let share = match &verdict.group {
        Some(group) => format!(
            "this group can have {without_cost} without waiting for a write or a swap-out ({}); the machine has {machine_without_cost} of {total}",
            group.words()
        ),
        None => format!("{without_cost} of {total} can be had without waiting for a write or a swap-out"),
    };
    let percent = |p: Option<f64>| p.map_or("some".to_owned(), |p| format!("{p:.1} %"));
    let psi = pressure.memory.as_ref();
    let place = if pressure.in_groups_only() { ", in a group at its limit" } else { "" };
    let mut text = match verdict.state {
        VerdictState::Unknown if verdict.group.is_some() => {
            format!("{share}; whether anything waits for memory is not known; try: ramline show --for 2s")
        }
        VerdictState::Unknown => format!(
            "{without_cost} of {total} is free or idle cache; whether anything waits for memory is not known; try: ramline show --for 2s"
        ),
        VerdictState::Comfortable => format!("{share}; nothing waits for memory"),
        VerdictState::Reclaiming => format!("{share}; the kernel is reclaiming, and nothing waits noticeably"),
        VerdictState::Refaulting => {
            let rates = pressure.rates.unwrap_or_default();
            let n = rates.refault_file.unwrap_or(0.0) + rates.refault_anon.unwrap_or(0.0);
            if pressure.in_groups_only() {
                format!(
                    "In a group at its limit {n:.0} pages a second come back just after eviction, the machine itself evicts nothing; {share}"
                )
            } else {
                format!("The working set does not fit: {n:.0} pages a second come back just after eviction; {share}")
            }
        }
        VerdictState::Stalling => match pressure.rates.and_then(|r| r.oom_kills).filter(|n| *n > 0) {
            Some(n) => format!("{n} killed for want of memory just now, in a group or on the machine; {share}"),
            None => {
                format!(
                    "Tasks waited for memory {} of the time{place}; {share}",
                    percent(psi.and_then(|p| p.some_now()))
                )
            }
        },
        VerdictState::Thrashing => {
            format!(
                "Thrashing: everything waited for memory {} of the time{place}; {share}",
                percent(psi.and_then(|p| p.full_now()))
            )
        }
    };
    if let Some(minutes) = verdict.to_low.and_then(|d| d.minutes).filter(|m| *m < SOON_MINUTES && !droppable) {
        let when = if minutes < 1.0 { "within a minute".to_owned() } else { format!("in {minutes:.0} min") };
        text.push_str(&format!(
            "; if it went on like this, free memory would be used up {when}, with little cache left to drop"
        ));
    }
    if verdict.basis == Basis::Averages {
        text.push_str(" (by the last 10 s; refaults are not known without a window)");
    }
    text.push('.');
    let mut letters = text.chars();
    // "this group can have" may open the sentence.
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests;
