//! `ramline tune status`, `diff` and `history`: what is in force, and what became of it.

use ramline_act::StateDir;
use ramline_act::standing::{ChangePhase, Standing, StandingChange, StepState, left, states, text};
use ramline_evidence::{ChangeList, ChangeReport, ChangeState, StepReport, StepStands};
use ramline_plan::Step;
use ramline_view::changes::history;

use super::verify::found;
use crate::prelude::*;

/// Show what is in force, what others have changed since, and what was interrupted
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

/// Show the lines of files that a change has changed, and how they are now
#[derive(Debug, Args)]
pub struct Diff {
    /// The change; the last one in force when left out
    number: Option<u64>,
}

/// All changes of this user's state directory.
pub fn all() -> Result<(Vec<StandingChange>, Vec<String>)> {
    let Some(state) = StateDir::open_existing(&state::path()?)? else { return Ok(Default::default()) };
    let (changes, unreadable) = Standing::new(&state).list()?;
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
        left: if change.phase == ChangePhase::Undone { left(root, change) } else { Vec::new() },
        boots: Vec::new(),
    }
}

/// Refuses where root has records: an ordinary user has a state directory of its own, which says nothing of what root has changed.
pub fn must_see_roots(command: &str) -> Result<()> {
    let is_roots = std::env::var_os("RAMLINE_STATE_DIR").is_none()
        && StateDir::default_path(0, None, None).is_some_and(|dir| dir.exists());
    if is_roots { whom::must_be_root(command, "the records of changes are root's") } else { Ok(()) }
}

impl Status {
    /// Runs the command.
    ///
    /// # Errors
    /// The state directory cannot be used.
    pub fn run(&self) -> Result<u8> {
        must_see_roots("tune status")?;
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
        must_see_roots("tune history")?;
        let list = list(&Root::live())?;
        self.format.print(&Versioned::new(&list), |style| history(&list).text(style, Depth::All))?;
        Ok(exit::DONE)
    }
}

/// The change that is meant, of those that `may` be. A record beside it that cannot be read is named and keeps no change from its way back: what such a
/// record changed on top of this one is found where it was changed.
pub fn meant(number: Option<u64>, what: &str, may: impl Fn(&StandingChange) -> bool) -> Result<StandingChange> {
    let (changes, unreadable) = all()?;
    unreadable.iter().for_each(|record| left_out(record));
    let found = match number {
        Some(number) => changes.into_iter().find(|change| change.head.number == number && may(change)),
        None => changes.into_iter().rev().find(may),
    };
    let named = number.map_or("no change".to_owned(), |number| format!("no change {number}"));
    found.ok_or_else(|| Failure::usage(format!("there is {named} to {what}\n  try: ramline tune history")).into())
}

/// Says that a record is left out.
pub fn left_out(record: &str) {
    stdio::tell(&format!("A record is left out, and what it stands for is not known: {record}"));
}

impl Diff {
    /// Runs the command.
    ///
    /// # Errors
    /// There is no such change.
    pub fn run(&self) -> Result<u8> {
        must_see_roots("tune diff")?;
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
