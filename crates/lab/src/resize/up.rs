//! Upwards: the limit is raised and the cache fills. Once a quarter of a second it is noted how large the group is and what it misses.
//!
//! Worked example (PostgreSQL at 200 MiB, raised to 900): 349 MiB 38,829 pages a second, 473: 33,915, 518: 13,081, 534: 1,224, 535: 32. It needs 535 MiB.

use std::collections::VecDeque;

use ramline_evidence::{NOTHING_LEFT, SizeTrial, TrialDirection, TrialEnd};

use super::held::Held;
use super::meter::{Meter, Reading};
use super::{BASELINE, OnSample, Subject, Trial, check_interrupted, pass};
use crate::prelude::*;

/// A sample is of so long.
const SAMPLE: Duration = Duration::from_millis(250);
/// Next to nothing must be missed for so many samples, one after the other: 3 s.
const QUIET: usize = 12;
/// Of what may be given, so much is left out: the kernel charges in batches of 64 pages for each processor.
const NEARLY: u64 = 50;

/// Raises the limit of a group at it to `ceiling`, watches it fill, and puts the limit back.
///
/// # Errors
/// The group ended, restarted, or lost a process; a signal came. The limit is put back in every case.
pub fn up(
    trial: &Trial<'_>,
    subject: &Subject,
    limit: Bytes,
    ceiling: Bytes,
    seen: &mut OnSample<'_>,
) -> Result<SizeTrial> {
    let mut meter = Meter::start(trial.root, &subject.group)?;
    let first = meter.read()?;
    pass(&mut meter, BASELINE);
    check_interrupted()?;
    let before = meter.read()?;
    let mut done = SizeTrial {
        direction: TrialDirection::Up,
        before: meter.between(&first, &before),
        time_lost_by: Meter::time_lost_by(&before),
        ..SizeTrial::default()
    };
    seen(&done.before, ceiling);
    let held = Held::begin(trial, subject, ceiling)?;
    let begun = Instant::now();
    let filled = subject
        .group
        .lift(&held.before, ceiling)
        .map_err(LabError::from)
        .and_then(|()| fill(trial, subject, ceiling, &mut meter, before, &mut done, seen));
    done.took = Nanos::from(begun.elapsed());
    let filled = filled.and_then(|()| held.shrink_to(limit));
    held.end(filled)?;
    Ok(done)
}

fn fill(
    trial: &Trial<'_>,
    subject: &Subject,
    ceiling: Bytes,
    meter: &mut Meter<'_>,
    before: Reading,
    done: &mut SizeTrial,
    seen: &mut OnSample<'_>,
) -> Result<()> {
    let (begun, mut last) = (Instant::now(), before);
    let mut quiet = VecDeque::new();
    loop {
        pass(meter, SAMPLE);
        check_interrupted()?;
        subject.is_same(trial.root)?;
        let now = meter.read()?;
        subject.none_killed(before.kills(), now.kills())?;
        let sample = meter.between(&last, &now);
        last = now;
        done.samples.push(sample);
        seen(&sample, ceiling);
        quiet.push_back(sample.misses <= done.before.misses * NOTHING_LEFT);
        if quiet.len() > QUIET {
            quiet.pop_front();
        }
        done.end = if quiet.len() == QUIET && quiet.iter().all(|quiet| *quiet) {
            TrialEnd::Settled
        } else if sample.size >= ceiling.saturating_sub(Bytes(ceiling.0 / NEARLY)) {
            TrialEnd::Full
        } else if begun.elapsed() >= trial.most {
            TrialEnd::TimeUp
        } else {
            continue;
        };
        return Ok(());
    }
}
