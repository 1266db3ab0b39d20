//! `buff-cache`: what the column holds, which part of it is spare, and which part is not cache at all.

use super::{Answer, Area, LIGHT, Numbers, Topic, sentences, unseen};
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
    numbers.add("buff/cache, as free counts", column, "/proc/meminfo Buffers + Cached + SReclaimable");
    numbers.add("of it tmpfs and shared memory: not cache", meminfo.and_then(|m| m.shmem), "/proc/meminfo Shmem");
    numbers.add("of it mapped: code, data, shared memory", meminfo.and_then(|m| m.mapped), "/proc/meminfo Mapped");
    numbers.add(
        "of it to be written first",
        meminfo.and_then(|m| Some(m.dirty? + m.writeback?)),
        "/proc/meminfo Dirty + Writeback",
    );
    numbers.add("used at least twice lately", meminfo.and_then(|m| m.active_file), "/proc/meminfo Active(file)");
    numbers.add("used once", meminfo.and_then(|m| m.inactive_file), "/proc/meminfo Inactive(file)");
    let refaults = inputs.window.as_ref().and_then(look::refaults);
    numbers.add(
        "file refaults",
        refaults.map(|r| rate(r.per_second, "pages", r.span)),
        "/proc/vmstat workingset_refault_file",
    );
    let short = match column.zip(meminfo.and_then(|m| m.shmem)) {
        Some((column, shmem)) => {
            let verdict = match refaults {
                Some(r) if r.per_second >= 1.0 => {
                    format!("{:.0} pages a second are missed after being evicted, so it is not all spare", r.per_second)
                }
                Some(_) => "nothing evicted is missed, so what is clean is spare".into(),
                None => "whether it is spare shows over a window only".into(),
            };
            format!("{column}, of which {shmem} are tmpfs and shared memory and cannot be dropped; {verdict}.")
        }
        None => unseen(inputs, "meminfo"),
    };
    Answer {
        short,
        numbers: numbers.0,
        mechanism: sentences([
            "The kernel keeps what was read or written until the room is needed: empty RAM would be wasted.",
            "New demand takes clean cache first; that costs a read only for pages that are used again.",
            "Program code is cache too: it is mapped from files, and evicting it makes running programs stop and read.",
            "tmpfs and shared memory are counted in the column but can only go to swap.",
        ]),
        myth: Some("Dropping caches frees useful memory: it frees what would have been given anyway, and pays by reading it again.".into()),
        next: "ramline show".into(),
    }
}
