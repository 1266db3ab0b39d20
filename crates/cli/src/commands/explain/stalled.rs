//! A stall that killed nothing, looked for in what was recorded.

use ramline_advice::kill::{RecordedStall, WordedStall};
use ramline_advice::{Inputs, headline};
use ramline_model::stalled::{StallSearch, StalledTime};
use ramline_recorder::{Archive, Part};

use crate::past::Past;
use crate::prelude::*;
use crate::when;

/// Without a time the last day is looked through.
const LAST_MS: u64 = 24 * 3_600_000;
/// Around a time that was given, as for kills.
const NEAR_MS: u64 = 600_000;
/// Others that are kept.
const OTHERS: usize = 20;
/// Sections in which waiting is.
const SECTIONS: [&str; 3] = ["schema_version", "machine", "pressure_memory"];

/// The longest wait for memory in the last day, or near the time that was asked for. What was not recorded is no error.
pub fn stalled(past: &Past) -> Option<RecordedStall> {
    let archive = Archive::open(&past.dir().ok()?).ok()?;
    let now = when::now();
    let ms = |unix: i64| u64::try_from(unix).unwrap_or_default().saturating_mul(1000);
    let asked = |text: &str| when::parse(text, past.yesterday, now).ok().map(ms);
    let (from, to) = match (&past.at, &past.from) {
        (Some(at), _) => (asked(at)?.saturating_sub(NEAR_MS), asked(at)? + NEAR_MS),
        (None, Some(from)) => (asked(from)?, past.to.as_deref().map_or(Some(ms(now)), asked)?),
        (None, None) if past.yesterday => (ms(now).saturating_sub(2 * LAST_MS), ms(now).saturating_sub(LAST_MS)),
        (None, None) => (ms(now).saturating_sub(LAST_MS), ms(now)),
    };
    let mut all = search(&archive, from, to);
    let worst = (0..all.len()).max_by_key(|at| all.get(*at).map(|time| time.some))?;
    let worst = all.remove(worst);
    let growth = super::kill::grown(worst.from_unix_ms, None, past);
    Some(RecordedStall {
        worst: worded(worst),
        growth,
        other_stalls: all.len() as u64,
        others: all.into_iter().rev().take(OTHERS).map(worded).collect(),
        ..over(&archive, &worst).unwrap_or_default()
    })
}

fn search(archive: &Archive, from: u64, to: u64) -> Vec<StalledTime> {
    let mut search = StallSearch::default();
    for file in archive.days() {
        let Ok(part) = Part::skim(file) else { continue };
        let (first, end) = part.within(from, to);
        let wanted = |at: ramline_history::Moment| (from..=to).contains(&at.wall_ms);
        part.each(first, end, Some(&SECTIONS), &wanted, &mut |at, seen, _| search.take(at.wall_ms, seen));
    }
    search.finish()
}

/// What the first line says over that time, the group it speaks of, and what the kernel has killed.
fn over(archive: &Archive, time: &StalledTime) -> Option<RecordedStall> {
    let recorded = archive.at(time.to_unix_ms, Some(time.to_unix_ms.saturating_sub(time.from_unix_ms))).ok()?;
    let before = recorded.before?;
    let window = Window::new(&before, &recorded.snapshot).ok()?;
    let inputs = Inputs { snapshot: &recorded.snapshot, window: Some(window), tiers: None, runs: &[] };
    let kills = window.delta(|seen| seen.vmstat.data()?.oom_kill);
    let verdict = headline(&inputs);
    let group = verdict.as_ref().and_then(|verdict| verdict.trouble.as_ref()).map(|trouble| trouble.path.clone());
    Some(RecordedStall { kills, verdict: verdict.map(|verdict| verdict.text), group, ..RecordedStall::default() })
}

fn worded(time: StalledTime) -> WordedStall {
    let words = |ms: u64| when::words(i64::try_from(ms / 1000).unwrap_or_default());
    WordedStall { time, from: words(time.from_unix_ms), to: words(time.to_unix_ms) }
}
