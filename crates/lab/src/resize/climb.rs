//! From the size that was too small upwards, until one is harmless for 8 s.
//!
//! A loss comes late: on a ramp of 1.5 % a second, pages that went seconds ago are missed at sizes that are smaller by then. A size that is held is judged as a
//! limit set by hand is.
//!
//! Worked example: a ramp is over its guard at 140 MiB. 146, 152 and 158 MiB lose 3, 2.4 and 1.6 % of the time: about 158 MiB are needed.

use ramline_evidence::TrialEnd;

use super::OnSample;
use super::down::{GUARD, LOOK, PATIENCE, Ramp, SECOND};
use crate::prelude::*;

/// Up by 4 % at a time.
const UP: (u64, u64) = (104, 100);
/// What is read again at once is not counted.
const SETTLES: u32 = 2;
/// Over the guard for so many seconds, one after the other, a size is too small.
const TOO_LONG: u32 = 3;

impl Ramp<'_> {
    /// The smallest harmless size, into what was done. A group that was hit hard has everything back instead.
    pub(super) fn climb(&mut self, seen: &mut OnSample<'_>) -> Result<()> {
        let most = self.done.before.size;
        let up = |size: Bytes| size.scale(UP.0, UP.1).unwrap_or(most).min(most);
        let mut size = match (self.done.end, self.done.held, self.done.tripped) {
            (TrialEnd::LostTime, _, Some(tripped)) => up(tripped),
            (TrialEnd::Stuck | TrialEnd::TimeUp, Some(held), _) => held,
            _ => return Ok(()),
        };
        loop {
            self.target = size;
            if size == most || self.is_harmless(seen)? {
                self.done.held = Some(size);
                return Ok(());
            }
            self.done.tripped = Some(size);
            size = up(size);
        }
    }

    /// At the target the group loses no more than the guard allows, for 8 s.
    fn is_harmless(&mut self, seen: &mut OnSample<'_>) -> Result<bool> {
        self.raise()?;
        let (mut seconds, mut over) = (0, 0);
        let (mut sum, mut second) = (0.0, Instant::now());
        loop {
            std::thread::sleep(LOOK);
            let sample = self.look()?;
            if self.ran_out() {
                return Ok(false);
            }
            if second.elapsed() < SECOND {
                continue;
            }
            second = Instant::now();
            seconds += 1;
            self.done.samples.push(sample);
            seen(&sample, self.target);
            self.is_same()?;
            let lost = self.lost(&sample).unwrap_or(0.0);
            over = if lost > GUARD { over + 1 } else { 0 };
            self.press(sample.size)?;
            if seconds > SETTLES {
                sum += lost;
                let judged = seconds - SETTLES;
                if over >= TOO_LONG {
                    return Ok(false);
                }
                if u64::from(judged) >= PATIENCE.as_secs() {
                    return Ok(sum / f64::from(judged) <= GUARD);
                }
            }
        }
    }
}
