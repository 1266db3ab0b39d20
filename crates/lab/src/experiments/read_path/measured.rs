//! What a recording cannot settle: user and system time of many calls, memory for each byte, look-ups by file size.

use std::path::Path;
use std::time::Duration;

use ramline_evidence::{Better, Figure, RunRecord};
use ramline_kernel::cgroup::Group;
use ramline_kernel::process;
use ramline_units::{Bytes, Limit};

use super::arms::On;
use super::plan::{All, CALLS_FILE, TWICE_FILE};
use crate::experiment::Bench;
use ramline_sandbox::child::{ReadMethod, Request, Response, Worker};
use ramline_sandbox::error::{LabError, Result};
use ramline_sandbox::{observe, scratch};

const LIMIT: Duration = Duration::from_secs(60);
/// Bytes of a call in `calls`.
const LENGTH: usize = 4096;

/// Reads and writes of 4 KiB, all in memory, and what they cost outside the kernel and in it.
///
/// # Errors
/// The file is not wholly in memory, or a call fails.
pub fn calls(all: All<'_>, on: On, record: &mut RunRecord, bench: &mut Bench<'_>) -> Result<()> {
    let path = all.dir(on).join("calls");
    let (fs_type, _) = all.file_system(bench.root, &path)?;
    record.verified.insert("file system".to_owned(), fs_type);
    let mut worker = Worker::start(bench.run, None)?;
    worker.execute(&Request::Open { path: path.clone(), write: true }, LIMIT)?;
    in_memory(&mut worker, &path, CALLS_FILE, record)?;
    let times = CALLS_FILE.0 / 4096;
    let rounds = all.plan.calls.div_ceil(times);
    let mut of = |request: &Request| -> Result<Response> {
        let mut sum = Response::default();
        for _ in 0..rounds {
            let done = worker.execute(request, LIMIT)?;
            sum.took.0 += done.took.0;
            sum.user.0 += done.user.0;
            sum.system.0 += done.system.0;
            sum.calls += done.calls;
        }
        Ok(sum)
    };
    // A call of no bytes enters the kernel, finds the file and returns: what reading and writing have in common with any call.
    let empty = of(&Request::Pread { at: 0, length: 0, times, step: 4096 })?;
    let read = of(&Request::Pread { at: 0, length: LENGTH, times, step: 4096 })?;
    let write = of(&Request::Pwrite { at: 0, length: LENGTH, times, step: 4096 })?;
    for (name, done) in [("read", read), ("write", write), ("empty call", empty)] {
        let each = |time: f64| time / (done.calls.max(1) as f64);
        let (user, system) = (done.user.as_secs_f64(), done.system.as_secs_f64());
        let mut add = |what: &str, value: f64, unit: &str, better| {
            record.figures.push(Figure::new(&format!("{name}: {what}"), value, unit, better));
        };
        add("time of a call", each(done.took.as_secs_f64()), "s", Better::Lower);
        add("system time of a call", each(system), "s", Better::Lower);
        add("user time of a call", each(user), "s", Better::Lower);
        if user + system > 0.0 {
            add("user share of the CPU time", user / (user + system) * 100.0, "%", Better::Neither);
        }
    }
    Ok(())
}

/// One byte at random pages of a file that is wholly in memory, less what an empty call costs.
///
/// # Errors
/// The file is not wholly in memory, or a call fails.
pub fn lookup(all: All<'_>, size: Bytes, record: &mut RunRecord, bench: &mut Bench<'_>) -> Result<()> {
    let path = all.dir(On::Disk).join("lookup");
    // The smaller files are beginnings of one of their own: a file of that size has a tree of that height.
    let own = all.dir(On::Disk).join("ramline-lookup");
    let path =
        if size == all.plan.lookup() { path } else { bench.run.make_file(&own, |file| scratch::fill(file, size))? };
    let mut worker = Worker::start(bench.run, None)?;
    worker.execute(&Request::Open { path: path.clone(), write: false }, LIMIT)?;
    in_memory(&mut worker, &path, size, record)?;
    let calls = all.plan.calls;
    let request = Request::Random { calls, span: size.0, seed: all.plan.seed };
    // Once for the processor's caches, as far as they hold it.
    worker.execute(&request, LIMIT)?;
    worker.execute(&Request::Pread { at: 0, length: 0, times: calls / 10, step: 0 }, LIMIT)?;
    let done = worker.execute(&request, LIMIT)?;
    let empty = worker.execute(&Request::Pread { at: 0, length: 0, times: calls, step: 0 }, LIMIT)?;
    // The processor's time: a turn of somebody else is not in it.
    let each = |done: Response| (done.user.as_secs_f64() + done.system.as_secs_f64()) / (done.calls.max(1) as f64);
    let mut add = |name: &str, value| record.figures.push(Figure::new(name, value, "s", Better::Lower));
    add("look-up: CPU time, less an empty call", (each(done) - each(empty)).max(0.0));
    add("look-up: CPU time of a read of one byte", each(done));
    add("look-up: of an empty call", each(empty));
    let height = (size.0 / process::page_size()).max(1).ilog2().div_ceil(6).max(1);
    record.figures.push(Figure::new("look-up: levels of the tree", f64::from(height), "levels", Better::Neither));
    Ok(())
}

fn in_memory(worker: &mut Worker, path: &Path, size: Bytes, record: &mut RunRecord) -> Result<()> {
    worker.execute(&Request::Read { path: path.to_owned(), how: ReadMethod::Plain }, LIMIT)?;
    let (cached, pages) = (scratch::cached(path)?, size.0.div_ceil(process::page_size()));
    record.verified.insert("pages of the file in memory".to_owned(), format!("{cached} of {pages}"));
    if cached == pages {
        return Ok(());
    }
    Err(LabError::Workload(format!("{cached} of {pages} pages of {} are in memory", path.display())))
}

/// What a file costs its memory group when it is written, read and mapped.
///
/// # Errors
/// The group cannot be made or read.
pub fn twice(all: All<'_>, on: On, record: &mut RunRecord, bench: &mut Bench<'_>) -> Result<()> {
    let path = bench.run.make_file(&all.dir(on).join("ramline-twice"), |_| Ok(()))?;
    let group = all.found.make_group(record.order, bench.run)?;
    // Far more than is needed, so that nothing is taken back meanwhile.
    for change in group.set_memory_limit(Limit::At(Bytes(TWICE_FILE.0 * 4)))? {
        record.verified.insert("limit of the group".to_owned(), change.after.unwrap_or_default());
    }
    let mut worker = Worker::start(bench.run, Some(&group))?;
    worker.execute(&Request::Open { path: path.clone(), write: true }, LIMIT)?;
    let start = usage(&group)?;
    let whole = 1 << 20;
    let write = Request::Pwrite { at: 0, length: whole, times: TWICE_FILE.0 >> 20, step: 1 << 20 };
    worker.execute(&write, LIMIT)?;
    worker.execute(&Request::Fsync, LIMIT)?;
    let written = usage(&group)?;
    worker.execute(&Request::Read { path: path.clone(), how: ReadMethod::Plain }, LIMIT)?;
    let read = usage(&group)?;
    worker.execute(&Request::Map { path: path.clone() }, LIMIT)?;
    let mapped = usage(&group)?;
    let stat = group.stat()?;
    let each = |now: Bytes| now.saturating_sub(start).as_f64() / TWICE_FILE.as_f64();
    let mut add =
        |name: &str, value: f64, unit: &str| record.figures.push(Figure::new(name, value, unit, Better::Lower));
    add("memory: written", each(written), "per byte");
    add("memory: and read", each(read), "per byte");
    add("memory: and mapped", each(mapped), "per byte");
    if let Some(share) = stat.shmem.map(|shmem| shmem.as_f64() / TWICE_FILE.as_f64()) {
        add("memory: of it counted as shared", share, "per byte");
    }
    let pages = TWICE_FILE.0 / process::page_size();
    record.verified.insert("pages of the file in memory".to_owned(), format!("{} of {pages}", scratch::cached(&path)?));
    Ok(())
}

fn usage(group: &Group) -> Result<Bytes> {
    observe::charged(group).ok_or_else(|| LabError::Workload("what the group is charged for cannot be read".to_owned()))
}
