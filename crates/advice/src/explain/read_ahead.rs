//! `read-ahead`: what one fault reads.

use crate::prelude::*;

pub(super) const TOPIC: Topic = Topic {
    id: "read-ahead",
    area: Area::Files,
    question: "How much does one page fault read here?",
    wants: Wanted { mounts: true, blocks: true, ..LIGHT },
    answer,
    mechanism: &[
        "A fault on a mapped file reads a window around the page, as large as the device's read-ahead (the kernel's default is 128.0 KiB).",
        "After 100 faults more that had to read than were found in the cache, the kernel stops this for the open file and reads single pages, until hits bring the count down again.",
        "With memory to spare the window is a gain: the neighbours are used soon. Under pressure they are evicted before they are used, and each fault pays for a whole window.",
        "So a large read-ahead turns a shortage into a standstill: one load without swap finished a third of a round in 40 s at 8 MiB, and five rounds in 20 s at 128 KiB.",
    ],
    myth: "More read-ahead is always faster: it helps long sequential reads, and hurts random faults under pressure.",
    to_do: "Leave it, unless checkup finds faults that read too much while memory is short; backups profit from it.",
    next: "ramline show pressure --for 2s",
};

fn answer(inputs: &Inputs<'_>, out: &mut Explanation) -> String {
    let snapshot = inputs.snapshot;
    let mut named: Vec<&str> = Vec::new();
    for mount in snapshot.mounts.data().into_iter().flatten() {
        let Some(disk) = look::disk_under(snapshot, &mount.at).filter(|disk| !named.contains(&disk.name.as_str()))
        else {
            continue;
        };
        named.push(&disk.name);
        if let Some(size) = disk.read_ahead {
            let source = format!("/sys/block/{}/queue/read_ahead_kb", disk.name);
            out.put(&format!("read-ahead of {}, under {}", disk.name, mount.at), size.to_string(), source);
        }
    }
    if let Some(window) = inputs.window {
        let faults = window.per_second(|s| s.vmstat.data()?.pgmajfault);
        // pgpgin counts KiB.
        let read = window.per_second(|s| s.vmstat.data()?.pgpgin).map(|kib| kib * 1024.0);
        out.add("major faults", faults.map(|f| rate(f, "faults", window.span)), "/proc/vmstat pgmajfault");
        let value = read.map(|r| format!("{}/s over {}", bytes_of(r), window.span));
        out.add("read from disks", value, "/proc/vmstat pgpgin");
        let refaults = look::refaults(&window);
        let value = refaults.map(|r| rate(r.per_second, "pages", r.span));
        out.add("file pages read again", value, "/proc/vmstat workingset_refault_file");
    }
    let root = look::disk_under(snapshot, "/").and_then(|disk| Some((disk, disk.read_ahead?)));
    match root {
        Some((disk, size)) => format!(
            "A fault on a file reads up to {size} from {}: {} pages for the one that was needed.",
            disk.name,
            size.0.checked_div(snapshot.machine.page_size.0).unwrap_or(0)
        ),
        None if snapshot.blocks.data().is_none() => unseen(inputs, "blocks"),
        None => "The device under / cannot be seen here (a container, or a file system without one).".into(),
    }
}
