//! What a recording cannot settle: user and system time of many calls, memory for each byte, look-ups by file size.

use super::arms::On;
use super::plan::{All, CALLS_FILE, TWICE_FILE};
use super::recorder::Recorder;
use crate::fileops::loops;
use crate::prelude::*;
use ramline_trace::text::sleeps;

const LIMIT: Duration = Duration::from_secs(60);
/// Bytes of a call in `calls`.
const LENGTH: usize = 4096;
/// How often a file is read until all of it is in memory.
const READS: u32 = 5;

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
    let mut out = Figures::default();
    for (name, done) in [("read", read), ("write", write), ("empty call", empty)] {
        let each = |time: f64| time / (done.calls.max(1) as f64);
        let (user, system) = (done.user.as_secs_f64(), done.system.as_secs_f64());
        let mut add = |what: &str, value: f64| out.add(&format!("{name}: {what}"), value, "s", Better::Lower);
        add("time of a call", each(done.took.as_secs_f64()));
        add("system time of a call", each(system));
        add("user time of a call", each(user));
        let share = (user + system > 0.0).then(|| user / (user + system) * 100.0);
        out.add(&format!("{name}: user share of the CPU time"), share, "%", Better::Neither);
    }
    record.figures = out.0;
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
    let mut out = Figures::default();
    let mut add = |name: &str, value: f64| out.add(name, value, "s", Better::Lower);
    add("look-up: CPU time, less an empty call", (each(done) - each(empty)).max(0.0));
    add("look-up: CPU time of a read of one byte", each(done));
    add("look-up: of an empty call", each(empty));
    let height = (size.0 / process::page_size()).max(1).ilog2().div_ceil(6).max(1);
    out.add("look-up: levels of the tree", f64::from(height), "levels", Better::Neither);
    record.figures = out.0;
    Ok(())
}

/// Where a daemon of the machine has idle pages evicted, some may go while others are read: they are read again.
fn in_memory(worker: &mut Worker, path: &Path, size: Bytes, record: &mut RunRecord) -> Result<()> {
    let pages = size.0.div_ceil(process::page_size());
    let mut cached = 0;
    for _ in 0..READS {
        worker.execute(&Request::Read { path: path.to_owned(), how: ReadMethod::Plain }, LIMIT)?;
        cached = scratch::cached(path)?;
        if cached == pages {
            break;
        }
    }
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
    let write = Request::Pwrite { at: 0, length: 1 << 20, times: TWICE_FILE.0 >> 20, step: 1 << 20 };
    worker.execute(&write, LIMIT)?;
    worker.execute(&Request::Fsync, LIMIT)?;
    let written = usage(&group)?;
    worker.execute(&Request::Read { path: path.clone(), how: ReadMethod::Plain }, LIMIT)?;
    let read = usage(&group)?;
    worker.execute(&Request::Map { path: path.clone() }, LIMIT)?;
    let mapped = usage(&group)?;
    let stat = group.stat()?;
    let each = |now: Bytes| now.saturating_sub(start).as_f64() / TWICE_FILE.as_f64();
    let mut out = Figures::default();
    let mut add = |name: &str, value: Option<f64>| out.add(name, value, "per byte", Better::Lower);
    add("memory: written", Some(each(written)));
    add("memory: and read", Some(each(read)));
    add("memory: and mapped", Some(each(mapped)));
    add("memory: of it counted as shared", stat.shmem.map(|shmem| shmem.as_f64() / TWICE_FILE.as_f64()));
    record.figures = out.0;
    let pages = TWICE_FILE.0 / process::page_size();
    record.verified.insert("pages of the file in memory".to_owned(), format!("{} of {pages}", scratch::cached(&path)?));
    Ok(())
}

fn usage(group: &Group) -> Result<Bytes> {
    observe::charged(group).ok_or_else(|| LabError::Workload("what the group is charged for cannot be read".to_owned()))
}

/// What cp writes in one go.
const PIECE: usize = 128 << 10;

/// Writes faster than the disk may.
///
/// # Errors
/// The writer cannot be recorded.
pub fn flood(all: All<'_>, record: &mut RunRecord, bench: &mut Bench<'_>) -> Result<()> {
    let lost = |what: &str| LabError::Workload(format!("{what} is not there"));
    let fs = all.made.fs.as_ref().ok_or_else(|| lost("the scratch disk"))?;
    let tracefs = all.made.tracefs.as_ref().ok_or_else(|| lost("tracefs"))?;
    for (knob, value) in [("max_ratio", "1"), ("strict_limit", "1")] {
        let path = fs.device.dirty_knob(knob);
        if path.exists() {
            let change = bench.run.set_knob(&path, value)?;
            record.verified.insert(format!("{knob} of the scratch disk"), change.after.unwrap_or_default());
        }
    }
    let path = fs.at.join("flood");
    loops::remove(&path)?;
    let mut worker = Worker::start(bench.run, None)?;
    worker.execute(&Request::Open { path, write: true }, LIMIT)?;
    let recorder = Recorder::for_stalls(tracefs, record.order, worker.pid(), bench.run)?;
    let piece = u64::try_from(PIECE).unwrap_or(1);
    let write = Request::Pwrite { at: 0, length: PIECE, times: all.plan.flood.0 / piece, step: piece };
    let mut done = Response::default();
    let (text, clock) = recorder.during(|| {
        done = worker.execute(&write, LIMIT)?;
        Ok(())
    })?;
    let seen = sleeps(&text, worker.pid(), clock);
    let mut out = Figures::default();
    out.time("flood: time", done.took);
    out.rate("flood: rate", done.bytes.as_f64(), done.took, "bytes/s");
    out.time("flood: time asleep", Nanos(seen.iter().map(|sleep| sleep.time.0).sum()));
    seen.iter().for_each(|sleep| out.time(&format!("flood: asleep in {}", sleep.place), sleep.time));
    record.figures = out.0;
    record.detail = Some(serde_json::json!({
        "sleeps": seen.iter().map(|sleep| serde_json::json!({ "in": sleep.place, "times": sleep.times, "ns": sleep.time.0 })).collect::<Vec<_>>(),
    }));
    Ok(())
}
