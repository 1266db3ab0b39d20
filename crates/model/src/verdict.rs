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

mod growth;
mod low_zone;
mod room;
mod seen_from;

use crate::available;
use crate::group::{self, GroupRoom};
use crate::groups::is_sandbox;
use crate::ledger::{Ledger, Term};
use crate::prelude::*;
use crate::pressure::{self, PressureModel, PressureState};
use crate::watermarks::{self, Band, Distance, Watermarks};

pub use crate::available::AvailableFrom;
pub use growth::Growing;
pub use room::Room;
pub use seen_from::View;

/// A wake-up of kswapd nearer than this is worth a sentence.
pub const SOON_MINUTES: f64 = 60.0;

/// A first line is shorter than this.
pub const LONGEST: usize = 100;

/// Available memory and free swap together below this share of RAM, and below [`LITTLE`], are nearly nothing: the next program that
/// starts, or grows, ends in a kill.
pub const LITTLE_SHARE: f64 = 0.05;
/// Below this share of RAM, and below [`LITTLE`], it is worth knowing: not yet wrong, and not much more fits.
pub const LOW_SHARE: f64 = 0.10;
/// On a large machine a twentieth is much.
pub const LITTLE: Bytes = Bytes::from_mib(256);

/// What the judgement rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Rates over a window.
    Window {
        /// Its length.
        span: Nanos,
    },
    /// PSI's own averages of the last 10 s; who makes tasks wait is not known.
    Averages,
    /// Neither: nothing can be said about waiting.
    Nothing,
}

/// How bad it is, as a colour or an exit status would say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Not enough was seen.
    #[default]
    Unknown,
    /// Nothing to do.
    Ok,
    /// Worth knowing: a part of the machine, or of the settings, and not the machine.
    Note,
    /// Costs time or fails soon.
    Warning,
    /// Work is being lost or stands still now.
    Critical,
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
    /// Tasks wait for pages that were evicted earlier; the machine reclaims nothing.
    ReadAgain,
    /// Tasks waited in the last 10 s while much is available: where is not known without a window.
    Elsewhere,
    /// Tasks of a group wait at its own limit; the machine reclaims nothing.
    GroupAtLimit,
    /// Nothing waits yet, and at the rate of the window what is left lasts only moments.
    RunningOut,
    /// Nothing waits yet, and little is available, in RAM or in swap.
    Low,
    /// Nothing waits yet, and next to nothing is available, in RAM or in swap.
    NearlyUsedUp,
    /// Tasks wait, and the zones that the kernel takes its own objects from are used up while others have room: 32 bits with high memory.
    LowZone,
    /// Tasks wait for memory.
    Stalling,
    /// The working set does not fit.
    Refaulting,
    /// Everything waits for memory.
    Thrashing,
}

/// The number that decides the status.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Deciding {
    /// What is available.
    Available(Bytes),
    /// Percent of the time in which some task waited for memory.
    Waiting(f64),
    /// Percent of the time in which all tasks waited at once.
    Standing(f64),
    /// Processes killed for memory in the window.
    Killed(u64),
    /// A finding, by its id.
    Finding(String),
}

/// The machine in one sentence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// How bad it is.
    #[serde(default)]
    pub status: Status,
    /// The state.
    pub state: VerdictState,
    /// The sentence: under 100 characters, true by itself.
    pub text: String,
    /// What else belongs to it, a sentence each.
    #[serde(default)]
    pub details: Vec<String>,
    /// What decided it; `None` where nothing did.
    #[serde(default)]
    pub deciding: Option<Deciding>,
    /// MemTotal.
    pub total: Bytes,
    /// What is available here: on the machine, or what our group's limit leaves if that is less.
    #[serde(default)]
    pub available: Bytes,
    /// What is available on the machine, whatever our group may use.
    #[serde(default)]
    pub machine_available: Bytes,
    /// Where that number is from.
    #[serde(default)]
    pub available_from: AvailableFrom,
    /// What makes that this is not the whole machine's own view; `None` where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<View>,
    /// Free in swap areas; `None` where it was not seen.
    #[serde(default)]
    pub swap_free: Option<Bytes>,
    /// Of it, page cache on the active list: it can be had too, and whoever uses it reads it again.
    #[serde(default)]
    pub cache_in_use: Bytes,
    /// Of `machine_available`, what the ZFS cache gives back.
    #[serde(default)]
    pub arc: Bytes,
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
    let room = Room::of(
        available::with(snapshot, &ledger, marks.as_ref()),
        snapshot.meminfo.data().and_then(|meminfo| meminfo.swap_free),
    );
    let named = window.as_ref().and_then(group::at_its_limit);
    let mut verdict = judge(&ledger, &pressure, marks.as_ref(), group::of(snapshot), room, named);
    window.as_ref().and_then(growth::of).iter().for_each(|growing| growth::put(&mut verdict, growing));
    verdict.view = View::of(&snapshot.machine);
    verdict.details.extend(verdict.view.map(|view| view.words().to_owned()));
    Some(verdict)
}

/// The verdict from its parts; `room` is the machine's, `named` the group that meets its limit, where it is known.
#[must_use]
pub fn judge(
    ledger: &Ledger,
    pressure: &PressureModel,
    marks: Option<&Watermarks>,
    group: Option<GroupRoom>,
    room: Room,
    named: Option<&str>,
) -> Verdict {
    let available = room.available;
    let nodes = marks.map(|m| m.nodes.as_slice()).unwrap_or_default();
    let band = nodes.iter().map(|n| n.band).min();
    let to_low = nodes.iter().map(|n| n.to_low).min_by_key(|d| d.bytes);
    let short = low_zone::short(nodes, pressure);
    let plenty = available.share_of(ledger.total).is_some_and(|share| share >= pressure::PLENTY);
    let state = match pressure.state {
        PressureState::Thrashing => VerdictState::Thrashing,
        _ if short.is_some() => VerdictState::LowZone,
        PressureState::Unknown => VerdictState::Unknown,
        PressureState::Elsewhere => VerdictState::Elsewhere,
        PressureState::Refaulting => VerdictState::Refaulting,
        PressureState::Stalling => VerdictState::Stalling,
        _ if room.is_below(LITTLE_SHARE, ledger.total) => VerdictState::NearlyUsedUp,
        PressureState::GroupAtLimit => VerdictState::GroupAtLimit,
        _ if room.is_below(LOW_SHARE, ledger.total) => VerdictState::Low,
        PressureState::ReadAgain => VerdictState::ReadAgain,
        PressureState::Reclaiming => VerdictState::Reclaiming,
        PressureState::Calm if band.is_some_and(|b| b <= Band::MinToLow) => VerdictState::Reclaiming,
        PressureState::Calm => VerdictState::Comfortable,
    };
    let basis = match (pressure.span, pressure.memory.and_then(|m| m.some)) {
        (Some(span), _) => Basis::Window { span },
        (None, Some(_)) => Basis::Averages,
        (None, None) => Basis::Nothing,
    };
    let active =
        ledger.line(Term::FileClean).and_then(|clean| clean.children.iter().find(|c| c.id == Term::FileActive));
    let here = group.as_ref().map_or(available, |g| g.room.min(available));
    let mut verdict = Verdict {
        status: status(state),
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
        basis,
        band,
        to_low,
    };
    verdict.deciding = deciding(&verdict, pressure);
    match short {
        Some(zones) => low_zone::say(&mut verdict, zones, pressure),
        None => verdict.text = first_line(&verdict, pressure, named),
    }
    verdict.details.extend(details(&verdict, plenty));
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
        VerdictState::Stalling | VerdictState::GroupAtLimit => killed.or_else(some),
        _ => some(),
    }
}

/// `22.9 of 23.5 GiB`, or with two units where they differ.
#[must_use]
pub fn of_total(part: Bytes, total: Bytes) -> String {
    let (part, total) = (part.to_string(), total.to_string());
    match (part.split_once(' '), total.split_once(' ')) {
        (Some((number, unit)), Some((_, other))) if unit == other => format!("{number} of {total}"),
        _ => format!("{part} of {total}"),
    }
}

/// The sentence with as much in it as fits.
fn first_line(verdict: &Verdict, pressure: &PressureModel, named: Option<&str>) -> String {
    let named = named.map(|name| match is_sandbox(name) {
        true => "a sandbox of ramline".to_owned(),
        false => format!("group {name}"),
    });
    let rooms = room::words(verdict);
    let mut line = String::new();
    for who in named.iter().map(String::as_str).chain(["a group"]) {
        for room in &rooms {
            line = sentence(verdict, pressure, room, who);
            if line.chars().count() < LONGEST {
                return line;
            }
        }
    }
    line
}

fn sentence(verdict: &Verdict, pressure: &PressureModel, room: &str, who: &str) -> String {
    let percent = |p: Option<f64>| p.map_or("part".to_owned(), |p| format!("{p:.1} %"));
    let some = percent(pressure.memory.as_ref().and_then(pressure::Psi::some_now));
    let full = percent(pressure.memory.as_ref().and_then(pressure::Psi::full_now));
    let killed = pressure.rates.and_then(|r| r.oom_kills).filter(|n| *n > 0);
    let processes = |n: u64| if n == 1 { "1 process".to_owned() } else { format!("{n} processes") };
    match verdict.state {
        VerdictState::Unknown => format!("{}; whether tasks wait for memory is not known.", capital(room)),
        VerdictState::Comfortable if pressure.memory.is_none() => {
            format!("Memory is fine: {room}; nothing is reclaimed (stall times are not measured).")
        }
        VerdictState::Comfortable => format!("Memory is fine: {room}, no task waits for memory."),
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
        VerdictState::Elsewhere => {
            format!("{}, but tasks waited for memory {some} of the last 10 s.", capital(room))
        }
        VerdictState::GroupAtLimit => match killed {
            Some(n) => format!("Machine ok: {room}. {} killed at the limit of {who}.", processes(n)),
            None => format!("Machine ok: {room}. {} is at its limit, tasks wait {some} of the time.", capital(who)),
        },
        VerdictState::RunningOut => format!("{}, which will not last.", capital(room)),
        VerdictState::Low | VerdictState::NearlyUsedUp => {
            let how = if verdict.state == VerdictState::Low { "low" } else { "nearly used up" };
            let left = of_total(verdict.machine_available, verdict.total);
            format!("Memory is {how}: {left} available, and {} swap is free.", free_swap(verdict))
        }
        VerdictState::Stalling => match killed {
            Some(n) => format!("Out of memory: {} killed just now; {room}.", processes(n)),
            None => format!("Memory is short: tasks wait for it {some} of the time; {room}."),
        },
        VerdictState::Refaulting if pressure.memory.is_none() => {
            format!("Memory is short: pages of the working set are read again all the time; {room}.")
        }
        VerdictState::Refaulting => {
            format!("Memory is short: the working set does not fit, tasks wait {some}; {room}.")
        }
        VerdictState::LowZone => format!("Low memory is short: tasks wait {some} of the time; {room}."),
        VerdictState::Thrashing => format!("Thrashing: all tasks wait for memory {full} of the time; {room}."),
    }
}

/// How much of it, or none of it.
fn free_swap(verdict: &Verdict) -> String {
    verdict.swap_free.filter(|free| free.0 > 0).map_or_else(|| "no".to_owned(), |free| format!("{free} of"))
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn details(verdict: &Verdict, plenty: bool) -> Vec<String> {
    let mut out = Vec::new();
    out.extend(verdict.available_from.words().map(str::to_owned));
    if let Some(group) = &verdict.group {
        let machine = of_total(verdict.machine_available, verdict.total);
        out.push(format!("This group: {}; the machine has {machine} available.", group.words()));
    }
    if verdict.arc.share_of(verdict.total).is_some_and(|share| share >= 0.01) {
        out.push(format!("{} of this is ZFS cache, which shrinks (slower than page cache).", verdict.arc));
    }
    if verdict.cache_in_use.share_of(verdict.total).is_some_and(|share| share >= 0.01) {
        out.push(format!(
            "{} of that holds files in use; if other programs take it, they are read from disk again.",
            verdict.cache_in_use
        ));
    }
    let soon = verdict.to_low.and_then(|d| d.minutes).filter(|m| *m < SOON_MINUTES && !plenty);
    if let Some(minutes) = soon {
        let when = if minutes < 1.0 { "within a minute".to_owned() } else { format!("in {minutes:.0} min") };
        out.push(format!("At the present pace free memory is used up {when}, with little cache left to drop."));
    }
    match (verdict.state, verdict.basis) {
        (VerdictState::Unknown, _) => out.push("To know, look twice: ramline show --for 2s".to_owned()),
        (VerdictState::Elsewhere, _) => {
            out.push(
                "One group at its limit, or files read again and again? ramline show --for 2s shows which.".to_owned(),
            );
        }
        _ => {}
    }
    out
}

#[cfg(test)]
mod tests;
