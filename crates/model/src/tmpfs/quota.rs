//! The third limit of a tmpfs beside bytes and inodes: what one user, or one group, may use of it.
//!
//! The limits of users as the kernel counts them, the fullest first, and what a user gets that has none of its own.
//! Not a limit for root: whoever has CAP_SYS_RESOURCE passes it. At the limit a write fails with EDQUOT ("Disk quota
//! exceeded") while `df` shows room.
//!
//! Worked example: /tmp of 4 GiB with 80 % a user: user 1000 with 3.1 GiB has 0.1 GiB left, and 0.9 GiB of /tmp are free.

use ramline_snapshot::mounts::{Mount, Quota};

use crate::prelude::*;

/// What a user or group gets that has no limit of its own: mount options `usrquota_block_hardlimit=` and the like.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DefaultQuota {
    /// A group gets it; otherwise a user.
    pub group: bool,
    /// Bytes; `None` without limit.
    pub bytes: Option<Bytes>,
    /// Inodes; `None` without limit.
    pub inodes: Option<u64>,
}

/// One user or group with a limit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QuotaUse {
    /// As the kernel counts it.
    pub quota: Quota,
    /// Share of its bytes in use.
    pub share: Option<f64>,
    /// Share of its inodes in use.
    pub inode_share: Option<f64>,
}

impl QuotaUse {
    /// The larger share: what it reaches first.
    #[must_use]
    pub fn fullest(&self) -> f64 {
        self.share.unwrap_or(0.0).max(self.inode_share.unwrap_or(0.0))
    }

    /// `user 1000`.
    #[must_use]
    pub fn who(&self) -> String {
        format!("{} {}", if self.quota.group { "group" } else { "user" }, self.quota.id)
    }
}

/// Quotas of one tmpfs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Quotas {
    /// For users, groups or both, where the mount says so.
    pub defaults: Vec<DefaultQuota>,
    /// Those with a limit, fullest first; root is not bound and left out. One's own only, where others are not shown.
    pub uses: Vec<QuotaUse>,
}

/// What quotas leave, for a directory on this tmpfs: the room of the user or group that has least.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Room {
    /// Bytes; `None` where nothing limits them.
    pub bytes: Option<Bytes>,
    /// Inodes.
    pub inodes: Option<u64>,
}

/// Quotas of a mount; `None` where it keeps none.
pub fn from_mount(mount: &Mount) -> Option<Quotas> {
    let kinds = [("usrquota", false), ("grpquota", true)].map(|(key, group)| mount.has(key).then_some(group));
    if mount.fs != "tmpfs" || kinds == [None; 2] {
        return None;
    }
    let mut uses: Vec<QuotaUse> = mount
        .quotas
        .iter()
        .filter(|q| q.id != 0 && (q.limit.is_some() || q.inode_limit.is_some()))
        .map(|q| QuotaUse {
            quota: *q,
            share: q.limit.and_then(|limit| q.used.share_of(limit)),
            inode_share: q.inode_limit.and_then(|limit| Bytes(q.inodes_used).share_of(Bytes(limit))),
        })
        .collect();
    ramline_units::sort_by(&mut uses, |a, b| {
        b.fullest().total_cmp(&a.fullest()).then_with(|| a.quota.id.cmp(&b.quota.id))
    });
    Some(Quotas { defaults: kinds.into_iter().flatten().filter_map(|group| default_of(mount, group)).collect(), uses })
}

fn default_of(mount: &Mount, group: bool) -> Option<DefaultQuota> {
    let start = if group { "grpquota" } else { "usrquota" };
    let number = |what: &str| -> Option<u64> {
        mount.option(&format!("{start}_{what}_hardlimit"))?.parse().ok().filter(|n| *n > 0)
    };
    let found = DefaultQuota { group, bytes: number("block").map(Bytes), inodes: number("inode") };
    (found.bytes.is_some() || found.inodes.is_some()).then_some(found)
}

/// The least room any user or group has left; what a new one gets where nobody has used any of it yet.
pub fn room(quotas: &Quotas) -> Room {
    let of_uses = Room {
        bytes: quotas.uses.iter().filter_map(|u| Some(u.quota.limit?.saturating_sub(u.quota.used))).min(),
        inodes: quotas.uses.iter().filter_map(|u| Some(u.quota.inode_limit?.saturating_sub(u.quota.inodes_used))).min(),
    };
    Room {
        bytes: of_uses.bytes.or_else(|| quotas.defaults.iter().filter_map(|d| d.bytes).min()),
        inodes: of_uses.inodes.or_else(|| quotas.defaults.iter().filter_map(|d| d.inodes).min()),
    }
}
