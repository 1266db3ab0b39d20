//! A tmpfs that is nearly full, or whose limit promises more than RAM and swap together hold.
//!
//! A limit of half of RAM is tmpfs's own default, and several such mounts whose limits add up to more than RAM are
//! normal: nothing is said about sums. A single limit above RAM plus swap can never be honoured: filling it ends with
//! the out-of-memory killer, which cannot free tmpfs pages. /tmp has a rule of its own.

use std::collections::{HashMap, HashSet};

use ramline_model::tmpfs::TmpfsMount;
use ramline_snapshot::mounts::Mount;

use crate::prelude::*;

pub(super) const RULE: Rule = Rule {
    id: "tmpfs-near-limit",
    looks_for: "a tmpfs nearly full, or allowed more than RAM and swap hold",
    explain: "tmpfs",
    check,
    cost_if_wrong: "what fills it may be a leak: then a larger limit only moves the failure to memory itself; look what lies there first",
    tune: Tune::No("a mount in use takes another size by mount -o remount, which is not a topic of tune"),
};

/// Share of bytes or inodes from which the next program fails to write.
pub(super) const NEAR: f64 = 0.9;

/// Smaller mounts are placeholders (container runtimes mount them over what is to be hidden).
const LEAST_SIZE: Bytes = Bytes::from_mib(1);

fn check(inputs: &Inputs<'_>) -> Option<Draft> {
    let state = tmpfs::from_snapshot(inputs.snapshot)?;
    let written = writable(inputs.snapshot);
    let mounts =
        || state.mounts.iter().filter(|m| m.fs == "tmpfs" && m.at != "/tmp" && written.contains(m.at.as_str()));
    let full: Vec<(&TmpfsMount, &str, f64)> =
        mounts().filter_map(|m| fullness(m).map(|(what, share)| (m, what, share))).collect();
    if let Some((mount, what, share)) = full.first() {
        let others = full.iter().skip(1).flat_map(|(mount, ..)| grounds(mount));
        return Some(nearly_full(inputs, mount, what, *share, others.collect()));
    }
    let meminfo = inputs.snapshot.meminfo.data()?;
    let (ram, swap) = (meminfo.mem_total?, meminfo.swap_total?);
    let too_large = |m: &&TmpfsMount| limit(m).is_some_and(|limit| limit > ram + swap);
    mounts().find(too_large).and_then(|mount| oversized(mount, ram, swap))
}

fn limit(mount: &TmpfsMount) -> Option<Bytes> {
    mount.size.and_then(Limit::bytes).filter(|limit| *limit >= LEAST_SIZE)
}

/// Mount points at which files can be written: mounted over one another, the last one is what is seen.
fn writable(snapshot: &Snapshot) -> HashSet<&str> {
    let read_only = |text: &str| text.split(',').any(|option| option == "ro");
    let all = snapshot.mounts.data().map(Vec::as_slice).unwrap_or_default();
    let last: HashMap<&str, &Mount> = all.iter().map(|mount| (mount.at.as_str(), mount)).collect();
    let open = last.into_values().filter(|m| !read_only(&m.options) && !read_only(&m.super_options));
    open.map(|mount| mount.at.as_str()).collect()
}

/// What is nearly used up, and how far.
pub(super) fn fullness(mount: &TmpfsMount) -> Option<(&'static str, f64)> {
    limit(mount)?;
    let bytes = mount.share.filter(|share| *share >= NEAR).map(|share| ("space", share));
    bytes.or_else(|| mount.inode_share.filter(|share| *share >= NEAR).map(|share| ("inodes", share)))
}

/// The numbers of one mount.
pub(super) fn grounds(mount: &TmpfsMount) -> Vec<Evidence> {
    let source = format!("statfs {}", mount.at);
    let mut out = Vec::new();
    if let Some((used, limit)) = mount.used.zip(mount.size) {
        out.put("space", format!("{used} of {limit}"), source.clone());
    }
    if let Some((used, all)) = mount.inodes_used.zip(mount.inodes) {
        out.put("inodes", format!("{used} of {all}"), source);
    }
    out
}

/// A remount to twice the limit, as long as that stays within half of RAM.
pub(super) fn enlarge(mount: &TmpfsMount, what: &str, ram: Bytes) -> Option<Change> {
    let at = word(&mount.at);
    let remount = |option: String| format!("mount -o remount,{option} {at}");
    let (new, old) = match what {
        "inodes" => (format!("nr_inodes={}", mount.inodes?.saturating_mul(2)), format!("nr_inodes={}", mount.inodes?)),
        _ => {
            let limit = limit(mount)?;
            let twice = Bytes(limit.0.saturating_mul(2));
            if twice.0 > ram.0 / 2 {
                return None;
            }
            (format!("size={}k", twice.0 >> 10), format!("size={}k", limit.0 >> 10))
        }
    };
    Some(Change::by(
        format!("doubles the limit on {what}; to keep it: the same option in /etc/fstab or the mount unit's Options="),
        [remount(new)],
        [remount(old)],
    ))
}

fn nearly_full(inputs: &Inputs<'_>, mount: &TmpfsMount, what: &str, share: f64, others: Vec<Evidence>) -> Draft {
    let ram = inputs.snapshot.mem_total().unwrap_or_default();
    Draft {
        title: format!("The tmpfs on {} has used {} of its {what}", mount.at, percent(share)),
        weight: Weight::Warning,
        effect: format!(
            "writers to {} fail with \"no space left on device\" when it is full, whatever memory is free",
            mount.at
        ),
        evidence: grounds(mount).into_iter().chain(others).collect(),
        confidence: Confidence::High,
        change: enlarge(mount, what, ram),
        ..Draft::default()
    }
}

fn oversized(mount: &TmpfsMount, ram: Bytes, swap: Bytes) -> Option<Draft> {
    let limit = limit(mount)?;
    let half = Bytes(ram.0 / 2);
    let fits = mount.used.is_some_and(|used| used < half);
    let at = word(&mount.at);
    Some(Draft {
        title: format!("The tmpfs on {} may grow to {limit}, more than RAM and swap together ({})", mount.at, ram + swap),
        weight: Weight::Note,
        effect: "a program that fills it takes the machine down instead of getting an error: the killer cannot free tmpfs pages".into(),
        evidence: grounds(mount)
            .into_iter()
            .chain([evidence("RAM and swap", format!("{ram} and {swap}"), "/proc/meminfo MemTotal, SwapTotal")])
            .collect(),
        confidence: Confidence::High,
        cost_if_wrong: Some(format!(
            "a program that really needs more than {half} there gets an error; it could not have had {limit} either"
        )),
        change: fits.then(|| Change::by(
            "sets the limit to half of RAM, tmpfs's own default; to keep it: size=50% in /etc/fstab or the mount unit",
            [format!("mount -o remount,size=50% {at}")],
            [format!("mount -o remount,size={}k {at}", limit.0 >> 10)],
        )),
        ..Draft::default()
    })
}
