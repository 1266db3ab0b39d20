//! The workload of known-load: this binary again, inside the sandbox. It does the touches of the load and no others.
//!
//! Its own tables, what it fills memory with and what it reads into are made before it is let go, and locked: they are the same in every run, and nothing of
//! them is reclaimed or given back. Made later, 64 pages were in the group while it filled its memory and not in its rounds.

use ramline_trace::generate::{Load, Memory};

use super::load_options;
use crate::limited::report::WorkReport;
use crate::limited::work::{self, Brake, Rounds, Target, now, send};
use crate::params::Params;
use crate::prelude::*;

/// What it is to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadTask {
    /// The parameters of the series: they say the load.
    pub params: Params,
    /// Its seed.
    pub seed: u64,
    /// Contents of anonymous memory.
    pub fill: Fill,
    /// When the clock ends the rounds.
    pub timeout: Nanos,
    /// The files of its regions, in order.
    pub files: Vec<PathBuf>,
    /// A file whose first byte holds the workload while it is not 0.
    pub hold: Option<PathBuf>,
}

/// Does the task.
///
/// # Errors
/// Memory or a file cannot be mapped or read, or the supervisor is gone.
pub fn work(task: Value) -> Result<()> {
    let task: LoadTask = child::task(task)?;
    let load = load_options::load(&task.params, task.seed)?;
    let touches = load.rounds();
    let (mut filler, buffer) = (Filler::new(task.fill, task.seed), work::buffer(&load));
    process::lock_present()?;
    let mut targets = targets(&load, &task.files)?;
    let mut brake = Brake::new(task.hold.as_deref())?;
    child::report_and_wait(&now(WorkReport::default())?)?;
    send(WorkReport { phase: Phase::Map, took: Some(Nanos(0)), ..WorkReport::default() })?;

    let anonymous = targets.iter_mut().filter(|target| target.file.is_none()).map(|target| &mut target.map);
    let total = load.regions().iter().filter(|region| region.memory != Memory::File).map(|region| region.bytes).sum();
    let took = work::fill(anonymous, Bytes(total), &mut filler, &mut brake)?;
    let filled =
        WorkReport { phase: Phase::Fill, fraction: 1.0, took: Some(took), held: brake.held, ..WorkReport::default() };
    send(filled)?;
    let rounds = Rounds { load: &load, touches, fill: task.fill, buffer, timeout: task.timeout };
    let last = rounds.run(&mut targets, &mut brake)?;
    // The last counters are read while the memory is still ours, and what was made at the beginning is still there.
    child::report_and_wait(&now(last)?)?;
    drop(filler);
    Ok(())
}

/// The regions: small pages, or a file with one descriptor and one mapping. Nothing is touched.
fn targets(load: &Load, files: &[PathBuf]) -> Result<Vec<Target>> {
    let mut files = files.iter();
    let few = || LabError::Workload("the load has more files than there are".to_owned());
    let target = |region: &ramline_trace::generate::Region| {
        Ok(match region.memory {
            Memory::File => {
                let path = files.next().ok_or_else(few)?;
                let file = scratch::open(path)?;
                Target { map: Map::file(&file, path)?, file: Some(file) }
            }
            Memory::Anonymous => Target { map: small_pages(Bytes(region.bytes), Sharing::Private)?, file: None },
            Memory::Shared => Target { map: small_pages(Bytes(region.bytes), Sharing::Shared)?, file: None },
        })
    };
    load.regions().iter().map(target).collect()
}
