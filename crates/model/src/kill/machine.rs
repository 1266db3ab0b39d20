//! Why the machine had to kill: first whether the request could be served at all, then the largest part of memory.

use ramline_snapshot::kernel_log::Report;

use super::sum::{KillSum, PartKind};
use super::types::{Certainty, KillCause, Reason, Verdict};
use super::zones::ZoneState;
use crate::prelude::*;

/// Memory that is free elsewhere is more than what a machine keeps free by itself: its marks are well under a hundredth.
const SPARE_PERCENT: u64 = 5;
/// min is raised above this by an administrator only: khugepaged raises it to at most 5 % (mm/khugepaged.c, `set_recommended_min_free_kbytes`).
const RAISED_PERCENT: u64 = 6;
/// On large machines what it raises is far less: 2 blocks of a type and 9 more of 2 MiB in each of three zones.
const RAISED_PERCENT_LARGE: u64 = 2;
/// A large machine.
const LARGE: Bytes = Bytes::from_gib(4);

/// The cause of a kill for the machine, or of a failure that is not one of the request's kind.
pub(super) fn machine(report: &Report, sum: Option<&KillSum>, zones: &[ZoneState], page_assumed: bool) -> Verdict {
    if let Some(verdict) = special(report, sum) {
        return verdict;
    }
    if let Some(verdict) = by_request(report, sum, zones) {
        return verdict;
    }
    let Some(sum) = sum else { return Verdict::default() };
    let mut verdict = largest_part(sum, report);
    if zones.iter().any(|zone| zone.allowed && zone.could_serve()) {
        verdict = verdict.at_most_likely().because(Reason::ZoneAboveMark);
    }
    // Without the zones it is not known whether the request could have been served.
    if page_assumed || zones.is_empty() {
        verdict = verdict.at_most_likely();
    }
    // Before Linux 2.6.32 shared memory is not printed: it is part of what processes have.
    if report.memory.counter("shmem").is_none() && verdict.cause == KillCause::UserAnon {
        verdict = verdict.at_most_likely();
        verdict.also.push(KillCause::ShmemTmpfs);
    }
    verdict
}

/// What is no shortage of the machine by its first lines.
fn special(report: &Report, sum: Option<&KillSum>) -> Option<Verdict> {
    let trigger = report.trigger.as_ref();
    let stack = |name: &str| report.functions.iter().any(|function| function.starts_with(name));
    if trigger.and_then(|trigger| trigger.order) == Some(-1) || stack("moom_callback") || stack("sysrq_handle_moom") {
        return Some(Verdict::new(KillCause::NotMemory, Certainty::Likely).because(Reason::ByHand));
    }
    let no_request = trigger.and_then(|trigger| trigger.gfp.as_ref()).is_some_and(|gfp| gfp.is_empty());
    // Only the handler of faults asks without flags (pagefault_out_of_memory, up to Linux 5.15).
    if no_request {
        let seen = stack("pagefault_out_of_memory") && sum.is_none_or(|sum| sum.part(PartKind::Free) > Bytes::ZERO);
        let confidence = if seen { Certainty::Sure } else { Certainty::Likely };
        return Some(Verdict::new(KillCause::MemcgKmem, confidence).because(Reason::FaultInGroup));
    }
    let name = trigger.map(|trigger| trigger.name.as_str()).unwrap_or_default();
    // A module that is loaded later has do_one_initcall in its stack too.
    let early = stack("do_initcalls")
        || stack("do_populate_rootfs")
        || stack("unpack_to_rootfs")
        || stack("kernel_init_freeable");
    if early || name.starts_with("swapper") && report.no_victim {
        return Some(Verdict::new(KillCause::TooSmallSystem, Certainty::Likely).because(Reason::BeforeUserSpace));
    }
    None
}

/// The request and its zones.
fn by_request(report: &Report, sum: Option<&KillSum>, zones: &[ZoneState]) -> Option<Verdict> {
    let order = report.trigger.as_ref().and_then(|trigger| trigger.order).unwrap_or_default();
    let allowed: Vec<&ZoneState> = zones.iter().filter(|zone| zone.allowed).collect();
    let policy = policy(report, sum, zones);
    if allowed.is_empty() || allowed.iter().any(|zone| zone.could_serve() || order > 0 && zone.block.is_none()) {
        // A zone could have served it: the policy of the task alone says that it might not use that one.
        return policy;
    }
    let mut also: Vec<KillCause> = Vec::new();
    if order > 0 && allowed.iter().any(|zone| zone.block == Some(false) && !zone.is_below()) {
        also.push(KillCause::Fragmentation);
    }
    let only_cma =
        |zone: &&ZoneState| zone.is_below() && zone.usable + zone.free_cma > zone.mark() && zone.free_cma > Bytes::ZERO;
    let movable = report.trigger.as_ref().and_then(|trigger| trigger.gfp.as_ref()).is_some_and(|gfp| gfp.is_movable());
    if !movable && allowed.iter().any(only_cma) {
        also.push(KillCause::CmaOnlyFree);
    }
    let spare: Bytes =
        zones.iter().filter(|zone| !zone.allowed && zone.usable > zone.high).map(|zone| zone.usable).sum();
    let short: Bytes = allowed.iter().map(|zone| zone.short_by()).sum();
    let mut sure = true;
    if policy.is_some() || spare > short {
        also.push(KillCause::ZoneOrPolicy);
        sure = policy.as_ref().is_some_and(|verdict| verdict.confidence == Certainty::Sure) || is_spare(spare, sum);
    }
    if is_raised(&allowed) {
        also.push(KillCause::WatermarkSetting);
    }
    let cause = *also.first()?;
    let confidence = match cause {
        KillCause::WatermarkSetting => Certainty::Likely,
        KillCause::ZoneOrPolicy if !sure => Certainty::Likely,
        _ => Certainty::Sure,
    };
    let reasons = policy.map(|verdict| verdict.reasons).unwrap_or_default();
    Some(Verdict { cause, confidence, also: also.split_off(1), reasons })
}

/// The cpuset or the memory policy of who asked takes nodes away, as the kernel found itself.
fn policy(report: &Report, sum: Option<&KillSum>, zones: &[ZoneState]) -> Option<Verdict> {
    let named = report.constraint.as_deref().filter(|name| name.contains("CPUSET") || name.contains("MEMORY_POLICY"));
    let nodes = report.nodemask.clone().or_else(|| report.mems_allowed.clone());
    // Before 5.0 the constraint is not printed; the nodes are. Where it is printed and is another, the policy allows all nodes there are.
    if named.is_none() && (!is_part_of_the_nodes(report) || report.constraint.is_some()) {
        return None;
    }
    let elsewhere: Bytes = zones.iter().filter(|zone| !zone.allowed).map(|zone| zone.usable).sum();
    let free = sum.map(|sum| sum.part(PartKind::Free)).unwrap_or_default().max(elsewhere);
    let confidence = if is_spare(free, sum) { Certainty::Sure } else { Certainty::Likely };
    Some(Verdict::new(KillCause::ZoneOrPolicy, confidence).because(Reason::OnlyNodes(nodes)))
}

/// The mask of the request leaves nodes out. Linux 4.9 and 4.10 print the nodes of the cpuset where there is no mask (`dump_header`), so a mask that is
/// equal to these is none; where they are missing, a mask without node 0 leaves that one out.
fn is_part_of_the_nodes(report: &Report) -> bool {
    report.nodemask.as_ref().is_some_and(|mask| match &report.mems_allowed {
        Some(allowed) => mask != allowed,
        None => !mask.starts_with('0'),
    })
}

fn is_spare(free: Bytes, sum: Option<&KillSum>) -> bool {
    sum.and_then(|sum| sum.usable.or(sum.ram)).is_some_and(|usable| free.0 > usable.0 / 100 * SPARE_PERCENT)
}

/// The zones are held back by their min mark alone, and that was raised.
fn is_raised(allowed: &[&ZoneState]) -> bool {
    let managed: Bytes = allowed.iter().map(|zone| zone.managed).sum();
    let percent = if managed > LARGE { RAISED_PERCENT_LARGE } else { RAISED_PERCENT };
    let own_min = |zone: &&ZoneState| zone.min.saturating_sub(zone.boost);
    let raised = allowed.iter().copied().filter(|zone| {
        let min = own_min(zone);
        zone.usable <= min && min.0 > zone.managed.0 / 100 * percent && zone.usable.0 >= min.0 / 2
    });
    let raised: Bytes = raised.map(|zone| zone.managed).sum();
    raised > Bytes::ZERO && raised.0 >= managed.0 / 2
}

/// The largest part of the sum.
fn largest_part(sum: &KillSum, report: &Report) -> Verdict {
    let slab = sum.slab();
    let shmem = sum.part(PartKind::Shmem);
    let user = sum.part(PartKind::Anonymous) + sum.part(PartKind::Unevictable);
    let parts = [
        (KillCause::UserAnon, user),
        (KillCause::ShmemTmpfs, shmem),
        (KillCause::SlabGrowth, slab),
        (KillCause::KernelUnaccounted, sum.part(PartKind::Unaccounted)),
        (KillCause::HugepagesReserved, sum.part(PartKind::HugePages)),
        // Page tables and stacks belong to processes, and are no class of their own.
        (KillCause::Unknown, sum.part(PartKind::PageTables) + sum.part(PartKind::KernelStacks)),
        (KillCause::Unknown, sum.part(PartKind::File)),
        (KillCause::Unknown, sum.part(PartKind::Free)),
    ];
    let Some((cause, bytes)) = parts.into_iter().max_by_key(|(_, bytes)| *bytes) else { return Verdict::default() };
    if cause == KillCause::Unknown {
        return Verdict::default();
    }
    // More than half of all there is: nothing else can be as large.
    let half = sum.usable.is_some_and(|usable| bytes.0 > usable.0 / 2);
    let mut verdict = Verdict::new(cause, if half { Certainty::Sure } else { Certainty::Likely });
    if cause == KillCause::UserAnon {
        match sum.is_swap_used_up() {
            Some(true) => {}
            Some(false) => {
                let free = sum.swap_free.unwrap_or_default();
                verdict = verdict.at_most_likely().because(Reason::SwapFree(free));
            }
            None => verdict = verdict.at_most_likely(),
        }
    }
    // The second part that is as large as a third of the first is worth a word.
    let second = parts
        .into_iter()
        .filter(|(other, size)| *other != cause && *other != KillCause::Unknown && size.0 > bytes.0 / 3 * 2);
    verdict.also = second.map(|(other, _)| other).collect();
    if report.kills.iter().any(|kill| kill.because_it_asked) {
        verdict.reasons.push(Reason::KillsWhoAsks);
    }
    verdict
}
