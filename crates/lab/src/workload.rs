//! The workload of code-plus-data: the same binary, started again inside the sandbox with a hidden argument.
//!
//! A file stands for program code: mapped read-only and shared. Anonymous memory stands for data. The data is filled
//! first; then round k reads, for i over the code size in steps of 4 KiB, one byte of the code at a pseudo-random
//! multiple of 8 and the data byte k * unit + i * 4096. Neighbouring windows of data overlap by all but one unit.
//! What it is not: trusted with anything: it makes, changes and removes nothing.

use std::fs::File;
use std::io::{BufRead, Write};
use std::process::{Command, ExitCode, Stdio};

use ramline_evidence::Phase;
use ramline_evidence::rng::SplitMix64;
use ramline_kernel::Root;
use ramline_kernel::map::{Advice, Map, Sharing};
use ramline_kernel::process;
use ramline_units::{Bytes, Nanos};
use serde::Serialize;

use crate::command;
use crate::drop_caches;
use crate::eat_memory;
use crate::error::{LabError, Result};
use crate::fileops::work;
use crate::fill::Filler;
use crate::protocol::{Line, Task};
use crate::servant;

/// The hidden subcommand by which the observer starts it.
pub const ARGUMENT: &str = "__workload";

/// Bytes from one step to the next: the experiment counts in 4 KiB on every machine.
const STEP: u64 = 4096;
/// Steps between looks at the clock.
const CLOCK_EVERY: u64 = 32;
/// Time between progress lines.
const REPORT_EVERY: Nanos = Nanos(50_000_000);

/// Does the task that is described, and says how it went.
type Work = fn(&str) -> ExitCode;

/// The kinds of task, and what does them: one line each.
const KINDS: &[(&str, Work)] = &[
    (KIND, |task| told(run(task))),
    (eat_memory::NAME, |task| told(eat_memory::child(task))),
    (drop_caches::NAME, |task| told(drop_caches::child(task))),
    (servant::KIND, servant::main),
    (command::KIND, command::main),
    (work::KIND, work::main),
];
/// The kind that this file does.
pub const KIND: &str = "code-plus-data";

/// A workload to be started: this program, its kind of task and the task; it is talked to through pipes.
///
/// # Errors
/// The task cannot be written down; this program has no path.
pub fn command(kind: &str, task: &impl Serialize) -> Result<Command> {
    let task = serde_json::to_string(task).map_err(|error| LabError::Workload(error.to_string()))?;
    let mut command = Command::new(process::own_exe()?);
    command.args([ARGUMENT, kind, &task]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    Ok(command)
}

/// Runs the workload described by the arguments after the hidden one and reports on standard output.
#[must_use]
pub fn main(args: &[String]) -> ExitCode {
    let [kind, task] = args else {
        return told(Err(LabError::usage("this is for ramline's own use", "ramline lab run code-plus-data")));
    };
    match KINDS.iter().find(|(name, _)| name == kind) {
        Some((_, work)) => work(task),
        None => told(Err(LabError::Workload(format!("there is no kind of task '{}'", kind.escape_debug())))),
    }
}

fn told(outcome: Result<()>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // The observer may be gone; then nobody wants to know.
            drop(send(Line { phase: Phase::Done, error: Some(error.to_string()), ..Line::default() }));
            ExitCode::FAILURE
        }
    }
}

fn run(task: &str) -> Result<()> {
    let task: &Task = &serde_json::from_str(task)
        .map_err(|error| LabError::Workload(format!("the task is not readable: {error}")))?;
    process::die_with_parent(task.observer)?;
    // When the group is out of memory it is this process that must go. Raising needs no privilege; where it is
    // forbidden all the same, the kernel still prefers the largest, which we are.
    drop(process::prefer_oom_kill(&Root::live(), 1000));
    send(Line::default())?;
    if hear()? != "go" {
        return Err(LabError::Workload("the observer went away before the start".to_owned()));
    }
    let file = File::open(&task.code).map_err(|error| LabError::file("open", &task.code, error))?;
    let code = Map::file(&file, &task.code)?;
    // The first toucher pays: this read charges the first window of the file to the sandbox.
    let first = u64::from(code.touch_read(0)?);
    send(Line { phase: Phase::Map, checksum: first, took: Some(Nanos(0)), ..Line::default() })?;

    let ballast = region(task, task.ballast_units)?;
    let Some(data) = region(task, task.data_units)? else {
        return Err(LabError::usage("no data to work on", "ramline lab run code-plus-data --unit 32MiB"));
    };
    let mut brake = Brake::new(task)?;
    let (took, data, ballast) = fill(task, data, ballast, &mut brake)?;
    send(Line { phase: Phase::Fill, fraction: 1.0, took: Some(took), ..Line::default() })?;
    let last = rounds(task, &code, &data, ballast.as_ref(), &mut brake)?;
    send(last)?;
    // The observer reads the last counters while the memory is still ours; end of file ends us as well.
    hear().map(drop)
}

/// One word from the observer; nothing when it is gone.
fn hear() -> Result<String> {
    let mut word = String::new();
    std::io::stdin().lock().read_line(&mut word).map_err(|error| LabError::Workload(error.to_string()))?;
    Ok(word.trim().to_owned())
}

fn units(task: &Task, count: u32) -> Bytes {
    Bytes(task.unit.0.saturating_mul(u64::from(count)))
}

fn region(task: &Task, count: u32) -> Result<Option<Map>> {
    if count == 0 {
        return Ok(None);
    }
    let sharing = if task.shared { Sharing::Shared } else { Sharing::Private };
    let mut map = Map::anonymous(units(task, count), sharing)?;
    map.advise(Advice::NoHugePages)?;
    Ok(Some(map))
}

/// Ballast first, as programs that were there before; then the data.
fn fill(task: &Task, mut data: Map, mut ballast: Option<Map>, brake: &mut Brake) -> Result<(Nanos, Map, Option<Map>)> {
    let begin = process::monotonic();
    let total = units(task, task.data_units + task.ballast_units).as_f64();
    let mut filler = Filler::new(task.fill, task.seed);
    let mut page = vec![0u8; 4096];
    let (mut number, mut reported) = (0u64, begin);
    for map in ballast.iter_mut().chain([&mut data]) {
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
                    send(Line {
                        phase: Phase::Fill,
                        fraction: Bytes(number * STEP).as_f64() / total,
                        ..Line::default()
                    })?;
                }
            }
        }
    }
    Ok((process::monotonic().saturating_sub(begin), data, ballast))
}

fn rounds(task: &Task, code: &Map, data: &Map, ballast: Option<&Map>, brake: &mut Brake) -> Result<Line> {
    let steps = units(task, task.code_units).0 / STEP;
    let slots = units(task, task.code_units).0 / 8;
    let mut rng = SplitMix64::new(task.seed);
    let begin = process::monotonic();
    let (mut reported, mut checksum) = (begin, 0u64);
    for round in 0..task.rounds {
        let started = process::monotonic();
        checksum = 0;
        for step in 0..steps {
            brake.wait()?;
            let at = rng.below(slots) * 8;
            let of_data = u64::from(round) * task.unit.0 + step * STEP;
            checksum += u64::from(code.touch_read(index(at)?)?) + u64::from(data.touch_read(index(of_data)?)?);
            if step % CLOCK_EVERY == 0 {
                let now = process::monotonic();
                let late = now.saturating_sub(begin) > task.timeout;
                if late || now.saturating_sub(reported) >= REPORT_EVERY {
                    reported = now;
                    let fraction = step as f64 / steps.max(1) as f64;
                    let held = brake.held;
                    let line =
                        Line { phase: Phase::Rounds, rounds: round, fraction, checksum, held, ..Line::default() };
                    if late {
                        let took = Some(now.saturating_sub(begin));
                        return Ok(Line { phase: Phase::Done, timed_out: true, took, ..line });
                    }
                    send(line)?;
                }
            }
        }
        let took = Some(process::monotonic().saturating_sub(started));
        send(Line { phase: Phase::Rounds, rounds: round + 1, checksum, took, ..Line::default() })?;
    }
    let took = Some(process::monotonic().saturating_sub(begin));
    let ballast_resident = ballast.and_then(|map| {
        let pages = u64::try_from(map.len()).ok()? / process::page_size();
        Some(map.resident_pages().ok()? as f64 / pages.max(1) as f64)
    });
    let held = brake.held;
    Ok(Line { phase: Phase::Done, rounds: task.rounds, checksum, took, held, ballast_resident, ..Line::default() })
}

/// A byte in a mapped file by which the observer holds the workload until reclaim has made room for a zram pool.
struct Brake {
    map: Option<Map>,
    held: Nanos,
}

impl Brake {
    fn new(task: &Task) -> Result<Brake> {
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

/// One line, with time and usage of now.
fn send(line: Line) -> Result<()> {
    let usage = process::own_usage()?;
    let line =
        Line { now: process::monotonic(), user: usage.user, system: usage.system, major_faults: usage.majflt, ..line };
    let mut out = std::io::stdout().lock();
    out.write_all(line.render().as_bytes())
        .and_then(|()| out.flush())
        .map_err(|_| LabError::Workload("the observer does not listen any more".to_owned()))
}
