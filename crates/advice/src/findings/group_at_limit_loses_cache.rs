//! A group at its memory limit that evicts files it needs again, while the machine has memory to spare or not.
//!
//! Needs a window with the groups in both looks. Fires when a group stands at a limit of its own and at least
//! [`REFAULTS_PER_S`] file pages a second come back into it after they were evicted. The kernel counts these per group, so
//! other groups' thrashing is not charged to this one. Where limits are nested, the innermost that explains the most is named.
//!
//! Version 1 writes a group's statistics down every two seconds, so a window may hold two seconds more of them than it lasted, or
//! less: what is sure is the growth over the window and two seconds ("at least"). No more pages can have come back than were read from
//! disks, where they come from disks. Waiting is never worked out from pages: it is what the kernel measured, or is left out.
//!
//! Worked example: 940,000 pages in a window of 2.0 s read as 470,000 a second where 256,000 were true. Sure are 940,000 in 4 s: "at
//! least 235,000 pages a second".

use ramline_model::groups::{self, AT_LIMIT};
use ramline_snapshot::cgroup::{Group, Version};

use crate::prelude::*;

pub(super) const RULE: Rule = Rule {
    id: "group-at-limit-loses-cache",
    looks_for: "a group at its memory limit whose files are evicted and read again",
    explain: "cgroup-memory",
    check,
    cost_if_wrong: "what this group gets is missing elsewhere; a program that reads more than fits reads again at any limit",
    tune: Tune::No("the limit of a group belongs to what made the group: its unit, or the program that watches it"),
};

/// A group that suffers.
struct Case<'a> {
    group: &'a Group,
    limit: Bytes,
    knob: &'static str,
    /// As counted.
    per_second: f64,
    /// As is sure.
    least: f64,
}

/// Version 1 writes its statistics down so often, in seconds (`FLUSH_TIME` in mm/memcontrol.c).
const FLUSH_S: f64 = 2.0;

fn check(inputs: &Inputs<'_>) -> Option<Draft> {
    let window = inputs.window?;
    let seen = inputs.snapshot.groups.data()?;
    let version = seen.version?;
    // The one that all screens name, where it is one of them; otherwise the most, and of equals the innermost: a parent comes before its
    // children.
    let named = groups::worst(inputs.snapshot, Some(&window)).map(|trouble| trouble.path);
    let is_named = |case: &Case<'_>| named.as_deref() == Some(&case.group.path);
    let order = |case: &Case<'_>| (is_named(case), case.per_second);
    let found = seen
        .list
        .iter()
        .filter_map(|group| case(&window, group, version))
        .max_by(|a, b| order(a).partial_cmp(&order(b)).unwrap_or(std::cmp::Ordering::Equal))?;
    let Case { group, limit, knob, per_second, least } = found;
    let page = Pages(1).bytes(inputs.snapshot.machine.page_size);
    let rate_mib = least * page.as_mib();
    let cache = cache(group);
    let before =
        window.before.groups.data().and_then(|g| g.list.iter().find(|g| g.path == group.path)).map(self::cache);
    let available = available::bytes(inputs.snapshot);
    let again = counted(&window, per_second, least, page);
    let mut grounds = vec![
        evidence("the group", format!("{} of its limit of {limit}", group.current.unwrap_or_default()), knob),
        evidence("files evicted and read again in it", again, "memory.stat workingset_refault_file"),
        evidence("its page cache", before.map_or(cache.to_string(), |b| format!("{b}, then {cache}")), "memory.stat"),
    ];
    let waits = group.pressure.as_ref().and_then(|p| p.some).map(|some| some.avg10);
    let value = waits.map(|waits| format!("{waits:.2} % of the last 10 s"));
    grounds.add("its tasks wait for memory", value, "memory.pressure some");
    grounds.add("available on the machine", available, "/proc/meminfo MemAvailable");
    let waits = waits.map(|p| format!("; its tasks wait for memory {p:.1} % of the time")).unwrap_or_default();
    // What a group lacks shows only where it has it: no number is made up.
    let need = format!("sudo ramline need {}", word(&group.path));
    let advice =
        format!("a higher limit, as long as less is read again, or a smaller load; {need} measures how much it needs");
    Some(Draft {
        title: format!(
            "Group {} is at its limit of {limit} and loses its cache: {}{least:.0} pages a second ({rate_mib:.1} MiB/s) are read again",
            group.path,
            if least < per_second { "at least " } else { "" }
        ),
        weight: Weight::Warning,
        group: Some(group.path.clone()),
        effect: format!("{advice}{waits}"),
        evidence: grounds,
        confidence: Confidence::Medium,
        ..Draft::default()
    })
}

fn case<'a>(window: &Window<'_>, group: &'a Group, version: Version) -> Option<Case<'a>> {
    let (limit, knob) = match (version, group.max, group.high) {
        (Version::V1, Some(Limit::At(max)), _) => (max, "memory.limit_in_bytes"),
        (Version::V2, max, Some(Limit::At(high))) if max.and_then(Limit::bytes).is_none_or(|max| high < max) => {
            (high, "memory.high")
        }
        (Version::V2, Some(Limit::At(max)), _) => (max, "memory.max"),
        _ => return None,
    };
    if groups::is_sandbox(&group.path) {
        return None;
    }
    let counter = |s: &Snapshot| refaults(s.groups.data()?.list.iter().find(|g| g.path == group.path)?);
    let per_second = window.per_second(counter)?;
    let full = group.current?.share_of(limit)?;
    if full < AT_LIMIT || per_second < REFAULTS_PER_S {
        return None;
    }
    let span = window.span.as_secs_f64();
    let sure = if version == Version::V1 { per_second * span / (span + FLUSH_S) } else { per_second };
    let least = sure.min(read(window).unwrap_or(f64::INFINITY));
    Some(Case { group, limit, knob, per_second, least })
}

/// Pages read from disks, a second; `None` where hardly any were, so that the files come from elsewhere (NFS, FUSE).
fn read(window: &Window<'_>) -> Option<f64> {
    // pgpgin counts KiB.
    let kib = window.per_second(|s| s.vmstat.data()?.pgpgin)?;
    let page_kib = Pages(1).bytes(window.after.machine.page_size).as_f64() / 1024.0;
    Some(kib / page_kib).filter(|pages| *pages >= REFAULTS_PER_S)
}

/// `400 pages/s over 2.0 s`, and what of it is sure.
fn counted(window: &Window<'_>, per_second: f64, least: f64, page: Bytes) -> String {
    let all = rate(per_second, "pages", window.span);
    if least >= per_second {
        return all;
    }
    let read = read(window).map(|pages| format!("; {:.1} MiB/s were read from disks", pages * page.as_mib()));
    format!(
        "{all} as counted, at least {least:.0} pages/s for sure: version 1 refreshes its counts every 2 s{}",
        read.unwrap_or_default()
    )
}

/// With all that is below the group: version 2 always counts so, version 1 under `total_`.
fn refaults(group: &Group) -> Option<u64> {
    ["total_workingset_refault_file", "workingset_refault_file"].iter().find_map(|key| group.stat.get(*key).copied())
}

/// Its file pages, tmpfs apart.
fn cache(group: &Group) -> Bytes {
    let get = |keys: [&str; 3]| keys.iter().find_map(|key| group.stat.get(*key).copied()).unwrap_or(0);
    Bytes(get(["total_cache", "file", "cache"]).saturating_sub(get(["total_shmem", "shmem", "shmem"])))
}
