//! `mglru`: whether reclaim goes by two lists or by generations, and what that changes.

use ramline_snapshot::Seen;

use crate::prelude::*;

pub(super) const TOPIC: Topic = Topic {
    id: "mglru",
    area: Area::Pressure,
    question: "By which rule does reclaim choose pages here (MGLRU)?",
    wants: LIGHT,
    answer,
    mechanism: &[
        "Reclaim must guess which pages will not be missed. The classic way keeps two lists for file pages and two for process pages, and moves a page to the active one when it is used again.",
        "MGLRU (6.1 and later) sorts pages into up to four generations by the time of their last use, and finds uses by walking page tables in bulk instead of asking page by page. The oldest generation is evicted.",
        "With the classic lists vm.swappiness sets shares of scanning. With MGLRU it weighs the refault rates of both kinds, and one kind is evicted at a time: 0 takes only file pages, 1 nearly only them, 200 only process pages.",
        "min_ttl_ms protects what was used within that many milliseconds. If that cannot be kept, the kernel kills, where it would otherwise thrash.",
        "In /proc/meminfo the two youngest generations show as active, the older ones as inactive, so the numbers mean less than with the lists.",
    ],
    myth: "MGLRU makes swappiness meaningless: it is used in another formula, and still decides which kind is evicted.",
    to_do: "Nothing: both ways work. Judge by stall times and by what is read again.",
    next: "ramline explain swappiness",
};

fn answer(inputs: &Inputs<'_>, out: &mut Explanation) -> String {
    let section = &inputs.snapshot.lru_gen;
    let seen = section.data();
    let meminfo = inputs.snapshot.meminfo.data();
    // The section is the only one whose absence is an answer: the kernel was built without it, or is older than 6.1.
    let absent = matches!(section, Seen::Absent { .. }) && meminfo.is_some();
    let words = match seen {
        Some(l) => Some(format!("0x{:04x} (setting): {}", l.enabled, bits(l.enabled))),
        None => absent.then(|| "not there: two lists, active and inactive".to_owned()),
    };
    out.add("MGLRU", words, "/sys/kernel/mm/lru_gen/enabled");
    let ttl = seen.and_then(|l| l.min_ttl_ms);
    out.add(
        "working set protected for",
        ttl.map(|ms| {
            if ms == 0 {
                "0 ms (setting): not protected".to_owned()
            } else {
                format!("{ms} ms (setting): below that something is killed")
            }
        }),
        "/sys/kernel/mm/lru_gen/min_ttl_ms",
    );
    let value = inputs.snapshot.settings.data().and_then(|s| s.swappiness).map(|s| format!("{s} (setting)"));
    out.add("vm.swappiness", value, "/proc/sys/vm/swappiness");
    let lists = meminfo.and_then(|m| Some((m.active_file?, m.inactive_file?, m.active_anon?, m.inactive_anon?)));
    let value = lists.map(|l| format!("{}, {}", l.0, l.1));
    out.add("file pages, younger and older (now)", value, "/proc/meminfo Active(file), Inactive(file)");
    let value = lists.map(|l| format!("{}, {}", l.2, l.3));
    out.add("process and tmpfs pages, younger and older (now)", value, "/proc/meminfo Active(anon), Inactive(anon)");
    match seen {
        Some(l) if l.is_on() => {
            let ttl = match ttl {
                Some(ms) if ms > 0 => {
                    format!(" What was used in the last {ms} ms is not evicted; a process is killed instead.")
                }
                _ => String::new(),
            };
            format!("By generations: MGLRU is on.{ttl}")
        }
        Some(_) => "By two lists, active and inactive: the kernel has MGLRU, and it is switched off.".into(),
        None if absent => {
            "By two lists, active and inactive: this kernel has no MGLRU (6.1 and later, if built in).".into()
        }
        None => unseen(inputs, "lru_gen"),
    }
}

fn bits(enabled: u64) -> String {
    if enabled & 1 == 0 {
        return "off".into();
    }
    let walks = match (enabled & 2 != 0, enabled & 4 != 0) {
        (true, true) => ", walks page tables, upper levels too",
        (true, false) => ", walks page tables",
        (false, _) => ", without walks of page tables",
    };
    format!("on{walks}")
}
