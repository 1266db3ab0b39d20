//! The process that is forked: it fills its memory, forks, and stands still at each stage.

use std::io::{Read, Write, pipe};

use crate::prelude::*;
use ramline_kernel::fork::Fork;

const PAGE: usize = 4096;

/// What it is to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkTask {
    /// Its memory.
    pub size: Bytes,
    /// Copies that end at once.
    pub forks: u64,
    /// Copies that live at once.
    pub together: u64,
    /// Each of these writes to one of so many pages.
    pub every: u64,
    /// In huge pages.
    pub huge: bool,
}

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Nothing yet.
    #[default]
    Start,
    /// Its memory is filled.
    Filled,
    /// The forks one after the other are over.
    Forked,
    /// The copies of the storm have written and stand still.
    Storm,
    /// They have ended, and it has written to its own pages again.
    Written,
}

impl Stage {
    /// What comes next, in the words of a progress line.
    pub const fn next(self) -> &'static str {
        match self {
            Stage::Start => "filling memory",
            Stage::Filled => "forking",
            Stage::Forked => "forking copies that write",
            Stage::Storm => "writing again",
            Stage::Written => "ending",
        }
    }
}

/// What it reports. Times in nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ForkReport {
    /// How far it is.
    pub stage: Stage,
    /// Each fork(2), as the process sees it.
    pub forks_ns: Vec<u64>,
    /// Each fork until its copy had ended.
    pub whole_ns: Vec<u64>,
    /// CPU time of all copies of the storm in the kernel: their writes, nearly all of it.
    pub copies_ns: u64,
    /// Faults of all copies of the storm.
    pub faults: u64,
    /// Writing to each page of its own again.
    pub written_ns: u64,
}

/// Does the task.
///
/// # Errors
/// Memory or processes are refused, or the supervisor is gone.
pub fn hold(task: Value) -> Result<()> {
    let task: ForkTask = child::task(task)?;
    let mut map = Map::anonymous(task.size, Sharing::Private)?;
    map.advise(if task.huge { Advice::HugePages } else { Advice::NoHugePages })?;
    write(&mut map, 1, 1)?;
    let mut report = ForkReport { stage: Stage::Filled, ..ForkReport::default() };
    child::report_and_wait(&report)?;
    for _ in 0..task.forks {
        let begin = process::monotonic();
        let copy = Fork::start(|| true)?;
        report.forks_ns.push(process::monotonic().saturating_sub(begin).0);
        copy.wait()?;
        report.whole_ns.push(process::monotonic().saturating_sub(begin).0);
    }
    report.stage = Stage::Forked;
    child::report_and_wait(&report)?;
    storm(&task, &mut map, &mut report)?;
    let begin = process::monotonic();
    write(&mut map, 1, 3)?;
    report.written_ns = process::monotonic().saturating_sub(begin).0;
    report.stage = Stage::Written;
    child::report_and_wait(&report)
}

/// Copies that write, all at once; they end when they were looked at.
fn storm(task: &ForkTask, map: &mut Map, report: &mut ForkReport) -> Result<()> {
    let failed = |error: std::io::Error| LabError::Workload(format!("a pipe between the copies: {error}"));
    let ((mut done, written), (release, mut go)) = (pipe().map_err(failed)?, pipe().map_err(failed)?);
    let mut copies = Vec::new();
    for _ in 0..task.together {
        copies.push(Fork::start(|| {
            let (mut written, mut release) = (&written, &release);
            // One byte for each copy: all of them hold both ends of both pipes.
            write(map, task.every, 2).is_ok() && written.write_all(&[1]).is_ok() && release.read_exact(&mut [0]).is_ok()
        })?);
    }
    for _ in &copies {
        done.read_exact(&mut [0]).map_err(failed)?;
    }
    report.stage = Stage::Storm;
    child::report_and_wait(report)?;
    for _ in &copies {
        go.write_all(&[1]).map_err(failed)?;
    }
    for copy in copies {
        let (status, usage) = copy.wait()?;
        if !status.success() {
            return Err(LabError::Workload(format!("a copy ended with {status}")));
        }
        report.copies_ns += usage.system.0;
        report.faults += usage.minflt;
    }
    Ok(())
}

/// Writes a byte to one of so many pages.
fn write(map: &mut Map, every: u64, value: u8) -> Result<()> {
    let step = usize::try_from(every).unwrap_or(1).saturating_mul(PAGE).max(PAGE);
    (0..map.len()).step_by(step).try_for_each(|offset| Ok(map.write_at(offset, &[value])?))
}
