//! Applying, finishing and undoing a change: record, look, act, look again.

use ramline_kernel::{KernelError, Root, process, signals};
use ramline_plan::{Revert, Step};

use super::perform::{Written, image, perform, reverse};
use super::probe::{StepState, probe};
use super::record::{ChangePhase, FORMAT, Head, HeldStep, Record, StandingChange};
use super::{RecordFile, Standing};
use crate::journal::now_ms;
use crate::{ActError, Result, RunLock};

/// What is asked for, and by whom.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// In a few words.
    pub what: String,
    /// Why, a line each.
    pub why: Vec<String>,
    /// The user.
    pub who: String,
    /// The command.
    pub command: String,
    /// The version of ramline.
    pub version: String,
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// What undoes it, in any boot, unless it is kept.
    pub revert: Option<Revert>,
    /// A timer of this boot alone does.
    pub timed: bool,
}

/// A change that is in force now.
#[derive(Debug)]
pub struct Applied {
    /// Its number.
    pub number: u64,
    /// What was written, in order.
    pub written: Vec<String>,
}

/// A change that was undone.
#[derive(Debug, Default)]
pub struct Undone {
    /// What was done, in order.
    pub written: Vec<String>,
    /// What was left alone and is still there, in words: `file /etc/x.conf: another text`.
    pub left: Vec<String>,
    /// Why the end of it could not be written down: its record still calls it in force.
    pub unrecorded: Option<ActError>,
}

/// What an undo has left alone, and is still in force now or at the next boot: in words.
#[must_use]
pub fn left(root: &Root, change: &StandingChange) -> Vec<String> {
    let held = |step: &usize| change.head.steps.get(*step).filter(|held| held.step.lasts());
    let steps = change.left_alone.keys().filter_map(held);
    steps.filter_map(|held| left_now(root, &held.step)).collect()
}

fn left_now(root: &Root, step: &Step) -> Option<String> {
    match probe(root, step) {
        Ok(StepState::Before | StepState::None) => None,
        Ok(StepState::After | StepState::Half) => Some(format!("{}: as it was made", step.object())),
        Ok(StepState::Other(now)) => Some(format!("{}: {now}", step.object())),
        Err(error) => Some(format!("{}: {}", step.object(), unreadable(&error))),
    }
}

/// Its cause alone: a way out that it names may have nothing to do with a change.
fn unreadable(error: &KernelError) -> String {
    let text = error.to_string();
    format!("not readable ({})", text.lines().next().unwrap_or_default())
}

/// The state of each step of a change, in order; what cannot be looked at is `Other` with the reason, which reads on from "it is".
#[must_use]
pub fn states(root: &Root, change: &StandingChange) -> Vec<StepState> {
    change.head.steps.iter().map(|held| state(root, held)).collect()
}

fn state(root: &Root, held: &HeldStep) -> StepState {
    probe(root, &held.step).unwrap_or_else(|error| StepState::Other(unreadable(&error)))
}

/// What applies and undoes, under the run lock: one at a time.
#[derive(Debug)]
pub struct Transaction<'a> {
    root: &'a Root,
    standing: Standing,
    _lock: &'a RunLock,
    crash_after: Option<u64>,
}

impl<'a> Transaction<'a> {
    /// Begins; `crash_after` is fault injection for tests: the process kills itself after so many records.
    #[must_use]
    pub fn new(lock: &'a RunLock, root: &'a Root, crash_after: Option<u64>) -> Transaction<'a> {
        signals::install();
        Transaction { root, standing: Standing::new(lock.state()), _lock: lock, crash_after }
    }

    /// Makes a change: every step is taken and read back, or all are taken back. `progress` is told each step before it is taken.
    ///
    /// # Errors
    /// [`ActError::Changed`] when an object is neither as the plan saw it nor as it is to be: nothing is done then.
    /// [`ActError::RolledBack`] when a step fails; [`ActError::Interrupted`] after a signal, when what was done is undone.
    pub fn apply(&self, request: Request, progress: &mut dyn FnMut(&str)) -> Result<Applied> {
        let Request { what, why, who, command, version, steps, revert, timed } = request;
        let number = self.standing.next()?;
        let steps = Revert::around(revert.as_ref(), number, steps);
        let mut held = Vec::new();
        let mut changed = Vec::new();
        for (step, until_kept) in steps {
            let state = probe(self.root, &step)?;
            if let StepState::Other(now) = &state {
                changed.push(format!("{} is {now}", step.object()));
            }
            if state == StepState::After && matches!(step, Step::PauseZram { .. }) {
                changed.push(format!("{} is no longer in use as it was", step.object()));
            }
            if state == StepState::Half {
                changed.push(format!("{} is there already, empty", step.object()));
            }
            let image = match &step {
                Step::EditFile { path, before: Some(_), .. }
                | Step::Link { path, before: Some(_), .. }
                | Step::DisableUnit { link: path, .. } => image(self.root, path),
                _ => None,
            };
            held.push(HeldStep { was_so: state == StepState::After, until_kept, image, step });
        }
        if !changed.is_empty() {
            let what = "apply the plan".to_owned();
            return Err(ActError::Changed { what, objects: changed, hint: "ramline tune plan".to_owned() });
        }
        let boot = process::boot_id(self.root)?;
        let time_ms = now_ms();
        let head = Head { format: FORMAT, number, what, why, who, command, version, boot, time_ms, timed, steps: held };
        let mut record = self.standing.begin(&head)?;
        record.crash_after = self.crash_after;
        let mut written = Written::default();
        let steps = &head.steps;
        match self.take(steps, &mut record, &mut written, progress) {
            Ok(()) => {
                record.append(&Record::InForce { time_ms: now_ms() })?;
                Ok(Applied { number: head.number, written: written.0 })
            }
            Err(error) => {
                progress("That failed: what was done is taken back.");
                let undoing = Record::Undoing { time_ms: now_ms(), why: error.to_string() };
                record.note(&undoing);
                let alone = self.take_back(steps, &[], false, &mut record, &mut written, progress)?;
                for held in alone.iter().filter_map(|step| steps.get(*step)) {
                    if let StepState::Other(now) = state(self.root, held) {
                        progress(&format!("Left as it is now: {} is {now}", held.step.object()));
                    }
                }
                if let Some(failed) = record.end(&undoing, &Record::Ended { time_ms: now_ms() }) {
                    progress(&format!("All is as before, which could not be written down: {failed}"));
                }
                Err(match error {
                    ActError::Kernel(cause) => ActError::RolledBack { number: head.number, cause },
                    other => other,
                })
            }
        }
    }

    /// Finishes a change whose apply was interrupted.
    ///
    /// # Errors
    /// As [`Transaction::apply`], but what was done before stays where a step fails.
    pub fn finish(&self, change: &StandingChange, progress: &mut dyn FnMut(&str)) -> Result<Applied> {
        let mut record = self.standing.reopen(change)?;
        record.crash_after = self.crash_after;
        let mut written = Written::default();
        self.take(&change.head.steps, &mut record, &mut written, progress)?;
        record.append(&Record::InForce { time_ms: now_ms() })?;
        Ok(Applied { number: change.head.number, written: written.0 })
    }

    /// Undoes a change, whole or half applied, also one whose undo was interrupted. It needs no room on a disk: what cannot be written down is done all the
    /// same.
    ///
    /// # Errors
    /// [`ActError::Changed`] when somebody else has changed an object since, and `leave_changed` is not asked for: nothing is done then.
    pub fn undo(
        &self,
        change: &StandingChange,
        why: &str,
        leave_changed: bool,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Undone> {
        if !leave_changed {
            // Those alone are looked at: asking for a unit starts a program, which takes long where a knob of the change does harm.
            let ours = change.head.steps.iter().filter(|held| !held.was_so && held.step.lasts());
            let objects: Vec<String> = ours
                .filter_map(|held| match state(self.root, held) {
                    StepState::Other(now) => Some(format!("{} is {now}", held.step.object())),
                    _ => None,
                })
                .collect();
            if !objects.is_empty() {
                let number = change.head.number;
                let hint = format!("ramline tune diff {number}; ramline tune undo {number} --leave-changed");
                return Err(ActError::Changed { what: format!("undo change {number}"), objects, hint });
            }
        }
        let mut record = self.standing.reopen(change)?;
        record.crash_after = self.crash_after;
        let undoing = Record::Undoing { time_ms: now_ms(), why: why.to_owned() };
        if change.phase != ChangePhase::Undoing {
            record.note(&undoing);
        }
        let mut written = Written::default();
        let alone = self.take_back(&change.head.steps, &change.undone, false, &mut record, &mut written, progress)?;
        let unrecorded = record.end(&undoing, &Record::Ended { time_ms: now_ms() });
        let steps = alone.iter().filter_map(|step| change.head.steps.get(*step)).filter(|held| held.step.lasts());
        let left = steps.filter_map(|held| left_now(self.root, &held.step)).collect();
        Ok(Undone { written: written.0, left, unrecorded })
    }

    /// Notes that a change is wanted, so that its timer leaves it in force, and takes the timer away.
    ///
    /// # Errors
    /// When it cannot be written down, or the timer cannot be taken away, which then does nothing.
    pub fn confirm(&self, change: &StandingChange, progress: &mut dyn FnMut(&str)) -> Result<()> {
        let mut record = self.standing.reopen(change)?;
        record.crash_after = self.crash_after;
        record.append(&Record::Confirmed { time_ms: now_ms() })?;
        let mut written = Written::default();
        self.take_back(&change.head.steps, &change.undone, true, &mut record, &mut written, progress).map(|_| ())
    }

    fn take(
        &self,
        steps: &[HeldStep],
        record: &mut RecordFile,
        written: &mut Written,
        progress: &mut dyn FnMut(&str),
    ) -> Result<()> {
        for (number, held) in steps.iter().enumerate() {
            if let Some(signal) = signals::received() {
                return Err(ActError::Interrupted { signal });
            }
            match probe(self.root, &held.step)? {
                StepState::After => continue,
                StepState::Other(now) => return Err(changed_meanwhile(&held.step, &now).into()),
                StepState::Before | StepState::Half | StepState::None => {}
            }
            progress(&held.step.line());
            record.append(&Record::Begun { step: number })?;
            if is_idle(&held.step, steps.iter().take(number).rev()) {
                written.0.push(held.step.line());
            } else {
                perform(self.root, &held.step, written)?;
            }
            self.read_back(&held.step)?;
            record.append(&Record::Done { step: number })?;
        }
        Ok(())
    }

    /// What counts is what is there, not what was asked for.
    fn read_back(&self, step: &Step) -> Result<()> {
        let asks_the_machine = !matches!(
            step,
            Step::EditFile { .. }
                | Step::Link { .. }
                | Step::MakeDirectory { .. }
                | Step::SetKnob { .. }
                | Step::MakeSwapFile { .. }
        );
        if asks_the_machine && !self.root.is_live() {
            return Ok(());
        }
        match probe(self.root, step)? {
            StepState::After | StepState::None => Ok(()),
            StepState::Before | StepState::Half => {
                let rule = "it must be in force when it is read back";
                Err(KernelError::refused("apply", step.object(), rule, step.line()).into())
            }
            StepState::Other(now) => Err(changed_meanwhile(step, &now).into()),
        }
    }

    /// All steps from the last to the first; one that fails keeps the others from nothing, and all errors are returned at the end. Otherwise the steps that
    /// were left alone.
    fn take_back(
        &self,
        steps: &[HeldStep],
        undone: &[usize],
        only_until_kept: bool,
        record: &mut RecordFile,
        written: &mut Written,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Vec<usize>> {
        let (mut errors, mut alone) = (Vec::new(), Vec::new());
        for (number, held) in steps.iter().enumerate().rev() {
            // What only reads again is done each time: an interrupted undo may not have come to it.
            let again = matches!(held.step, Step::ReloadUnits | Step::ReloadRules);
            // What does not last is back after a reboot, made by the files that were still there.
            let is_back = || !held.step.lasts() && matches!(probe(self.root, &held.step), Ok(StepState::After));
            if held.was_so
                || (undone.contains(&number) && !again && !is_back())
                || (only_until_kept && !held.until_kept)
            {
                continue;
            }
            match probe(self.root, &held.step) {
                Ok(StepState::Before) => {}
                Ok(StepState::Other(reason)) => {
                    record.note(&Record::LeftAlone { step: number, reason });
                    alone.push(number);
                    continue;
                }
                Ok(StepState::After | StepState::Half | StepState::None) => {
                    if let Some(line) = held.step.undo_line() {
                        progress(&line);
                    }
                    record.note(&Record::Begun { step: number });
                    if is_idle(&held.step, steps.iter().skip(number + 1)) {
                        written.0.extend(held.step.undo_line());
                    } else if let Err(error) = reverse(self.root, &held.step, held.image, written) {
                        errors.push(error);
                        continue;
                    }
                }
                Err(error) => {
                    errors.push(error);
                    continue;
                }
            }
            record.note(&Record::Undone { step: number });
        }
        if errors.is_empty() { Ok(alone) } else { Err(ActError::UndoChange { number: record.number, errors }) }
    }
}

/// Reading files again changes nothing where none was written since the last time. Such a step stands on both sides of what it is for, and one of the two
/// has nothing to do: `before` are the steps that come before it in this direction, the nearest first.
pub(super) fn is_idle<'a>(step: &Step, before: impl Iterator<Item = &'a HeldStep>) -> bool {
    let writes = |step: &Step| {
        matches!(
            step,
            Step::EditFile { .. } | Step::Link { .. } | Step::DisableUnit { .. } | Step::MakeDirectory { .. }
        )
    };
    matches!(step, Step::ReloadUnits | Step::ReloadRules)
        && !before.take_while(|held| held.step != *step).any(|held| writes(&held.step))
}

fn changed_meanwhile(step: &Step, now: &str) -> KernelError {
    KernelError::refused(
        "go on with",
        step.object(),
        "it must not change while the plan is applied",
        format!("it is {now}"),
    )
    .hint("ramline tune status")
}
