//! `available`: what MemAvailable promises, and what it does not.

use ramline_model::group::{self, GroupRoom};

use crate::prelude::*;

pub(super) const TOPIC: Topic = Topic {
    id: "available",
    area: Area::Memory,
    question: "How much memory could a new program get?",
    wants: LIGHT,
    answer,
    mechanism: &[
        "The ZFS cache is not in MemAvailable. What it gives back is counted here beside it: its size less c_min, and no more than is clean. It shrinks more slowly than page cache.",
        "MemAvailable is an estimate: free memory above the watermarks, plus the page cache less a reserve, plus kernel objects that can be freed.",
        "It does not know which cached pages are in use. A machine whose programs and data files fill the cache can freeze with a seventh of its memory \"available\".",
        "Whether cache is spare shows while the machine reclaims: when pages of the working set are read again and tasks wait for them, it is not. Pages read again for another reason (evicted by DAMON, drop_caches, a group's limit, long ago) are no sign of it.",
    ],
    myth: "Available memory means the machine is fine: judge by refaults and stall times, not by a stock.",
    to_do: "Nothing while no task waits for memory; to plan a large program, leave a tenth of this number alone.",
    next: "ramline show pressure --for 2s",
};

fn answer(inputs: &Inputs<'_>, out: &mut Explanation) -> String {
    let meminfo = inputs.snapshot.meminfo.data();
    let left = available::from_snapshot(inputs.snapshot);
    let available = left.map(|left| left.bytes);
    out.add("available (now)", available, left.map_or("", available::Available::source));
    let arc = left.map(|left| left.arc).filter(|arc| arc.0 > 0);
    if arc.is_some() {
        out.meminfo(inputs, "of this, by the kernel's own count (now)", "MemAvailable");
    }
    out.add(
        "of this, ZFS cache that shrinks (now)",
        arc,
        "/proc/spl/kstat/zfs/arcstats size - c_min, as far as it is evictable",
    );
    out.meminfo(inputs, "free (now)", "MemFree");
    let lists = inputs.snapshot.zoneinfo.data().map(|z| z.cpu_lists().bytes(inputs.snapshot.machine.page_size));
    out.add("free, in the lists of the CPUs (not in MemFree)", lists, "/proc/zoneinfo count, all CPUs");
    out.meminfo(inputs, "page cache (now)", "Active(file) + Inactive(file)");
    out.meminfo(inputs, "kernel objects that can be freed (now)", "SReclaimable");
    let marks = watermarks::from_snapshot(inputs.snapshot, inputs.window);
    let low = marks.map(|m| m.nodes.iter().map(|n| n.low).sum::<ramline_units::Bytes>());
    out.add("reserve: kswapd wakes below", low, "/proc/zoneinfo low, all zones");
    out.refaults(inputs, "file pages read again");
    let group = group::from_snapshot(inputs.snapshot);
    let value = group.as_ref().map(|g| g.limit);
    out.add("limit of this group", value, "memory.max or memory.limit_in_bytes, the tightest up to the root");
    let value = group.as_ref().and_then(|g| g.current);
    out.add("used by this group (now)", value, "memory.current or memory.usage_in_bytes");
    let value = group.as_ref().map(|g| g.room);
    out.add("available to this group (now)", value, "limit - current + inactive_file of the group");
    out.first(&[
        "limit of this",
        "used by this",
        "available",
        "of this, ZFS",
        "of this, by",
        "free (now)",
        "page cache",
    ]);
    match available.zip(meminfo.and_then(|m| m.mem_total)) {
        Some((available, total)) if group.is_some() => {
            let room = group.as_ref().map_or(available, |g| g.room.min(available));
            let words = group.as_ref().map(GroupRoom::words).unwrap_or_default();
            format!("About {room} in this group: {words}. The machine has about {available} of {total}.")
        }
        Some((available, total)) => {
            let free = meminfo.and_then(|m| m.mem_free).unwrap_or_default();
            let rest = if let Some(arc) = arc {
                format!(
                    "{arc} of it is ZFS cache, which shrinks (slower than page cache); {} is free now.",
                    free.min(available)
                )
            } else if free.0 / 2 >= available.0 / 4 {
                format!("{} of it is free now, the rest clean cache.", free.min(available))
            } else {
                "Most of it is page cache, and the part in use would be read again.".to_owned()
            };
            format!("About {available} of {total} is available. {rest}")
        }
        None => unseen(inputs, "meminfo"),
    }
}
