//! Looking while memory is eaten: a point at each standstill, a sample every 100 ms, the watchdog, the verdict, the figures.
//!
//! What it is not: inside the group. Each point reads the group's statistics, which brings them up to date: reclaim in the
//! group decides on exact numbers then, as that of a whole machine does.

use std::time::{Duration, Instant};

use ramline_evidence::{
    Arm, Better, EatPoint, EatRun, EatStage, Figure, FreeGauges, Phase, RunRecord, Sample, Verdict,
};
use ramline_kernel::cgroup::{Group, GroupStat};
use ramline_kernel::{Root, memory_room, process};
use ramline_units::{Bytes, Nanos};

use super::allocate::{AllocateReport, AllocateTask};
use super::arms::NAME;
use super::plan::Plan;
use crate::experiment::Bench;
use ramline_sandbox::child::{self, End, Event, Reach, Supervisor};
use ramline_sandbox::error::Result;
use ramline_sandbox::observe::{self, Observer};
use ramline_sandbox::requirements::margin;
use ramline_sandbox::watchdog::{Limits, Watchdog};

/// Starts the child and looks until it has ended.
pub fn follow(
    plan: &Plan,
    arm: &Arm,
    group: &Group,
    task: &AllocateTask,
    record: &mut RunRecord,
    bench: &mut Bench<'_>,
) -> Result<()> {
    let limit = plan.limit_of(arm);
    let mut child: Supervisor<AllocateReport> =
        Supervisor::start(&mut child::command(NAME, task)?, Some(group), bench.run)?.reaching(Reach::Group);
    let observer = Observer::new(bench.root, Some(group), false);
    let mut dog = Watchdog::new(Limits { room: margin(bench.root)?, ..limits(plan, bench.deadline) });
    let mut run = EatRun { step: plan.step, limit, tree: tree(task), ..EatRun::default() };
    let begin = process::monotonic();
    let mut last = AllocateReport::default();
    let end = loop {
        match child.next_event()? {
            Event::Report(report) => last = report,
            Event::Waiting(report) => {
                if run.points.is_empty() {
                    child.must_be_in(group)?;
                    let harness = group.stat()?.current.unwrap_or_default();
                    record.verified.insert("harness in the group before the start".to_owned(), harness.to_string());
                }
                let stat = group.stat()?;
                if report.end {
                    record.after = observe::counters(bench.root, &stat);
                }
                let at = process::monotonic().saturating_sub(begin);
                run.points.push(point(bench.root, at, &report, &stat, limit, swap_of(plan, arm)));
                child.resume();
                last = report;
            }
            Event::Tick => {
                let (phase, fraction) = (phase(last.stage), fraction(plan, arm, &last));
                let known = Sample { phase, fraction, limit: limit.unwrap_or_default(), ..Sample::default() };
                let sample = observer.sample(child.pid(), known);
                bench.progress.phase(doing(last.stage));
                bench.progress.sample(&sample);
                let room = memory_room(bench.root)?.min(sample.host.available);
                if let Some(why) = dog.look(&sample, room) {
                    child.stop(Verdict::Thrashing(why))?;
                }
                record.samples.push(sample);
            }
            Event::Ended(end) => break end,
        }
    };
    if record.after.is_empty() {
        record.after = observe::counters(bench.root, &group.stat()?);
    }
    (record.user, record.system, record.elapsed) = (end.usage.user, end.usage.system, last.busy);
    record.reclaim = observe::reclaim(record, end.usage.majflt);
    record.notes.extend(last.refused.iter().map(|why| format!("the kernel would not promise more memory: {why}")));
    record.verdict = verdict(&end, &last);
    run.eaten = last.eaten;
    observe::note_killed_bystanders(record);
    record.figures = figures(record, &run);
    record.detail = serde_json::to_value(&run).ok();
    Ok(())
}

fn tree(task: &AllocateTask) -> Bytes {
    task.files.iter().filter_map(|path| Some(Bytes(std::fs::metadata(path).ok()?.len()))).sum()
}

fn limits(plan: &Plan, deadline: Option<Instant>) -> Limits {
    let nanos = |time: Duration| Nanos(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    let whole = deadline.map_or(plan.timeout, |end| end.saturating_duration_since(Instant::now()).min(plan.timeout));
    let (fill, rounds) = (nanos(whole), nanos(whole));
    Limits { fill, rounds, whole: nanos(whole), ..Limits::default() }
}

/// What the group may swap, as the total of its small machine.
fn swap_of(plan: &Plan, arm: &Arm) -> Option<Bytes> {
    match arm.swap {
        ramline_evidence::SwapKind::File => Some(plan.swap_size()),
        ramline_evidence::SwapKind::None => Some(Bytes::ZERO),
        _ => None,
    }
}

fn point(
    root: &Root,
    at: Nanos,
    report: &AllocateReport,
    stat: &GroupStat,
    limit: Option<Bytes>,
    swap_total: Option<Bytes>,
) -> EatPoint {
    let of = Option::unwrap_or_default;
    let host = observe::free_gauges(root);
    let lists = of(stat.inactive_file) + of(stat.active_file);
    let (total, free, available) = match limit {
        None => (host.total, host.free, host.available),
        Some(limit) => {
            let free = limit.saturating_sub(of(stat.current));
            (limit, free, Some(free + lists))
        }
    };
    let sandbox = FreeGauges {
        total,
        free,
        available,
        cached: of(stat.file),
        shmem: of(stat.shmem),
        swap_total: swap_total.unwrap_or(host.swap_total),
        swap_used: of(stat.swap),
        ..FreeGauges::default()
    };
    let read = if report.stage == EatStage::Eat { Bytes::ZERO } else { report.done };
    let dirty = of(stat.dirty) + of(stat.writeback);
    EatPoint { at, stage: report.stage, eaten: report.eaten, read, sandbox, anon: of(stat.anon), dirty, host }
}

const fn phase(stage: EatStage) -> Phase {
    match stage {
        EatStage::Start => Phase::Start,
        EatStage::Idle | EatStage::Cache => Phase::Map,
        EatStage::Eat => Phase::Fill,
        EatStage::Refill => Phase::Rounds,
    }
}

/// In the words of a progress line.
const fn doing(stage: EatStage) -> &'static str {
    match stage {
        EatStage::Start => "starting",
        EatStage::Idle => "writing data that will lie idle",
        EatStage::Cache => "reading files",
        EatStage::Eat => "eating",
        EatStage::Refill => "reading the files again",
    }
}

fn fraction(plan: &Plan, arm: &Arm, report: &AllocateReport) -> f64 {
    let all = plan.eat.or_else(|| plan.limit_of(arm)).unwrap_or_default();
    report.eaten.share_of(all).unwrap_or_default()
}

fn verdict(end: &End, last: &AllocateReport) -> Verdict {
    let finished = last.end.then_some(Verdict::Completed);
    end.verdict(finished, &format!("the group was out of memory after {}", last.eaten))
}

/// What the table of a series is made of.
fn figures(record: &RunRecord, run: &EatRun) -> Vec<Figure> {
    let mut out = Vec::new();
    let mut add = |name: &str, bytes: Option<Bytes>, better| {
        out.extend(bytes.map(|bytes| Figure::new(name, bytes.as_f64(), "bytes", better)));
    };
    let (before, last, refilled) = (run.before(), run.last(), run.refilled());
    let began = run.swapping_began();
    let of = |point: Option<&EatPoint>, what: fn(&EatPoint) -> Bytes| point.map(what);
    add("obtained", Some(run.eaten), Better::Higher);
    add("free said", of(before, |p| p.sandbox.free), Better::Neither);
    add("swap used at the end", of(run.points.last(), |p| p.sandbox.swap_used), Better::Neither);
    add("available said", before.and_then(|p| p.sandbox.available), Better::Neither);
    add("cached before eating", of(before, |p| p.sandbox.cached), Better::Neither);
    add("cached at the last look", of(last, |p| p.sandbox.cached), Better::Neither);
    add("swap used before eating", of(before, |p| p.sandbox.swap_used), Better::Neither);
    add("swap used at the last look", of(last, |p| p.sandbox.swap_used), Better::Neither);
    add("cached after reading again", of(refilled, |p| p.sandbox.cached), Better::Neither);
    add("swap used after reading again", of(refilled, |p| p.sandbox.swap_used), Better::Neither);
    add("eaten when swapping began", of(began, |p| p.eaten), Better::Neither);
    add("cached when swapping began", of(began, |p| p.sandbox.cached), Better::Neither);
    let mut more = |name: &str, value: Option<f64>, unit: &str, better| {
        out.extend(value.map(|value| Figure::new(name, value, unit, better)));
    };
    let pages = |count: Option<u64>| count.map(|count| count as f64);
    more("obtained for each byte that was free", run.times_free(), "times", Better::Higher);
    more("time of eating", Some(record.elapsed.as_secs_f64()), "s", Better::Lower);
    more("system time", Some(record.system.as_secs_f64()), "s", Better::Lower);
    more("file refaults", pages(record.reclaim.refault_file), "pages", Better::Lower);
    more("swapped out", pages(record.reclaim.swap_out), "pages", Better::Lower);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    #[test]
    fn a_kill_by_the_kernel_says_how_much_was_eaten() {
        let last = AllocateReport { eaten: Bytes::from_mib(250), ..AllocateReport::default() };
        let ended = |status| End { status: ExitStatus::from_raw(status), ..End::default() };
        let killed = verdict(&End { out_of_memory: true, ..ended(libc::SIGKILL) }, &last);
        assert_eq!(killed, Verdict::Killed("the kernel: the group was out of memory after 250.0 MiB".to_owned()));
        let other = verdict(&ended(libc::SIGKILL), &last);
        assert!(matches!(other, Verdict::Killed(why) if why.contains("from outside")));
        assert!(matches!(verdict(&ended(0), &last), Verdict::Failed(_)));
        assert_eq!(verdict(&ended(0), &AllocateReport { end: true, ..last }), Verdict::Completed);
    }
}
