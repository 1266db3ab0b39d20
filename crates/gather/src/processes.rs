//! One cheap pass over all processes, and page-table walks where they are worth their cost.
//!
//! The only reader of `/proc/PID` of others. Each process costs an open directory and four small files (`stat`,
//! `status`, `cgroup`, the link `exe`); two threads share the work and reuse their buffers.
//!
//! ```
//! use ramline_gather::processes::{Depth, scan};
//! let found = scan(&ramline_kernel::Root::live(), Depth::Cheap);
//! assert!(found.list.iter().any(|p| p.pid == std::process::id() && p.rss_anon.is_some()));
//! ```

mod again;
mod begun;
mod named;
mod one;
mod plan;
mod swapped;
mod walk;

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::prelude::*;
pub(crate) use again::ProcessCache;
pub(crate) use begun::StartedTasks;
pub use named::{Named, command_line, named};
use one::Names;
pub use one::{Captured, Depth};
pub use plan::LARGEST_WALK;
pub use swapped::place_swapped;
pub(crate) use swapped::{AREAS, range, swapped_ranges};
pub use walk::{deep, within};

/// Threads of the cheap pass: more of them only wait for the same locks of the process list.
const CHEAP_THREADS: usize = 2;

/// What a pass found, with the texts where they are to be recorded.
#[derive(Debug, Default)]
pub struct Pass {
    /// The processes, without names of users.
    pub found: Processes,
    /// Path below the root and text; `None` where the kernel refused.
    pub texts: Vec<(String, Option<String>)>,
}

/// All processes below a root; see [`pass`].
#[must_use]
pub fn scan(root: &Root, depth: Depth) -> Processes {
    pass(root, depth, None, false, None).map(|p| p.found).unwrap_or_default()
}

/// All processes below a root. With `record` the texts come along. `captured` belongs to a tree that is not the live machine. Those that are
/// not reached by `end` are counted.
///
/// # Errors
/// There is no /proc below the root.
pub fn pass(
    root: &Root,
    depth: Depth,
    captured: Option<&Captured>,
    record: bool,
    end: Option<Instant>,
) -> std::io::Result<Pass> {
    let proc = ProcDir::open(root)?;
    let pids = proc.pids()?;
    let most = if depth == Depth::Walk { walk::DEEP_THREADS } else { CHEAP_THREADS };
    let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let threads = most.min(cpus).min(pids.len() / 64 + 1);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut worker = one::Worker::new(&proc, captured, depth, record);
        // Small portions: the costly processes may stand next to one another.
        loop {
            if end.is_some_and(|end| Instant::now() >= end) {
                return worker;
            }
            let from = next.fetch_add(one::PORTION, Ordering::Relaxed);
            let Some(portion) = pids.get(from..).filter(|p| !p.is_empty()) else { return worker };
            portion.iter().take(one::PORTION).for_each(|pid| worker.process(*pid));
        }
    };
    let workers: Vec<one::Worker<'_>> = std::thread::scope(|scope| {
        let others: Vec<_> =
            (1..threads).filter_map(|_| ramline_kernel::worker::beside(scope, "processes", work)).collect();
        let mut workers = vec![work()];
        workers.extend(others.into_iter().filter_map(|t| t.join().ok()));
        workers
    });
    let mut pass = merge(workers);
    pass.found.missed.unreached = pids.len().saturating_sub(next.into_inner()) as u64;
    pass.found.missed.nested = captured.is_none().then(|| nested(root)).flatten();
    Ok(pass)
}

fn merge(workers: Vec<one::Worker<'_>>) -> Pass {
    let mut pass = Pass::default();
    let (mut groups, mut programs) = (Names::default(), Names::default());
    for worker in workers {
        let one::Worker { list, groups: their_groups, programs: their_programs, missed, walks, texts, .. } = worker;
        let group_at: Vec<u32> = their_groups.list.iter().map(|name| groups.index(name)).collect();
        let program_at: Vec<u32> = their_programs.list.iter().map(|name| programs.index(name)).collect();
        let at = |map: &[u32], index: Option<u32>| map.get(usize::try_from(index?).ok()?).copied();
        pass.found.list.extend(list.into_iter().map(|p| Process {
            group: at(&group_at, p.group),
            exe: at(&program_at, p.exe),
            ..p
        }));
        let found = &mut pass.found;
        found.missed.vanished += missed.vanished;
        found.missed.denied += missed.denied;
        found.missed.malformed += missed.malformed;
        found.walks.done += walks.done;
        found.walks.denied += walks.denied;
        found.walks.cost.0 += walks.cost.0;
        pass.texts.extend(texts);
    }
    ramline_units::sort_by_key(&mut pass.found.list, |p| p.pid);
    pass.found.list.shrink_to_fit();
    pass.found.groups = groups.list;
    pass.found.programs = programs.list;
    pass
}

/// The first process namespace has a fixed number (PROC_PID_INIT_INO of linux/proc_ns.h).
fn nested(root: &Root) -> Option<bool> {
    let link = std::fs::read_link(root.path("/proc/self/ns/pid")).ok()?;
    Some(link.to_str()? != "pid:[4026531836]")
}
