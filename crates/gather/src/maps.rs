//! Which files processes map, and what of those is in RAM.
//!
//! One reading of `/proc/PID/maps` (or `smaps`, which walks the page tables) of the processes asked for, and of the
//! page cache, file by file. It is no section of the snapshot: it is expensive, and no capture holds it.
//!
//! What it disturbs: the kernel holds the process's lock on its mappings for each piece of a few KiB that it prints; a walk
//! holds it longer, by the size of the ranges printed. Files are opened for reading, without changing their access time where
//! that is allowed; of files that look like copies ten pages are read.
//!
//! ```no_run
//! use ramline_gather::maps;
//! use ramline_kernel::Root;
//! let seen = maps::read(&Root::live(), &maps::Request::for_target(maps::Target::Process(1)))?;
//! println!("{} files", seen.files.len());
//! # Ok::<(), ramline_kernel::KernelError>(())
//! ```

mod alike;
mod clock;
mod files;
mod scan;
mod tables;

use ramline_kernel::{Cause, KernelError, Result};
use ramline_snapshot::maps::{Maps, Missed};

pub use alike::build_id;
use clock::Clock;
use scan::{NotSeen, Scan};

use crate::prelude::*;

/// Whose mappings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// One process.
    Process(u32),
    /// The processes of one control group and of the groups below it.
    Group(String),
    /// All that may be seen.
    All,
}

/// What to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Whose mappings.
    pub target: Target,
    /// Walk page tables (`smaps`, `pagemap`).
    pub walk: bool,
    /// No new process or file is begun after this time.
    pub budget: Option<Duration>,
}

impl Request {
    /// What a target gets unasked: one process is walked, many are not, and have half a second.
    #[must_use]
    pub const fn for_target(target: Target) -> Request {
        match target {
            Target::Process(_) => Request { target, walk: true, budget: None },
            _ => Request { target, walk: false, budget: Some(Duration::from_millis(500)) },
        }
    }
}

/// Reads what was asked for.
///
/// # Errors
/// One process that is not there, may not be seen, or has no memory of its own; a group without any process. Of many
/// processes those that cannot be seen are counted.
pub fn read(root: &Root, request: &Request) -> Result<Maps> {
    let clock = Clock::new(request.budget);
    // Ranges without their files are half an answer: of a short time files get two fifths at least.
    let for_lists = Clock::new(request.budget.map(|budget| budget * 3 / 5));
    let mut scan = Scan::new(root, request.walk);
    let mut out = Maps { page: ramline_kernel::process::page_size(), ..Maps::default() };
    match &request.target {
        Target::Process(pid) => {
            out.processes.push(scan.process(*pid).map_err(|why| refusal(root, *pid, why))?);
        }
        Target::Group(name) => {
            let name = scan::group_name(name);
            let inside = |group: String| {
                let rest = group.strip_prefix(name.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || name == "/")
            };
            let pids = others(root).filter(|pid| scan::group_of(root, *pid).is_some_and(inside)).collect();
            many(&mut scan, pids, &for_lists, &mut out);
            if out.processes.is_empty() && out.missed == Missed::default() {
                let (tried, rule) = ("show the mapped files of group", "no process is in it or below it");
                return Err(KernelError::refused(tried, name, rule, "").hint("ramline show cgroups"));
            }
        }
        Target::All => {
            let pids = others(root).collect();
            out.missed.hidden = scan::is_hidden(root);
            many(&mut scan, pids, &for_lists, &mut out);
        }
    }
    (out.reading.walked, out.reading.capture) = (request.walk, !root.is_live());
    out.reading.ranges = out.processes.iter().map(|p| p.mappings.len() as u64).sum();
    out.reading.budget = request.budget.map(Nanos::from);
    out.reading.lists = clock.start.elapsed().into();
    (out.files, out.reading.unknown_lines) = (scan.files, scan.unknown);
    out.reading.files_left_out = files::ask(root, &mut out, request.walk, &clock);
    out.reading.files_left_out += alike::compare(&mut out.files, &clock);
    out.reading.asking = Nanos::from(clock.start.elapsed()).saturating_sub(out.reading.lists);
    Ok(out)
}

/// All processes but this one: who asks for many does not ask for the asker.
fn others(root: &Root) -> impl Iterator<Item = u32> {
    let own = root.is_live().then(std::process::id);
    pids(root).into_iter().filter(move |pid| own != Some(*pid))
}

fn many(scan: &mut Scan<'_>, pids: Vec<u32>, clock: &Clock, out: &mut Maps) {
    for pid in pids {
        if clock.is_over() {
            out.reading.processes_left_out += 1;
            continue;
        }
        match scan.process(pid) {
            Ok(process) => out.processes.push(process),
            Err(NotSeen::Denied) => out.missed.denied += 1,
            Err(NotSeen::Malformed(_)) => out.missed.malformed += 1,
            // A captured tree may hold a process without its mappings.
            Err(NotSeen::Gone) if !scan.root.is_live() => {}
            Err(NotSeen::Gone) => out.missed.vanished += 1,
            // Neither has memory of its own: nothing is missed.
            Err(NotSeen::KernelThread | NotSeen::Zombie) => {}
        }
    }
}

/// Why one process cannot be shown, and what to do.
fn refusal(root: &Root, pid: u32, why: NotSeen) -> KernelError {
    let refused = |rule: &str| Cause::Refused { rule: rule.to_owned(), numbers: String::new() };
    let all = "ramline show maps";
    let (cause, hint) = match why {
        NotSeen::Denied => (Cause::Denied, format!("sudo {all} {pid}")),
        NotSeen::Gone if !root.is_live() => {
            (refused("this capture does not hold its mappings"), format!("{all} {pid}"))
        }
        NotSeen::Gone => (Cause::Absent, all.to_owned()),
        NotSeen::KernelThread => (refused("it is a thread of the kernel, which maps no files"), all.to_owned()),
        NotSeen::Zombie => {
            (refused("it has ended and only waits for its parent to notice: it maps nothing any more"), all.to_owned())
        }
        NotSeen::Malformed(error) => {
            (Cause::Io(std::io::Error::new(std::io::ErrorKind::InvalidData, error.to_string())), all.to_owned())
        }
    };
    KernelError::new("show the mapped files of process", pid.to_string(), cause).hint(hint)
}

#[cfg(test)]
mod tests;
