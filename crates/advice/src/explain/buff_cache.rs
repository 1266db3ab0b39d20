//! `buff-cache`: what the column holds, which part of it is spare, and which part is not cache at all.

use crate::prelude::*;

pub(super) const TOPIC: Topic = Topic {
    id: "buff-cache",
    area: Area::Files,
    question: "Why is buff/cache so large, and is it spare?",
    wants: LIGHT,
    answer,
    mechanism: &[
        "The kernel keeps what was read or written until the room is needed: empty RAM would serve nothing.",
        "New demand takes clean cache first; that costs a read only for pages that are used again.",
        "Program code is cache too: it is mapped from files, and evicting it makes running programs stop and read.",
        "tmpfs and shared memory are counted in the column but can only go to swap.",
    ],
    myth: "Dropping caches frees useful memory: it frees what would have been given anyway, and pays by reading it again.",
    to_do: "Nothing: the kernel drops clean cache when memory is needed. Do not drop caches by hand.",
    next: "ramline show",
};

fn answer(inputs: &Inputs<'_>, out: &mut Explanation) -> String {
    let meminfo = inputs.snapshot.meminfo.data();
    let column = meminfo.and_then(|m| Some(m.buffers? + m.cached? + m.s_reclaimable.unwrap_or_default()));
    out.add("buff/cache, as free counts it (now)", column, "/proc/meminfo Buffers + Cached + SReclaimable");
    out.meminfo(inputs, "of it tmpfs and shared memory: no cache", "Shmem");
    out.meminfo(inputs, "mapped by programs: code, files, shared memory", "Mapped");
    out.meminfo(inputs, "of it to be written first", "Dirty + Writeback");
    out.meminfo(inputs, "used at least twice lately", "Active(file)");
    out.meminfo(inputs, "used once", "Inactive(file)");
    let refaults = out.refaults(inputs, "file pages read again");
    match column.zip(meminfo.and_then(|m| m.shmem)) {
        Some((column, shmem)) => {
            let verdict = match refaults {
                Some(r) if r.activated.unwrap_or(r.per_second) >= 1.0 => format!(
                    "{:.0} pages a second of the working set are read again, so not all of the rest is spare",
                    r.activated.unwrap_or(r.per_second)
                ),
                Some(_) => "Nothing of the working set is read again, so the clean rest is spare".into(),
                None => "Whether the rest is spare shows with --for 2s".into(),
            };
            format!(
                "buff/cache is {column}, of which {shmem} is tmpfs and shared memory and cannot be dropped. {verdict}."
            )
        }
        None => unseen(inputs, "meminfo"),
    }
}
