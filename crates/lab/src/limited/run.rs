//! One run of a workload in a fresh sandbox, from the limit that is set to the record that is filled.
//!
//! What it is not: what comes before. Files are cold and the machine is quiet when it begins.

use super::pool::PoolKeeper;
use super::watch::Watch;
use super::{Sandbox, Sizes, swaps_to_disk};
use crate::prelude::*;

/// Set-up of a run.
pub struct RunSetup<'a> {
    /// The kind of child that is the workload.
    pub kind: &'a str,
    /// Its group and swap.
    pub sizes: Sizes<'a>,
    /// The files whose pages it must pay for.
    pub files: &'a [PathBuf],
    /// What they are, in a word.
    pub what: &'a str,
    /// They lie on a loop device.
    pub loop_device: bool,
    /// What was verified of the scratch place.
    pub verified: Vec<(String, String)>,
}

impl RunSetup<'_> {
    /// Runs `arm` and fills the record; `task` is given the file by which the workload is held, where it must be. A run that thrashes or is
    /// killed gives a record; only what prevents a run is an error.
    ///
    /// # Errors
    /// Setting up failed, or SIGINT or SIGTERM came. The journal undoes what was made.
    pub fn once<T: Serialize>(
        self,
        task: impl FnOnce(Option<PathBuf>) -> Result<T>,
        arm: &Arm,
        record: &mut RunRecord,
        bench: &mut Bench<'_>,
    ) -> Result<()> {
        let mut sandbox = Sandbox::create(&self.sizes, arm, record.order, bench.run)?;
        (record.verified, record.codec) = (sandbox.verified.clone(), sandbox.codec);
        record.verified.extend(self.verified.iter().cloned());
        bring_program()?;
        record.before = observe::counters(bench.root, &sandbox.base);
        let task = task(sandbox.keeper.as_ref().and(self.sizes.hold).map(Path::to_path_buf))?;
        bench.progress.phase("");
        Watch::start(&sandbox, (self.kind, &task), record, bench)?.follow(bench.progress)?;
        record.pool = sandbox.keeper.take().and_then(PoolKeeper::finish);
        if record.after.is_empty() {
            // It did not come to its last line: the counters are those after its death.
            record.after = observe::counters(bench.root, &sandbox.group.stat()?);
        }
        self.who_paid(record)?;
        let layers = observe::Layers {
            loop_device: self.loop_device,
            swap_on_disk: swaps_to_disk(bench.root, &arm.swap)?,
            page_size: record.machine.page_size,
        };
        conclude(record, layers);
        Ok(())
    }

    /// First-touch charging: pages of the files that are cached now must be charged to the group, or its limit was not one.
    fn who_paid(&self, record: &mut RunRecord) -> Result<()> {
        let what = self.what;
        let pages = self.files.iter().map(|path| scratch::cached(path)).sum::<Result<u64>>()?;
        let cached = Bytes(pages.saturating_mul(process::page_size()));
        let after = |name: &str| Bytes(record.after.get(name).copied().unwrap_or_default());
        let charged = after("group.file_bytes").saturating_sub(after("group.shmem_bytes"));
        record.verified.insert(format!("{what} cached at the end"), cached.to_string());
        record.verified.insert("file pages charged to the group at the end".to_owned(), charged.to_string());
        // Statistics lag by up to 64 pages per CPU.
        let lag = Bytes(u64::from(record.machine.cpus).saturating_mul(64 * record.machine.page_size));
        if charged + lag < cached {
            record.notes.push(format!(
                "only {charged} of {cached} of cached {what} were charged to the sandbox: others paid for the rest"
            ));
        }
        Ok(())
    }
}

/// Brings this program and its libraries into the page cache: a page of them that the workload is the first to need would be charged to its group, and
/// come and go with its files. Where a DAMON scheme had evicted them, 21 of 30 runs had 47 to 82 such pages, and up to twice as many file pages came back.
fn bring_program() -> Result<()> {
    for path in process::own_files()? {
        let copied = File::open(&path).and_then(|mut file| std::io::copy(&mut file, &mut std::io::sink()));
        copied.map_err(|error| LabError::file("read", &path, error))?;
    }
    Ok(())
}

/// What follows from the counters, and what qualifies the run.
fn conclude(record: &mut RunRecord, layers: observe::Layers) {
    let faults = record.reclaim.major_faults;
    record.reclaim = observe::reclaim(record, faults);
    record.reclaim.read_bytes = layers.read(record);
    if let Some(balance) = record.pool.filter(|balance| balance.deviation().is_some_and(|share| share > 0.02)) {
        record.notes.push(format!(
            "limit + pool was between {} and {}, nominal {}: more than 2 % off",
            balance.sum_min, balance.sum_max, balance.nominal
        ));
    }
    observe::note_killed_bystanders(record);
    record.figures = ramline_evidence::work::figures(record);
}
