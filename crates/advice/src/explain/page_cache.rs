//! `page-cache`: what it is made of, what leaves first, and how to tell whether it is large enough.

use crate::prelude::*;

pub(super) const TOPIC: Topic = Topic {
    id: "page-cache",
    area: Area::Files,
    question: "What is in the page cache, and what leaves it first?",
    wants: LIGHT,
    answer,
    mechanism: &[
        "Every page read from or written to a file stays in RAM until the room is needed. Reading it again then costs a copy instead of a disk access.",
        "A page enters on the inactive list and moves to the active one when it is used again; the inactive list is reclaimed first. One long read of a large file therefore pushes out little of what is used steadily.",
        "An evicted page leaves a mark. If it is read again while the mark is there, the kernel counts a refault; if that is so soon that a larger cache would have kept it, it becomes active at once and counts as working set. That second rate is what a larger cache would save.",
        "Dirty pages are written first, mapped ones cost a fault when they are missed, locked ones and tmpfs stay. Since 5.18 (xfs) and 6.16 (ext4) the cache also keeps files in blocks of several pages.",
    ],
    myth: "Dropping caches makes room: it throws away what would have been dropped anyway when needed, and the next reads go to the disk. It is for measuring cold starts.",
    to_do: "Nothing while nothing is read again; drop caches only to measure a cold start.",
    next: "ramline show pressure --for 2s",
};

fn answer(inputs: &Inputs<'_>, out: &mut Explanation) -> String {
    let meminfo = inputs.snapshot.meminfo.data();
    let lists = meminfo.and_then(|m| m.active_file.zip(m.inactive_file));
    let files = lists.map(|(active, inactive)| active + inactive);
    out.add("file pages (now)", files, "/proc/meminfo Active(file) + Inactive(file)");
    out.add("used at least twice lately (now)", lists.map(|l| l.0), "/proc/meminfo Active(file)");
    out.add("used once: reclaimed first (now)", lists.map(|l| l.1), "/proc/meminfo Inactive(file)");
    let value = meminfo.and_then(|m| m.mapped);
    out.add("mapped by programs (now)", value, "/proc/meminfo Mapped (shared memory included)");
    out.meminfo(inputs, "to be written before it can be dropped (now)", "Dirty + Writeback");
    out.meminfo(inputs, "blocks of devices and metadata (now)", "Buffers");
    let share = files.zip(inputs.snapshot.mem_total()).and_then(|(files, ram)| files.share_of(ram));
    out.add("file pages, of RAM", share.map(percent), "(Active(file) + Inactive(file)) / MemTotal");
    let refaults = out.refaults(inputs, "evicted and read again");
    let value = refaults.and_then(|r| Some(rate(r.activated?, "pages", r.span)));
    out.add("of these, part of the working set", value, "/proc/vmstat workingset_activate_file");
    if let Some(order) = out.mechanism.get_mut(1).filter(|_| look::is_mglru(inputs.snapshot)) {
        *order = "Here pages are kept in generations by the time of their last use (MGLRU): the oldest generation leaves first, and pages used only through read and write move up more slowly than mapped ones.".into();
    }
    match lists {
        Some((active, inactive)) => format!(
            "The page cache is {}: {inactive} was used once and leaves first, {active} at least twice. {}.",
            active + inactive,
            spare(refaults, inputs)
        ),
        None => unseen(inputs, "meminfo"),
    }
}

fn spare(refaults: Option<Refaults>, inputs: &Inputs<'_>) -> String {
    let Some(refaults) = refaults else { return "Whether it is large enough shows with --for 2s".into() };
    let Some(activated) = refaults.activated.filter(|n| *n >= 1.0) else {
        return "Nothing of the working set was evicted".into();
    };
    let page = Pages(1).bytes(inputs.snapshot.machine.page_size);
    format!("A larger cache would save reading {}/s again", bytes_of(activated * page.as_f64()))
}
