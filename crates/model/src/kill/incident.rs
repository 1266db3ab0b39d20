//! Which kill of a log is explained: the first of the last incident of which the log says anything, or the one at a time.
//!
//! Kills of the same moment are one incident, of which the first report shows how it began. All others are listed: whether a kill minutes before had the
//! same cause, a log does not tell.

use ramline_snapshot::kernel_log::{
    DaemonKill, DaemonKind, KernelLog, LogEvent, Report, ReportKind, Stamp, Stuck, StuckKind,
};

use super::by_daemon::{by_daemon, killer};
use super::in_group::in_group;
use super::machine::machine;
use super::no_kill::{failure, stuck};
use super::page_size::page_size;
use super::sum::sum;
use super::types::{Certainty, Kill, KillCause, Killer, OtherKill, ProgramUse, Reason, Requested, Verdict, Victim};
use super::victim::{from_line, innocent};
use super::zones::zone_states;

/// Kills nearer to each other are of one moment: the kernel prints reports at most every 5 s (mm/oom_kill.c, `oom_rs`).
const MOMENT: f64 = 5.0;
/// A time that is given means a kill within this.
const NEAR: f64 = 600.0;
/// Other kills that are listed.
const LISTED: usize = 20;

/// There is no kill at that time.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("the log has no kill within ten minutes of that time{}", .nearest.as_ref().map(|at| format!("; the nearest is at {at}")).unwrap_or_default())]
pub struct NoSuchTime {
    /// The nearest there is.
    pub nearest: Option<String>,
}

/// The kill at a time, or the last, explained.
///
/// # Errors
/// A time was given at which there is none.
pub fn explain(log: &KernelLog, at: Option<&Stamp>) -> Result<Kill, NoSuchTime> {
    let kills: Vec<&LogEvent> = log.events.iter().filter(|event| is_kill(event)).collect();
    let candidates: Vec<&LogEvent> = if kills.is_empty() { log.events.iter().collect() } else { kills };
    let Some(at) = at else { return Ok(from_incident(log, &candidates, last_told(&candidates))) };
    let distance = |event: &&&LogEvent| event.at().and_then(|stamp| between(stamp, at));
    let timed: Vec<(&LogEvent, f64)> =
        candidates.iter().filter_map(|event| Some((*event, distance(&event)?))).collect();
    let nearest = timed.iter().min_by(|a, b| a.1.total_cmp(&b.1));
    match nearest {
        Some((event, gap)) if *gap <= NEAR => Ok(from_incident(log, &candidates, vec![*event])),
        other => Err(NoSuchTime { nearest: other.and_then(|(event, _)| event.at()).map(|stamp| stamp.text.clone()) }),
    }
}

/// Seconds between two times, of which one may have no date.
fn between(a: &Stamp, b: &Stamp) -> Option<f64> {
    let seconds = a.since(b)?.abs();
    let both = a.boot.is_some() && b.boot.is_some() || a.dated == b.dated && a.has_year == b.has_year;
    Some(if both { seconds } else { seconds.min(86_400.0 - seconds).abs() })
}

fn is_kill(event: &LogEvent) -> bool {
    match event {
        LogEvent::Report(report) => report.kind == ReportKind::OutOfMemory,
        LogEvent::Daemon(kill) => kill.killed,
        LogEvent::Stuck(stuck) => stuck.kind == Some(StuckKind::NoHugePage),
    }
}

/// The last incident; where the log ends within its first lines, the one before it, if there is one.
fn last_told<'a>(events: &[&'a LogEvent]) -> Vec<&'a LogEvent> {
    let last = last_incident(events);
    let is_head = |event: &&LogEvent| matches!(event, LogEvent::Report(report) if report.kills.is_empty() && !has_figures(report));
    let before = events.len() - last.len();
    if before > 0 && last.iter().all(is_head) { last_incident(&events[..before]) } else { last }
}

fn has_figures(report: &Report) -> bool {
    report.tasks.rows > 0 || !report.memory.is_empty() || report.group.is_some()
}

/// Events of the last incident, in the order of the log.
fn last_incident<'a>(events: &[&'a LogEvent]) -> Vec<&'a LogEvent> {
    let mut out: Vec<&LogEvent> = Vec::new();
    for event in events.iter().rev() {
        let near = out.last().is_none_or(|next| {
            let gap = next.at().zip(event.at()).and_then(|(next, event)| next.since(event));
            gap.is_none_or(|gap| gap.abs() <= MOMENT)
        });
        if !near {
            break;
        }
        out.push(event);
    }
    out.reverse();
    out
}

/// The event of an incident that says most: one whose report is there, the first of them.
fn telling<'a>(events: &[&'a LogEvent]) -> Option<&'a LogEvent> {
    let reports = || {
        events.iter().filter_map(|event| match event {
            LogEvent::Report(report) => Some((*event, report)),
            _ => None,
        })
    };
    let report = reports()
        .find(|(_, report)| !report.kills.is_empty() && has_figures(report))
        .or_else(|| reports().find(|(_, report)| !report.kills.is_empty()))
        .or_else(|| reports().find(|(_, report)| has_figures(report)))
        .or_else(|| reports().next());
    let daemon = events.iter().find_map(|event| match event {
        // Those two report the kernel's kill; the kernel's own lines say more.
        LogEvent::Daemon(kill)
            if report.is_none() || !matches!(kill.kind, DaemonKind::Container | DaemonKind::Systemd) =>
        {
            Some((*event, kill))
        }
        _ => None,
    });
    match (report, daemon) {
        (Some((report_event, report)), Some((event, daemon))) => {
            let first = events.iter().position(|other| std::ptr::eq(*other, event))
                < events.iter().position(|other| std::ptr::eq(*other, report_event));
            // A signal that was sent is no death: the kernel killed the same process, or the end was not seen.
            let same = report.kills.iter().any(|kill| Some(kill.pid) == daemon.pid);
            let proven = daemon.exited || !matches!(daemon.kind, DaemonKind::EarlyOom | DaemonKind::Nohang);
            Some(if first && proven && !same { event } else { report_event })
        }
        (Some((event, _)), None) | (None, Some((event, _))) => Some(event),
        (None, None) => events.iter().copied().next(),
    }
}

fn from_incident(log: &KernelLog, candidates: &[&LogEvent], incident: Vec<&LogEvent>) -> Kill {
    let Some(event) = telling(&incident) else { return Kill { nothing_found: true, ..Kill::default() } };
    let mut kill = match event {
        LogEvent::Report(report) => from_report(report),
        LogEvent::Daemon(daemon) => from_daemon(daemon),
        LogEvent::Stuck(one) => from_stuck(one, log),
    };
    kill.at = event.at().cloned();
    if kill.victim.is_some() && kill.innocent_victim.is_none() {
        kill.innocent_victim = beside_others(&kill, &incident);
    }
    let near_failure =
        matches!(event, LogEvent::Report(report) if report.trigger.is_none() && !report.in_group && !report.global);
    // A request of a single page that failed is a shortage of the machine: the kill without a head behind it is for that.
    let failed = log.events.iter().any(|event| {
        matches!(event, LogEvent::Report(report)
        if report.kind == ReportKind::Failure && report.trigger.as_ref().and_then(|trigger| trigger.order) == Some(0))
    });
    if near_failure && failed && kill.killer == Killer::Kernel {
        kill.killer = Killer::KernelGlobal;
    }
    let others: Vec<&&LogEvent> = candidates.iter().filter(|other| !std::ptr::eq(**other, event)).collect();
    kill.other_kills = u64::try_from(others.len()).unwrap_or(u64::MAX).saturating_add(log.earlier);
    kill.others = others.iter().rev().take(LISTED).rev().map(|other| short(other)).collect();
    kill
}

fn short(event: &LogEvent) -> OtherKill {
    let (killer, victim) = match event {
        LogEvent::Report(report) => (
            killer_of(report),
            report.kills.first().map(|line| Victim {
                name: Some(line.name.clone()),
                pid: Some(line.pid),
                ..Victim::default()
            }),
        ),
        LogEvent::Daemon(kill) => (killer(kill), victim_of(kill)),
        LogEvent::Stuck(stuck) => (
            if stuck.kind == Some(StuckKind::NoHugePage) { Killer::Hugetlb } else { Killer::None },
            stuck.pid.map(|pid| Victim { name: stuck.name.clone(), pid: Some(pid), ..Victim::default() }),
        ),
    };
    OtherKill { at: event.at().cloned(), killer, victim }
}

/// Who killed, by what the report says.
fn killer_of(report: &Report) -> Killer {
    let stack = |name: &str| report.functions.iter().any(|function| function.starts_with(name));
    if report.kind != ReportKind::OutOfMemory {
        return Killer::None;
    }
    if report.constraint.as_deref().is_some_and(|name| name.contains("BPF")) || stack("bpf_out_of_memory") {
        return Killer::Bpf;
    }
    if report.in_group
        || stack("mem_cgroup_out_of_memory")
        || stack("mem_cgroup_oom")
        || report.constraint.as_deref() == Some("CONSTRAINT_MEMCG")
    {
        return Killer::KernelMemcg;
    }
    let known =
        report.global || report.constraint.is_some() || !report.memory.is_empty() || report.panic || report.no_victim;
    if known
        || stack("__alloc_pages")
        || stack("pagefault_out_of_memory")
        || stack("out_of_memory")
        || report.trigger.is_some()
    {
        return Killer::KernelGlobal;
    }
    Killer::Kernel
}

fn from_report(report: &Report) -> Kill {
    let page = page_size(report);
    let sum = sum(report, page.size);
    let zones = zone_states(report, page.size);
    let killer = killer_of(report);
    let verdict = match killer {
        Killer::Bpf => {
            let psi = report.constraint.as_deref().is_some_and(|name| name.contains("PSI"))
                || report.functions.iter().any(|name| name.contains("psi"));
            Verdict::new(
                if psi { KillCause::PressurePolicy } else { KillCause::ThresholdPolicy },
                if psi { Certainty::Sure } else { Certainty::Likely },
            )
        }
        Killer::KernelMemcg => in_group(report, page.size),
        Killer::None => failure(report, sum.as_ref(), &zones, page.assumed),
        _ => machine(report, sum.as_ref(), &zones, page.assumed),
    };
    let programs: Vec<ProgramUse> =
        report.tasks.by_name.iter().map(|total| ProgramUse::from_pages(total, page.size)).collect();
    let victim = report.kills.first().map(|line| from_line(line, report, page.size)).or_else(|| {
        // The line of the choice is followed by that of the kill, of the same process since Linux 5.3; with a cut tail it stands for it.
        let (pid, name) =
            report.chosen.clone().filter(|_| report.constraint.is_some() && report.kind == ReportKind::OutOfMemory)?;
        Some(Victim { name: Some(name), pid: Some(pid), ..Victim::default() })
    });
    let innocent_victim =
        victim.as_ref().and_then(|victim| innocent(victim, verdict.cause, report, sum.as_ref(), &programs));
    let mut reasons = verdict.reasons;
    // Where all have the same low correction, no size outweighs it and the first one dies (up to Linux 5.8, `oom_badness`).
    let same = report.tasks.lowest_adj.filter(|adj| Some(*adj) == report.tasks.highest_adj && *adj <= -900);
    if innocent_victim == Some(true) && report.tasks.rows > 1 {
        reasons.extend(same.map(Reason::AllProtected));
    }
    let limit = report.group.as_ref().and_then(|group| group.memory?.limit).filter(|_| killer == Killer::KernelMemcg);
    let request = report.trigger.as_ref().map(|trigger| Requested {
        name: trigger.name.clone(),
        order: trigger.order,
        flags: trigger.gfp.as_ref().map(|gfp| gfp.names.clone().unwrap_or_else(|| format!("0x{:x}", gfp.bits))),
    });
    Kill {
        killer,
        victim,
        cause: verdict.cause,
        innocent_victim,
        limit_bytes: limit,
        confidence: verdict.confidence,
        also: verdict.also,
        group: report.limit_group.clone().or_else(|| report.group.as_ref()?.path.clone()),
        group_figures: report.group.clone(),
        request,
        kernel: report.kernel.clone(),
        page_size: Some(page),
        missing: missing(report, killer, sum.is_some()),
        sum,
        zones,
        programs,
        slabs: report.slabs.clone(),
        reasons,
        panicked: report.panic,
        ..Kill::default()
    }
}

/// What a report of its kind has and this one has not.
fn missing(report: &Report, killer: Killer, has_sum: bool) -> Vec<String> {
    let mut out = Vec::new();
    let mut lacks = |is: bool, what: &str| {
        if is {
            out.push(what.to_owned());
        }
    };
    lacks(report.trigger.is_none(), "the first line (invoked oom-killer)");
    if killer == Killer::KernelMemcg || killer == Killer::Bpf {
        let group = report.group.as_ref();
        lacks(group.is_none_or(|group| group.memory.is_none()), "the lines of usage and limit");
        lacks(group.is_none_or(|group| group.statistics.is_empty()), "the statistics of the group");
    } else {
        lacks(!has_sum, "the counters of memory (Mem-Info)");
        lacks(report.memory.zones.is_empty(), "the zones and their marks");
        lacks(
            report.memory.ram.is_none() || report.memory.reserved.is_none(),
            "the size of RAM (pages RAM, pages reserved)",
        );
    }
    if report.kind == ReportKind::OutOfMemory {
        lacks(report.tasks.rows == 0, "the table of tasks");
        lacks(report.kills.is_empty() && !report.panic && !report.no_victim, "the line that names who was killed");
    }
    out
}

fn victim_of(kill: &DaemonKill) -> Option<Victim> {
    if !kill.killed || kill.victim.is_none() && kill.pid.is_none() {
        return None;
    }
    Some(Victim { name: kill.victim.clone(), pid: kill.pid, held: kill.rss, swapped: kill.swap, ..Victim::default() })
}

fn from_daemon(daemon: &DaemonKill) -> Kill {
    let verdict = by_daemon(daemon);
    Kill {
        killer: killer(daemon),
        victim: victim_of(daemon),
        cause: verdict.cause,
        confidence: verdict.confidence,
        also: verdict.also,
        reasons: verdict.reasons,
        missing: vec!["what filled memory: such a program prints no counters".to_owned()],
        ..Kill::default()
    }
}

fn from_stuck(one: &Stuck, log: &KernelLog) -> Kill {
    let hugetlb = one.kind == Some(StuckKind::NoHugePage);
    let all: Vec<&Stuck> = log
        .events
        .iter()
        .filter_map(|event| match event {
            LogEvent::Stuck(stuck) if (stuck.kind == Some(StuckKind::NoHugePage)) == hugetlb => Some(&**stuck),
            _ => None,
        })
        .collect();
    let verdict = stuck(&all);
    let victim = one.pid.filter(|_| hugetlb).map(|pid| Victim { pid: Some(pid), ..Victim::default() });
    Kill {
        killer: if hugetlb { Killer::Hugetlb } else { Killer::None },
        victim,
        cause: verdict.cause,
        confidence: verdict.confidence,
        also: verdict.also,
        reasons: verdict.reasons,
        ..Kill::default()
    }
}

/// Without the size of the machine: it held a tenth of what another victim of the same incident held, and is of another name.
fn beside_others(kill: &Kill, incident: &[&LogEvent]) -> Option<bool> {
    // What the kernel holds has no owner in a log.
    let ownerless = [
        KillCause::SlabGrowth,
        KillCause::KernelUnaccounted,
        KillCause::ShmemTmpfs,
        KillCause::MemcgDirtyFile,
        KillCause::MemcgKmem,
        KillCause::NotMemory,
        KillCause::HugepagesReserved,
    ];
    let victim = kill.victim.as_ref()?;
    let (name, held) = (victim.name.as_deref()?, victim.held?);
    if ownerless.contains(&kill.cause) || kill.sum.is_some() {
        return None;
    }
    let largest = incident.iter().filter_map(|event| match event {
        LogEvent::Report(report) => {
            report.kills.iter().filter(|line| line.name != name && !report.in_group).filter_map(|line| line.anon).max()
        }
        LogEvent::Daemon(other) if other.victim.as_deref() != Some(name) => other.rss,
        _ => None,
    });
    largest.max().filter(|largest| held.0 < largest.0 / 10).map(|_| true)
}
