//! `cgroup-memory`: what a group's (container's) memory limit counts, and what happens at it.

use ramline_model::group;
use ramline_model::groups::{AT_LIMIT, most_killed};
use ramline_snapshot::cgroup::{Group, Version};

use crate::findings::removed_groups_kept::dying;
use crate::in_group;
use crate::prelude::*;

pub(super) const TOPIC: Topic = Topic {
    id: "cgroup-memory",
    area: Area::Owners,
    question: "What counts against a container's memory limit, and what happens at it?",
    wants: Wanted { groups: true, ..LIGHT },
    answer,
    mechanism: &[
        "A group is charged for the process memory of its members, for the page cache they were the first to read or write, for tmpfs files they wrote, and for kernel memory they caused (page tables, names, sockets).",
        "At the limit the kernel reclaims inside the group, from cache and process memory by the same balance as on the machine: a group with swap swaps while it still has cache. With swappiness 0 (memory.swappiness on version 1, vm.swappiness on version 2) it drops files only. When nothing more is freed, a process of the group is killed. memory.high (version 2) slows the group down instead.",
        "So usage near the limit is the normal state of a group that reads files: cache fills what is allowed. kubectl and docker subtract inactive file pages, which are reclaimed first.",
        "Pages stay charged to the group that touched them first, also when another group uses them. zswap is charged for its compressed size (version 2); a zram pool is charged to no group.",
        "Version 1 counts a group alone under plain names in memory.stat and with its children as total_; version 2 always with its children.",
    ],
    myth: "A container at 100 % of its limit is about to be killed: look at its refaults and its failures to reclaim, not at its usage.",
    to_do: "Nothing: no group is at its limit.",
    next: "ramline show cgroups",
};

fn answer(inputs: &Inputs<'_>, out: &mut Explanation) -> String {
    let seen = inputs.snapshot.cgroups.data();
    let own = seen.map(|c| c.own.as_ref().unwrap_or(&c.root));
    let version = seen.map(|c| match c.version {
        Version::V1 => "version 1",
        Version::V2 => "version 2",
    });
    out.add("control groups", version, "/proc/self/mountinfo");
    if let Some(group) = own {
        charged(group, out);
    }
    let room = group::from_snapshot(inputs.snapshot);
    out.add("limit that applies here", seen.map(|c| limit(c.effective_max)), "the tightest on the way to the root");
    out.add("available below it (now)", room.as_ref().map(|g| g.room), "limit - current + inactive_file");
    let groups = inputs.snapshot.groups.data().filter(|g| !g.list.is_empty());
    out.add("groups seen", groups.map(|g| g.list.len()), "the tree of groups");
    let tight = groups.and_then(|g| {
        let limit = |g: &Group| [g.max, g.high].into_iter().flatten().filter_map(Limit::bytes).min();
        let share = |g| Some((g, (g as &Group).current?.share_of(limit(g)?)?));
        g.list.iter().filter_map(share).max_by(|a, b| a.1.total_cmp(&b.1))
    });
    if let Some((group, share)) = tight {
        let value = format!("{} at {}", group.path, percent(share));
        out.put("nearest to its limit", value, "memory.current / memory.max or memory.high");
    }
    let limited = groups.map(|g| g.list.iter().filter(|g| g.max.is_some_and(|m| m != Limit::Max)).count());
    out.add("groups with a limit", limited, "memory.max or memory.limit_in_bytes");
    let removed = dying(inputs.snapshot).filter(|n| *n > 0);
    out.add(
        "removed groups that still hold memory",
        removed,
        "cgroup.stat nr_dying_subsys_memory or nr_dying_descendants",
    );
    out.first(&[
        "that group",
        "limit that applies",
        "charged",
        "available below",
        "of it idle",
        "nearest",
        "groups seen",
        "groups with",
    ]);
    let worst = in_group::worst(inputs);
    for number in worst.iter().flat_map(|said| in_group::grounds(&said.trouble)) {
        out.put(&format!("that group: {}", number.what), number.value, number.source);
    }
    let at_limit = tight.filter(|(_, share)| *share >= AT_LIMIT).map(|(group, _)| group);
    if let Some(said) = &worst {
        out.to_do = format!("{}.", capital(&said.to_do));
    } else if let Some(group) = at_limit {
        let need = format!("sudo ramline need {}", word(&group.path));
        out.to_do = format!("Look whether it reads its files again, and how much it needs: {need}.");
    } else if let Some(room) = &room {
        out.to_do = if room.room.0 < room.limit.0 / 10 {
            "Look whether its files are read again (show cgroups --for 5s): if so, raise the limit.".into()
        } else {
            "Nothing while its tasks do not wait for memory: usage near the limit is mostly cache.".into()
        };
    }
    let here = match (&room, own, seen) {
        (Some(room), ..) => format!("{} is available in the group of this command: {}.", room.room, room.words()),
        (None, Some(group), Some(_)) => format!(
            "The group of this command has no limit{}.",
            group.current.map(|current| format!("; it uses {current}, cache included")).unwrap_or_default()
        ),
        _ => unseen(inputs, "cgroups"),
    };
    let killed = most_killed(inputs.snapshot).filter(|_| worst.is_none());
    if let Some((group, n)) = killed {
        let processes = if n == 1 { "1 process was".to_owned() } else { format!("{n} processes were") };
        out.put("most killed in a group, since it was made", format!("{}: {n}", group.path), "memory.events oom_kill");
        out.to_do =
            format!("When, and why: ramline explain kill. What it needs: sudo ramline need {}.", word(&group.path));
        return format!("In group {} {processes} killed for memory since it was made. {here}", group.path);
    }
    match (&worst, at_limit) {
        (Some(said), _) => format!("{}. {here}", said.title),
        (None, Some(group)) => format!("{here} Group {} is at its limit; {}.", group.path, waiting(group)),
        _ => here,
    }
}

/// Whether the tasks of a group at its limit wait, as far as one reading says it.
fn waiting(group: &Group) -> String {
    match group.pressure.as_ref().and_then(|pressure| pressure.some) {
        Some(some) => format!("its tasks waited for memory {:.1} % of the last 10 s", some.avg10),
        None => "whether its tasks wait takes two readings: --for 5s".to_owned(),
    }
}

/// What our group is charged for, from its own `memory.stat`.
fn charged(group: &Group, out: &mut Explanation) {
    out.add("charged to our group (now)", group.current, "memory.current or memory.usage_in_bytes");
    let stat = |names: &[&str]| names.iter().find_map(|name| group.stat.get(*name)).copied().map(Bytes);
    out.add("of it process memory", stat(&["anon", "total_rss", "rss"]), "memory.stat anon, or rss");
    out.add("of it page cache and tmpfs", stat(&["file", "total_cache", "cache"]), "memory.stat file, or cache");
    out.add("of it tmpfs", stat(&["shmem", "total_shmem"]), "memory.stat shmem");
    let value = stat(&["total_inactive_file", "inactive_file"]);
    out.add("of it idle cache, reclaimed first", value, "memory.stat inactive_file");
    out.add("of it kernel memory", stat(&["kernel"]), "memory.stat kernel");
    out.add("its hard limit", group.max.map(limit), "memory.max or memory.limit_in_bytes");
    out.add("slowed down above", group.high.map(limit), "memory.high");
    out.add("swap it uses (now)", group.swap_current, "memory.swap.current");
    let hits = group.events.get("max").or_else(|| group.events.get("failcnt")).copied();
    out.add("times at its limit (counter)", hits, "memory.events max, or memory.failcnt");
    out.add("kills (counter)", group.events.get("oom_kill").copied(), "memory.events oom_kill");
}

fn limit(limit: Limit) -> String {
    limit.bytes().map_or_else(|| "no limit".to_owned(), |bytes| bytes.to_string())
}
