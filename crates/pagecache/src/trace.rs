//! `cache trace` and `cache watch`: what the page cache does, recorded by the kernel itself while it does it.
//!
//! Two trace instances: one records what the processes in question do, or everybody with the files in question, and the other who
//! takes pages out, whoever that is. Both are made and removed through the journal, and stop by themselves when this process is gone.
//! Not seen are touches of pages that are mapped already, reads of files in memory (tmpfs), and writes over pages that are there:
//! the kernel records none of them.

mod names;
mod recording;

use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};

use ramline_act::{Result, Run};
use ramline_gather::naming;
use ramline_snapshot::cache::{Look, Traced, Watched};
use ramline_trace::Event;
use recording::{ROUND, Recording, RecordingPlan};

use crate::prelude::*;
use crate::stat::{self, StatOptions};

pub use names::EVICTS;

/// Target of a trace.
#[derive(Debug)]
pub enum TraceTarget {
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
    /// By whom.
    pub whom: TraceTarget,
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
    let files = names::from_paths(context, &options.paths, walking)?;
    let whom = words(&options.whom);
    let threads = threads(context, &options.whom)?;
    let wanted =
        RecordingPlan { requests: true, files: &files, everybody: threads.is_none() && !is_command(&options.whom) };
    let mut recording = Recording::make(context, run, &wanted)?;
    if let Some(threads) = &threads {
        recording.only(threads)?;
    }
    recording.start()?;
    let mut child = match options.whom {
        TraceTarget::Command(mut command) => {
            let child = start(&recording, &mut command)?;
            recording.counter.starts_as_copy(child.id());
            Some(child)
        }
        _ => None,
    };
    // Of a command only what it does itself is recorded; at a change of task the kernel may let an event of ours slip in.
    let ours = if child.is_some() { naming::threads(context.root, std::process::id()) } else { Vec::new() };
    let wants = |event: &Event| files.wants(event) && !ours.contains(&event.task);
    let mut ended = None;
    while ended.is_none()
        && !signals::interrupted()
        && options.lasts.is_none_or(|lasts| recording.began.elapsed() < lasts)
    {
        recording.round(wants)?;
        ended = pause(child.as_mut())?;
    }
    recording.stop(wants)?;
    // A command that was interrupted with us ends by itself; its end is not waited for.
    let ended = ended.or_else(|| child.as_mut().and_then(|child| child.try_wait().ok().flatten()));
    let (recorded, counted) = recording.end()?;
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

const fn is_command(whom: &TraceTarget) -> bool {
    matches!(whom, TraceTarget::Command(_))
}

fn words(whom: &TraceTarget) -> String {
    match whom {
        TraceTarget::Machine => "all processes".to_owned(),
        TraceTarget::Processes(pids) if pids.len() == 1 => format!("process {} and what it starts", pids[0]),
        TraceTarget::Processes(pids) => format!("{} processes and what they start", pids.len()),
        TraceTarget::Group(path) => format!("control group {} and what its processes start", path.display()),
        TraceTarget::Command(command) => format!("{} and what it starts", command.get_program().to_string_lossy()),
    }
}

/// The threads to be recorded; `None` when there is no list of them.
fn threads(context: Context<'_>, whom: &TraceTarget) -> Result<Option<Vec<u32>>> {
    let pids = match whom {
        TraceTarget::Machine | TraceTarget::Command(_) => return Ok(None),
        TraceTarget::Processes(pids) => pids.clone(),
        TraceTarget::Group(path) => ramline_kernel::cgroup::processes_below(context.root, path)?,
    };
    let mut threads = Vec::new();
    for pid in pids {
        let of = naming::threads(context.root, pid);
        if of.is_empty() && !matches!(whom, TraceTarget::Group(_)) {
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

/// How it is watched.
pub struct Watching<'a> {
    /// How long; until a signal comes otherwise.
    pub lasts: Option<Duration>,
    /// Between two looks at what is there.
    pub every: Duration,
    /// Told of every look as it is taken.
    pub looked: &'a dyn Fn(&Look),
}

/// Watches files, and those below directories.
///
/// # Errors
/// As [`trace`].
pub fn watch(
    context: Context<'_>,
    run: &mut Run,
    paths: &[PathBuf],
    walking: &WalkOptions,
    how: &Watching<'_>,
) -> Result<Watched> {
    let files = names::from_paths(context, paths, walking)?;
    let wanted = RecordingPlan { requests: false, files: &files, everybody: true };
    let mut recording = Recording::make(context, run, &wanted)?;
    files.names.keys().for_each(|file| recording.counter.watch(*file));
    recording.start()?;
    let mut looks: Vec<Look> = Vec::new();
    let look = |looks: &mut Vec<Look>, recording: &Recording| {
        let seen = stat::stat(context, paths, walking, &StatOptions::default());
        let look = Look { at: recording.began.elapsed().into(), tally: seen.total };
        (how.looked)(&look);
        looks.push(look);
    };
    while !signals::interrupted() && how.lasts.is_none_or(|lasts| recording.began.elapsed() < lasts) {
        let next = how.every.saturating_mul(u32::try_from(looks.len()).unwrap_or(u32::MAX));
        if recording.began.elapsed() >= next {
            look(&mut looks, &recording);
        }
        recording.round(|_| true)?;
        std::thread::sleep(ROUND);
    }
    recording.stop(|_| true)?;
    if !signals::interrupted() {
        look(&mut looks, &recording);
    }
    let (recorded, counted) = recording.end()?;
    let mut out = Watched {
        page: bytes(1),
        named: paths.iter().map(|path| name(path)).collect(),
        recorded,
        looks,
        evictors: evictors(context.root),
        ..Watched::default()
    };
    let given: BTreeSet<_> = files.names.values().map(|path| name(path)).collect();
    out.files = counted.files.into_iter().filter(|file| given.contains(&file.name)).collect();
    out.files.iter().for_each(|file| out.total.add(&file.touched));
    out.files.retain(|file| file.touched.evicted + file.touched.dropped + file.touched.refaulted > 0);
    ramline_units::sort_by_key(&mut out.files, |file| std::cmp::Reverse(file.touched.evicted + file.touched.dropped));
    out.pushed = counted.pushed;
    Ok(out)
}
