//! A group at its limit whose memory is mostly in transparent huge pages, which can keep what its programs have freed.
//!
//! A suspicion with a bound and no measurement: what a huge page holds unused is counted by nothing that is read here. Fires where huge pages are on for
//! every program, khugepaged may fill in missing pages, and most of what fills the limit is in huge pages.

use ramline_model::groups::{self, HugeGroup};

use crate::prelude::*;

pub(super) const RULE: Rule = Rule {
    id: "huge-pages-fill-group",
    looks_for: "a group at its limit whose memory is mostly in transparent huge pages",
    explain: "thp",
    check,
    cost_if_wrong: "programs that use their memory densely lose huge pages that served them: more misses in the table of addresses",
    tune: Tune::No("transparent huge pages are no setting that it plans"),
};

fn check(inputs: &Inputs<'_>) -> Option<Draft> {
    let found = groups::huge_at_limit(inputs.snapshot)?;
    if groups::is_sandbox(&found.path) {
        return None;
    }
    let v1 = inputs.snapshot.groups.data().or(inputs.snapshot.limited.data())?.version?;
    let stat = if v1 == ramline_snapshot::cgroup::Version::V1 { "rss_huge of rss" } else { "anon_thp of anon" };
    Some(Draft {
        title: title(&found),
        weight: Weight::Note,
        group: Some(found.path.clone()),
        effect: format!(
            "up to {} may be memory that its programs have freed; how much is not known until it is tried",
            found.filled
        ),
        evidence: vec![
            evidence("the group", format!("{} of its limit of {}", found.current, found.limit), "memory.current"),
            evidence(
                "met its limit",
                format!("{} times since it was made", found.hits),
                "memory.events or memory.failcnt",
            ),
            evidence(
                "its process memory in huge pages",
                format!("{} of {}", found.huge, found.anon),
                format!("memory.stat {stat}"),
            ),
            evidence("huge pages for every program", "always (setting)", format!("{DIR}/enabled")),
            evidence("pages of one that may be missing", found.may_miss, format!("{DIR}/khugepaged/max_ptes_none")),
        ],
        confidence: Confidence::Low,
        change: Some(change(&found)),
        ..Draft::default()
    })
}

const DIR: &str = "/sys/kernel/mm/transparent_hugepage";

/// The suspicion in a sentence without its end.
pub(crate) fn title(of: &HugeGroup) -> String {
    let share = of.huge.share_of(of.anon).map(percent).unwrap_or_default();
    format!(
        "Group {} is at its limit of {}, and {share} of its process memory is in huge pages, which can keep freed memory",
        of.path, of.limit
    )
}

/// Of the whole machine, until it is restarted.
pub(crate) fn change(of: &HugeGroup) -> Change {
    let set = |value: u64| format!("echo {value} > {DIR}/khugepaged/max_ptes_none");
    let what = "khugepaged fills in no missing page any more, on the whole machine, until a restart; \
                since Linux 6.12 the kernel then also splits huge pages that are mostly unused";
    Change::by(what, [set(0)], [set(of.may_miss)])
}
