//! The workload of code-plus-data: this binary again, inside the sandbox.
//!
//! A file stands for program code: mapped read-only and shared. Anonymous memory stands for data. The data is filled
//! first; what is read then is said by the generator, the same that a simulator is given.

use ramline_trace::generate::CodePlusData;

use super::report::{WorkReport, WorkTask};
use crate::prelude::*;

/// Bytes that are filled at once: the experiment counts in 4 KiB on every machine.
const STEP: u64 = 4096;
/// Steps between looks at the clock.
const CLOCK_EVERY: u64 = 32;
/// Time between reports.
const REPORT_EVERY: Nanos = Nanos(50_000_000);

/// Does the task.
///
/// # Errors
/// Memory or the code cannot be mapped, or the supervisor is gone.
pub fn work(task: Value) -> Result<()> {
    let task: &WorkTask = &child::task(task)?;
    child::report_and_wait(&now(WorkReport::default())?)?;
    let file = File::open(&task.code).map_err(|error| LabError::file("open", &task.code, error))?;
    let code = Map::file(&file, &task.code)?;
    // First-touch charging: this read charges the first window of the file to the sandbox.
    let first = u64::from(code.touch_read(0)?);
    send(WorkReport { phase: Phase::Map, checksum: first, took: Some(Nanos(0)), ..WorkReport::default() })?;

    let mut ballast = region(task, task.workload.ballast_units)?;
    let Some(mut data) = region(task, task.workload.data_units)? else {
        return Err(LabError::usage("no data to work on", "ramline lab run code-plus-data --unit 32MiB"));
    };
    let mut brake = Brake::new(task)?;
    let took = fill(task, ballast.iter_mut().chain([&mut data]), &mut brake)?;
    send(WorkReport { phase: Phase::Fill, fraction: 1.0, took: Some(took), ..WorkReport::default() })?;
    let last = rounds(task, &code, &data, ballast.as_ref(), &mut brake)?;
    // The last counters are read while the memory is still ours.
    child::report_and_wait(&now(last)?)
}

/// The touches of a workload.
#[must_use]
pub fn load(workload: &ramline_evidence::Workload) -> CodePlusData {
    CodePlusData {
        unit: workload.unit.0,
        code: workload.code_units,
        data: workload.data_units,
        rounds: workload.rounds,
        seed: workload.seed,
        shared: workload.shared,
    }
}

fn units(task: &WorkTask, count: u32) -> Bytes {
    Bytes(task.workload.unit.0.saturating_mul(u64::from(count)))
}

fn region(task: &WorkTask, count: u32) -> Result<Option<Map>> {
    let sharing = if task.workload.shared { Sharing::Shared } else { Sharing::Private };
    (count > 0).then(|| small_pages(units(task, count), sharing)).transpose()
}

/// Ballast first, as programs that were there before; then the data.
fn fill<'a>(task: &WorkTask, maps: impl Iterator<Item = &'a mut Map>, brake: &mut Brake) -> Result<Nanos> {
    let begin = process::monotonic();
    let total = units(task, task.workload.data_units + task.workload.ballast_units).as_f64();
    let mut filler = Filler::new(task.fill, task.workload.seed);
    let mut page = vec![0u8; 4096];
    let (mut number, mut reported) = (0u64, begin);
    for map in maps {
        for offset in (0..map.len()).step_by(page.len()) {
            brake.wait()?;
            filler.fill(number, &mut page);
            let length = page.len().min(map.len() - offset);
            map.write_at(offset, &page[..length])?;
            number += 1;
            if number.is_multiple_of(CLOCK_EVERY) {
                let now = process::monotonic();
                if now.saturating_sub(reported) >= REPORT_EVERY {
                    reported = now;
                    let fraction = Bytes(number * STEP).as_f64() / total;
                    send(WorkReport { phase: Phase::Fill, fraction, ..WorkReport::default() })?;
                }
            }
        }
    }
    Ok(process::monotonic().saturating_sub(begin))
}

fn rounds(task: &WorkTask, code: &Map, data: &Map, ballast: Option<&Map>, brake: &mut Brake) -> Result<WorkReport> {
    let load = load(&task.workload);
    let steps = load.steps();
    let mut touches = load.rounds();
    let begin = process::monotonic();
    let (mut reported, mut checksum) = (begin, 0u64);
    let going = WorkReport { phase: Phase::Rounds, ..WorkReport::default() };
    for round in 0..task.workload.rounds {
        let started = process::monotonic();
        checksum = 0;
        for step in 0..steps {
            brake.wait()?;
            for touch in touches.by_ref().take(CodePlusData::TOUCHES_OF_A_STEP) {
                let map = if touch.region == CodePlusData::CODE { code } else { data };
                checksum += u64::from(map.touch_read(index(touch.offset)?)?);
            }
            if step % CLOCK_EVERY == 0 {
                let now = process::monotonic();
                let late = now.saturating_sub(begin) > task.workload.timeout;
                if late || now.saturating_sub(reported) >= REPORT_EVERY {
                    reported = now;
                    let fraction = step as f64 / steps.max(1) as f64;
                    let report = WorkReport { rounds: round, fraction, checksum, held: brake.held, ..going.clone() };
                    if late {
                        let took = Some(now.saturating_sub(begin));
                        return Ok(WorkReport { phase: Phase::Done, timed_out: true, took, ..report });
                    }
                    send(report)?;
                }
            }
        }
        let took = Some(process::monotonic().saturating_sub(started));
        send(WorkReport { rounds: round + 1, checksum, took, ..going.clone() })?;
    }
    let took = Some(process::monotonic().saturating_sub(begin));
    let ballast_resident = ballast.and_then(|map| {
        let pages = u64::try_from(map.len()).ok()? / process::page_size();
        Some(map.resident_pages().ok()? as f64 / pages.max(1) as f64)
    });
    let (rounds, held) = (task.workload.rounds, brake.held);
    Ok(WorkReport { phase: Phase::Done, rounds, checksum, took, held, ballast_resident, ..WorkReport::default() })
}

/// A byte in a mapped file by which the workload is held from outside until reclaim has made room for a zram pool.
struct Brake {
    map: Option<Map>,
    held: Nanos,
}

impl Brake {
    fn new(task: &WorkTask) -> Result<Brake> {
        let Some(path) = &task.hold else { return Ok(Brake { map: None, held: Nanos(0) }) };
        let file = File::open(path).map_err(|error| LabError::file("open", path, error))?;
        let map = Map::file(&file, path)?;
        // One page that must not itself be reclaimed.
        map.lock()?;
        Ok(Brake { map: Some(map), held: Nanos(0) })
    }

    fn wait(&mut self) -> Result<()> {
        let Some(map) = &self.map else { return Ok(()) };
        if map.touch_read(0)? == 0 {
            return Ok(());
        }
        let begin = process::monotonic();
        while map.touch_read(0)? != 0 {
            std::thread::sleep(std::time::Duration::from_micros(200));
        }
        self.held.0 += process::monotonic().0.saturating_sub(begin.0);
        Ok(())
    }
}

fn index(offset: u64) -> Result<usize> {
    usize::try_from(offset)
        .map_err(|_| LabError::Workload(format!("offset {offset} does not fit into this machine's addresses")))
}

/// With time and usage of now.
fn now(report: WorkReport) -> Result<WorkReport> {
    let usage = process::own_usage()?;
    let (user, system, major_faults) = (usage.user, usage.system, usage.majflt);
    Ok(WorkReport { now: process::monotonic(), user, system, major_faults, ..report })
}

fn send(report: WorkReport) -> Result<()> {
    child::report(&now(report)?)
}
