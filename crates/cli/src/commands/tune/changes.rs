//! `ramline tune status`, `diff`, `history`, `undo`, `finish` and `keep`: what is in force, and the way back.

use ramline_act::StateDir;
use ramline_act::standing::{ChangePhase, Standing, StandingChange, StepState, Transaction, states, text};
use ramline_evidence::{ChangeList, ChangeReport, ChangeState, StepReport, StepStands};
use ramline_kernel::stdio;
use ramline_plan::Step;
use ramline_view::changes::history;

use super::verify::found;
use crate::prelude::*;

/// Show what ramline has left in force, what of it is as made, and what was interrupted
#[derive(Debug, Args)]
pub struct Status {
    /// Everything: each step, why, and the command that asked for it
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    format: Format,
}

/// Show every change there ever was, who asked for it, and how it ended
#[derive(Debug, Args)]
pub struct History {
    #[command(flatten)]
    format: Format,
}

/// Show the lines of files that a change has changed, and what has become of them since
#[derive(Debug, Args)]
pub struct Diff {
    /// The change; the last one in force when left out
    number: Option<u64>,
}

/// Undo a change and all later ones, the last first
#[derive(Debug, Args)]
pub struct Undo {
    /// The change to go back to before; the last one in force when left out
    number: Option<u64>,
    /// Leave alone what somebody else has changed since, and undo the rest
    #[arg(long)]
    leave_changed: bool,
    /// Without asking
    #[arg(long)]
    yes: bool,
    /// Only where it was not kept with `ramline tune keep`: what the timer of --revert-after runs
    #[arg(long, hide = true)]
    unless_kept: bool,
    /// After this time
    #[arg(long, hide = true, value_parser = duration::parse)]
    after: Option<Duration>,
}

/// Finish a change whose apply was interrupted
#[derive(Debug, Args)]
pub struct Finish {
    /// The change; the interrupted one when left out
    number: Option<u64>,
}

/// Keep a change that was applied with --revert-after
#[derive(Debug, Args)]
pub struct Keep {
    /// The change; the last one when left out
    number: Option<u64>,
}

/// All changes of this user's state directory.
fn all() -> Result<(Vec<StandingChange>, Vec<String>)> {
    let Some(state) = StateDir::open_existing(&state::path()?)? else { return Ok(Default::default()) };
    let (changes, unreadable) = Standing::of(&state).list()?;
    Ok((changes, unreadable.into_iter().map(|record| record.error.to_string()).collect()))
}

/// All changes as they are looked at now, with what was found of them at each boot.
pub fn list(root: &Root) -> Result<ChangeList> {
    let (changes, unreadable) = all()?;
    let boot = process::boot_id(root).unwrap_or_default();
    let seen =
        StateDir::open_existing(&state::path()?)?.map_or(Ok(Vec::new()), |state| ramline_act::boots::read(&state))?;
    let with_boots = |change: &StandingChange| ChangeReport {
        boots: found(&seen, change.head.number, &change.head.boot),
        ..report(root, change, &boot)
    };
    let changes = changes.iter().map(with_boots).collect();
    Ok(ChangeList { changes, unreadable })
}

fn report(root: &Root, change: &StandingChange, boot: &str) -> ChangeReport {
    let head = &change.head;
    let steps: Vec<StepReport> = head
        .steps
        .iter()
        .zip(states(root, change))
        // Of a kept change the timer is gone, as it should be.
        .filter(|(held, _)| !(held.until_kept && change.confirmed))
        .map(|(held, state)| {
            let (stands, now) = match state {
                _ if held.was_so => (StepStands::WasSo, None),
                StepState::After => (StepStands::After, None),
                StepState::Before => (StepStands::Before, None),
                StepState::None => (StepStands::Stateless, None),
                StepState::Half => (StepStands::Changed, Some("half made".to_owned())),
                StepState::Other(now) => (StepStands::Changed, Some(now)),
            };
            StepReport { step: held.step.line(), stands, now, lasts: held.step.lasts() }
        })
        .collect();
    let state = match change.phase {
        ChangePhase::Applying => ChangeState::HalfApplied,
        ChangePhase::Undoing => ChangeState::HalfUndone,
        ChangePhase::Undone => ChangeState::Undone,
        ChangePhase::InForce => ChangeReport::state_of(&steps),
    };
    ChangeReport {
        number: head.number,
        what: head.what.clone(),
        why: head.why.clone(),
        who: head.who.clone(),
        command: head.command.clone(),
        applied_ms: head.time_ms,
        changed_ms: change.time_ms,
        rebooted: head.boot != boot,
        undone_why: change.undone_why.clone(),
        state,
        steps,
        boots: Vec::new(),
    }
}

impl Status {
    /// Runs the command.
    ///
    /// # Errors
    /// The state directory cannot be used.
    pub fn run(&self) -> Result<u8> {
        let list = list(&Root::live())?;
        let depth = if self.all { Depth::All } else { Depth::Brief };
        self.format.print(&Versioned::new(&list), |style| list.sheet().text(style, depth))?;
        Ok(exit::DONE)
    }
}

impl History {
    /// Runs the command.
    ///
    /// # Errors
    /// The state directory cannot be used.
    pub fn run(&self) -> Result<u8> {
        let list = list(&Root::live())?;
        self.format.print(&Versioned::new(&list), |style| history(&list).text(style, Depth::All))?;
        Ok(exit::DONE)
    }
}

/// The change that is meant, of those that `may` be.
fn meant(number: Option<u64>, what: &str, may: impl Fn(&StandingChange) -> bool) -> Result<StandingChange> {
    let (changes, unreadable) = all()?;
    if let Some(record) = unreadable.first() {
        return Err(Failure::refused(record.clone()).into());
    }
    let found = match number {
        Some(number) => changes.into_iter().find(|change| change.head.number == number && may(change)),
        None => changes.into_iter().rev().find(may),
    };
    let named = number.map_or("no change".to_owned(), |number| format!("no change {number}"));
    found.ok_or_else(|| Failure::usage(format!("there is {named} to {what}\n  try: ramline tune history")).into())
}

impl Diff {
    /// Runs the command.
    ///
    /// # Errors
    /// There is no such change.
    pub fn run(&self) -> Result<u8> {
        let change = meant(self.number, "show", |_| true)?;
        let root = Root::live();
        let mut out = String::new();
        for held in &change.head.steps {
            let Step::EditFile { path, before, after } = &held.step else {
                out += &format!("{}\n", held.step.line());
                continue;
            };
            let now = text(&root, path)?;
            out += &lines(&format!("{path}: change {}", change.head.number), before.as_deref(), after.as_deref());
            if now != *after && change.stands() {
                out += &lines(&format!("{path}: since then"), after.as_deref(), now.as_deref());
            }
        }
        output::text(&out)?;
        Ok(exit::DONE)
    }
}

/// What is taken away and what is added, in order, without what is common before and behind it.
fn lines(title: &str, before: Option<&str>, after: Option<&str>) -> String {
    let split = |text: Option<&str>| text.unwrap_or_default().lines().map(str::to_owned).collect::<Vec<_>>();
    let (old, new) = (split(before), split(after));
    let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(|(a, b)| a == b).count();
    let gone = old[head..old.len() - tail].iter().map(|line| format!("-{line}\n"));
    let added = new[head..new.len() - tail].iter().map(|line| format!("+{line}\n"));
    format!("{title}\n{}", gone.chain(added).collect::<String>())
}

impl Undo {
    /// Runs the command.
    ///
    /// # Errors
    /// There is nothing to undo, somebody else has changed what would be put back, or a step cannot be undone.
    pub fn run(&self) -> Result<u8> {
        if let Some(after) = self.after {
            std::thread::sleep(after);
        }
        let root = Root::live();
        let waited = self.unless_kept.then(|| patient_lock(&root)).transpose()?;
        // What the guard or a person has undone meanwhile is no error of the timer's.
        let wanted = |change: &StandingChange| change.stands() && !change.confirmed;
        if self.unless_kept && !all()?.0.iter().any(|change| Some(change.head.number) == self.number && wanted(change))
        {
            self.clean_up_kept(&root, waited.as_ref())?;
            return Ok(exit::DONE);
        }
        let to = meant(self.number, "undo", StandingChange::stands)?;
        let (mut changes, _) = all()?;
        changes.retain(|change| change.stands() && change.head.number >= to.head.number);
        let what: Vec<String> = changes
            .iter()
            .rev()
            .map(|change| format!("undo change {}: {}", change.head.number, change.head.what))
            .collect();
        if !self.yes && !consent::agreed("This takes back:", &what, "Undo it?")? {
            return Err(Failure::refused("nothing was undone: nobody said yes\n  try: ramline tune undo --yes").into());
        }
        let why = if self.unless_kept { "it was not kept in time" } else { "asked for" };
        let lock = waited.map_or_else(|| state::lock(&root), Ok)?;
        // Read again: a timer may have undone some of it before the lock was ours.
        changes = all()?.0;
        changes.retain(|change| change.stands() && change.head.number >= to.head.number);
        let transaction = Transaction::new(&lock, &root, state::crash_after());
        for change in changes.iter().rev() {
            transaction.undo(change, why, self.leave_changed, &mut |line| stdio::tell(line))?;
            stdio::tell(&format!("Change {} is undone.", change.head.number));
        }
        Ok(exit::DONE)
    }

    /// A power cut in the middle of `tune keep` leaves the units of the timer: they go when it fires.
    fn clean_up_kept(&self, root: &Root, lock: Option<&ramline_act::RunLock>) -> Result<()> {
        let kept = |change: &StandingChange| {
            Some(change.head.number) == self.number && change.phase == ChangePhase::InForce && change.confirmed
        };
        if let (Some(lock), Some(change)) = (lock, all()?.0.iter().find(|change| kept(change))) {
            Transaction::new(lock, root, state::crash_after()).confirm(change, &mut |line| stdio::tell(line))?;
        }
        Ok(())
    }
}

/// The timer asks once, so it waits for another ramline to end.
fn patient_lock(root: &Root) -> Result<ramline_act::RunLock> {
    const LONGEST: u32 = 3600;
    for _ in 1..LONGEST {
        if let Ok(lock) = state::lock(root) {
            return Ok(lock);
        }
        std::thread::sleep(Duration::from_secs(1));
    }
    state::lock(root)
}

impl Finish {
    /// Runs the command.
    ///
    /// # Errors
    /// There is no interrupted change, or a step cannot be taken.
    pub fn run(&self) -> Result<u8> {
        let root = Root::live();
        let lock = state::lock(&root)?;
        let change = meant(self.number, "finish", |change| change.phase == ChangePhase::Applying)?;
        let transaction = Transaction::new(&lock, &root, state::crash_after());
        let done = transaction.finish(&change, &mut |line| stdio::tell(line))?;
        stdio::tell(&format!("Change {} is in force.", done.number));
        if is_pending(&change) {
            stdio::tell(&format!("Its timer undoes it unless it is kept: ramline tune keep {}", done.number));
        }
        Ok(exit::DONE)
    }
}

impl Keep {
    /// Runs the command.
    ///
    /// # Errors
    /// There is no change in force.
    pub fn run(&self) -> Result<u8> {
        let root = Root::live();
        let lock = state::lock(&root)?;
        let change = meant(self.number, "keep", |change| change.phase == ChangePhase::InForce)?;
        Transaction::new(&lock, &root, state::crash_after()).confirm(&change, &mut |line| stdio::tell(line))?;
        stdio::tell(&format!("Change {} is kept.", change.head.number));
        Ok(exit::DONE)
    }
}

/// A timer undoes it unless it is kept.
fn is_pending(change: &StandingChange) -> bool {
    !change.confirmed && change.head.steps.iter().any(|held| held.until_kept)
}

/// What an interrupted change asks for, and one that waits to be kept, before anything new is done: its undo would take back what came later too.
pub fn refuse_half_done() -> Result<()> {
    let half = |change: &StandingChange| matches!(change.phase, ChangePhase::Applying | ChangePhase::Undoing);
    let changes = all()?.0;
    if let Some(pending) = changes.iter().find(|change| change.phase == ChangePhase::InForce && is_pending(change)) {
        let number = pending.head.number;
        let text = format!(
            "change {number} waits to be kept or undone, and its undo would take back later ones as well\n  try: ramline tune keep {number}"
        );
        return Err(Failure::refused(text).into());
    }
    match changes.into_iter().find(half) {
        None => Ok(()),
        Some(change) => {
            let number = change.head.number;
            let text = format!(
                "change {number} was interrupted, and is neither in force nor undone\n  try: ramline tune undo {number}"
            );
            Err(Failure::refused(text).into())
        }
    }
}
