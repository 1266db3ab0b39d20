//! Was the victim what filled memory? Only where the log has the size of both.
//!
//! Kernel memory, shared memory and files have no owner in a report, so the victim may have caused their use: the answer is unknown then. The same holds
//! for a parent or child of the large one as far as a report shows it: the same name, or the one that was chosen.

use ramline_snapshot::kernel_log::{KillLine, Report};

use super::sum::{KillSum, PartKind};
use super::types::{KillCause, ProgramUse, Victim};
use crate::prelude::*;

/// Who holds less than this part of what filled memory held little.
const LITTLE: u64 = 10;
/// A policy or a zone leaves a request one node of some: who holds this part of the machine holds little of any node, of at most ten.
const LITTLE_OF_A_NODE: u64 = 100;

/// The process of a line, with what it held.
pub(super) fn from_line(kill: &KillLine, report: &Report, page: Bytes) -> Victim {
    let task = report.tasks.largest.iter().find(|task| task.pid == kill.pid);
    let lines = [kill.anon, kill.file, kill.shmem];
    let in_line = lines.iter().any(Option::is_some).then(|| lines.into_iter().flatten().sum());
    let bytes = |pages: u64| Bytes(pages.saturating_mul(page.0));
    Victim {
        name: Some(kill.name.clone()),
        pid: Some(kill.pid),
        held: in_line.or_else(|| task.map(|task| bytes(task.rss))),
        swapped: task.map(|task| bytes(task.swapents)),
        adj: kill.adj.or_else(|| task.map(|task| task.adj)),
        others: u64::try_from(report.kills.len()).unwrap_or(u64::MAX).saturating_sub(1),
    }
}

/// True where it held little of what filled memory; `None` where the log does not tell.
pub(super) fn innocent(
    victim: &Victim,
    cause: KillCause,
    report: &Report,
    sum: Option<&KillSum>,
    programs: &[ProgramUse],
) -> Option<bool> {
    let name = victim.name.as_deref()?;
    let held = victim.held? + victim.swapped.unwrap_or_default();
    // All of its name, and the one that was chosen in its place.
    let chosen = report.kills.first().and_then(|kill| kill.chosen.as_ref()).map(|(_, name)| name.as_str());
    let of_job = |program: &&ProgramUse| program.name == name || Some(program.name.as_str()) == chosen;
    let job = programs.iter().filter(of_job).map(ProgramUse::all).max().unwrap_or_default().max(held);
    let little_of = |whole: Bytes, part: u64| job.0 < whole.0 / part;
    match cause {
        KillCause::UserAnon | KillCause::MemcgAnon | KillCause::MemcgSwap => {
            let filled = match cause {
                KillCause::UserAnon => {
                    let swapped = sum.and_then(|sum| sum.swap_total?.checked_sub(sum.swap_free?)).unwrap_or_default();
                    sum.map(|sum| sum.part(PartKind::Anonymous) + swapped)?
                }
                _ => anon_of_group(report).or_else(|| Some(report.group.as_ref()?.memory?.usage))?,
            };
            // Where it held little and no other program is in the log, who held the rest is not known.
            let hog = programs.iter().find(|program| !of_job(program)).map(ProgramUse::all);
            if little_of(filled, LITTLE) { hog.map(|hog| hog.0 > job.0) } else { Some(false) }
        }
        KillCause::Fragmentation | KillCause::CmaOnlyFree => {
            sum.and_then(|sum| sum.usable).map(|usable| little_of(usable, LITTLE)).filter(|innocent| *innocent)
        }
        KillCause::ZoneOrPolicy => sum
            .and_then(|sum| sum.usable)
            .map(|usable| little_of(usable, LITTLE_OF_A_NODE))
            .filter(|innocent| *innocent),
        _ => None,
    }
}

fn anon_of_group(report: &Report) -> Option<Bytes> {
    let group = report.group.as_ref()?;
    group.statistic_named("anon").or_else(|| group.statistic_named("rss"))
}
