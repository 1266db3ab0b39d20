//! /tmp is nearly full, or on disk and larger than a tmpfs would allow it to be.
//!
//! The second matters where a release moves /tmp to tmpfs (half of RAM is the default limit): what does not fit there
//! breaks on the day of the upgrade. A /tmp that fits is silent, whatever else the models say about it.

use ramline_model::tmpfs::{Fit, Model, would_fit};
use ramline_snapshot::mounts::{self, Mount};

use super::tmpfs_near_limit::{self as tmpfs_rule, NEAR};
use crate::prelude::*;

pub(super) const RULE: Rule = Rule {
    id: "tmp-near-limit",
    looks_for: "/tmp nearly full, or too large for a tmpfs",
    explain: "tmpfs",
    check,
    cost_if_wrong: "old files may fill it: clearing them is better than more memory for them",
    tune: Tune::No("what fills /tmp has to be looked at first; a mount in use takes another size by mount -o remount"),
};

/// On a disk it shares, /tmp is near its end only when so little is left in bytes as well.
const LITTLE: Bytes = Bytes::from_gib(1);

fn check(inputs: &Inputs<'_>) -> Option<Draft> {
    let snapshot = inputs.snapshot;
    let mount = mounts::holding(snapshot.mounts.data()?, "/tmp")?;
    if tmpfs::in_ram(&mount.fs) {
        return full_tmpfs(snapshot);
    }
    full_disk(mount).or_else(|| would_not_fit(snapshot))
}

fn full_tmpfs(snapshot: &Snapshot) -> Option<Draft> {
    let state = tmpfs::from_snapshot(snapshot)?;
    let mount = state.mounts.iter().find(|m| m.at == "/tmp" || m.also_at.iter().any(|at| at == "/tmp"))?;
    let (what, share) = tmpfs_rule::fullness(mount)?;
    Some(Draft {
        title: format!("/tmp is a tmpfs that has used {} of its {what}", percent(share)),
        weight: Weight::Warning,
        effect: "programs that write temporary files fail with \"no space left on device\" when it is full".into(),
        evidence: tmpfs_rule::grounds(mount),
        confidence: Confidence::High,
        change: tmpfs_rule::enlarge(mount, what, snapshot.mem_total()?),
        ..Draft::default()
    })
}

fn full_disk(mount: &Mount) -> Option<Draft> {
    let capacity = mount.capacity.filter(|c| c.size.0 > 0)?;
    let used = capacity.used()?;
    let used = used.share_of(used + capacity.available)?;
    let inodes = capacity.inodes_used().and_then(|used| Bytes(used).share_of(Bytes(capacity.inodes)));
    let own = mount.at == "/tmp";
    let (what, share) = if used >= NEAR && (own || capacity.available < LITTLE) {
        ("space", used)
    } else {
        ("inodes", inodes.filter(|share| *share >= NEAR)?)
    };
    let source = format!("statfs {}", mount.at);
    let place = if own { "/tmp".to_owned() } else { format!("/tmp, on the file system at {},", mount.at) };
    Some(Draft {
        title: format!("{place} has used {} of its {what}", percent(share)),
        weight: Weight::Warning,
        effect: "programs that write temporary files fail with \"no space left on device\" when it is full".into(),
        evidence: vec![
            evidence("space", format!("{} left of {}", capacity.available, capacity.size), &source),
            evidence("inodes", format!("{} left of {}", capacity.inodes_free, capacity.inodes), &source),
        ],
        confidence: Confidence::High,
        cost_if_wrong: Some("none: nothing is changed by looking".into()),
        ..Draft::default()
    })
}

fn would_not_fit(snapshot: &Snapshot) -> Option<Draft> {
    let dir = snapshot.dirs.data()?.iter().find(|dir| dir.path == "/tmp")?;
    let fit = would_fit(dir, snapshot)?;
    let half = fit.margins.iter().find(|m| m.model == Model::HalfOfRam)?;
    let (what, have, may) = if half.margin.is_negative() {
        ("bytes", fit.need.to_string(), half.limit.to_string())
    } else if fit.inode_margin < 0 {
        ("inodes", fit.inodes.to_string(), fit.inode_limit.to_string())
    } else {
        return None;
    };
    let least = if fit.lower_bound { "at least " } else { "" };
    Some(Draft {
        title: format!("/tmp would not fit into a tmpfs of default size: {least}{have} against {may} ({what})"),
        weight: Weight::Note,
        effect: "nothing now; an upgrade that moves /tmp to tmpfs would break what is kept there".into(),
        evidence: models(&fit),
        confidence: if fit.lower_bound { Confidence::Medium } else { Confidence::High },
        already: vec!["/tmp on disk".into()],
        cost_if_wrong: Some("with /tmp kept on disk its files go on being written to the disk, as now".into()),
        change: Some(Change::by(
            "keeps /tmp on disk over such an upgrade (only where systemd's tmp.mount decides)",
            ["systemctl mask tmp.mount".into()],
            ["systemctl unmask tmp.mount".into()],
        )),
        ..Draft::default()
    })
}

fn models(fit: &Fit) -> Vec<Evidence> {
    let mut out =
        vec![evidence("a tmpfs would need", format!("{} and {} inodes", fit.need, fit.inodes), "walk of /tmp")];
    for margin in &fit.margins {
        out.put(
            look::limit_words(margin.model),
            format!("{}, margin {}", margin.limit, margin.margin),
            "/proc/meminfo",
        );
    }
    out.put("inodes of a default tmpfs", fit.inode_limit.to_string(), "one for every two pages of RAM");
    out
}
