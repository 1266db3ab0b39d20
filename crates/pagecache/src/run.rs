//! `cache run`: a command whose reading cannot push out what others have in the page cache.
//!
//! It runs in a memory control group of its own, made through the journal of `act`. What it reads is charged there, and at the limit
//! the kernel takes back what this command read first. Its own memory counts too, so the limit follows that: it is always so much
//! above ([`allowance`]), unless a limit was chosen, which stays. After its end the pages it brought in, and no others, are given
//! back. Pages that were in the page cache before belong to whoever read them first and stay where they are.
//! Without the right to make a group the user's systemd is asked for one; what is left in it afterwards cannot be counted.
//!
//! It limits neither what the command may read or write nor what it may do.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};

use ramline_act::{ActError, Run, RunLock};
use ramline_gather::headroom::memory_headroom;
use ramline_kernel::cgroup::{Group, Hierarchy, Version};
use ramline_kernel::process::Usage;
use ramline_kernel::program::{self, Program};
use ramline_snapshot::cache::{Apart, Ran};
use ramline_units::Limit;
use rustix::process::{Pid, Signal, kill_process};

use crate::prelude::*;

/// How it is run.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunOptions {
    /// Limit on its memory, page cache included; it follows the command's own memory when left out.
    pub limit: Option<Bytes>,
    /// Leave what it read in the page cache.
    pub keep: bool,
    /// Fault injection for tests: die after so many records of the journal.
    pub crash_after: Option<u64>,
}

/// Less is too little for a process, its buffers and a window of read-ahead.
const LEAST: u64 = 4 << 20;

/// Runs the command to its end. The lock is let go as soon as the group is there: other runs of ramline need not wait.
///
/// # Errors
/// `Refused` where it cannot be kept apart, with the reasons; when it cannot be started.
pub fn run(root: &Root, lock: RunLock, argv: &[OsString], options: RunOptions) -> Result<Ran, ActError> {
    if let Some(limit) = options.limit.filter(|limit| limit.0 < LEAST) {
        let numbers = format!("{limit}, at least {}", Bytes(LEAST));
        let rule = "the limit is too small for any command";
        return Err(KernelError::refused("run with", "--limit", rule, numbers).into());
    }
    match in_group(root, lock, argv, options) {
        // Not when the command itself may not be started.
        Err(ActError::Kernel(error)) if error.operation != "start" && (error.is_denied() || error.is_unsupported()) => {
            in_scope(root, argv, options, &error).map_err(ActError::from)
        }
        other => other,
    }
}

/// Room for a stream: a 32nd of memory, from 128 MiB to 1 GiB, and never more than half of what can be had.
fn allowance(root: &Root) -> Result<Bytes, KernelError> {
    let machine = rustix::system::sysinfo();
    let total: u64 = machine.totalram.saturating_mul(machine.mem_unit.max(1).into());
    let most = memory_headroom(root)?.0 / 2;
    Ok(Bytes((total / 32).clamp(128 << 20, 1 << 30).min(most).max(LEAST)))
}

fn command(argv: &[OsString]) -> Result<Command, KernelError> {
    let (program, arguments) =
        argv.split_first().ok_or_else(|| KernelError::refused("run", "the command", "no command was given", ""))?;
    let mut command = Command::new(program);
    command.args(arguments);
    Ok(command)
}

/// Waits for its end; `look` is called ten times a second. Signals to us are passed on, but for what a terminal sends to both.
fn wait(child: &Child, mut look: impl FnMut()) -> Result<(ExitStatus, Usage), KernelError> {
    const SLICE: Duration = Duration::from_millis(100);
    let mut passed_on = false;
    loop {
        let begin = Instant::now();
        if let Some(ended) = process::wait_at_most(child, SLICE)? {
            return Ok(ended);
        }
        look();
        if let Some(signal) = signals::received() {
            if !passed_on {
                pass_on(child, signal);
                passed_on = true;
            }
            // A signal that came cuts every wait short.
            std::thread::sleep(SLICE.saturating_sub(begin.elapsed()));
        }
    }
}

fn pass_on(child: &Child, signal: i32) {
    let from_terminal = std::io::IsTerminal::is_terminal(&std::io::stdin());
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let signal = match signal {
        2 if from_terminal => return,
        2 => Signal::INT,
        1 => Signal::HUP,
        _ => Signal::TERM,
    };
    if let Some(pid) = pid {
        // It may have ended just now.
        kill_process(pid, signal).ok();
    }
}

/// What both ways know.
fn ran(argv: &[OsString], begin: Instant, (status, usage): (ExitStatus, Usage), options: RunOptions) -> Ran {
    Ran {
        command: argv.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        status: status.code(),
        signal: status.signal(),
        wall: begin.elapsed().into(),
        read: usage.read,
        written: usage.written,
        kept: options.keep,
        ..Ran::default()
    }
}

/// The limit is written again when it is off by so much.
const STEP: u64 = 16 << 20;

/// In a memory control group of our own, version 1 or 2.
fn in_group(root: &Root, lock: RunLock, argv: &[OsString], options: RunOptions) -> Result<Ran, ActError> {
    let allowance = allowance(root)?;
    let mut steps = Run::begin(&lock, root, options.crash_after)?;
    drop(lock);
    let hierarchy = Hierarchy::detect(root)?;
    let group = steps.make_cgroup(&hierarchy, 0)?;
    let limit = options.limit.unwrap_or(allowance);
    steps.limit_own(&group, Limit::At(limit))?;
    let begin = Instant::now();
    let child = steps.spawn_into(Some(&group), &mut command(argv)?)?;
    steps.let_others_run();
    let mut follow = Follow { root, group: &group, allowance, now: limit, most: limit };
    let ended = wait(&child, || {
        if options.limit.is_none() {
            follow.look(&steps);
        }
    })?;
    let raised = options.limit.is_none().then_some(follow.most);
    let mut out = Ran { apart: Apart::Group, limit, raised_to: raised, ..ran(argv, begin, ended, options) };
    out.ended = u64::try_from(group.pids()?.len()).unwrap_or(0);
    steps.kill_all_in_own(&group)?;
    let stat = group.stat()?;
    out.peak = stat.peak;
    out.oom_kills = stat.oom_kills.unwrap_or(0);
    out.cached = stat.file;
    if !options.keep {
        steps.give_up_cache_of_own(&group)?;
    }
    out.left = group.stat()?.file;
    steps.finish()?;
    Ok(out)
}

/// Keeps the limit so much above the command's own memory.
struct Follow<'a> {
    root: &'a Root,
    group: &'a Group,
    allowance: Bytes,
    now: Bytes,
    most: Bytes,
}

impl Follow<'_> {
    fn look(&mut self, steps: &Run) {
        let Ok(stat) = self.group.stat() else { return };
        let own = [stat.anon, stat.shmem, stat.kernel].into_iter().flatten().fold(Bytes::ZERO, |sum, part| sum + part);
        let want = own + self.allowance;
        if want.0.abs_diff(self.now.0) < STEP {
            return;
        }
        // What others need is not given away: then the kernel takes back this command's pages, and ends it when there are none.
        let more = want.saturating_sub(self.now);
        if more > Bytes::ZERO && memory_headroom(self.root).is_ok_and(|room| room < more) {
            return;
        }
        // Where the kernel cannot bring it below the new limit at once, the next look tries again.
        if steps.limit_own(self.group, Limit::At(want)).is_ok() {
            self.now = want;
            self.most = self.most.max(want);
        }
    }
}

/// In a scope of the user's systemd, for whoever may not make groups.
fn in_scope(root: &Root, argv: &[OsString], options: RunOptions, no_group: &KernelError) -> Result<Ran, KernelError> {
    let allowance = allowance(root)?;
    if let Some(no_scope) = unavailable(root) {
        let rule = "its reading cannot be kept apart here";
        let numbers = format!("a control group: {}; a scope of systemd: {no_scope}", no_group.cause);
        return Err(KernelError::refused("run", argv[0].to_string_lossy().as_ref(), rule, numbers)
            .hint("sudo ramline cache run -- CMD"));
    }
    // Nobody follows the command's own memory here: more room for it.
    let limit = match options.limit {
        Some(limit) => limit,
        None => allowance.max(Bytes(memory_headroom(root)?.0 / 4)),
    };
    signals::install();
    let mut command = program::command("systemd-run")?;
    command.args(["--user", "--scope", "--quiet", "--collect", "-p"]).arg(format!("MemoryMax={}", limit.0)).arg("--");
    command.args(argv);
    let begin = Instant::now();
    let child = process::spawn_tied(&mut command, None)?;
    let ended = wait(&child, || {})?;
    Ok(Ran { apart: Apart::Scope, limit, ..ran(argv, begin, ended, RunOptions { keep: true, ..options }) })
}

/// Why there is no scope to be had.
fn unavailable(root: &Root) -> Option<&'static str> {
    if !matches!(Hierarchy::detect(root).map(|hierarchy| hierarchy.version()), Ok(Version::V2)) {
        return Some("systemd gives users no memory limits in version 1 of control groups");
    }
    let bus = std::env::var_os("XDG_RUNTIME_DIR").map(|dir| Path::new(&dir).join("systemd/private"));
    if !bus.is_some_and(|bus| bus.exists()) {
        return Some("no systemd of this user is running");
    }
    Program::find("systemd-run").is_err_and(|error| error.is_absent()).then_some("systemd-run is not installed")
}
