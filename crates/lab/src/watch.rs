//! Watching one workload from its start to its end: its lines, a sample every 100 ms, the watchdog, the verdict.
//!
//! What it is not: patient. Whatever happens, it comes to an end: by the workload's own clock, by the watchdog, or by
//! SIGINT or SIGTERM.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use ramline_act::Run;
use ramline_evidence::{Phase, RoundTime, RunRecord, Verdict};
use ramline_kernel::process::Usage;
use ramline_kernel::{Root, process, signals};
use ramline_units::Nanos;

use crate::error::{LabError, Result};
use crate::observe::{self, Observer, SAMPLE_EVERY};
use crate::preflight;
use crate::progress::Progress;
use crate::protocol::{LONGEST, Line, Task};
use crate::sandbox::Sandbox;
use crate::watchdog::{Limits, Watchdog};
use crate::workload;

/// How long the workload's last words may be on their way once it has ended.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// One workload and those who look at it.
pub struct Watch<'a> {
    root: &'a Root,
    sandbox: &'a Sandbox,
    record: &'a mut RunRecord,
    child: Child,
    lines: Receiver<Line>,
    observer: Observer<'a>,
    dog: Watchdog,
    last: Line,
    rounds_began: Option<Nanos>,
    ended_by: Option<String>,
}

impl<'a> Watch<'a> {
    /// Starts the workload inside the sandbox; it waits there for the word to go.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(
        root: &'a Root,
        sandbox: &'a Sandbox,
        task: &Task,
        run: &mut Run,
        record: &'a mut RunRecord,
    ) -> Result<Watch<'a>> {
        let task = serde_json::to_string(task).map_err(|error| LabError::Workload(error.to_string()))?;
        let mut command = Command::new(process::own_exe()?);
        command.arg(workload::ARGUMENT).arg(task).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = run.spawn_into(Some(&sandbox.group), &mut command)?;
        let dog = Watchdog::new(Limits {
            // The workload ends its rounds itself; this is for one that cannot.
            rounds: Nanos(record.workload.timeout.0.saturating_add(5_000_000_000)),
            available: preflight::margin(record.machine.mem_total),
            ..Limits::default()
        });
        Ok(Watch {
            root,
            sandbox,
            lines: listen(&mut child)?,
            child,
            observer: Observer::new(root, &sandbox.group, record.workload.shared),
            dog,
            record,
            last: Line::default(),
            rounds_began: None,
            ended_by: None,
        })
    }

    /// Looks until the workload has ended and fills the record with what was seen.
    ///
    /// # Errors
    /// SIGINT or SIGTERM came, or the group's files cannot be read.
    pub fn follow(mut self, progress: &mut dyn Progress) -> Result<()> {
        let mut next = Instant::now();
        loop {
            match self.lines.recv_timeout(next.saturating_duration_since(Instant::now())) {
                Ok(line) => self.hear(line)?,
                // All is said; the process is ending.
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(Duration::from_millis(2)),
                Err(RecvTimeoutError::Timeout) => {
                    next = Instant::now() + SAMPLE_EVERY;
                    self.sample(progress)?;
                }
            }
            if signals::interrupted() {
                self.stop_keeper();
                self.sandbox.group.kill_all()?;
                drop(process::wait_with_usage(&self.child));
                return Err(LabError::Interrupted);
            }
            if let Some((status, usage)) = process::poll_with_usage(&self.child)? {
                while let Ok(line) = self.lines.recv_timeout(LAST_WORDS) {
                    self.hear(line)?;
                }
                return self.conclude(status, usage);
            }
        }
    }

    fn sample(&mut self, progress: &mut dyn Progress) -> Result<()> {
        let (limit, pool) = match &self.sandbox.keeper {
            None => (self.record.workload.limit, None),
            Some(keeper) => {
                let (limit, pool) = keeper.now();
                (limit, Some(pool))
            }
        };
        if self.record.workload.fresh_statistics {
            // Reading memory.stat is what brings them up to date.
            self.sandbox.group.stat()?;
        }
        let sample = self.observer.sample(self.child.id(), &self.last, limit, pool);
        progress.sample(&sample);
        let reason = self.dog.look(&sample);
        self.record.samples.push(sample);
        if reason.is_some() && self.ended_by.is_none() && self.last.phase != Phase::Done {
            self.ended_by = reason;
            self.stop_keeper();
            self.sandbox.group.kill_all()?;
        }
        Ok(())
    }

    /// Takes in one line of the workload.
    fn hear(&mut self, line: Line) -> Result<()> {
        match (line.phase, line.took) {
            (Phase::Start, _) => {
                if !self.sandbox.group.pids()?.contains(&self.child.id()) {
                    return Err(LabError::Workload("it is not inside its group".to_owned()));
                }
                let harness = self.sandbox.group.stat()?.current.unwrap_or_default();
                self.record.verified.insert("harness in the group before the start".to_owned(), harness.to_string());
                say(&mut self.child, "go\n")?;
            }
            (Phase::Fill, Some(took)) => {
                self.record.fill = took;
                self.rounds_began = Some(line.now);
            }
            (Phase::Rounds, Some(took)) => self.record.rounds.push(RoundTime { took, checksum: line.checksum }),
            (Phase::Done, Some(took)) => {
                self.record.elapsed = took;
                // While its memory is still there; then it may go.
                self.stop_keeper();
                self.record.after = observe::counters(self.root, &self.sandbox.group.stat()?);
                say(&mut self.child, "end\n")?;
            }
            _ => {}
        }
        self.last = line;
        Ok(())
    }

    fn stop_keeper(&self) {
        if let Some(keeper) = &self.sandbox.keeper {
            keeper.stop();
        }
    }

    fn conclude(self, status: ExitStatus, usage: Usage) -> Result<()> {
        let Watch { record, last, sandbox, .. } = self;
        (record.user, record.system) = (usage.user, usage.system);
        record.reclaim.major_faults = usage.majflt;
        if last.phase != Phase::Done {
            // Cut short: the last line tells how far it came.
            record.elapsed = Nanos(self.rounds_began.map_or(0, |began| last.now.0.saturating_sub(began.0)));
        }
        if last.timed_out || last.phase == Phase::Rounds {
            record.fraction = last.fraction;
        }
        if let Some(share) = last.ballast_resident {
            record.notes.push(format!("bystanders: {:.0} % of the ballast was pushed out", (1.0 - share) * 100.0));
        }
        let out_of_memory = sandbox.group.stat()?.oom_kills.unwrap_or(0) > sandbox.base.oom_kills.unwrap_or(0);
        record.verdict = verdict(status, out_of_memory, &last, self.ended_by, record.workload.timeout);
        Ok(())
    }
}

fn verdict(status: ExitStatus, out_of_memory: bool, last: &Line, ended_by: Option<String>, timeout: Nanos) -> Verdict {
    if let Some(error) = &last.error {
        return Verdict::Failed(error.clone());
    }
    if let Some(reason) = ended_by {
        return Verdict::Thrashing(reason);
    }
    match (status.success(), status.signal()) {
        (true, _) if last.timed_out => Verdict::Thrashing(format!("{:.0} s passed", timeout.as_secs_f64())),
        (true, _) if last.phase == Phase::Done => Verdict::Completed,
        (_, Some(_)) if out_of_memory => {
            Verdict::Killed(format!("the kernel: the group was out of memory while in phase {:?}", last.phase))
        }
        (_, Some(signal)) => Verdict::Killed(format!("signal {signal} from outside")),
        (_, None) => Verdict::Failed(format!("it ended with {status} and said nothing")),
    }
}

fn say(child: &mut Child, word: &str) -> Result<()> {
    let input = child.stdin.as_mut().ok_or_else(|| LabError::Workload("it has no standard input".to_owned()))?;
    input.write_all(word.as_bytes()).map_err(|error| LabError::Workload(error.to_string()))
}

/// A thread that reads bounded lines until the pipe is closed.
fn listen(child: &mut Child) -> Result<Receiver<Line>> {
    let output = child.stdout.take().ok_or_else(|| LabError::Workload("it has no standard output".to_owned()))?;
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut reader = BufReader::new(output);
        while let Some(text) = bounded(&mut reader) {
            let Some(line) = Line::parse(&text) else { continue };
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    Ok(receiver)
}

fn bounded(reader: &mut BufReader<ChildStdout>) -> Option<String> {
    let limit = u64::try_from(LONGEST).unwrap_or(u64::MAX) + 1;
    let mut bytes = Vec::new();
    reader.by_ref().take(limit).read_until(b'\n', &mut bytes).ok().filter(|read| *read > 0)?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_the_kernels_only_when_the_group_was_out_of_memory() {
        let killed = ExitStatus::from_raw(libc::SIGKILL);
        let filling = Line { phase: Phase::Fill, ..Line::default() };
        let judge = |oom| verdict(killed, oom, &filling, None, Nanos(0));
        assert!(matches!(judge(true), Verdict::Killed(why) if why.contains("out of memory while in phase Fill")));
        assert!(matches!(judge(false), Verdict::Killed(why) if why.contains("signal 9 from outside")));
        let barked = verdict(killed, false, &filling, Some("too long".to_owned()), Nanos(0));
        assert_eq!(barked, Verdict::Thrashing("too long".to_owned()));
    }

    #[test]
    fn an_end_without_a_last_line_is_no_success() {
        let done = Line { phase: Phase::Done, ..Line::default() };
        let of = |line: &Line| verdict(ExitStatus::from_raw(0), false, line, None, Nanos(20_000_000_000));
        assert_eq!(of(&done), Verdict::Completed);
        assert_eq!(of(&Line { timed_out: true, ..done.clone() }), Verdict::Thrashing("20 s passed".to_owned()));
        assert!(matches!(of(&Line { phase: Phase::Rounds, ..Line::default() }), Verdict::Failed(_)));
        assert_eq!(of(&Line { error: Some("no".to_owned()), ..done }), Verdict::Failed("no".to_owned()));
    }
}
