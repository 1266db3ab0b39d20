//! Starting the workload that works on files, waiting for what it says, and ending one that would not end.
//!
//! What it is not: a sandbox; the group, when there is one, is made by whoever calls.

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use ramline_evidence::{Phase, Sample};
use ramline_kernel::cgroup::Group;
use ramline_kernel::{memory_room, process, signals};
use ramline_units::Bytes;

use super::task::{Said, Task};
use super::work;
use crate::error::{LabError, Result};
use crate::experiment::Bench;
use crate::observe::{Observer, SAMPLE_EVERY};
use crate::protocol::Line;
use crate::{requirements, watch, workload};

/// How an operation ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// With its numbers.
    Done(Said),
    /// The kernel killed it; why.
    Killed(String),
    /// It took too long or too much; why.
    Ended(String),
    /// It could not be done; the error.
    Failed(String),
}

/// What happens while the workload goes on.
pub trait Watcher {
    /// Memory is full and the workload waits: the time to look.
    ///
    /// # Errors
    /// What is looked at cannot be read.
    fn full(&mut self, said: &Said) -> Result<()> {
        let _ = said;
        Ok(())
    }

    /// Whether samples are wanted, and the limit they show.
    fn sampled(&self) -> Option<Bytes> {
        None
    }

    /// Takes one sample.
    fn sample(&mut self, sample: Sample) {
        let _ = sample;
    }
}

/// Looks at nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Blind;

impl Watcher for Blind {}

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

/// Does `task` in a child, inside `group` if there is one, for at most `limit`.
///
/// # Errors
/// It cannot be started, or SIGINT or SIGTERM came.
pub fn perform(
    bench: &mut Bench<'_>,
    group: Option<&Group>,
    task: &Task,
    limit: Duration,
    watcher: &mut dyn Watcher,
) -> Result<Ended> {
    bench.progress.phase(task.op.name());
    let mut command = workload::command(work::KIND, task)?;
    let oom_before = oom_kills(group);
    let mut child = bench.run.spawn_into(group, &mut command)?;
    let lines = watch::listen(&mut child, Said::parse)?;
    let followed = follow(bench, group, &mut child, &lines, limit, watcher);
    if followed.is_err() {
        drop(child.kill());
        drop(process::wait_with_usage(&child));
    }
    let (status, said, ended_by) = followed?;
    Ok(judge(status, said, ended_by, oom_kills(group) > oom_before))
}

fn oom_kills(group: Option<&Group>) -> u64 {
    group.and_then(|group| group.stat().ok()?.oom_kills).unwrap_or_default()
}

type Followed = (ExitStatus, Option<Said>, Option<String>);

fn follow(
    bench: &mut Bench<'_>,
    group: Option<&Group>,
    child: &mut Child,
    lines: &Receiver<Said>,
    limit: Duration,
    watcher: &mut dyn Watcher,
) -> Result<Followed> {
    // Its pipe is closed, so this ends as soon as everything in it was read; on a busy machine that may take a while.
    const LAST_WORDS: Duration = Duration::from_secs(5);
    let begin = Instant::now();
    let mut input = child.stdin.take();
    let observer = watcher.sampled().map(|limit| (Observer::new(bench.root, group, false), limit));
    let least = requirements::margin(bench.root)?;
    let (mut last, mut ended_by) = (None, None);
    loop {
        match lines.recv_timeout(SAMPLE_EVERY) {
            Ok(said) if !said.done => {
                watcher.full(&said)?;
                // Gone already is seen below.
                drop(input.take().map(|mut input| input.write_all(b"go\n")));
            }
            Ok(said) => last = Some(said),
            // All is said; the process is ending.
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(Duration::from_millis(2)),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if signals::interrupted() {
            return Err(LabError::Interrupted);
        }
        if let Some((observer, limit)) = &observer {
            let line = Line { phase: Phase::Rounds, ..Line::default() };
            let sample = observer.sample(child.id(), &line, *limit, None);
            bench.progress.sample(&sample);
            watcher.sample(sample);
        }
        if ended_by.is_none() {
            let room = memory_room(bench.root)?;
            ended_by = if begin.elapsed() > limit {
                Some(format!("it did not end within {} s", limit.as_secs()))
            } else if room < least {
                Some(format!("only {room} of memory were left to take, less than {least}"))
            } else {
                None
            };
            if ended_by.is_some() {
                // Ended already is as good.
                drop(child.kill());
            }
        }
        if let Some((status, _)) = process::poll_with_usage(child)? {
            while let Ok(said) = lines.recv_timeout(LAST_WORDS) {
                last = Some(said);
            }
            return Ok((status, last.filter(|said| said.done), ended_by));
        }
    }
}

fn judge(status: ExitStatus, said: Option<Said>, ended_by: Option<String>, out_of_memory: bool) -> Ended {
    if let Some(why) = ended_by {
        return Ended::Ended(why);
    }
    match (said, status.signal()) {
        (Some(Said { error: Some(error), .. }), _) => Ended::Failed(error),
        (Some(said), _) if status.success() => Ended::Done(said),
        (_, Some(_)) if out_of_memory => Ended::Killed("the kernel: its group was out of memory".to_owned()),
        (_, Some(signal)) => Ended::Killed(format!("signal {signal} from outside")),
        _ => Ended::Failed(format!("it ended with {status} and said nothing")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_last_line_and_a_good_end_make_numbers() {
        let said = |error: Option<&str>| Some(Said { done: true, error: error.map(str::to_owned), ..Said::default() });
        let (good, bad) = (ExitStatus::from_raw(0), ExitStatus::from_raw(1 << 8));
        let killed = ExitStatus::from_raw(libc::SIGKILL);
        assert!(matches!(judge(good, said(None), None, false), Ended::Done(_)));
        assert_eq!(judge(bad, said(Some("no room")), None, false), Ended::Failed("no room".to_owned()));
        assert!(matches!(judge(killed, None, None, true), Ended::Killed(why) if why.contains("out of memory")));
        assert!(matches!(judge(killed, None, None, false), Ended::Killed(why) if why.contains("signal 9")));
        assert!(matches!(judge(good, None, None, false), Ended::Failed(_)));
        assert_eq!(judge(killed, None, Some("late".to_owned()), true), Ended::Ended("late".to_owned()));
    }
}
