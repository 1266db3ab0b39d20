//! The answer set as the limit, and what is missed there.

use ramline_evidence::{SizeVerified, TrialSample};

use super::down::next;
use super::held::Held;
use super::meter::Meter;
use super::{BASELINE, Subject, Trial, check_interrupted, pass};
use crate::prelude::*;

/// A group that still grows by more than this (in thousandths) in so long fills yet.
const FILLS: (u64, u64) = (2, 1000);
const FILLS_FOR: Duration = Duration::from_secs(5);
/// What is missed is measured over this long.
const MEASURED: Duration = Duration::from_secs(8);

/// Sets `limit`, lets the group fill or shrink slowly, measures, and puts back what was there, unless it is to be kept.
///
/// # Errors
/// As [`super::up`]; it cannot be brought below the limit.
pub fn verify(
    trial: &Trial<'_>,
    subject: &Subject,
    limit: Bytes,
    keep: bool,
    mut now: impl FnMut(&str),
) -> Result<SizeVerified> {
    let mut meter = Meter::start(trial.root, &subject.group)?;
    let first = meter.read()?;
    pass(&mut meter, BASELINE);
    check_interrupted()?;
    let second = meter.read()?;
    let before = meter.between(&first, &second);
    let most = limit.max(before.size);
    let held = Held::begin(trial, subject, most)?;
    let measured = measure(trial, subject, limit, &held, &mut meter, &mut now);
    let line = |path: &Path, value: &str| format!("echo {value} > {}", ramline_units::quoted_path(path));
    let undo = held.before.iter().filter(|setting| setting.file != "memory.oom_control");
    let undo = undo.map(|setting| line(&subject.group.dir().join(&setting.file), &setting.value)).collect();
    let measured = measured.and_then(|(after, last)| subject.none_killed(second.kills(), last).map(|()| after));
    let verified = |after, kept| SizeVerified { limit, predicted: None, before, after, kept, undo };
    match measured {
        Ok(after) if keep => {
            held.keep()?;
            Ok(verified(after, true))
        }
        other => held.end(other).map(|after| verified(after, false)),
    }
}

fn measure(
    trial: &Trial<'_>,
    subject: &Subject,
    limit: Bytes,
    held: &Held<'_>,
    meter: &mut Meter<'_>,
    now: &mut impl FnMut(&str),
) -> Result<(TrialSample, Option<u64>)> {
    let group = &subject.group;
    let mut size = group.usage()?;
    if size <= limit {
        group.lift(&held.before, limit)?;
    }
    let begun = Instant::now();
    // Never a big step.
    while size > limit {
        now("making it smaller");
        size = next(size).max(limit);
        group.set(size)?;
        pass(meter, Duration::from_secs(1));
        check_interrupted()?;
        subject.is_same(trial.root)?;
        if begun.elapsed() > trial.most || group.is_stuck() {
            let why = format!("{} was not reached: the kernel could reclaim no more", limit);
            return Err(LabError::ended("a part of it", vec![why], "ramline show cgroups"));
        }
    }
    // A limit of version 2 that slows, and the same of version 1.
    group.set(limit)?;
    let mut size = group.usage()?;
    // It fills until it hardly grows.
    loop {
        now("waiting until it has filled");
        pass(meter, FILLS_FOR);
        check_interrupted()?;
        subject.is_same(trial.root)?;
        let grown = group.usage()?;
        let is_full = grown <= size + size.scale(FILLS.0, FILLS.1).unwrap_or_default();
        size = grown;
        if is_full || begun.elapsed() > trial.most {
            break;
        }
    }
    let first = meter.read()?;
    now("measuring");
    pass(meter, MEASURED);
    check_interrupted()?;
    subject.is_same(trial.root)?;
    let last = meter.read()?;
    Ok((meter.between(&first, &last), last.kills()))
}
