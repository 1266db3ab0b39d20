//! One run of one arm: cold code, a fresh sandbox, the workload, the record.
//!
//! [`crate::experiments::code_plus_data`] orders runs and keeps what they share.

use ramline_evidence::{Arm, RunRecord};
use ramline_units::Bytes;

use super::code_file::Scratch;
use super::plan::{CodePlusDataPlan, Ground};
use super::pool::PoolKeeper;
use super::report::WorkTask;
use super::sandbox::{self, Sandbox};
use super::watch::Watch;
use crate::experiment::Bench;
use ramline_sandbox::error::Result;
use ramline_sandbox::{observe, requirements};

/// What all runs share.
#[derive(Debug)]
pub struct Runner<'a> {
    /// What is to be done.
    pub plan: &'a CodePlusDataPlan,
    /// Where the code is.
    pub scratch: &'a Scratch,
}

impl Runner<'_> {
    /// Runs `arm` once and fills the record. A run that thrashes or is killed gives a record; only what prevents a run is an
    /// error.
    ///
    /// # Errors
    /// Setting up failed, or SIGINT or SIGTERM came. The journal undoes what was made.
    pub fn once(&self, arm: &Arm, record: &mut RunRecord, bench: &mut Bench<'_>) -> Result<()> {
        let Bench { root, run, progress, deadline } = bench;
        record.workload = self.plan.settings.workload(arm);
        progress.phase("waiting for a quiet moment");
        record.notes.extend(requirements::settle(root, self.plan.settings.settle, run)?);
        progress.phase("evicting the code, making the sandbox");
        self.scratch.set_read_ahead(self.plan.settings.read_ahead(arm), run)?;
        self.scratch.evict_code()?;
        let mut sandbox = Sandbox::create(root, self.plan, self.scratch, arm, record.order, run)?;
        record.verified = sandbox.verified.clone();
        record.before = observe::counters(root, &sandbox.base);
        let task = self.task(arm, sandbox.keeper.is_some())?;
        progress.phase("");
        Watch::start(root, &sandbox, &task, *deadline, run, record)?.follow(*progress)?;
        record.pool = sandbox.keeper.take().and_then(PoolKeeper::finish);
        if record.after.is_empty() {
            // It did not come to its last line: the counters are those after its death.
            record.after = observe::counters(root, &sandbox.group.stat()?);
        }
        self.who_paid(record)?;
        let layers = observe::Layers {
            loop_device: self.plan.ground == Ground::OwnFs,
            swap_on_disk: sandbox::swaps_to_disk(root, &arm.swap)?,
            page_size: record.machine.page_size,
        };
        conclude(record, layers);
        Ok(())
    }

    fn task(&self, arm: &Arm, held: bool) -> Result<WorkTask> {
        let hold = held.then(|| self.scratch.hold().to_owned());
        let (settings, code) = (&self.plan.settings, self.scratch.code().to_owned());
        Ok(WorkTask { hold, ..settings.task(arm, code)? })
    }

    /// First-touch charging: pages of the code that are cached now must be charged to the group, or its limit was not one.
    fn who_paid(&self, record: &mut RunRecord) -> Result<()> {
        let cached = self.scratch.code_cached()?;
        let after = |name: &str| Bytes(record.after.get(name).copied().unwrap_or_default());
        let charged = after("group.file_bytes").saturating_sub(after("group.shmem_bytes"));
        record.verified.insert("code cached at the end".to_owned(), cached.to_string());
        record.verified.insert("file pages charged to the group at the end".to_owned(), charged.to_string());
        // Statistics lag by up to 64 pages per CPU.
        let lag = Bytes(u64::from(record.machine.cpus).saturating_mul(64 * record.machine.page_size));
        if charged + lag < cached {
            record.notes.push(format!(
                "only {charged} of {cached} of cached code were charged to the sandbox: others paid for the rest"
            ));
        }
        Ok(())
    }
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
