//! One run of one arm: cold code, a fresh sandbox, the workload, the record.
//!
//! [`crate::experiments::code_plus_data`] orders runs and keeps what they share.

use super::code_file::Scratch;
use super::plan::{CodePlusDataPlan, Ground};
use super::report::WorkTask;
use crate::limited::Sizes;
use crate::limited::run::RunSetup;
use crate::prelude::*;

/// What all runs share.
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
        let (settings, scratch) = (&self.plan.settings, self.scratch);
        record.workload = settings.workload(arm);
        bench.progress.phase("waiting for a quiet moment");
        record.notes.extend(requirements::settle(bench.root, settings.settle, bench.run)?);
        bench.progress.phase("evicting the code, making the sandbox");
        scratch.set_read_ahead(settings.read_ahead(arm), bench.run)?;
        scratch::evict(&scratch.code)?;
        let one = RunSetup {
            kind: super::NAME,
            sizes: self.sizes(arm),
            files: std::slice::from_ref(&scratch.code),
            what: "code",
            loop_device: self.plan.ground == Ground::OwnFs,
            verified: scratch.verified(),
        };
        one.once(|hold| Ok(WorkTask { hold, ..settings.task(arm, scratch.code.clone())? }), arm, record, bench)
    }

    fn sizes(&self, arm: &Arm) -> Sizes<'_> {
        let settings = &self.plan.settings;
        Sizes {
            hierarchy: &self.plan.hierarchy,
            limit: settings.limit(),
            zram: settings.zram_size(&arm.swap),
            swap_file: Some((self.scratch.dir.join("swap"), settings.swap_size())),
            hold: Some(&self.scratch.hold),
        }
    }
}
