//! One child from its start to its end: what it reports, the ticks at which it is looked at, and its end in every case.
//!
//! What is looked at, and when the child is to be stopped, is the caller's. A child that is no longer followed, whatever the
//! reason, is killed and waited for.

use std::io::Write;
use std::os::fd::OwnedFd;
use std::process::{Child, ChildStderr};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};

use ramline_kernel::signals;

use super::end::End;
use super::lines::{self, ChildLine, GO, LONGEST};
use crate::observe::SAMPLE_EVERY;
use crate::prelude::*;

/// The pipe of a child that has ended is closed, so this is over as soon as all in it was read; on a busy machine that may
/// take a while.
const LAST_LINES: Duration = Duration::from_secs(5);

/// What happened next.
#[derive(Debug)]
pub enum Event<T> {
    /// It reported.
    Report(T),
    /// It reported and stands still until [`Supervisor::resume`].
    Waiting(T),
    /// Time to look.
    Tick,
    /// It has ended, and all it reported was taken in.
    Ended(End),
}

/// What is killed with a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Only itself.
    Child,
    /// All in its group.
    Group,
    /// All in the process group it leads.
    Led,
}

/// A child that reports `T`. Dropping it kills and reaps the child.
#[derive(Debug)]
pub struct Supervisor<T> {
    child: Child,
    input: Option<File>,
    lines: Receiver<ChildLine<T>>,
    /// Its group, and how many were killed there for want of memory before it.
    group: Option<(Group, u64)>,
    reach: Reach,
    exit: Option<(ExitStatus, Usage, Nanos)>,
    failed: Option<String>,
    stopped: Option<Verdict>,
    every: Duration,
    due: Instant,
    /// When a tick comes out of turn.
    deadline: Option<Instant>,
    /// The last event was a tick.
    ticked: bool,
}

impl<T: DeserializeOwned + Send + 'static> Supervisor<T> {
    /// Starts a child inside `group`, through the journal.
    ///
    /// # Errors
    /// It cannot be started, or the group cannot be read.
    pub fn start(command: &mut Command, group: Option<&Group>, run: &mut Run) -> Result<Supervisor<T>> {
        let group = group.map(|group| Ok::<_, LabError>((group.clone(), oom_kills(group)?))).transpose()?;
        let child = run.spawn_into(group.as_ref().map(|(group, _)| group), command)?;
        let mut supervisor = Supervisor::from_child(child);
        supervisor.group = group;
        Ok(supervisor)
    }

    /// Starts this binary with a task inside `group`, and is to kill all in it.
    ///
    /// # Errors
    /// As [`Supervisor::start`].
    pub fn from_task(kind: &str, task: &impl Serialize, group: &Group, run: &mut Run) -> Result<Supervisor<T>> {
        Ok(Supervisor::start(&mut super::command(kind, task)?, Some(group), run)?.reaching(Reach::Group))
    }

    /// Follows a child that speaks through pipes and was started without a journal.
    #[must_use]
    pub fn from_child(mut child: Child) -> Supervisor<T> {
        let (sender, lines) = channel();
        if let Some(output) = child.stdout.take() {
            lines::pass_on("lines", output, LONGEST, sender, lines::parse);
        }
        let input = child.stdin.take().map(OwnedFd::from);
        Supervisor::new(child, input, lines)
    }
}

impl<T> Supervisor<T> {
    /// Follows a child whose lines are read elsewhere.
    #[must_use]
    pub fn new(child: Child, input: Option<OwnedFd>, lines: Receiver<ChildLine<T>>) -> Supervisor<T> {
        Supervisor {
            child,
            input: input.map(File::from),
            lines,
            group: None,
            reach: Reach::Child,
            exit: None,
            failed: None,
            stopped: None,
            every: SAMPLE_EVERY,
            due: Instant::now(),
            deadline: None,
            ticked: false,
        }
    }

    /// With another reach.
    #[must_use]
    pub fn reaching(mut self, reach: Reach) -> Supervisor<T> {
        self.reach = reach;
        self
    }

    /// With so much time between ticks; else [`SAMPLE_EVERY`].
    #[must_use]
    pub fn ticking(mut self, every: Duration) -> Supervisor<T> {
        self.every = every;
        self
    }

    /// Its pid.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Refuses to go on with one that is not where it was started.
    ///
    /// # Errors
    /// It is not in this group, or that cannot be read.
    pub fn must_be_in(&self, group: &Group) -> Result<()> {
        let inside = group.pids()?.contains(&self.pid());
        if inside { Ok(()) } else { Err(LabError::Workload("it is not inside its group".to_owned())) }
    }

    /// Its standard error, where that is a pipe.
    pub fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.child.stderr.take()
    }

    /// A tick comes at this time too.
    pub fn tick_at(&mut self, time: Instant) {
        self.deadline = Some(time);
    }

    /// The next event; a tick when one is due, also while reports come.
    ///
    /// # Errors
    /// SIGINT or SIGTERM came, or the child cannot be waited for.
    pub fn next_event(&mut self) -> Result<Event<T>> {
        loop {
            let now = Instant::now();
            let due = self.deadline.map_or(self.due, |at| at.min(self.due));
            // Not twice in a row: looking may take longer than the time between ticks.
            if now >= due && !self.ticked {
                (self.ticked, self.due) = (true, now + self.every);
                self.deadline = self.deadline.filter(|at| *at > now);
                return Ok(Event::Tick);
            }
            self.ticked = false;
            match self.next_event_by(due)? {
                Event::Tick => {}
                event => return Ok(event),
            }
        }
    }

    /// The next event, or a tick at `time`, or before.
    ///
    /// # Errors
    /// As [`Supervisor::next_event`].
    pub fn next_event_by(&mut self, time: Instant) -> Result<Event<T>> {
        if signals::interrupted() {
            return Err(LabError::Interrupted);
        }
        let wait = time.saturating_duration_since(Instant::now());
        if self.exit.is_none() {
            let ended = match self.lines.recv_timeout(wait) {
                Ok(line) => return Ok(self.take(line)),
                Err(RecvTimeoutError::Timeout) => process::poll_with_usage(&self.child)?,
                // All is said; the process is ending. Rounded up: a wait of less than a millisecond would be none.
                Err(RecvTimeoutError::Disconnected) => {
                    process::wait_at_most(&self.child, wait.max(Duration::from_millis(1)))?
                }
            };
            let Some((status, usage)) = ended else { return Ok(Event::Tick) };
            self.exit = Some((status, usage, process::monotonic()));
        }
        match self.lines.recv_timeout(LAST_LINES) {
            Ok(line) => Ok(self.take(line)),
            Err(_) => self.end().map(Event::Ended),
        }
    }

    fn take(&mut self, line: ChildLine<T>) -> Event<T> {
        match line {
            ChildLine::Report(report) => Event::Report(report),
            ChildLine::Waiting(report) => Event::Waiting(report),
            ChildLine::Failed(why) => {
                self.failed = Some(why);
                Event::Tick
            }
        }
    }

    fn end(&self) -> Result<End> {
        // A signal of the terminal reaches the child too: what it did then is no result.
        let Some((status, usage, at)) = self.exit.filter(|_| !signals::interrupted()) else {
            return Err(LabError::Interrupted);
        };
        let out_of_memory = match &self.group {
            Some((group, before)) => oom_kills(group)? > *before,
            None => false,
        };
        let (failed, stopped) = (self.failed.clone(), self.stopped.clone());
        Ok(End { status, usage, at, out_of_memory, failed, stopped, foreign: false })
    }

    /// Sends a line. That a child has ended, and does not listen any more, is seen from [`Supervisor::next_event`].
    pub fn send(&mut self, line: &impl Serialize) {
        if let Some(input) = &self.input {
            drop(lines::write(input, line));
        }
    }

    /// Lets one that waits go on.
    pub fn resume(&mut self) {
        if let Some(mut input) = self.input.as_ref() {
            drop(writeln!(input, "{GO}"));
        }
    }

    /// Kills it; the first verdict that makes us do so counts.
    ///
    /// # Errors
    /// Something of its group is still there after 2 s.
    pub fn stop(&mut self, verdict: Verdict) -> Result<()> {
        if self.stopped.is_some() {
            return Ok(());
        }
        self.stopped = Some(verdict);
        self.kill()
    }

    /// It was stopped.
    #[must_use]
    pub const fn is_stopped(&self) -> bool {
        self.stopped.is_some()
    }

    /// Kills it.
    ///
    /// # Errors
    /// Something of its group is still there after 2 s.
    pub fn kill(&mut self) -> Result<()> {
        if self.exit.is_some() {
            return Ok(());
        }
        match (self.reach, &self.group) {
            (Reach::Group, Some((group, _))) => group.kill_all()?,
            (Reach::Led, _) => process::kill_led_by(&self.child)?,
            // Ended already is as good.
            _ => drop(self.child.kill()),
        }
        Ok(())
    }

    /// Waits until it has ended.
    ///
    /// # Errors
    /// It cannot be waited for.
    pub fn wait(&mut self) -> Result<()> {
        if self.exit.is_none() {
            let (status, usage) = process::wait_with_usage(&self.child)?;
            self.exit = Some((status, usage, process::monotonic()));
        }
        Ok(())
    }
}

impl<T> Drop for Supervisor<T> {
    fn drop(&mut self) {
        if self.exit.is_none() {
            self.input = None;
            let _ = self.kill();
            // Itself in any case, or it would be waited for in vain.
            drop(self.child.kill());
            drop(process::wait_with_usage(&self.child));
        }
    }
}

fn oom_kills(group: &Group) -> Result<u64> {
    Ok(group.stat()?.oom_kills.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Stdio;

    /// A shell that speaks as a child of ours does.
    fn shell(script: &str) -> Supervisor<u32> {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped());
        Supervisor::from_child(process::spawn_tied(&mut command, None).unwrap())
    }

    fn end(child: &mut Supervisor<u32>) -> End {
        loop {
            if let Event::Ended(end) = child.next_event().unwrap() {
                return end;
            }
        }
    }

    #[test]
    fn all_reports_are_taken_in_before_the_end_and_what_is_none_is_passed_over() {
        let mut child =
            shell("echo '{\"Report\":1}'; echo hello; echo '{\"Report\":2}'; echo '{\"Failed\":\"no\"}'; exit 3");
        let mut reports = Vec::new();
        let end = loop {
            match child.next_event().unwrap() {
                Event::Report(report) => reports.push(report),
                Event::Ended(end) => break end,
                _ => {}
            }
        };
        assert_eq!((reports, end.status.code(), end.failed.as_deref()), (vec![1, 2], Some(3), Some("no")));
    }

    #[test]
    fn a_child_that_waits_goes_on_when_it_is_resumed() {
        let mut child = shell("echo '{\"Waiting\":7}'; read word; [ $word = go ]");
        loop {
            match child.next_event().unwrap() {
                Event::Waiting(report) => break assert_eq!(report, 7),
                Event::Ended(end) => panic!("{end:?}"),
                _ => {}
            }
        }
        child.resume();
        assert!(end(&mut child).status.success());
    }

    #[test]
    fn ticks_come_while_reports_come_and_reports_while_looking_takes_long() {
        let mut child = shell("while echo '{\"Report\":1}'; do :; done").ticking(Duration::from_millis(1));
        let (mut ticks, mut reports) = (0, 0);
        while ticks < 5 || reports < 5 {
            match child.next_event().unwrap() {
                Event::Tick => {
                    ticks += 1;
                    std::thread::sleep(Duration::from_millis(2));
                }
                _ => reports += 1,
            }
        }
    }

    #[test]
    fn the_first_verdict_by_which_it_was_stopped_counts() {
        let mut child = shell("exec sleep 60");
        child.stop(Verdict::Thrashing("late".to_owned())).unwrap();
        child.stop(Verdict::Failed("later".to_owned())).unwrap();
        assert_eq!(end(&mut child).verdict(None, ""), Verdict::Thrashing("late".to_owned()));
    }

    #[test]
    fn a_child_that_is_no_longer_followed_is_killed_and_reaped() {
        let child = shell("exec sleep 60");
        let (root, pid) = (ramline_kernel::Root::live(), child.pid());
        assert!(process::stat(&root, pid).is_ok());
        drop(child);
        assert!(process::stat(&root, pid).is_err());
    }
}
