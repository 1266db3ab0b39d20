//! A user, or a group, that has nearly used up its quota of a tmpfs.
//!
//! New distributions mount /tmp and /dev/shm with `usrquota` and give each user 80 % or half of them. At the quota writes fail with
//! "Disk quota exceeded" while `df` shows room and memory is free. Root passes its quota, so its own is no finding.

use ramline_model::tmpfs::{QuotaUse, TmpfsMount};

use super::tmpfs_near_limit::{NEAR, grounds};
use crate::prelude::*;

pub(super) const RULE: Rule = Rule {
    id: "tmpfs-quota-near-limit",
    looks_for: "a user near the quota of a tmpfs such as /tmp",
    explain: "tmpfs",
    check,
    cost_if_wrong: "what fills it may be a leak: a larger quota lets one user fill the file system for all; look what lies there first",
    tune: Tune::No("quotas of users are given by setquota"),
};

fn check(inputs: &Inputs<'_>) -> Option<Draft> {
    let state = tmpfs::from_snapshot(inputs.snapshot)?;
    let mut near: Vec<(&TmpfsMount, &QuotaUse)> = state
        .mounts
        .iter()
        .filter(|mount| mount.fillable)
        .flat_map(|mount| mount.quotas.iter().flat_map(|q| &q.uses).map(move |it| (mount, it)))
        .filter(|(_, it)| it.fullest() >= NEAR)
        .collect();
    ramline_units::sort_by(&mut near, |a, b| b.1.fullest().total_cmp(&a.1.fullest()));
    let (mount, first) = *near.first()?;
    let (what, share) = reached(first);
    let at = &mount.at;
    Some(Draft {
        title: format!("{} has used {} of its {what} quota on {at}", capital(&first.who()), percent(share)),
        weight: Weight::Warning,
        effect: format!(
            "its writes to {at} fail with \"Disk quota exceeded\" (EDQUOT), whatever room df and free show"
        ),
        evidence: near.iter().map(|(mount, it)| used(mount, it)).chain(grounds(mount)).collect(),
        confidence: Confidence::High,
        change: larger(mount, first),
        ..Draft::default()
    })
}

/// What it reaches first.
fn reached(it: &QuotaUse) -> (&'static str, f64) {
    let (bytes, inodes) = (it.share.unwrap_or(0.0), it.inode_share.unwrap_or(0.0));
    if bytes >= inodes { ("space", bytes) } else { ("inode", inodes) }
}

fn used(mount: &TmpfsMount, it: &QuotaUse) -> Evidence {
    let bytes = it.quota.limit.map_or_else(String::new, |limit| format!(" of {limit}"));
    let inodes = it.quota.inode_limit.map_or_else(String::new, |limit| format!(" of {limit}"));
    let value = format!("{}{bytes}, {}{inodes} inodes", it.quota.used, it.quota.inodes_used);
    evidence(&format!("{} on {}", it.who(), mount.at), value, "quotactl_fd Q_GETNEXTQUOTA")
}

/// Twice the limit that is near, as long as the file system has as much. Mount options for quotas cannot be changed later.
fn larger(mount: &TmpfsMount, it: &QuotaUse) -> Option<Change> {
    let quota = it.quota;
    let (bytes, inodes) = (quota.limit.unwrap_or_default(), quota.inode_limit.unwrap_or_default());
    let (what, _) = reached(it);
    let new = if what == "space" { (Bytes(bytes.0.checked_mul(2)?), inodes) } else { (bytes, inodes.checked_mul(2)?) };
    let size = mount.size.and_then(Limit::bytes);
    if size.is_some_and(|size| new.0 > size) || mount.inodes.is_some_and(|all| new.1 > all) {
        return None;
    }
    let kind = if quota.group { "-g" } else { "-u" };
    let set = |(bytes, inodes): (Bytes, u64)| {
        format!("setquota {kind} {} 0 {} 0 {inodes} {}", quota.id, bytes.0.div_ceil(1024), word(&mount.at))
    };
    Some(Change::by(
        "doubles it until the next mount (setquota is in the package quota; it needs 4.10 for tmpfs)",
        [set(new)],
        [set((bytes, inodes))],
    ))
}
