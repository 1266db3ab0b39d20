//! `more-ram`: whether more memory would help here, and how what one program needs is found.

use crate::findings::group_at_its_limit;
use crate::planning::need;
use crate::prelude::*;

pub(super) const TOPIC: Topic = Topic {
    id: "more-ram",
    area: Area::Pressure,
    question: "Would more RAM help, and how much does a program need?",
    // With the groups: one that is short at its own limit needs no more RAM in the machine.
    wants: Wanted { groups: true, blocks: true, mounts: true, ..LIGHT },
    answer,
    mechanism: &[
        "More RAM helps where pages in use are evicted and read again: refaults of files, swap-ins. Where both are near zero it only holds files that are hardly read.",
        "A program needs as much as lets it run without those: its own memory (heap, buffers), its code, and the files that it reads again and again. RSS is too high where much of it is idle, and too low where files matter.",
        "A database: its buffer pool (shared_buffers, innodb_buffer_pool_size, maxmemory) is process memory; the files behind it lie in the page cache besides. In a container both count against the limit.",
        "A JVM: its heap (-Xmx), and beside it classes, compiled code, thread stacks and direct buffers. A collection touches all of the heap, so a heap that is partly in swap makes each of them slow.",
        "Measured: the same work within smaller and smaller limits of a control group, until it becomes slower. Compressed swap (zram) helps with process memory, never with files.",
    ],
    myth: "A program gets faster the more RAM it is given: only up to the point where it no longer waits for pages.",
    to_do: "Measure it: `sudo ramline need SERVICE` watches a service that runs; `ramline lab run knee -- COMMAND` runs a command in ever less.",
    next: "ramline need --help",
};

fn answer(inputs: &Inputs<'_>, out: &mut Explanation) -> String {
    let meminfo = inputs.snapshot.meminfo.data();
    let room = available::from_snapshot(inputs.snapshot).map(|of| of.bytes).zip(meminfo.and_then(|m| m.mem_total));
    out.add(
        "available (now)",
        room.map(|(some, all)| format!("{some} of {all}")),
        "/proc/meminfo MemAvailable of MemTotal",
    );
    let refaults = out.refaults(inputs, "file pages read again");
    let swapped = inputs.window.and_then(|window| Some((window.delta(look::swapped_in)?, window.span)));
    out.add(
        "swapped in",
        swapped.map(|(n, span)| format!("{n} pages over {span}")),
        "/proc/vmstat pswpin + swpin_zero + zswpin",
    );
    let value = look::stall(inputs.snapshot).map(|stall| format!("{:.2} % of the last five minutes", stall.avg300));
    out.add("tasks waiting for memory", value, "/proc/pressure/memory some");
    let group = group_at_its_limit(inputs);
    for number in group.iter().flat_map(|group| &group.evidence).take(2) {
        out.put(&format!("the group: {}", number.what), number.value.clone(), &number.source);
    }
    let Some((available, total)) = room else { return unseen(inputs, "meminfo") };
    match (need::swap_reason(inputs), group) {
        (Some(why), _) => format!("Yes, or compressed swap: {}.", why.text),
        (None, Some(group)) => {
            format!(
                "Not for the machine: {available} of {total} is available. But for a group: {}.",
                lower(&group.title)
            )
        }
        (None, None) => {
            let looked = match refaults {
                Some(seen) => format!("{:.0} file pages a second were read again over {}", seen.per_second, seen.span),
                None => "whether files are read again shows with --for 2s".to_owned(),
            };
            format!(
                "More RAM would not help now: {available} of {total} is available. What one service needs is measured: sudo ramline need SERVICE; {looked}."
            )
        }
    }
}
