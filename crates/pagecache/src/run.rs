//! `cache run`: a command whose reading cannot push out what others have in the page cache.
//!
//! It runs in a memory control group of its own, made through the journal of `act`. What it reads is charged there, and at the limit
//! the kernel takes back what this command read first. Its own memory counts too, so the limit follows that: it is always so much
//! above ([`allowance`]), unless a limit was chosen, which stays. After its end the pages it brought in, and no others, are given
//! back. Pages that were in the page cache before belong to whoever read them first and stay where they are.
//! Without the right to make a group the user's systemd is asked for one; what is left in it afterwards cannot be counted.
//!
//! What it is not: a limit on what the command may read or write, and not a jail.

mod group;
mod scope;

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use ramline_act::{ActError, RunLock};
use ramline_kernel::process::{self, Usage};
use ramline_kernel::{KernelError, Root, memory_room, signals};
use ramline_snapshot::cache::Ran;
use ramline_units::Bytes;
use rustix::process::{Pid, Signal, kill_process};

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
        return Err(
            KernelError::refused("run with", "--limit", "the limit is too small for any command", numbers).into()
        );
    }
    let allowance = allowance(root)?;
    match group::run(root, lock, argv, options, allowance) {
        // Not when the command itself may not be started.
        Err(ActError::Kernel(error)) if error.operation != "start" && (error.is_denied() || error.is_unsupported()) => {
            scope::run(root, argv, options, allowance, &error).map_err(ActError::from)
        }
        other => other,
    }
}

/// Room for a stream: a 32nd of memory, from 128 MiB to 1 GiB, and never more than half of what can be had.
fn allowance(root: &Root) -> Result<Bytes, KernelError> {
    let machine = rustix::system::sysinfo();
    let total: u64 = machine.totalram.saturating_mul(machine.mem_unit.max(1).into());
    let most = memory_room(root)?.0 / 2;
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
