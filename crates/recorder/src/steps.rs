//! From moment to moment: the recorded one before or after, and the last few before one.

use ramline_snapshot::Snapshot;

use crate::archive::{Archive, NotFound};
use crate::part::{Part, Recorded};

/// A direction in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// To the moment before.
    Back,
    /// To the moment after.
    Forward,
}

impl Archive {
    /// The recorded moment next to a time, over gaps; `None` where there is none in that direction.
    ///
    /// # Errors
    /// It cannot be decoded.
    pub fn next_to(&self, wall_ms: u64, step: Step) -> Result<Option<Recorded>, NotFound> {
        let day = ramline_history::Day::from_ms(wall_ms);
        let in_part = |part: &Part| match step {
            Step::Back => part.last_at(wall_ms.checked_sub(1)?),
            Step::Forward => part.instants.iter().position(|instant| instant.at.wall_ms > wall_ms),
        };
        let look = |file| {
            let mut part = Part::skim(file).ok()?;
            if in_part(&part).is_some_and(|index| !part.is_sound(index)) {
                part = Part::read(file).ok()?;
            }
            let index = in_part(&part)?;
            Some(part.moment(index, None).map_err(NotFound::Error))
        };
        match step {
            Step::Back => self.days().rev().filter(|file| file.day <= day).find_map(look),
            Step::Forward => self.days().filter(|file| file.day >= day).find_map(look),
        }
        .transpose()
    }

    /// The last moments up to a time, the oldest first, with the named sections alone: those of one file.
    #[must_use]
    pub fn last_before(&self, wall_ms: u64, count: usize, sections: &[&str]) -> Vec<Snapshot> {
        let day = ramline_history::Day::from_ms(wall_ms);
        let holds = |file| {
            let part = Part::skim(file).ok()?;
            let last = part.last_at(wall_ms)?;
            Some((part, last))
        };
        let mut seen = Vec::new();
        if let Some((part, last)) = self.days().rev().filter(|file| file.day <= day).find_map(holds) {
            let first = (last + 1).saturating_sub(count);
            part.each(first, last, Some(sections), &|_| true, &mut |_, snapshot, _| seen.push(snapshot));
        }
        seen
    }
}
