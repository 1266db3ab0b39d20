//! `cgroup-memory`: what a group's (container's) memory limit counts, and what happens at it.

use super::{Answer, Area, LIGHT, Numbers, Topic, sentences, unseen};
use crate::Inputs;
use crate::text::{evidence, percent};
use ramline_model::group;
use ramline_snapshot::Wanted;
use ramline_snapshot::cgroup::{Group, Version};
use ramline_units::{Bytes, Limit};

pub(super) const TOPIC: Topic = Topic {
    id: "cgroup-memory",
    area: Area::Owners,
    question: "What counts against a container's memory limit, and what happens at it?",
    wants: Wanted { groups: true, ..LIGHT },
    answer,
};

fn answer(inputs: &Inputs<'_>) -> Answer {
    let seen = inputs.snapshot.cgroups.data();
    let own = seen.map(|c| c.own.as_ref().unwrap_or(&c.root));
    let mut numbers = Numbers::default();
    let version = seen.map(|c| match c.version {
        Version::V1 => "version 1",
        Version::V2 => "version 2",
    });
    numbers.add("control groups", version, "/proc/self/mountinfo");
    if let Some(group) = own {
        charged(group, &mut numbers);
    }
    let room = group::of(inputs.snapshot);
    numbers.add(
        "limit that applies to us",
        seen.map(|c| limit(c.effective_max)),
        "the tightest on the way to the root",
    );
    numbers.add("left below it", room.as_ref().map(|g| g.room), "limit - current + inactive_file");
    let groups = inputs.snapshot.groups.data().filter(|g| !g.list.is_empty());
    numbers.add("groups seen", groups.map(|g| g.list.len()), "the tree of groups");
    let tight = groups.map(|g| {
        g.list
            .iter()
            .filter_map(|g| Some((g, g.current?.share_of(g.max?.bytes()?)?)))
            .max_by(|a, b| a.1.total_cmp(&b.1))
    });
    if let Some((group, share)) = tight.flatten() {
        numbers.0.push(evidence(
            "nearest to its limit",
            format!("{} at {}", group.path, percent(share)),
            "memory.current / memory.max",
        ));
    }
    let limited = groups.map(|g| g.list.iter().filter(|g| g.max.is_some_and(|m| m != Limit::Max)).count());
    numbers.add("groups with a limit", limited, "memory.max or memory.limit_in_bytes");
    let short = match (&room, own, seen) {
        (Some(room), ..) => format!(
            "This group ends at its limit, not the machine's: {}; {} can still be had.",
            room.words(),
            room.room
        ),
        (None, Some(group), Some(_)) => format!(
            "No limit applies to us; what our group is charged{} is counted all the same.",
            group.current.map(|current| format!(" ({current})")).unwrap_or_default()
        ),
        _ => unseen(inputs, "cgroups"),
    };
    Answer {
        short,
        numbers: numbers.0,
        mechanism: sentences([
            "A group is charged for the process memory of its members, for the page cache they were the first to read or write, for tmpfs files they wrote, and for kernel memory they caused (page tables, names, sockets).",
            "At the limit the kernel reclaims inside the group: cache first, then swap if it may. Only when that frees nothing is something killed, inside the group. memory.high (version 2) brakes the group instead of killing.",
            "So usage near the limit is the normal state of a group that reads files: cache fills what is allowed. What it cannot give up is usage less inactive file pages, which is what kubectl and docker subtract.",
            "Pages stay charged to whoever touched them first, also when another group uses them. zswap is charged for its compressed size (version 2); a zram pool is charged to nobody.",
            "Version 1 counts a group alone under plain names in memory.stat and with its children as total_; version 2 always with its children.",
        ]),
        myth: Some("A container at 100 % of its limit is about to be killed: look at its refaults and its failures to reclaim, not at its usage.".into()),
        next: "ramline show cgroups".into(),
    }
}

/// What our group is charged for, from its own `memory.stat`.
fn charged(group: &Group, numbers: &mut Numbers) {
    numbers.add("charged to our group (now)", group.current, "memory.current or memory.usage_in_bytes");
    let stat = |names: &[&str]| names.iter().find_map(|name| group.stat.get(*name)).copied().map(Bytes);
    numbers.add("of it process memory", stat(&["anon", "total_rss", "rss"]), "memory.stat anon, or rss");
    numbers.add("of it page cache and tmpfs", stat(&["file", "total_cache", "cache"]), "memory.stat file, or cache");
    numbers.add("of it tmpfs", stat(&["shmem", "total_shmem"]), "memory.stat shmem");
    numbers.add(
        "of it idle cache, given up first",
        stat(&["total_inactive_file", "inactive_file"]),
        "memory.stat inactive_file",
    );
    numbers.add("of it kernel memory", stat(&["kernel"]), "memory.stat kernel");
    numbers.add("its hard limit", group.max.map(limit), "memory.max or memory.limit_in_bytes");
    numbers.add("its brake", group.high.map(limit), "memory.high");
    numbers.add("swap it uses (now)", group.swap_current, "memory.swap.current");
    let hits = group.events.get("max").or_else(|| group.events.get("failcnt")).copied();
    numbers.add("times at its limit (counter)", hits, "memory.events max, or memory.failcnt");
    numbers.add("kills (counter)", group.events.get("oom_kill").copied(), "memory.events oom_kill");
}

fn limit(limit: Limit) -> String {
    limit.bytes().map_or_else(|| "no limit".to_owned(), |bytes| bytes.to_string())
}
