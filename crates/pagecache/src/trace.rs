//! `cache trace` and `cache watch`: what the page cache does, recorded by the kernel itself while it does it.
//!
//! Two trace instances: one records what the processes in question do, or everybody with the files in question, and the other who
//! takes pages out, whoever that is. Both are made and removed through the journal, and stop by themselves when this process is gone.
//! What it is not: able to see a touch of a page that is mapped already, a read of a file in memory (tmpfs), or a write over pages
//! that are there: the kernel tells nothing of them.

mod names;
mod of_files;
mod recording;
mod session;
mod watch;

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

use crate::walk::WalkOptions;
use ramline_act::{Result, Run};
use ramline_gather::naming;
use ramline_kernel::{KernelError, process, signals};
use ramline_snapshot::cache::Traced;
use ramline_trace::Event;

use crate::Context;
use crate::shared::bytes;
use recording::{Recording, Wanted};
use session::{ROUND, Session};

pub use names::EVICTS;
pub use watch::{Watching, watch};

/// Whose doings are recorded.
#[derive(Debug)]
pub enum Whom {
    /// Everybody.
    Machine,
    /// These processes, and what they start.
    Processes(Vec<u32>),
    /// The processes of a control group and of those below it, and what they start.
    Group(PathBuf),
    /// This command, and what it starts.
    Command(Box<Command>),
}

/// What is recorded.
#[derive(Debug)]
pub struct TraceOptions {
    pub whom: Whom,
    /// Only these files, or those below these directories.
    pub paths: Vec<PathBuf>,
    /// How long; a command is recorded until it ends.
    pub lasts: Option<Duration>,
}

/// Records, and counts.
///
/// # Errors
/// More privilege is needed, or this kernel has no tracing; a process or group does not exist; the command cannot be started.
pub fn trace(context: Context<'_>, run: &mut Run, walking: &WalkOptions, options: TraceOptions) -> Result<Traced> {
    let files = of_files::of(context, &options.paths, walking)?;
    let whom = words(&options.whom);
    let threads = threads(context, &options.whom)?;
    let wanted = Wanted { requests: true, files: &files, everybody: threads.is_none() && !is_command(&options.whom) };
    let mut session = Session::make(context, run, &wanted)?;
    if let Some(threads) = &threads {
        session.recording.only(threads)?;
    }
    session.start()?;
    let mut child = match options.whom {
        Whom::Command(mut command) => {
            let child = start(&session.recording, &mut command)?;
            session.counter.starts_as_copy(child.id());
            Some(child)
        }
        _ => None,
    };
    // Of a command only what it does itself is recorded; at a change of task the kernel may let an event of ours slip in.
    let ours = if child.is_some() { naming::threads(context.root, std::process::id()) } else { Vec::new() };
    let wants = |event: &Event| files.wants(event) && !ours.contains(&event.task);
    let mut ended = None;
    while ended.is_none() && !signals::interrupted() && options.lasts.is_none_or(|lasts| session.elapsed() < lasts) {
        session.round(wants)?;
        ended = pause(child.as_mut())?;
    }
    session.stop(wants)?;
    // A command that was interrupted with us ends by itself; its end is not waited for.
    let ended = ended.or_else(|| child.as_mut().and_then(|child| child.try_wait().ok().flatten()));
    let (recorded, counted) = session.end()?;
    Ok(Traced {
        page: bytes(1),
        whom,
        recorded,
        total: counted.total,
        files: counted.files,
        processes: counted.processes,
        exit: ended.map(code),
    })
}

const fn is_command(whom: &Whom) -> bool {
    matches!(whom, Whom::Command(_))
}

fn words(whom: &Whom) -> String {
    match whom {
        Whom::Machine => "all processes".to_owned(),
        Whom::Processes(pids) if pids.len() == 1 => format!("process {} and what it starts", pids[0]),
        Whom::Processes(pids) => format!("{} processes and what they start", pids.len()),
        Whom::Group(path) => format!("control group {} and what its processes start", path.display()),
        Whom::Command(command) => format!("{} and what it starts", command.get_program().to_string_lossy()),
    }
}

/// The threads to be recorded; `None` when there is no list of them.
fn threads(context: Context<'_>, whom: &Whom) -> Result<Option<Vec<u32>>> {
    let pids = match whom {
        Whom::Machine | Whom::Command(_) => return Ok(None),
        Whom::Processes(pids) => pids.clone(),
        Whom::Group(path) => ramline_kernel::cgroup::processes_below(context.root, path)?,
    };
    let mut threads = Vec::new();
    for pid in pids {
        let of = naming::threads(context.root, pid);
        if of.is_empty() && !matches!(whom, Whom::Group(_)) {
            return Err(KernelError::new("record", format!("process {pid}"), ramline_kernel::Cause::Absent).into());
        }
        threads.extend(of);
    }
    if threads.is_empty() {
        let rule = "there is no process in it, and one that enters it later would not be seen";
        return Err(KernelError::refused("record", words(whom), rule, "").into());
    }
    Ok(Some(threads))
}

fn start(recording: &Recording, command: &mut Command) -> Result<Child> {
    recording.follow(command)?;
    let program = command.get_program().to_owned();
    Ok(command.spawn().map_err(|error| KernelError::io("start", program, error))?)
}

/// Sleeps for a round; the end of the child ends it early.
fn pause(child: Option<&mut Child>) -> Result<Option<ExitStatus>> {
    let Some(child) = child else {
        std::thread::sleep(ROUND);
        return Ok(None);
    };
    Ok(process::wait_at_most(child, ROUND)?.map(|(status, _)| status))
}

fn code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}
