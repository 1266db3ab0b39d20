//! `ramline need --try` and `--verify`.

use ramline_lab::resize::{self, Subject, Trial};
use ramline_model::groups::GroupTree;
use ramline_model::need::{self, Direction};

use super::Need;
use crate::prelude::*;

/// Observation time before a trial, in which a growing group is noticed.
pub const FIRST_LOOK: Duration = Duration::from_secs(5);
/// A ramp of so long goes down to a sixth.
const USUAL: Duration = Duration::from_mins(2);

/// Where.
pub struct At<'a> {
    /// The live machine.
    pub root: &'a Root,
    /// All groups.
    pub tree: &'a GroupTree,
    /// The one.
    pub at: usize,
    /// No other ramline changes anything meanwhile.
    pub lock: &'a RunLock,
}

impl Need {
    /// What was asked for beyond watching.
    pub fn changed(&self, place: &At<'_>, seen: need::Need, now: &Snapshot) -> Result<need::Need> {
        let seen = if self.try_it { self.tried(place, seen, now)? } else { seen };
        if self.verify { self.verified(place, seen) } else { Ok(seen) }
    }

    /// Its size changed, and put back.
    fn tried(&self, place: &At<'_>, seen: need::Need, now: &Snapshot) -> Result<need::Need> {
        let free = now.meminfo.data().map(|meminfo| (meminfo.mem_available, meminfo.swap_free));
        let (available, swap) = free.map_or((None, None), |free| free);
        let direction =
            need::direction(place.tree, place.at, &seen, available.unwrap_or_default(), swap.unwrap_or_default());
        let shown = ramline_view::escape(&seen.group);
        let refused = |why: String| Err(Failure::refused(why).into());
        let trial = match direction {
            Direction::Grows => return Ok(seen),
            Direction::Above(group) => {
                let group = ramline_view::escape(&group);
                return refused(format!(
                    "{shown} is held by the limit of {group}, so that raising its own would change nothing\n  try: sudo ramline need {group} --try"
                ));
            }
            Direction::NoMemory(free) => {
                return refused(format!(
                    "{shown} is at its limit, and only {free} could be given to it for a while\n  try: sudo ramline need {shown}"
                ));
            }
            Direction::Up { limit, ceiling } => {
                self.on(place, &seen, |trial, subject, seen| resize::up(trial, subject, limit, ceiling, seen))?
            }
            Direction::Down { swap } => {
                self.on(place, &seen, |trial, subject, seen| resize::down(trial, subject, swap, seen))?
            }
        };
        Ok(seen.tried(trial))
    }

    /// The answer as its limit.
    fn verified(&self, place: &At<'_>, seen: need::Need) -> Result<need::Need> {
        let Some(limit) = seen.new_limit() else { return Ok(seen) };
        let subject = self.subject(place, &seen)?;
        let (terminal, trial) = (Terminal::new(), self.trial(place));
        let doing = |what: &str| terminal.now(format!("{}, at {limit}: {what}", ramline_view::escape(&seen.group)));
        let done = resize::verify(&trial, &subject, limit, self.keep, doing)?;
        drop(terminal);
        Ok(seen.with_verified(done))
    }

    fn on<T>(
        &self,
        place: &At<'_>,
        seen: &need::Need,
        work: impl FnOnce(&Trial<'_>, &Subject, &mut resize::OnSample<'_>) -> ramline_lab::Result<T>,
    ) -> Result<T> {
        let subject = self.subject(place, seen)?;
        let (terminal, shown) = (Terminal::new(), ramline_view::escape(&seen.group));
        let done = work(&self.trial(place), &subject, &mut |sample, limit| {
            terminal.now(format!(
                "trying {shown} with a limit of {limit}: {} now, {:.0} misses a second",
                sample.size, sample.misses
            ));
        });
        Ok(done?)
    }

    fn subject(&self, place: &At<'_>, seen: &need::Need) -> Result<Subject> {
        // A group that has a number for a name was found by that.
        let is_name = seen.group.rsplit('/').next() == Some(self.group.as_str());
        let pid = self.group.parse().ok().filter(|_| !is_name);
        Ok(Subject::find(place.root, Path::new(&place.tree.mount), &seen.group, pid)?)
    }

    fn trial<'a>(&self, place: &At<'a>) -> Trial<'a> {
        Trial {
            root: place.root,
            lock: place.lock,
            most: self.span.unwrap_or(USUAL),
            crash_after: state::crash_after(),
        }
    }
}
