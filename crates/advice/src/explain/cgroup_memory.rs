//! `cgroup-memory`: what a group's (container's) memory limit counts, and what happens at it.

use super::topic::{Answer, Area, LIGHT, Numbers, Topic, sentences, unseen};
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
    numbers.add("limit that applies here", seen.map(|c| limit(c.effective_max)), "the tightest on the way to the root");
    numbers.add("available below it (now)", room.as_ref().map(|g| g.room), "limit - current + inactive_file");
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
    numbers.first(&[
        "limit that applies",
        "charged",
        "available below",
        "of it idle",
        "nearest",
        "groups seen",
        "groups with",
    ]);
    let short = match (&room, own, seen) {
        (Some(room), ..) => format!("{} is available in this group: {}.", room.room, room.words()),
        (None, Some(group), Some(_)) => format!(
            "No limit applies to this group{}.",
            group.current.map(|current| format!("; it uses {current}, cache included")).unwrap_or_default()
        ),
        _ => unseen(inputs, "cgroups"),
    };
    Answer {
        short,
        numbers: numbers.0,
        mechanism: sentences([
            "A group is charged for the process memory of its members, for the page cache they were the first to read or write, for tmpfs files they wrote, and for kernel memory they caused (page tables, names, sockets).",
            "At the limit the kernel reclaims inside the group, from cache and process memory by the same balance as on the machine: a group with swap swaps while it still has cache. With swappiness 0 (memory.swappiness on version 1, vm.swappiness on version 2) it drops files only. When nothing more is freed, a process of the group is killed. memory.high (version 2) slows the group down instead.",
            "So usage near the limit is the normal state of a group that reads files: cache fills what is allowed. kubectl and docker subtract inactive file pages, which are reclaimed first.",
            "Pages stay charged to the group that touched them first, also when another group uses them. zswap is charged for its compressed size (version 2); a zram pool is charged to no group.",
            "Version 1 counts a group alone under plain names in memory.stat and with its children as total_; version 2 always with its children.",
        ]),
        myth: Some("A container at 100 % of its limit is about to be killed: look at its refaults and its failures to reclaim, not at its usage.".into()),
        to_do: match &room {
            Some(room) if room.room.0 < room.limit.0 / 10 => {
                "Look whether its files come back (show cgroups --for 5s): if so, raise the limit.".into()
            }
            Some(_) => "Nothing while its tasks do not wait for memory: usage near the limit is mostly cache.".into(),
            None => "Nothing here; look at the groups that have a limit.".into(),
        },
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
        "of it idle cache, reclaimed first",
        stat(&["total_inactive_file", "inactive_file"]),
        "memory.stat inactive_file",
    );
    numbers.add("of it kernel memory", stat(&["kernel"]), "memory.stat kernel");
    numbers.add("its hard limit", group.max.map(limit), "memory.max or memory.limit_in_bytes");
    numbers.add("slowed down above", group.high.map(limit), "memory.high");
    numbers.add("swap it uses (now)", group.swap_current, "memory.swap.current");
    let hits = group.events.get("max").or_else(|| group.events.get("failcnt")).copied();
    numbers.add("times at its limit (counter)", hits, "memory.events max, or memory.failcnt");
    numbers.add("kills (counter)", group.events.get("oom_kill").copied(), "memory.events oom_kill");
}

fn limit(limit: Limit) -> String {
    limit.bytes().map_or_else(|| "no limit".to_owned(), |bytes| bytes.to_string())
}
