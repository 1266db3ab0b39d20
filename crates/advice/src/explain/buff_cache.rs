//! `buff-cache`: what the column holds, which part of it is spare, and which part is not cache at all.

use super::topic::{Answer, Area, LIGHT, Numbers, Topic, sentences, unseen};
use crate::Inputs;
use crate::look;
use crate::text::rate;

pub(super) const TOPIC: Topic = Topic {
    id: "buff-cache",
    area: Area::Files,
    question: "Why is buff/cache so large, and is it spare?",
    wants: LIGHT,
    answer,
};

fn answer(inputs: &Inputs<'_>) -> Answer {
    let meminfo = inputs.snapshot.meminfo.data();
    let mut numbers = Numbers::default();
    let column = meminfo.and_then(|m| Some(m.buffers? + m.cached? + m.s_reclaimable.unwrap_or_default()));
    numbers.add("buff/cache, as free counts it (now)", column, "/proc/meminfo Buffers + Cached + SReclaimable");
    numbers.add("of it tmpfs and shared memory: no cache", meminfo.and_then(|m| m.shmem), "/proc/meminfo Shmem");
    numbers.add(
        "mapped by programs: code, files, shared memory",
        meminfo.and_then(|m| m.mapped),
        "/proc/meminfo Mapped",
    );
    numbers.add(
        "of it to be written first",
        meminfo.and_then(|m| Some(m.dirty? + m.writeback?)),
        "/proc/meminfo Dirty + Writeback",
    );
    numbers.add("used at least twice lately", meminfo.and_then(|m| m.active_file), "/proc/meminfo Active(file)");
    numbers.add("used once", meminfo.and_then(|m| m.inactive_file), "/proc/meminfo Inactive(file)");
    let refaults = inputs.window.as_ref().and_then(look::refaults);
    numbers.add(
        "file pages read again",
        refaults.map(|r| rate(r.per_second, "pages", r.span)),
        "/proc/vmstat workingset_refault_file",
    );
    let short = match column.zip(meminfo.and_then(|m| m.shmem)) {
        Some((column, shmem)) => {
            let verdict = match refaults {
                Some(r) if r.activated.unwrap_or(r.per_second) >= 1.0 => format!(
                    "{:.0} pages a second of the working set come back, so not all of the rest is spare",
                    r.activated.unwrap_or(r.per_second)
                ),
                Some(_) => "Nothing of the working set comes back, so the clean rest is spare".into(),
                None => "Whether the rest is spare shows with --for 2s".into(),
            };
            format!(
                "buff/cache is {column}, of which {shmem} is tmpfs and shared memory and cannot be dropped. {verdict}."
            )
        }
        None => unseen(inputs, "meminfo"),
    };
    Answer {
        short,
        numbers: numbers.0,
        mechanism: sentences([
            "The kernel keeps what was read or written until the room is needed: empty RAM would serve nothing.",
            "New demand takes clean cache first; that costs a read only for pages that are used again.",
            "Program code is cache too: it is mapped from files, and evicting it makes running programs stop and read.",
            "tmpfs and shared memory are counted in the column but can only go to swap.",
        ]),
        myth: Some("Dropping caches frees useful memory: it frees what would have been given anyway, and pays by reading it again.".into()),
        to_do: "Nothing: the kernel drops clean cache when memory is needed. Do not drop caches by hand.".into(),
        next: "ramline show".into(),
    }
}
