//! The machine in one sentence.
//!
//! What it is: a typed state, its numbers and the sentence made of them. It goes by PSI, refaults and the distance
//! to the watermarks. What it is not: a reading of MemAvailable, which called machines fine that were frozen; and
//! it says so when it lacks a window.
//!
//! "Without cost" is free memory (lists of the CPUs included, the `min` reserve excluded) and clean page cache that
//! is on the inactive list. While evicted pages come back, no cache counts as free of cost.
//!
//! Worked example: `22.2 GiB of 23.5 GiB can be had without cost; nothing waits for memory.`

use ramline_snapshot::{Snapshot, Window};
use ramline_units::{Bytes, Nanos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ledger::{Ledger, Term};
use crate::pressure::{self, PressureModel, PressureState};
use crate::watermarks::{self, Band, Distance, Watermarks};

/// A wake-up of kswapd nearer than this is worth a clause.
pub const SOON_MINUTES: f64 = 60.0;

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
    /// The working set does not fit.
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
    /// What can be had without cost.
    pub without_cost: Bytes,
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
    Some(judge(&ledger, &pressure, marks.as_ref()))
}

/// The verdict from its parts.
#[must_use]
pub fn judge(ledger: &Ledger, pressure: &PressureModel, marks: Option<&Watermarks>) -> Verdict {
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
    let calm = matches!(state, VerdictState::Comfortable | VerdictState::Reclaiming | VerdictState::Unknown);
    let cache = if calm { idle_cache(ledger) } else { Bytes::ZERO };
    let without_cost = ledger.bytes(Term::Free) + ledger.bytes(Term::CpuLists) - reserve + cache;
    let mut verdict = Verdict { state, text: String::new(), total: ledger.total, without_cost, basis, band, to_low };
    verdict.text = sentence(&verdict, pressure);
    verdict
}

/// Clean cache on the inactive list: the clean line less the active list, since dirty pages are counted apart.
fn idle_cache(ledger: &Ledger) -> Bytes {
    let Some(clean) = ledger.line(Term::FileClean) else { return Bytes::ZERO };
    let active = clean.children.iter().find(|c| c.id == Term::FileActive).map_or(Bytes::ZERO, |c| c.bytes);
    clean.bytes - active
}

fn sentence(verdict: &Verdict, pressure: &PressureModel) -> String {
    let Verdict { total, without_cost, .. } = verdict;
    let share = format!("{without_cost} of {total} can be had without cost");
    let percent = |p: Option<f64>| p.map_or("some".to_owned(), |p| format!("{p:.1} %"));
    let psi = pressure.memory.as_ref();
    let mut text = match verdict.state {
        VerdictState::Unknown => format!(
            "{without_cost} of {total} is free or idle cache; whether anything waits for memory is not known; try: ramline show --for 2s"
        ),
        VerdictState::Comfortable => format!("{share}; nothing waits for memory"),
        VerdictState::Reclaiming => format!("{share}; the kernel is reclaiming, and nothing waits noticeably"),
        VerdictState::Refaulting => {
            let rates = pressure.rates.unwrap_or_default();
            let n = rates.refault_file.unwrap_or(0.0) + rates.refault_anon.unwrap_or(0.0);
            format!("The working set does not fit: {n:.0} pages a second come back just after eviction; {share}")
        }
        VerdictState::Stalling => match pressure.rates.and_then(|r| r.oom_kills).filter(|n| *n > 0) {
            Some(n) => format!("{n} killed for want of memory just now; {share}"),
            None => format!("Tasks waited for memory {} of the time; {share}", percent(psi.and_then(|p| p.some_now()))),
        },
        VerdictState::Thrashing => {
            format!(
                "Thrashing: everything waited for memory {} of the time; {share}",
                percent(psi.and_then(|p| p.full_now()))
            )
        }
    };
    if let Some(minutes) = verdict.to_low.and_then(|d| d.minutes).filter(|m| *m < SOON_MINUTES) {
        let when = if minutes < 1.0 { "within a minute".to_owned() } else { format!("in {minutes:.0} min") };
        text.push_str(&format!("; at the present rate free memory is used up {when}, then the page cache gives way"));
    }
    if verdict.basis == Basis::Averages {
        text.push_str(" (by the last 10 s; refaults are not known without a window)");
    }
    text.push('.');
    text
}

#[cfg(test)]
mod tests;
