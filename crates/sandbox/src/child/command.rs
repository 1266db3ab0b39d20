//! Running a command that is not ours: started at a gate, timed from there to its end, bounded in time, killed whole.
//!
//! This binary is started first, inside the sandbox, as a launcher: it reports what it has used itself, waits, and then becomes
//! the command. So neither making the process nor writing the journal is in the time, and what the launcher used is taken off
//! again. What it is not: a jail. The command does what it does, as the user who started ramline.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::sync::mpsc::{Receiver, channel};

use ramline_evidence::{Better, Figure};
use ramline_kernel::opened::Opened;

use super::{End, Event, Reach, Supervisor};
use crate::prelude::*;

/// The launcher's kind of child; its task is the command.
pub const KIND: &str = "launch";

/// What the launcher has used when it is at the gate: not the command's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct AtGate {
    user: Nanos,
    system: Nanos,
    major_faults: u64,
    read: Bytes,
}

/// The launcher, in the child: becomes the command.
///
/// # Errors
/// The command could not be started.
pub fn main(task: Value) -> Result<()> {
    let argv: Vec<String> = super::task(task)?;
    let (program, arguments) =
        argv.split_first().ok_or_else(|| LabError::Workload("no command was given".to_owned()))?;
    let own = process::own_usage()?;
    super::report_and_wait(&AtGate { user: own.user, system: own.system, major_faults: own.majflt, read: own.read })?;
    let error = Command::new(program).args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).exec();
    Err(LabError::Workload(format!("{program}: {error}")))
}

/// What looks at a run from beside it.
pub trait Look {
    /// The command is about to start.
    fn begin(&mut self, _root: &Root) {}

    /// It runs, with these processes in its group; a verdict ends it.
    ///
    /// # Errors
    /// What prevents the run.
    fn look(&mut self, root: &Root, members: &[u32]) -> Result<Option<Verdict>>;

    /// It has ended.
    fn end(&mut self, _root: &Root) {}
}

impl Look for super::outside::Outside {
    fn begin(&mut self, root: &Root) {
        Self::begin(self, root);
    }

    fn look(&mut self, root: &Root, members: &[u32]) -> Result<Option<Verdict>> {
        Self::look(self, root, members);
        Ok(None)
    }

    fn end(&mut self, root: &Root) {
        Self::end(self, root);
    }
}

/// How the command is run.
#[derive(Clone, Copy)]
pub struct CommandRun<'a> {
    /// Program and arguments.
    pub argv: &'a [String],
    /// The group it runs in.
    pub group: Option<&'a Group>,
    /// The most time it gets.
    pub timeout: Duration,
    /// What else looks at it, every 100 ms, or more often where the files it opens are watched.
    pub look: Option<&'a RefCell<dyn Look>>,
}

/// One run of the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// From the gate to its end.
    pub wall: Nanos,
    /// Of it and of all children it waited for, without the launcher's share.
    pub usage: Usage,
    /// How it ended.
    pub end: End,
    /// The last line it wrote to standard error.
    pub said: Option<String>,
}

/// Runs it once; `watch` listens for the files it opens.
///
/// # Errors
/// It cannot be started, or SIGINT or SIGTERM came: then all of it was killed.
pub fn run(root: &Root, order: CommandRun<'_>, mut watch: Option<&mut Opened>, run: &mut Run) -> Result<Ran> {
    let CommandRun { argv, group, timeout, look } = order;
    let mut command = super::command(KIND, &argv)?;
    command.process_group(0);
    // A pipe that is not emptied would hold the command, so a thread does that; it sleeps until something is said.
    command.stderr(Stdio::piped());
    if let Some(watch) = &watch {
        watch.watch(&mut command);
    }
    let (reach, every) =
        (if group.is_some() { Reach::Group } else { Reach::Led }, if watch.is_some() { 5 } else { 100 });
    let mut child = Supervisor::start(&mut command, group, run)?.reaching(reach).ticking(Duration::from_millis(every));
    let said = child.take_stderr().map(last_line);
    let mut begun: Option<(AtGate, Nanos, Instant)> = None;
    let end = loop {
        match (child.next_event()?, begun) {
            (Event::Waiting(gate), _) => {
                if let Some(watch) = &mut watch {
                    watch.hold(root, child.pid())?;
                    watch.take_in(false)?;
                }
                if let Some(look) = look {
                    look.borrow_mut().begin(root);
                }
                let late = Instant::now() + timeout;
                begun = Some((gate, process::monotonic(), late));
                child.tick_at(late);
                child.resume();
            }
            (Event::Tick, Some((_, begin, late))) => {
                if let Some(watch) = &mut watch {
                    watch.take_in(true)?;
                }
                if let (Some(look), Some(group)) = (look, group)
                    && let Some(verdict) = look.borrow_mut().look(root, &group.pids()?)?
                {
                    child.stop(verdict)?;
                }
                if Instant::now() >= late {
                    let passed = process::monotonic().saturating_sub(begin);
                    child.stop(Verdict::Thrashing(format!("it did not end within {passed}")))?;
                }
            }
            (Event::Tick | Event::Report(_), _) => {}
            (Event::Ended(end), _) => break End { foreign: true, ..end },
        }
    };
    let Some((gate, begin, _)) = begun else {
        return Err(LabError::Workload("the launcher did not come to its gate".to_owned()));
    };
    if let Some(watch) = &mut watch {
        watch.take_in(true)?;
    }
    if let Some(look) = look {
        look.borrow_mut().end(root);
    }
    if let Some(group) = group {
        // What it left running in the background would go on in the next run.
        group.kill_all()?;
    }
    let said = said.and_then(|said| said.recv_timeout(Duration::from_millis(200)).ok());
    Ok(Ran { wall: end.at.saturating_sub(begin), usage: less(end.usage, gate)?, end, said })
}

fn less(usage: Usage, gate: AtGate) -> Result<Usage> {
    let AtGate { user, system, major_faults, read } = gate;
    Ok(usage.since(&Usage { user, system, majflt: major_faults, read, minflt: 0, written: Bytes::ZERO, ..usage })?)
}

/// Takes in all it says and keeps the last line that is not empty.
fn last_line(mut pipe: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    ramline_kernel::worker::spawn("output", move || {
        let (mut tail, mut piece) = (Vec::new(), [0; 4096]);
        while let Ok(got) = pipe.read(&mut piece) {
            if got == 0 {
                break;
            }
            tail.extend_from_slice(&piece[..got]);
            tail.drain(..tail.len().saturating_sub(4096));
        }
        let text = String::from_utf8_lossy(&tail).into_owned();
        // The run may be over.
        drop(sender.send(text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().to_owned()));
    });
    receiver
}

impl Ran {
    /// The verdict.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let memory = "the group was out of memory";
        if self.end.out_of_memory {
            // Also where the command survived its child that was killed.
            return Verdict::Killed(format!("the kernel: {memory}"));
        }
        match (self.end.status.code(), &self.end.stopped) {
            (Some(126 | 127), None) => Verdict::Failed("it could not be started".to_owned()),
            (Some(code), None) if code != 0 => Verdict::Failed(format!("it ended with exit status {code}")),
            _ => self.end.verdict(Some(Verdict::Completed), memory),
        }
    }

    /// What it used and how long it took, for the record.
    pub fn note(&self, record: &mut RunRecord) {
        note(self.wall, &self.usage, record);
    }

    /// The numbers every experiment with a command shows.
    #[must_use]
    pub fn figures(&self) -> Vec<Figure> {
        figures(self.wall, &self.usage)
    }

    /// What it said last, after a colon; nothing where it said nothing.
    #[must_use]
    pub fn last_words(&self) -> String {
        let said = self.said.as_ref().filter(|said| !said.is_empty());
        said.map(|line| format!(": {}", line.escape_debug())).unwrap_or_default()
    }

    /// Refuses to go on with a command that fails by itself.
    ///
    /// # Errors
    /// It did not end with exit status 0.
    pub fn must_succeed(&self, argv: &[String]) -> Result<()> {
        let end = End { out_of_memory: false, ..self.end.clone() };
        let verdict = Ran { end, ..self.clone() }.verdict();
        let Some(why) = verdict.reason() else { return Ok(()) };
        let said = self.last_words();
        let text = format!("the command fails by itself, before anything is limited or evicted: {why}{said}");
        Err(LabError::ended("1 run of the command", vec![text], command_line(argv)))
    }
}

/// Time and usage, for the record of a run.
pub fn note(wall: Nanos, usage: &Usage, record: &mut RunRecord) {
    (record.user, record.system, record.elapsed) = (usage.user, usage.system, wall);
    (record.reclaim.major_faults, record.reclaim.read_bytes) = (usage.majflt, Some(usage.read));
}

/// Times and faults.
#[must_use]
pub fn figures(wall: Nanos, usage: &Usage) -> Vec<Figure> {
    vec![
        Figure::new("wall", wall.as_secs_f64(), "s", Better::Lower),
        Figure::new("user", usage.user.as_secs_f64(), "s", Better::Lower),
        Figure::new("system", usage.system.as_secs_f64(), "s", Better::Lower),
        Figure::new("major faults", usage.majflt as f64, "faults", Better::Lower),
        Figure::new("read from disks", usage.read.as_f64(), "bytes", Better::Lower),
    ]
}

/// Where the program of a command is, as execvp(3) would find it.
#[must_use]
pub fn find(program: &str) -> Option<PathBuf> {
    let is_program = |path: &Path| {
        std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(|path| is_program(path));
    }
    let path = std::env::var_os("PATH");
    let path = path.as_deref().unwrap_or(OsStr::new("/usr/bin:/bin"));
    std::env::split_paths(path).map(|dir| dir.join(program)).find(|path| is_program(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    /// A run with this status as wait(2) gives it.
    fn ran(status: i32) -> Ran {
        let usage =
            Usage { user: Nanos(9), system: Nanos(5), majflt: 3, minflt: 1, read: Bytes(7), ..Usage::default() };
        let end = End { status: ExitStatus::from_raw(status), foreign: true, ..End::default() };
        Ran { wall: Nanos(1_000_000_000), usage, end, said: Some("x\u{1b}".to_owned()) }
    }

    #[test]
    fn what_the_launcher_used_is_not_the_commands() {
        let gate = AtGate { user: Nanos(4), system: Nanos(5), major_faults: 1, read: Bytes(7) };
        let usage = less(ran(0).usage, gate).unwrap();
        assert_eq!((usage.user, usage.system, usage.majflt, usage.read), (Nanos(5), Nanos(0), 2, Bytes(0)));
    }

    #[test]
    fn a_command_that_fails_by_itself_is_refused_with_its_last_words_escaped() {
        let argv = ["false".to_owned(), "-v".to_owned()];
        assert!(ran(0).must_succeed(&argv).is_ok());
        let text = ran(3 << 8).must_succeed(&argv).unwrap_err().to_string();
        assert!(text.contains("exit status 3: x\\u{1b}") && text.ends_with("try: false -v"), "{text}");
    }

    #[test]
    fn a_kill_for_want_of_memory_counts_even_when_the_command_survived_its_child() {
        let mut survived = ran(0);
        survived.end.out_of_memory = true;
        assert!(matches!(survived.verdict(), Verdict::Killed(why) if why.contains("out of memory")));
        let mut late = ran(libc::SIGKILL);
        late.end.stopped = Some(Verdict::Thrashing("late".to_owned()));
        assert!(matches!(late.verdict(), Verdict::Thrashing(_)));
        assert!(matches!(ran(11).verdict(), Verdict::Killed(why) if why == "signal 11"));
        assert!(matches!(ran(127 << 8).verdict(), Verdict::Failed(why) if why == "it could not be started"));
    }

    #[test]
    fn programs_are_found_as_the_shell_finds_them() {
        assert!(find("sh").is_some_and(|path| path.is_absolute()));
        assert_eq!((find("no-such-program"), find("/etc/passwd"), find("/nowhere/x")), (None, None, None));
    }
}
