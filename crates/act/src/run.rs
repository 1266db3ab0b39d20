//! A run: steps taken one by one, each announced in the journal, all undone at the end, whatever the end is.
//!
//! What it is not: parallel. Steps are taken by the thread that holds the run; children tied to it die with that thread.

use ramline_kernel::{KernelError, Root, signals};

use crate::journal::{self, Journal, Pending, Phase};
use crate::undo::{Context, Outcome, undo};
use crate::{ActError, Result, RunLock, StateDir, Step};

/// A run in progress. Dropping it undoes everything, as [`Run::finish`] does; what cannot be undone is then named on
/// stderr and stays in the journal.
#[derive(Debug)]
pub struct Run {
    root: Root,
    state: StateDir,
    journal: Journal,
    pending: Vec<Pending>,
    next: u64,
    // Held until the last step is undone, or let go before.
    lock: Option<RunLock>,
    // Dropped last: until then a repeated signal waits.
    _to_put_back: signals::ToPutBack,
}

/// A point in a run to go back to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark(u64);

impl Run {
    /// Starts a run under the lock and installs the handlers of SIGINT and SIGTERM. `crash_after` is fault injection for
    /// tests: the process kills itself after so many journal records.
    ///
    /// # Errors
    /// When the journal cannot be made.
    pub fn begin(lock: &RunLock, root: &Root, crash_after: Option<u64>) -> Result<Run> {
        signals::install();
        journal::prune(lock.state())?;
        let journal = Journal::create(lock.state(), lock.owner(), crash_after)?;
        let (root, state, lock) = (root.clone(), lock.state().clone(), Some(lock.clone()));
        let to_put_back = signals::ToPutBack::begins();
        Ok(Run { root, state, journal, pending: Vec::new(), next: 0, lock, _to_put_back: to_put_back })
    }

    /// The root the run works on.
    #[must_use]
    pub fn root(&self) -> &Root {
        &self.root
    }

    /// The state directory: ours alone, so that names in it need not be random.
    pub(crate) const fn state(&self) -> &StateDir {
        &self.state
    }

    /// Lets other runs begin while this one goes on: for one that lasts and disturbs no measurement. Its steps stay its own, as its
    /// journal is locked and its owner alive.
    pub fn let_others_run(&mut self) {
        self.lock = None;
    }

    /// The name of the run.
    #[must_use]
    pub fn id(&self) -> &str {
        self.journal.run()
    }

    /// How many journal records the run has written so far.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.journal.records()
    }

    /// Takes one step: announced, done, noted. When `effect` fails, whatever it left is removed.
    ///
    /// # Errors
    /// The effect's; [`ActError::Interrupted`] when a signal came before; the journal's, and then nothing was done.
    pub fn perform<T>(&mut self, step: Step, effect: impl FnOnce() -> ramline_kernel::Result<T>) -> Result<T> {
        let done = step.clone();
        self.perform_learning(step, || effect().map(|value| (value, done)))
    }

    /// The same for a step whose identity is known only afterwards: `effect` returns the completed step too.
    ///
    /// # Errors
    /// As [`Run::perform`].
    pub fn perform_learning<T>(
        &mut self,
        step: Step,
        effect: impl FnOnce() -> ramline_kernel::Result<(T, Step)>,
    ) -> Result<T> {
        self.check_interrupted()?;
        let number = self.next;
        self.next += 1;
        let intended_ms = self.journal.append(number, &step, Phase::Intend, None)?;
        // From here on it is pending, also if the next line panics.
        self.pending.push(Pending { number, step, intended_ms });
        match effect() {
            Ok((value, done)) => {
                if let Some(last) = self.pending.last_mut() {
                    last.step = done.clone();
                }
                self.journal.append(number, &done, Phase::Done, None)?;
                Ok(value)
            }
            Err(error) => {
                // The first error is the one to report; a failing clean-up stays pending and is reported at the end.
                drop(self.undo_last(Some(&error.to_string())));
                Err(error.into())
            }
        }
    }

    /// An error when SIGINT or SIGTERM has come; for loops between steps.
    ///
    /// # Errors
    /// [`ActError::Interrupted`].
    pub fn check_interrupted(&self) -> Result<()> {
        match signals::received() {
            Some(signal) => Err(ActError::Interrupted { signal }),
            None => Ok(()),
        }
    }

    /// True when a pending step of this run satisfies `what`.
    pub(crate) fn has(&self, what: impl Fn(&Step) -> bool) -> bool {
        self.pending.iter().any(|pending| what(&pending.step))
    }

    /// The point to which [`Run::undo_to`] goes back.
    #[must_use]
    pub fn mark(&self) -> Mark {
        Mark(self.next)
    }

    /// Undoes, in reverse, all steps taken since `mark`: one arm of an experiment.
    ///
    /// # Errors
    /// [`ActError::Undo`] with all errors; what failed stays pending.
    pub fn undo_to(&mut self, mark: Mark) -> Result<()> {
        let mut errors = Vec::new();
        let mut kept = Vec::new();
        while self.pending.last().is_some_and(|pending| pending.number >= mark.0) {
            if let Err(error) = self.undo_last(None) {
                errors.push(error);
                // Tried, and passed over: the steps before it are undone all the same.
                kept.extend(self.pending.pop());
            }
        }
        self.pending.extend(kept.into_iter().rev());
        if errors.is_empty() { Ok(()) } else { Err(ActError::Undo { errors }) }
    }

    /// Ends the run without undoing anything: one record, after which all of it stays.
    ///
    /// # Errors
    /// When that cannot be written down; then everything is undone.
    pub fn keep(mut self) -> Result<()> {
        if let Some(last) = self.pending.last() {
            let (number, step) = (last.number, last.step.clone());
            self.journal.append(number, &step, Phase::Kept, None)?;
            self.pending.clear();
        }
        Ok(())
    }

    /// Undoes everything in reverse and ends the run.
    ///
    /// # Errors
    /// [`ActError::Undo`] with all errors; the journal keeps what is left for the next recovery.
    pub fn finish(mut self) -> Result<()> {
        let result = self.undo_all();
        // Tried and reported: dropping must not try and report again.
        self.pending.clear();
        result
    }

    fn undo_all(&mut self) -> Result<()> {
        self.undo_to(Mark(0))?;
        self.journal.end();
        Ok(())
    }

    /// Undoes the last pending step; it stays pending when that fails.
    fn undo_last(&mut self, why: Option<&str>) -> std::result::Result<(), KernelError> {
        let Some(last) = self.pending.last() else { return Ok(()) };
        let context = Context { root: &self.root, same_boot: true, intended_ms: last.intended_ms };
        let outcome = undo(&last.step, context)?;
        let note = match &outcome {
            Outcome::LeftAlone(reason) => Some(reason.as_str()),
            Outcome::Removed | Outcome::AlreadyGone => why,
        };
        let written = self.journal.append(last.number, &last.step, Phase::Undone, note);
        // Undone is undone, even when it cannot be written down: the next recovery will find it gone.
        self.pending.pop();
        match written {
            Err(ActError::Kernel(error)) => Err(error),
            _ => Ok(()),
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        if let Err(error) = self.undo_all() {
            // Nobody is left to return it to.
            ramline_kernel::stdio::tell(&format!("ramline: {error}"));
        }
    }
}
