//! Looking while memory is eaten: a point at each standstill, a sample every 100 ms, the watchdog, the verdict, the figures.
//!
//! What it is not: inside the group. Each point reads the group's statistics, which brings them up to date: reclaim in the
//! group decides on exact numbers then, as that of a whole machine does.

use ramline_evidence::{EatPoint, EatRun, EatStage, FreeGauges};

use super::allocate::{AllocateReport, AllocateTask};
use super::arms::NAME;
use super::plan::EatPlan;
use crate::prelude::*;
use ramline_sandbox::watchdog::{Limits, Watchdog};

/// Starts the child and looks until it has ended.
pub fn follow(
    plan: &EatPlan,
    arm: &Arm,
    group: &Group,
    task: &AllocateTask,
    record: &mut RunRecord,
    bench: &mut Bench<'_>,
) -> Result<()> {
    let limit = plan.values.limit_of(arm);
    let mut child = Supervisor::<AllocateReport>::from_task(NAME, task, group, bench.run)?;
    let observer = Observer::new(bench.root, Some(group), false);
    let mut dog = Watchdog::new(Limits { room: margin(bench.root)?, ..limits(plan, bench.deadline) });
    let mut run = EatRun { step: plan.values.step, limit, tree: tree(task), ..EatRun::default() };
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
                run.points.push(point(bench.root, at, &report, &stat, [limit, swap_of(plan, arm)]));
                child.resume();
                last = report;
            }
            Event::Tick => {
                let (phase, fraction) = (phase(last.stage), fraction(plan, arm, &last));
                let known = Sample { phase, fraction, limit: limit.unwrap_or_default(), ..Sample::default() };
                let sample = observer.sample(child.pid(), known);
                bench.progress.phase(doing(last.stage));
                bench.progress.sample(&sample);
                let room = memory_headroom(bench.root)?.min(sample.host.available);
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
    record.detail = ramline_units::json::tree(&run).ok();
    Ok(())
}

fn tree(task: &AllocateTask) -> Bytes {
    task.files.iter().filter_map(|path| Some(Bytes(std::fs::metadata(path).ok()?.len()))).sum()
}

fn limits(plan: &EatPlan, deadline: Option<Instant>) -> Limits {
    let nanos = |time: Duration| Nanos(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    let whole = deadline.map_or(plan.timeout, |end| end.saturating_duration_since(Instant::now()).min(plan.timeout));
    let whole = nanos(whole);
    Limits { fill: whole, rounds: whole, whole, ..Limits::default() }
}

/// What the group may swap, as the total of its small machine.
fn swap_of(plan: &EatPlan, arm: &Arm) -> Option<Bytes> {
    match arm.swap {
        SwapKind::File => Some(plan.values.swap_size()),
        SwapKind::None => Some(Bytes::ZERO),
        _ => None,
    }
}

/// `own` is the limit of the group, and what it may swap.
fn point(root: &Root, at: Nanos, report: &AllocateReport, stat: &GroupStat, own: [Option<Bytes>; 2]) -> EatPoint {
    let [limit, swap_total] = own;
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

fn fraction(plan: &EatPlan, arm: &Arm, report: &AllocateReport) -> f64 {
    let all = plan.values.eat.or_else(|| plan.values.limit_of(arm)).unwrap_or_default();
    report.eaten.share_of(all).unwrap_or_default()
}

fn verdict(end: &End, last: &AllocateReport) -> Verdict {
    let finished = last.end.then_some(Verdict::Completed);
    end.verdict(finished, &format!("the group was out of memory after {}", last.eaten))
}

/// What the table of a series is made of.
fn figures(record: &RunRecord, run: &EatRun) -> Vec<Figure> {
    let mut out = Figures::default();
    let (before, last, refilled) = (run.before(), run.last(), run.refilled());
    let began = run.swapping_began();
    out.bytes("obtained", run.eaten, Better::Higher);
    let of = |point: Option<&EatPoint>, what: fn(&EatPoint) -> Bytes| point.map(what);
    let mut seen = |name: &str, bytes: Option<Bytes>| out.bytes(name, bytes, Better::Neither);
    seen("free said", of(before, |p| p.sandbox.free));
    seen("swap used at the end", of(run.points.last(), |p| p.sandbox.swap_used));
    seen("available said", before.and_then(|p| p.sandbox.available));
    seen("cached before eating", of(before, |p| p.sandbox.cached));
    seen("cached at the last look", of(last, |p| p.sandbox.cached));
    seen("swap used before eating", of(before, |p| p.sandbox.swap_used));
    seen("swap used at the last look", of(last, |p| p.sandbox.swap_used));
    seen("cached after reading again", of(refilled, |p| p.sandbox.cached));
    seen("swap used after reading again", of(refilled, |p| p.sandbox.swap_used));
    seen("eaten when swapping began", of(began, |p| p.eaten));
    seen("cached when swapping began", of(began, |p| p.sandbox.cached));
    out.add("obtained for each byte that was free", run.times_free(), "times", Better::Higher);
    out.time("time of eating", record.elapsed);
    out.time("system time", record.system);
    out.pages("file refaults", record.reclaim.refault_file, Better::Lower);
    out.pages("swapped out", record.reclaim.swap_out, Better::Lower);
    out.0
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
