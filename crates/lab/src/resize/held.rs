//! A group whose limit is ours to change for a while: what was there is in the journal, and with a process that outlives us.

use ramline_kernel::cgroup::{Lowered, Setting};
use ramline_kernel::signals;
use ramline_sandbox::child::keeper::Keeper;

use super::{Subject, Trial};
use crate::prelude::*;
use ramline_act::clean_up;

/// Held until [`Held::end`], or until it is dropped: then everything is put back too.
#[derive(Debug)]
pub struct Held<'a> {
    subject: &'a Subject,
    /// What is put back.
    pub before: Vec<Setting>,
    // In this order: our own undoing comes first, and the other process finds nothing to do.
    run: Run,
    keeper: Keeper,
}

impl<'a> Held<'a> {
    /// From here on its limit may be changed up to `most`.
    ///
    /// # Errors
    /// Something that was left cannot be removed; the group's limit cannot be read.
    pub fn begin(trial: &Trial<'_>, subject: &'a Subject, most: Bytes) -> Result<Held<'a>> {
        clean_up(trial.lock, trial.root)?;
        let mut run = Run::begin(trial.lock, trial.root, trial.crash_after)?;
        // The other process first: a moment between the two would be one in which nothing but the journal knows of it.
        let keeper = Keeper::start(&subject.group, &subject.group.settings()?)?;
        let before = run.hold_limit(&subject.group, most)?;
        Ok(Held { subject, before, run, keeper })
    }

    /// Goes down to where it was, in small steps, before the limit itself is put back.
    pub fn shrink_to(&self, size: Bytes) -> Result<()> {
        let lowered = self.subject.group.lower(size, || !signals::interrupted())?;
        match lowered {
            // The undoing tries again, and says what is left.
            Lowered::Done | Lowered::Stuck(_) => Ok(()),
        }
    }

    /// Puts back what was there.
    ///
    /// # Errors
    /// It cannot be put back, with the command that does.
    pub fn end<T>(self, outcome: Result<T>) -> Result<T> {
        let Held { run, keeper, .. } = self;
        let put_back = run.finish();
        drop(keeper);
        match (outcome, put_back) {
            (outcome, Err(left)) => Err(LabError::CleanUp { left, outcome: outcome.err().map(Box::new) }),
            (Err(_), Ok(())) if signals::interrupted() => Err(LabError::Interrupted),
            (outcome, Ok(())) => outcome,
        }
    }

    /// Leaves the limit as it is now.
    ///
    /// # Errors
    /// That cannot be written down; then it is put back.
    pub fn keep(self) -> Result<()> {
        let Held { subject, before, run, keeper } = self;
        subject.group.unspare(&before)?;
        keeper.release();
        Ok(run.keep()?)
    }
}
