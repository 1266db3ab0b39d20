//! One call: timed as it is, then recorded. The state it needs is made and proven before each.

use ramline_evidence::path::{CallPath, Layer};

use super::arms::{Call, On};
use super::plan::All;
use super::recorder::{Recorder, RecorderOptions};
use crate::prelude::*;

/// Bytes of a call.
const LENGTH: usize = 4096;
/// A call that must find a page missing, or waits for a disk, is timed so often.
const SINGLE: u32 = 5;
/// A call that finds all it needs, so often in one go.
const MANY: u64 = 2000;
const LIMIT: Duration = Duration::from_secs(20);

/// Runs the arm.
///
/// # Errors
/// The state cannot be made, or the kernel recorded nothing.
pub fn run(all: All<'_>, call: Call, on: On, record: &mut RunRecord, bench: &mut Bench<'_>) -> Result<()> {
    let tracefs = all.made.tracefs.as_ref().ok_or_else(|| LabError::Workload("tracefs is not there".to_owned()))?;
    let own = matches!(call, Call::ReadCold | Call::ReadWarm) && on == On::Disk;
    let path = all.plan.file.clone().filter(|_| own).unwrap_or_else(|| all.dir(on).join("recorded"));
    let fresh = new_file(all.dir(on), call, bench)?;
    let path = fresh.as_deref().unwrap_or(&path);
    let (fs_type, number) = all.file_system(bench.root, path)?;
    record.verified.insert("file system".to_owned(), fs_type.clone());
    let mut worker = Worker::start(bench.run, None)?;
    let write = !matches!(call, Call::ReadCold | Call::ReadWarm);
    worker.execute(&Request::Open { path: path.to_owned(), write }, LIMIT)?;
    let took = timed(&mut worker, call, path)?;
    let wanted = RecorderOptions {
        pid: worker.pid(),
        fs_type: &fs_type,
        file: number,
        disk: all.found.place.disk_number(bench.root).filter(|_| on == On::Disk),
        tracer: all.made.tracer,
    };
    let recorder = Recorder::make(tracefs, record.order, wanted, bench.run)?;
    let (before, request) = prepare(&mut worker, call, path, u64::from(SINGLE) + MANY)?;
    record.verified.insert("pages of the file in the cache before".to_owned(), before.to_string());
    let mut seen = recorder.one(call.name(), || worker.execute(&request, LIMIT).map(drop))?;
    seen.what = format!("{} ({fs_type})", call.words());
    record.verified.insert("tracer".to_owned(), seen.tracer.clone());
    record.figures = figures(took, &seen);
    record.detail = ramline_units::json::tree(&seen).ok();
    Ok(())
}

/// A file of its own for what must not be there; through the journal.
fn new_file(dir: &Path, call: Call, bench: &mut Bench<'_>) -> Result<Option<PathBuf>> {
    let made = (call == Call::WriteNew).then(|| bench.run.make_file(&dir.join("ramline-new"), |_| Ok(())));
    Ok(made.transpose()?)
}

/// Makes the state for one call and returns the pages that are cached, proven to be what they should, and the call.
fn prepare(worker: &mut Worker, call: Call, path: &Path, index: u64) -> Result<(u64, Request)> {
    let read = Request::Pread { at: 0, length: LENGTH, times: 1, step: 0 };
    let write_at = |at| Request::Pwrite { at, length: LENGTH, times: 1, step: 0 };
    let write = write_at(0);
    let request = match call {
        Call::ReadCold => {
            scratch::evict(path)?;
            read
        }
        Call::ReadWarm => {
            worker.execute(&read, LIMIT)?;
            read
        }
        Call::WriteAgain => {
            worker.execute(&write, LIMIT)?;
            write
        }
        // Beyond the end: that page cannot be there.
        Call::WriteNew => write_at(index * u64::try_from(LENGTH).unwrap_or(0)),
        Call::Fsync => {
            worker.execute(&Request::Fsync, LIMIT)?;
            worker.execute(&write, LIMIT)?;
            Request::Fsync
        }
    };
    let cached = scratch::cached(path)?;
    let cold = call == Call::ReadCold;
    if cold != (cached == 0) && call != Call::WriteNew {
        let text = format!("{cached} pages of {} are in the cache before the call", path.display());
        return Err(LabError::Workload(text));
    }
    Ok((cached, request))
}

/// Without a recorder: the median of single calls, or the mean of many.
fn timed(worker: &mut Worker, call: Call, path: &Path) -> Result<Nanos> {
    let step = u64::try_from(LENGTH).unwrap_or(0);
    let many = match call {
        Call::ReadWarm => Request::Pread { at: 0, length: LENGTH, times: MANY, step: 0 },
        Call::WriteAgain => Request::Pwrite { at: 0, length: LENGTH, times: MANY, step: 0 },
        Call::WriteNew => Request::Pwrite { at: 0, length: LENGTH, times: MANY, step },
        Call::ReadCold | Call::Fsync => {
            let mut times = Vec::new();
            for index in 0..SINGLE {
                let (_, request) = prepare(worker, call, path, u64::from(index))?;
                times.push(worker.execute(&request, LIMIT)?.took);
            }
            times.sort_unstable();
            return Ok(times.get(times.len() / 2).copied().unwrap_or_default());
        }
    };
    prepare(worker, call, path, 0)?;
    let Response { took, calls, .. } = worker.execute(&many, LIMIT)?;
    Ok(Nanos(took.0 / calls.max(1)))
}

fn figures(took: Nanos, seen: &CallPath) -> Vec<Figure> {
    let by = seen.by_layer();
    let asleep = by.get(&Layer::Waiting).copied().unwrap_or_default();
    let mut out = Figures::default();
    out.time("call: time", took);
    out.time("call: time recorded", seen.took);
    out.time("call: time asleep", asleep);
    out.add("call: steps", (seen.steps.len() as f64) + (seen.cut as f64), "steps", Better::Neither);
    for layer in Layer::ALL.into_iter().filter(|layer| *layer != Layer::Waiting) {
        let time = by.get(&layer).map(|time| time.as_secs_f64());
        out.add(&format!("recorded in: {}", layer.word()), time, "s", Better::Neither);
    }
    out.0
}
