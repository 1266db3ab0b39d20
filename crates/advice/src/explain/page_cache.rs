//! `page-cache`: what it is made of, what leaves first, and how to tell whether it is large enough.

use super::{Answer, Area, LIGHT, Numbers, Topic, unseen};
use crate::Inputs;
use crate::look;
use crate::text::{percent, rate};
use ramline_units::Bytes;

pub(super) const TOPIC: Topic = Topic {
    id: "page-cache",
    area: Area::Files,
    question: "What is in the page cache, and what leaves it first?",
    wants: LIGHT,
    answer,
};

fn answer(inputs: &Inputs<'_>) -> Answer {
    let meminfo = inputs.snapshot.meminfo.data();
    let mut numbers = Numbers::default();
    let lists = meminfo.and_then(|m| m.active_file.zip(m.inactive_file));
    let files = lists.map(|(active, inactive)| active + inactive);
    numbers.add("file pages (now)", files, "/proc/meminfo Active(file) + Inactive(file)");
    numbers.add("used at least twice lately", lists.map(|l| l.0), "/proc/meminfo Active(file)");
    numbers.add("used once, first to go", lists.map(|l| l.1), "/proc/meminfo Inactive(file)");
    numbers.add(
        "mapped into processes",
        meminfo.and_then(|m| m.mapped),
        "/proc/meminfo Mapped (shared memory included)",
    );
    numbers.add(
        "to be written before it can go",
        meminfo.and_then(|m| Some(m.dirty? + m.writeback?)),
        "/proc/meminfo Dirty + Writeback",
    );
    numbers.add("blocks of devices and metadata", meminfo.and_then(|m| m.buffers), "/proc/meminfo Buffers");
    let share = files.zip(inputs.snapshot.mem_total()).and_then(|(files, ram)| files.share_of(ram));
    numbers.add("file pages, of RAM", share.map(percent), "(Active(file) + Inactive(file)) / MemTotal");
    let refaults = inputs.window.as_ref().and_then(look::refaults);
    numbers.refaults(refaults);
    numbers.add(
        "of them, would have stayed in a larger cache",
        refaults.and_then(|r| Some(rate(r.activated?, "pages", r.span))),
        "/proc/vmstat workingset_activate_file",
    );
    let mglru = inputs.snapshot.lru_gen.data().is_some_and(ramline_snapshot::switches::LruGen::is_on);
    let short = match lists {
        Some((active, inactive)) => format!(
            "{} of files: {inactive} were used once and leave first, {active} at least twice{}.",
            active + inactive,
            spare(refaults, inputs)
        ),
        None => unseen(inputs, "meminfo"),
    };
    Answer {
        short,
        numbers: numbers.0,
        mechanism: vec![
            "Every page read from or written to a file stays in RAM until somebody needs the room. Reading it again then costs a copy instead of a disk access.".into(),
            if mglru {
                "Here pages are kept in generations by the time of their last use (MGLRU): the oldest generation leaves first, and pages used only through read and write move up more slowly than mapped ones.".into()
            } else {
                "A page enters on the inactive list and moves to the active one when it is used again; the inactive list is reclaimed first. One long read of a large file therefore pushes out little of what is used steadily.".into()
            },
            "Who is evicted leaves a mark. If the page comes back soon, the kernel counts a refault; if it came back so soon that a working set with room would have kept it, it becomes active at once. The second number tells how much a larger cache would save.".into(),
            "Dirty pages are written first, mapped ones cost a fault when they are missed, locked ones and tmpfs stay. Since 5.18 (xfs) and 6.16 (ext4) the cache also keeps files in blocks of several pages.".into(),
        ],
        myth: Some("Dropping caches makes room: it throws away what would have been given anyway, and the next reads go to the disk. It is for measuring cold starts.".into()),
        next: "ramline show pressure --for 2s".into(),
    }
}

fn spare(refaults: Option<look::Refaults>, inputs: &Inputs<'_>) -> String {
    let Some(refaults) = refaults else { return "; whether it is large enough shows over a window only".into() };
    let Some(activated) = refaults.activated.filter(|n| *n >= 1.0) else {
        return "; nothing that was evicted is missed".into();
    };
    let page = inputs.snapshot.machine.page_size.0;
    #[expect(clippy::cast_precision_loss, reason = "a page size is small")]
    let bytes = activated * page as f64;
    let bytes: Bytes = crate::text::bytes_of(bytes);
    format!("; a larger cache would save reading {bytes}/s again")
}
