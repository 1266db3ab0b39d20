//! `ramline tune undo`, `finish` and `keep`: the way back, which nothing beside the change itself may close.

use ramline_act::StateDir;
use ramline_act::standing::{ChangePhase, HeldStep, StandingChange, Transaction, Undone};
use ramline_gather::gather;
use ramline_snapshot::configured::Configured;

use super::changes::{all, meant};
use crate::prelude::*;

/// Undo a change and all later ones, the last first
#[derive(Debug, Args)]
pub struct Undo {
    /// Undo this change and all later ones; the last one when left out
    number: Option<u64>,
    /// Leave alone what another program has changed since, and undo the rest
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

impl Undo {
    /// Runs the command.
    ///
    /// # Errors
    /// There is nothing to undo, another program has changed what would be put back, or a step cannot be undone.
    pub fn run(&self) -> Result<u8> {
        whom::must_be_root("tune undo", "it changes settings of the machine")?;
        if let Some(after) = self.after {
            std::thread::sleep(after);
        }
        // A timer whose record was taken away has nothing to undo, and makes no directory for it.
        if self.unless_kept && StateDir::open_existing(&state::path()?)?.is_none() {
            return Ok(exit::DONE);
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
            return Err(
                Failure::refused("nothing was undone: the answer was not yes\n  try: ramline tune undo --yes").into()
            );
        }
        let why = if self.unless_kept { "it was not kept in time" } else { "asked for" };
        let lock = waited.map_or_else(|| state::lock(&root), Ok)?;
        // Read again: a timer may have undone some of it before the lock was ours.
        changes = all()?.0;
        changes.retain(|change| change.stands() && change.head.number >= to.head.number);
        let transaction = Transaction::new(&lock, &root, state::crash_after());
        for change in changes.iter().rev() {
            let undone = transaction.undo(change, why, self.leave_changed, &mut |line| stdio::tell(line))?;
            stdio::tell(&in_words(change.head.number, &undone));
            for line in set_again(&change.head.steps, &undone, &configured(&root)) {
                stdio::tell(&line);
            }
        }
        Ok(exit::DONE)
    }

    /// A power cut in the middle of `tune keep` leaves the units of the timer: they go when it fires.
    fn clean_up_kept(&self, root: &Root, lock: Option<&RunLock>) -> Result<()> {
        let kept = |change: &StandingChange| {
            Some(change.head.number) == self.number && change.phase == ChangePhase::InForce && change.confirmed
        };
        if let (Some(lock), Some(change)) = (lock, all()?.0.iter().find(|change| kept(change))) {
            Transaction::new(lock, root, state::crash_after()).confirm(change, &mut |line| stdio::tell(line))?;
        }
        Ok(())
    }
}

/// How an undo ended: what is still there is named, and is in force again at the next boot if not now.
fn in_words(number: u64, undone: &Undone) -> String {
    let mut text = match undone.left.as_slice() {
        [] => format!("Change {number} is undone."),
        left => format!(
            "Change {number} is undone, but for what was changed by another since, which stays in force: {}\n  try: ramline tune diff {number}",
            left.join("; ")
        ),
    };
    if let Some(why) = &undone.unrecorded {
        text += &format!("\nThat could not be written down, so its record still calls it in force: {why}");
    }
    text
}

fn configured(root: &Root) -> Configured {
    gather(root, Wanted { configured: true, ..Wanted::NOTHING }).configured.data().cloned().unwrap_or_default()
}

/// What the next boot makes of the settings that were put back: a file of another name, as a copy of ours, may set a value of the change
/// again. A file that is named as left in force is not named twice.
fn set_again(steps: &[HeldStep], undone: &Undone, configured: &Configured) -> Vec<String> {
    let lines = steps.iter().filter_map(|held| {
        let (key, before, after) = held.step.sysctl()?;
        let last = configured.for_key(&key).last().filter(|last| last.value == after && last.value != before)?;
        let is_named = undone.left.iter().any(|left| left.contains(&last.file));
        let file = ramline_units::quoted_path(Path::new(&last.file));
        (!is_named && !held.was_so).then(|| {
            format!("{}:{} sets {key} to {after} again at the next boot.\n  try: less {file}", last.file, last.line)
        })
    });
    lines.collect()
}

/// The timer asks once, so it waits for another ramline to end.
fn patient_lock(root: &Root) -> Result<RunLock> {
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
        whom::must_be_root("tune finish", "it changes settings of the machine")?;
        let root = Root::live();
        let lock = state::lock(&root)?;
        let change = meant(self.number, "finish", |change| change.phase == ChangePhase::Applying)?;
        let transaction = Transaction::new(&lock, &root, state::crash_after());
        let done = transaction.finish(&change, &mut |line| stdio::tell(line))?;
        stdio::tell(&format!("Change {} is in force.", done.number));
        let change = all()?.0.into_iter().find(|known| known.head.number == done.number).unwrap_or(change);
        if change.is_pending(&process::boot_id(&root)?) {
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
        whom::must_be_root("tune keep", "the records of changes are root's")?;
        let root = Root::live();
        let lock = state::lock(&root)?;
        let change = meant(self.number, "keep", |change| change.phase == ChangePhase::InForce)?;
        Transaction::new(&lock, &root, state::crash_after()).confirm(&change, &mut |line| stdio::tell(line))?;
        stdio::tell(&format!("Change {} is kept.", change.head.number));
        Ok(exit::DONE)
    }
}

/// What an interrupted change asks for, and one that waits to be kept, before anything new is done: its undo would take back what came later too.
pub fn refuse_half_done() -> Result<()> {
    let half = |change: &StandingChange| matches!(change.phase, ChangePhase::Applying | ChangePhase::Undoing);
    let changes = all()?.0;
    let boot = process::boot_id(&Root::live())?;
    if let Some(pending) = changes.iter().find(|change| change.is_pending(&boot)) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_plan::Step;

    #[test]
    fn a_file_of_another_name_that_sets_the_value_again_is_named() {
        let (knob, before, after) = ("/proc/sys/vm/swappiness", "60", "150");
        let step = Step::SetKnob { path: knob.into(), before: before.into(), after: after.into() };
        let steps = [HeldStep { was_so: false, until_kept: false, image: None, step }];
        let mut configured = Configured::default();
        configured.read("/etc/sysctl.d/10-a.conf", "vm.swappiness = 150\n");
        configured.read("/etc/sysctl.d/98-mine.conf", "\nvm.swappiness = 150\n");
        let said = set_again(&steps, &Undone::default(), &configured);
        assert_eq!(said.len(), 1);
        assert!(said[0].starts_with("/etc/sysctl.d/98-mine.conf:2 sets vm.swappiness to 150 again at the next boot."));
        let left = vec!["file /etc/sysctl.d/98-mine.conf: another text".to_owned()];
        assert!(set_again(&steps, &Undone { left, ..Undone::default() }, &configured).is_empty());
        configured.read("/etc/sysctl.d/99-z.conf", "vm.swappiness = 60\n");
        assert!(set_again(&steps, &Undone::default(), &configured).is_empty());
    }

    #[test]
    fn an_undo_says_what_it_left_in_force() {
        assert_eq!(in_words(3, &Undone::default()), "Change 3 is undone.");
        let left = vec!["file /etc/sysctl.d/99-zz-ramline.conf: another text".to_owned()];
        let text = in_words(3, &Undone { left, ..Undone::default() });
        assert!(text.starts_with("Change 3 is undone, but for what was changed by another since"), "{text}");
        assert!(text.contains("stays in force: file /etc/sysctl.d/99-zz-ramline.conf"), "{text}");
    }
}
