//! Downwards: a ramp of 1.5 % a second, as slow as the kernel needs to tell pages in use from others, until the group loses time.
//!
//! A big step would evict pages in use, which all look alike until reclaim has aged them, and their return would be taken for need; at once from 327 to 180 MiB
//! it killed a Redis. Over the guard it waits up to 8 s for the loss to fall; over twenty times the guard it is put back at once. Where the kernel
//! reclaims by request (version 2, memory.reclaim) no limit is changed at all.
//!
//! Worked example: Redis with 328 MiB, of which it uses about 195: down to 190 MiB in 45 s, where it loses more than 2 % of its time and does not recover.

use std::collections::VecDeque;

use ramline_evidence::{SizeTrial, TimeLostBy, TrialDirection, TrialEnd, TrialSample};
use ramline_kernel::cgroup::OomNotices;

use super::held::Held;
use super::meter::{Meter, Reading};
use super::{BASELINE, OnSample, Subject, Trial, check_interrupted};
use crate::prelude::*;

/// The share of its time that the group may lose: a ramp in the study was right to 5 % with about as much.
pub const GUARD: f64 = 0.02;
/// Multiple of the guard at which the limit is restored at once.
const BURST: f64 = 20.0;
/// Time the group may take to recover.
pub const PATIENCE: Duration = Duration::from_secs(8);
/// A step, and how often: 1.5 % a second.
const STEP: (u64, u64) = (15, 1000);
pub const SECOND: Duration = Duration::from_secs(1);
/// Looked at so often.
pub const LOOK: Duration = Duration::from_millis(100);
/// Without swap anonymous memory must stay, and may be this share of the size that is tried.
const MOST_ANONYMOUS: (u64, u64) = (80, 100);

/// Makes a group smaller until it loses time, and puts it back. `swap` is what it may still swap out.
///
/// # Errors
/// The group ended, restarted, or lost a process; its time lost cannot be measured; a signal came. Everything is put back in every case.
pub fn down(trial: &Trial<'_>, subject: &Subject, swap: Bytes, seen: &mut OnSample<'_>) -> Result<SizeTrial> {
    let mut meter = Meter::start(trial.root, &subject.group)?;
    let first = meter.read()?;
    super::pass(&mut meter, BASELINE);
    check_interrupted()?;
    let before = meter.read()?;
    let size = before.stat().current.unwrap_or_default();
    refuse_without_swap(subject, &before, size, swap)?;
    let baseline = meter.between(&first, &before);
    let mut ramp = Ramp {
        trial,
        subject,
        meter,
        swap,
        by_request: subject.group.can_reclaim(),
        notices: subject.group.oom_notices(),
        kills: before.kills(),
        baseline: baseline.lost.unwrap_or(0.0),
        readings: VecDeque::from([before]),
        target: size,
        done: SizeTrial {
            direction: TrialDirection::Down,
            before: baseline,
            guard: Some(GUARD),
            ..SizeTrial::default()
        },
    };
    ramp.done.time_lost_by = Meter::time_lost_by(&before);
    seen(&baseline, size);
    let begun = Instant::now();
    let held = if ramp.by_request { None } else { Some(Held::begin(trial, subject, size)?) };
    let outcome = ramp.run(seen).and_then(|()| ramp.climb(seen));
    match held {
        Some(held) => held.end(outcome)?,
        None => outcome?,
    }
    ramp.done.took = Nanos::from(begun.elapsed());
    Ok(ramp.done)
}

fn refuse_without_swap(subject: &Subject, now: &Reading, size: Bytes, swap: Bytes) -> Result<()> {
    if swap > Bytes::ZERO || !is_anonymous(now, next(size)) {
        return Ok(());
    }
    let (shown, anonymous) = (ramline_units::escape(&subject.path), now.stat().anon.unwrap_or_default());
    let why = format!(
        "{anonymous} of the {size} of {shown} are anonymous memory, which without swap cannot be reclaimed: a limit below could kill it"
    );
    Err(LabError::refused(vec![why], "ramline explain no-swap"))
}

/// Anonymous and shared memory are most of this size.
fn is_anonymous(now: &Reading, size: Bytes) -> bool {
    let anonymous = now.stat().anon.unwrap_or_default() + now.stat().shmem.unwrap_or_default();
    size.scale(MOST_ANONYMOUS.0, MOST_ANONYMOUS.1).is_none_or(|most| anonymous > most)
}

/// The size one step below.
pub fn next(size: Bytes) -> Bytes {
    let page = process::page_size();
    let step = size.scale(STEP.0, STEP.1).unwrap_or_default();
    Bytes(size.saturating_sub(step).0 / page * page)
}

/// The readings are a second apart: one wait of 50 ms is not half the time.
fn sample_is_whole(readings: &VecDeque<Reading>) -> bool {
    let span = readings.front().zip(readings.back()).map(|(first, last)| last.at().duration_since(first.at()));
    span.is_some_and(|span| span + LOOK >= SECOND)
}

/// A ramp on its way.
pub(super) struct Ramp<'a> {
    trial: &'a Trial<'a>,
    subject: &'a Subject,
    meter: Meter<'a>,
    swap: Bytes,
    by_request: bool,
    notices: Option<OomNotices>,
    kills: Option<u64>,
    /// Lost before anything was changed.
    pub(super) baseline: f64,
    /// Of the last second, the oldest first.
    readings: VecDeque<Reading>,
    pub(super) target: Bytes,
    pub(super) done: SizeTrial,
}

impl Ramp<'_> {
    fn run(&mut self, seen: &mut OnSample<'_>) -> Result<()> {
        let begun = Instant::now();
        let mut over_since: Option<Instant> = None;
        let mut behind_since: Option<Instant> = None;
        let mut second = Instant::now();
        let (end, sample) = loop {
            std::thread::sleep(LOOK);
            let sample = self.look()?;
            let lost = self.lost(&sample);
            let is_whole = sample_is_whole(&self.readings);
            if is_whole && lost.is_some_and(|lost| lost > GUARD * BURST) {
                break (TrialEnd::Burst, sample);
            }
            if self.ran_out() {
                break (TrialEnd::Stuck, sample);
            }
            if second.elapsed() < SECOND {
                continue;
            }
            second = Instant::now();
            let Some(lost) = lost else { return Err(self.unmeasured()) };
            self.done.samples.push(sample);
            seen(&sample, self.target);
            self.is_same()?;
            let is_over = lost > GUARD;
            let is_behind = sample.size > self.target + self.subject.group.slack();
            if is_over {
                self.done.over_guard = Nanos(self.done.over_guard.0 + Nanos::from(SECOND).0);
                let since = *over_since.get_or_insert_with(Instant::now);
                if since.elapsed() >= PATIENCE {
                    break (TrialEnd::LostTime, sample);
                }
            } else {
                over_since = None;
                if !is_behind {
                    self.done.held = Some(self.target);
                }
            }
            behind_since = if is_behind && !is_over { behind_since.or(Some(second)) } else { None };
            if behind_since.is_some_and(|since| since.elapsed() >= PATIENCE) {
                break (TrialEnd::Stuck, sample);
            }
            if begun.elapsed() >= self.trial.most {
                break (TrialEnd::TimeUp, sample);
            }
            if !is_over && !is_behind {
                let next = next(self.target);
                let Some(now) = self.readings.back().copied() else { continue };
                if self.swap == Bytes::ZERO && is_anonymous(&now, next) {
                    break (TrialEnd::Anonymous, sample);
                }
                self.target = next;
            }
            self.press(sample.size)?;
        };
        self.end(end, &sample);
        Ok(())
    }

    /// The share of its time that it lost more than before. What the machine waits for while the group misses nothing and does not meet its limit is another's.
    pub(super) fn lost(&self, sample: &TrialSample) -> Option<f64> {
        let by_machine = self.done.time_lost_by == TimeLostBy::MachinePressure;
        let is_others = by_machine && sample.misses <= 0.0 && !self.met_its_limit();
        sample.lost.map(|lost| if is_others { 0.0 } else { lost - self.baseline })
    }

    /// In the last second it reclaimed to stay below its limit, or had major faults.
    fn met_its_limit(&self) -> bool {
        let Some((first, last)) = self.readings.front().zip(self.readings.back()) else { return true };
        let (first, last) = (first.stat(), last.stat());
        first.limit_hits != last.limit_hits || first.pgmajfault != last.pgmajfault
    }

    /// It had no memory left at its limit, be it for a moment.
    pub(super) fn ran_out(&self) -> bool {
        let noticed = self.notices.as_ref().is_some_and(|notices| notices.since() > 0);
        noticed || self.subject.group.is_stuck()
    }

    /// Fails where it is another service by now.
    pub(super) fn is_same(&self) -> Result<()> {
        self.subject.is_same(self.trial.root)
    }

    /// Gives it the target, which is more than it had.
    pub(super) fn raise(&mut self) -> Result<()> {
        self.readings.clear();
        if !self.by_request {
            self.subject.group.set(self.target)?;
        }
        Ok(())
    }

    /// What happened in the last second.
    pub(super) fn look(&mut self) -> Result<TrialSample> {
        check_interrupted()?;
        let now = self.meter.read().or_else(|error| {
            self.subject.is_same(self.trial.root)?;
            Err(error)
        })?;
        self.subject.none_killed(self.kills, now.kills())?;
        self.readings.push_back(now);
        let is_old =
            |second: Option<&Reading>| second.is_some_and(|reading| now.at().duration_since(reading.at()) >= SECOND);
        while is_old(self.readings.get(1)) {
            self.readings.pop_front();
        }
        let first = self.readings.front().copied().unwrap_or(now);
        let sample = self.meter.between(&first, &now);
        Ok(TrialSample { limit: Some(self.target), ..sample })
    }

    /// Brings it to the target, or keeps it there. What the kernel could not do is seen at the next look, by its size.
    pub(super) fn press(&self, size: Bytes) -> Result<()> {
        let group = &self.subject.group;
        let done = if !self.by_request {
            group.set(self.target)
        } else if size > self.target {
            group.reclaim(size.saturating_sub(self.target))
        } else {
            Ok(true)
        };
        match done {
            Ok(_) => Ok(()),
            Err(error) if error.is_interrupted() => check_interrupted(),
            Err(error) => {
                self.subject.is_same(self.trial.root)?;
                Err(error.into())
            }
        }
    }

    fn end(&mut self, end: TrialEnd, sample: &TrialSample) {
        self.done.end = end;
        if end == TrialEnd::Stuck {
            // The harm came late: what was tried within the last 8 s is not taken for harmless.
            let recent = u64::try_from(PATIENCE.as_nanos()).unwrap_or(u64::MAX);
            let earlier = self.done.samples.iter().rev().find(|earlier| earlier.at.0 + recent <= sample.at.0);
            self.done.held = earlier.map_or(Some(self.done.before.size), |earlier| earlier.limit);
        }
        self.done.samples.push(*sample);
        self.done.tripped =
            matches!(end, TrialEnd::LostTime | TrialEnd::Burst | TrialEnd::Stuck).then_some(self.target);
    }

    fn unmeasured(&self) -> LabError {
        let shown = ramline_units::escape(&self.subject.path);
        let why = format!(
            "how much time {shown} loses cannot be measured: no pressure of groups, and its disk does not count reads"
        );
        LabError::ended("a part of the trial", vec![why], format!("ramline need {shown}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ramp_halves_a_group_in_47_steps_and_never_takes_a_big_one() {
        let mut size = Bytes::from_mib(328);
        let mut steps = 0;
        while size > Bytes::from_mib(164) {
            assert!(next(size).0 * 1000 >= size.0 * 984, "{size}");
            size = next(size);
            steps += 1;
        }
        assert_eq!(steps, 46);
    }
}
