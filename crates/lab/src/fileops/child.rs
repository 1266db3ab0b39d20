//! One operation in a child process: started, looked at, ended when it takes too long or too much, and judged.

use super::pressure::Look;
use super::task::{FileReport, FileTask, Op};
use super::work;
use crate::prelude::*;

/// The numbers of an operation, or how it ended without.
pub type Performed = std::result::Result<FileReport, Verdict>;

/// Waits for a quiet moment, but not for ever; what disturbs after that is a sentence for the record.
///
/// # Errors
/// SIGINT or SIGTERM came, or /proc cannot be read.
pub fn settle(bench: &mut Bench<'_>) -> Result<Option<String>> {
    const LONGEST: Duration = Duration::from_secs(3);
    bench.progress.phase("waiting for a quiet moment");
    let disturbed = requirements::settle(bench.root, LONGEST, bench.run)?;
    Ok(disturbed.map(|_| "the machine was not quiet before a run".to_owned()))
}

/// Does `task` in a child, inside `group` if there is one, for at most `limit`; `look` looks at it where that is wanted.
///
/// # Errors
/// It cannot be started, or SIGINT or SIGTERM came.
pub fn perform(
    bench: &mut Bench<'_>,
    group: Option<&Group>,
    task: &FileTask,
    limit: Duration,
    mut look: Option<&mut Look<'_>>,
) -> Result<Performed> {
    bench.progress.phase(task.op.name());
    let mut child = Supervisor::start(&mut child::command(work::KIND, task)?, group, bench.run)?;
    let begin = Instant::now();
    let observer = look.is_some().then(|| Observer::new(bench.root, group, false));
    let least = requirements::margin(bench.root)?;
    let mut last: Option<FileReport> = None;
    let end = loop {
        match child.next_event()? {
            Event::Report(report) => last = Some(report),
            Event::Waiting(_) => {
                look.as_mut().map_or(Ok(()), |look| look.full())?;
                child.resume();
            }
            Event::Tick => {
                if let (Some(observer), Some(look)) = (&observer, &mut look) {
                    let known = Sample { phase: Phase::Rounds, limit: look.limit, ..Sample::default() };
                    let sample = observer.sample(child.pid(), known);
                    bench.progress.sample(&sample);
                    look.samples.push(sample);
                }
                let room = memory_headroom(bench.root)?;
                if begin.elapsed() > limit {
                    child.stop(Verdict::Thrashing(format!("it did not end within {} s", limit.as_secs())))?;
                } else if room < least {
                    let why = format!("only {room} of memory were left to take, less than {least}");
                    child.stop(Verdict::Thrashing(why))?;
                }
            }
            Event::Ended(end) => break end,
        }
    };
    let finished = last.as_ref().map(|_| Verdict::Completed);
    Ok(match (end.verdict(finished, "its group was out of memory"), last) {
        (Verdict::Completed, Some(report)) => Ok(report),
        (verdict, _) => Err(verdict),
    })
}

/// The verdict of a run by that of one of its operations.
#[must_use]
pub fn named(op: Op, verdict: &Verdict) -> Verdict {
    let named = |why: &str| format!("{}: {why}", op.name());
    match verdict {
        Verdict::Thrashing(why) => Verdict::Thrashing(named(why)),
        Verdict::Killed(why) => Verdict::Killed(named(why)),
        Verdict::Failed(why) => Verdict::Failed(named(why)),
        Verdict::Completed | Verdict::Unfinished => verdict.clone(),
    }
}
