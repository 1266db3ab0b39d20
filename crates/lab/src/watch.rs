//! Watching one workload from its start to its end: its lines, a sample every 100 ms, the watchdog, the verdict.
//!
//! What it is not: patient. Whatever happens, it comes to an end: by the workload's own clock, by the watchdog, or by
//! SIGINT or SIGTERM.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdout, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use ramline_act::Run;
use ramline_evidence::{Phase, RoundTime, RunRecord, Sample, Verdict};
use ramline_kernel::process::Usage;
use ramline_kernel::{Root, memory_room, process, signals};
use ramline_units::{Bytes, Nanos};

use crate::error::{LabError, Result};
use crate::observe::{self, Observer, SAMPLE_EVERY};
use crate::pool::PoolKeeper;
use crate::progress::Progress;
use crate::protocol::{LONGEST, Line, Task};
use crate::requirements::margin_of;
use crate::sandbox::Sandbox;
use crate::watchdog::{Limits, Watchdog};
use crate::workload;

/// How long the workload's last words may be on their way once it has ended.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// How often the kernel brings the statistics of groups up to date by itself.
const STATISTICS_EVERY: Nanos = Nanos(2_000_000_000);

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
    room: Option<(Bytes, Nanos)>,
    ended_by: Option<Verdict>,
}

impl<'a> Watch<'a> {
    /// Starts the workload inside the sandbox; it waits there for the word to go. All must be over by `deadline`.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(
        root: &'a Root,
        sandbox: &'a Sandbox,
        task: &Task,
        deadline: Option<Instant>,
        run: &mut Run,
        record: &'a mut RunRecord,
    ) -> Result<Watch<'a>> {
        let mut child = run.spawn_into(Some(&sandbox.group), &mut workload::command(workload::KIND, task)?)?;
        let dog = Watchdog::new(limits(record, deadline.map(|end| end.saturating_duration_since(Instant::now()))));
        Ok(Watch {
            root,
            sandbox,
            lines: listen(&mut child, Line::parse)?,
            child,
            observer: Observer::new(root, Some(&sandbox.group), record.workload.shared),
            dog,
            record,
            last: Line::default(),
            rounds_began: None,
            room: None,
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
                self.kill()?;
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

    /// The limit in force, and the pool where there is one.
    fn limit(&self) -> (Bytes, Option<Bytes>) {
        match &self.sandbox.keeper {
            None => (self.record.workload.limit, None),
            Some(keeper) => {
                let (limit, pool) = keeper.now();
                (limit, Some(pool))
            }
        }
    }

    fn sample(&mut self, progress: &mut dyn Progress) -> Result<()> {
        let (limit, pool) = self.limit();
        if self.record.workload.fresh_statistics {
            // Reading memory.stat is what brings them up to date.
            self.sandbox.group.stat()?;
        }
        let sample = self.observer.sample(self.child.id(), &self.last, limit, pool);
        progress.sample(&sample);
        let room = self.room(&sample)?;
        let lost = self.sandbox.keeper.as_ref().is_some_and(PoolKeeper::lost);
        let end = if lost {
            Some(Verdict::Failed("the zram pool could not be read any more".to_owned()))
        } else {
            let done = sample.phase == Phase::Done;
            self.dog.look(&sample, room).map(|why| if done { Verdict::Failed(why) } else { Verdict::Thrashing(why) })
        };
        self.record.samples.push(sample);
        if end.is_some() && self.ended_by.is_none() {
            self.ended_by = end;
            self.kill()?;
        }
        Ok(())
    }

    /// What can still be taken. The limits above us are looked at with every sample, or, since looking brings the group's
    /// statistics up to date, only as often as the kernel does that by itself.
    fn room(&mut self, sample: &Sample) -> Result<Bytes> {
        let old = |(_, at): (Bytes, Nanos)| sample.at.0.saturating_sub(at.0) >= STATISTICS_EVERY.0;
        if self.record.workload.fresh_statistics || self.room.is_none_or(old) {
            self.room = Some((memory_room(self.root)?, sample.at));
        }
        Ok(self.room.map_or(sample.host.available, |(room, _)| room.min(sample.host.available)))
    }

    /// Ends the workload. The keeper is told first and waited for last: it may be lowering the limit of a group that cannot
    /// be brought below it while it lives.
    fn kill(&self) -> Result<()> {
        let keeper = self.sandbox.keeper.as_ref();
        keeper.inspect(|keeper| keeper.ask_to_stop());
        self.sandbox.group.kill_all()?;
        // One that stays stuck all the same is joined when the run is taken down.
        keeper.map(PoolKeeper::stop);
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
                // The last point of every curve is where the run ended, while the memory of the workload is still there.
                let (limit, pool) = self.limit();
                self.record.samples.push(self.observer.sample(self.child.id(), &line, limit, pool));
                // While its memory is still there; then it may go.
                if self.sandbox.keeper.as_ref().is_none_or(PoolKeeper::stop) {
                    self.record.after = observe::counters(self.root, &self.sandbox.group.stat()?);
                    say(&mut self.child, "end\n")?;
                } else {
                    self.ended_by = Some(Verdict::Failed("the limit could not be brought to rest".to_owned()));
                    self.kill()?;
                }
            }
            _ => {}
        }
        self.last = line;
        Ok(())
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

/// From what was asked for, and the time that is left. A fill is memory writes that nearly fit: three times the time of
/// the rounds is far more than it needs.
fn limits(record: &RunRecord, left: Option<Duration>) -> Limits {
    const SLACK: u64 = 5_000_000_000;
    let timeout = record.workload.timeout.0;
    let whole = left.map_or(u64::MAX, |left| u64::try_from(left.as_nanos()).unwrap_or(u64::MAX));
    Limits {
        fill: Nanos(timeout.saturating_mul(3).min(whole.saturating_sub(timeout)).max(SLACK)),
        // The workload ends its rounds itself; this is for one that cannot.
        rounds: Nanos(timeout.saturating_add(SLACK)),
        whole: Nanos(whole),
        room: margin_of(record.machine.mem_total),
        ..Limits::default()
    }
}

fn verdict(status: ExitStatus, out_of_memory: bool, last: &Line, ended_by: Option<Verdict>, timeout: Nanos) -> Verdict {
    if let Some(error) = &last.error {
        return Verdict::Failed(error.clone());
    }
    if let Some(verdict) = ended_by {
        return verdict;
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
pub fn listen<T: Send + 'static>(child: &mut Child, parse: fn(&str) -> Option<T>) -> Result<Receiver<T>> {
    let output = child.stdout.take().ok_or_else(|| LabError::Workload("it has no standard output".to_owned()))?;
    let (sender, receiver) = channel();
    ramline_kernel::worker::spawn("progress", move || {
        let mut reader = BufReader::new(output);
        while let Some(text) = bounded(&mut reader) {
            let Some(line) = parse(&text) else { continue };
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
        let barked = verdict(killed, false, &filling, Some(Verdict::Thrashing("too long".to_owned())), Nanos(0));
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

    #[test]
    fn the_fill_ends_in_time_for_the_rounds() {
        let mut record = RunRecord::default();
        record.workload.timeout = Nanos(6_000_000_000);
        let fill = |seconds: Option<u64>| limits(&record, seconds.map(Duration::from_secs)).fill.0 / 1_000_000_000;
        assert_eq!([fill(None), fill(Some(60)), fill(Some(15)), fill(Some(2))], [18, 18, 9, 5]);
        assert_eq!(limits(&record, Some(Duration::from_secs(15))).whole, Nanos(15_000_000_000));
    }
}
