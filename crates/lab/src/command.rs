//! Running a command that is not ours: started at a gate, timed from the word to go to its end, bounded in time, killed whole.
//!
//! This binary is started first, inside the sandbox, as a launcher: it says what it has used itself, waits for the word and then
//! becomes the command. So neither making the process nor writing the journal is in the time, and what the launcher used is
//! taken off again. What it is not: a jail. The command does what it does, as the user who started ramline.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use ramline_act::Run;
use ramline_evidence::{Better, Figure, Verdict};
use ramline_kernel::cgroup::Group;
use ramline_kernel::opened::Opened;
use ramline_kernel::process::Usage;
use ramline_kernel::{Root, process, signals, stdio};
use ramline_units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

use crate::error::{LabError, Result};
use crate::params::{Kind, Parameter};
use crate::workload;

/// The command of an experiment, as all of them take it.
pub const PARAMETER: Parameter = Parameter {
    name: "command",
    kind: Kind::Command,
    default: None,
    help: "The command, after --; it runs as the user who runs ramline, without input and with its output thrown away",
};
/// The kind of task of the launcher.
pub const KIND: &str = "launch";

/// What the launcher is to become.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
struct Launch {
    argv: Vec<String>,
}

/// What the launcher has used when it is at the gate: not the command's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct AtGate {
    user: Nanos,
    system: Nanos,
    major_faults: u64,
    read: Bytes,
}

/// The launcher, in the child: becomes the command, or ends with the status a shell gives to one that cannot be started.
#[must_use]
pub fn main(task: &str) -> ExitCode {
    match serde_json::from_str(task)
        .map_err(|error| LabError::Workload(error.to_string()))
        .and_then(|task| launch(&task))
    {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            stdio::tell(&format!("ramline: {error}"));
            ExitCode::from(127)
        }
    }
}

/// Returns only when the command could not be started.
fn launch(task: &Launch) -> Result<()> {
    let failed = |what: &str, error: std::io::Error| LabError::Workload(format!("{what}: {error}"));
    let (program, arguments) =
        task.argv.split_first().ok_or_else(|| LabError::Workload("no command was given".to_owned()))?;
    // When its group is out of memory it is the command that must go; children inherit it.
    drop(process::prefer_oom_kill(&Root::live(), 1000));
    let own = process::own_usage()?;
    let gate = AtGate { user: own.user, system: own.system, major_faults: own.majflt, read: own.read };
    let text = serde_json::to_string(&gate).map_err(|error| LabError::Workload(error.to_string()))?;
    let mut out = std::io::stdout().lock();
    out.write_all((text + "\n").as_bytes()).and_then(|()| out.flush()).map_err(|e| failed("nobody listens", e))?;
    let mut word = String::new();
    std::io::stdin().lock().read_line(&mut word).map_err(|error| failed("no word came", error))?;
    if word.trim() != "go" {
        return Err(LabError::Workload("the observer went away before the start".to_owned()));
    }
    let error = Command::new(program).args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).exec();
    Err(failed(program, error))
}

/// How the command is run.
pub struct Order<'a> {
    /// Program and arguments.
    pub argv: &'a [String],
    /// The group it runs in.
    pub group: Option<&'a Group>,
    /// The most time it gets.
    pub timeout: Duration,
    /// Who listens for the files it opens.
    pub watch: Option<&'a mut Opened>,
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// With this exit status.
    Exit(i32),
    /// By this signal.
    Signal(i32),
    /// It was still running when its time was over.
    TimedOut,
}

/// One run of the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// From the word to go to its end.
    pub wall: Nanos,
    /// Of it and of all children it waited for, without the launcher's share.
    pub usage: Usage,
    /// How it ended.
    pub ending: Ending,
    /// The last line it wrote to standard error, where somebody listened.
    pub said: Option<String>,
}

/// Runs it once.
///
/// # Errors
/// It cannot be started, or SIGINT or SIGTERM came: then all of it was killed.
pub fn run(root: &Root, order: Order<'_>, run: &mut Run) -> Result<Ran> {
    let Order { argv, group, timeout, mut watch } = order;
    let mut command = workload::command(KIND, &Launch { argv: argv.to_vec() })?;
    command.process_group(0);
    // A pipe that nobody empties would hold the command; a thread costs next to nothing, but only where it is wanted.
    if let Some(watch) = &watch {
        command.stderr(Stdio::piped());
        watch.watch(&mut command);
    }
    let mut child = run.spawn_into(group, &mut command)?;
    let said = child.stderr.take().map(listen);
    let gate = at_gate(&mut child)?;
    if let Some(watch) = &mut watch {
        watch.hold(root, child.id())?;
        watch.take_in(false)?;
    }
    let begin = process::monotonic();
    let late = Instant::now() + timeout;
    say_go(&mut child)?;
    let (status, usage, timed_out) = wait(&child, group, late, watch.as_deref_mut())?;
    let wall = process::monotonic().saturating_sub(begin);
    if let Some(watch) = &mut watch {
        watch.take_in(true)?;
    }
    if let Some(group) = group {
        // What it left running in the background would go on in the next run.
        group.kill_all()?;
    }
    run.check_interrupted()?;
    let ending = match (timed_out, status.signal()) {
        (true, _) => Ending::TimedOut,
        (false, Some(signal)) => Ending::Signal(signal),
        (false, None) => Ending::Exit(status.code().unwrap_or_default()),
    };
    let said = said.and_then(|said| said.recv_timeout(Duration::from_millis(200)).ok());
    Ok(Ran { wall, usage: less(usage, gate)?, ending, said })
}

fn at_gate(child: &mut Child) -> Result<AtGate> {
    const LONGEST: u64 = 1024;
    let failed = || LabError::Workload("the launcher did not come to its gate".to_owned());
    let mut text = String::new();
    let output = child.stdout.take().ok_or_else(failed)?;
    BufReader::new(output.take(LONGEST)).read_line(&mut text).map_err(|_| failed())?;
    serde_json::from_str(&text).map_err(|_| failed())
}

fn say_go(child: &mut Child) -> Result<()> {
    // Taken, so that it is closed: the command gets no input.
    let mut input = child.stdin.take().ok_or_else(|| LabError::Workload("it has no standard input".to_owned()))?;
    input.write_all(b"go\n").map_err(|error| LabError::Workload(error.to_string()))
}

fn wait(
    child: &Child,
    group: Option<&Group>,
    late: Instant,
    mut watch: Option<&mut Opened>,
) -> Result<(ExitStatus, Usage, bool)> {
    let slice = Duration::from_millis(if watch.is_some() { 5 } else { 100 });
    loop {
        let left = late.saturating_duration_since(Instant::now());
        // Rounded up: a wait of less than a millisecond would be none.
        let ended = process::wait_at_most(child, left.min(slice).max(Duration::from_millis(1)))?;
        if let Some((status, usage)) = ended {
            return Ok((status, usage, false));
        }
        if let Some(watch) = &mut watch {
            watch.take_in(true)?;
        }
        if left.is_zero() || signals::interrupted() {
            match group {
                Some(group) => group.kill_all()?,
                None => process::kill_led_by(child)?,
            }
            let (status, usage) = process::wait_with_usage(child)?;
            return if signals::interrupted() { Err(LabError::Interrupted) } else { Ok((status, usage, true)) };
        }
    }
}

fn less(usage: Usage, gate: AtGate) -> Result<Usage> {
    let AtGate { user, system, major_faults, read } = gate;
    Ok(usage.since(&Usage { user, system, majflt: major_faults, read, minflt: 0, written: Bytes::ZERO, ..usage })?)
}

/// Takes in all it says and keeps the last line that is not empty.
fn listen(mut pipe: impl Read + Send + 'static) -> Receiver<String> {
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
        // Nobody may be waiting any more.
        drop(sender.send(text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().to_owned()));
    });
    receiver
}

impl Ran {
    /// The verdict; `oom` says that the kernel killed for want of memory in its group.
    #[must_use]
    pub fn verdict(&self, oom: bool) -> Verdict {
        match self.ending {
            _ if oom => Verdict::Killed("the kernel: the group was out of memory".to_owned()),
            Ending::TimedOut => Verdict::Thrashing(format!("it did not end within {}", self.wall)),
            Ending::Exit(0) => Verdict::Completed,
            Ending::Exit(127 | 126) => Verdict::Failed("it could not be started".to_owned()),
            Ending::Exit(code) => Verdict::Failed(format!("it ended with exit status {code}")),
            Ending::Signal(signal) => Verdict::Killed(format!("signal {signal}")),
        }
    }

    /// The numbers every experiment with a command shows.
    #[must_use]
    pub fn figures(&self) -> Vec<Figure> {
        figures(self.wall, &self.usage)
    }

    /// Refuses to go on with a command that fails by itself.
    ///
    /// # Errors
    /// It did not end with exit status 0.
    pub fn must_succeed(&self, argv: &[String]) -> Result<()> {
        let why = match self.verdict(false) {
            Verdict::Completed => return Ok(()),
            Verdict::Thrashing(why) | Verdict::Killed(why) | Verdict::Failed(why) => why,
            Verdict::Unfinished => "it did not end".to_owned(),
        };
        let said = self.said.as_ref().filter(|said| !said.is_empty());
        let said = said.map(|line| format!(": {}", line.escape_debug())).unwrap_or_default();
        Err(LabError::Refused {
            reasons: vec![format!("the command fails by itself, before anything is limited or evicted: {why}{said}")],
            hint: argv.join(" "),
            privilege: false,
        })
    }
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

    fn ran(ending: Ending) -> Ran {
        let usage = Usage {
            user: Nanos(9),
            system: Nanos(5),
            majflt: 3,
            minflt: 1,
            max_rss: Bytes(0),
            read: Bytes(7),
            written: Bytes(0),
        };
        Ran { wall: Nanos(1_000_000_000), usage, ending, said: Some("x\u{1b}".to_owned()) }
    }

    #[test]
    fn what_the_launcher_used_is_not_the_commands() {
        let gate = AtGate { user: Nanos(4), system: Nanos(5), major_faults: 1, read: Bytes(7) };
        let usage = less(ran(Ending::Exit(0)).usage, gate).unwrap();
        assert_eq!((usage.user, usage.system, usage.majflt, usage.read), (Nanos(5), Nanos(0), 2, Bytes(0)));
    }

    #[test]
    fn a_command_that_fails_by_itself_is_refused_with_its_last_words_escaped() {
        let argv = ["false".to_owned(), "-v".to_owned()];
        assert!(ran(Ending::Exit(0)).must_succeed(&argv).is_ok());
        let text = ran(Ending::Exit(3)).must_succeed(&argv).unwrap_err().to_string();
        assert!(text.contains("exit status 3: x\\u{1b}") && text.ends_with("try: false -v"), "{text}");
    }

    #[test]
    fn a_kill_for_want_of_memory_counts_even_when_the_command_survived_its_child() {
        assert!(matches!(ran(Ending::Exit(0)).verdict(true), Verdict::Killed(why) if why.contains("out of memory")));
        assert!(matches!(ran(Ending::TimedOut).verdict(false), Verdict::Thrashing(_)));
        assert!(matches!(ran(Ending::Signal(11)).verdict(false), Verdict::Killed(why) if why == "signal 11"));
    }

    #[test]
    fn programs_are_found_as_the_shell_finds_them() {
        assert!(find("sh").is_some_and(|path| path.is_absolute()));
        assert_eq!((find("no-such-program"), find("/etc/passwd"), find("/nowhere/x")), (None, None, None));
    }
}
