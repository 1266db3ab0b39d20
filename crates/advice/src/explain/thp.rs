//! `thp`: transparent huge pages, when they are made and how much uses them.

use ramline_model::groups;

use crate::findings::{filled_by_huge_pages, split_huge_pages};
use crate::prelude::*;

pub(super) const TOPIC: Topic = Topic {
    id: "thp",
    area: Area::Owners,
    question: "Are transparent huge pages on, and how much uses them?",
    // With the groups that met a limit: one may be full of them.
    wants: Wanted { thp: true, mounts: true, limited: true, ..LIGHT },
    answer,
    mechanism: &[
        "The processor can map a large block (2 MiB on x86) with one entry instead of 512: fewer misses in its table of addresses, smaller page tables, one fault instead of hundreds.",
        "The price: touching one byte may take the whole block, so sparse programs grow, and a free block must be found, which can mean compaction in the middle of a fault (see defrag).",
        "They are ordinary memory: reclaim can split them and swap the parts, and khugepaged puts small pages together in the background. Kernels since 6.12 can also split those that hold mostly zeros under pressure.",
        "shmem_enabled rules System V, memfd and shared anonymous memory. A tmpfs mount goes by its own huge= option, whatever shmem_enabled says, except deny and force, which rule both.",
        "Kernels since 6.8 know sizes in between (16 KiB to 1 MiB), each with a switch of its own.",
    ],
    myth: "Transparent huge pages are the huge pages a database reserves: those (hugetlb) are a pool set aside that cannot be swapped; these are made and split by the kernel.",
    to_do: "Leave it; madvise where programs grow beyond what they use, or stop to compact.",
    next: "ramline explain hugepages",
};

fn answer(inputs: &Inputs<'_>, out: &mut Explanation) -> String {
    let meminfo = inputs.snapshot.meminfo.data();
    let thp = inputs.snapshot.thp.data();
    let enabled = thp.and_then(|t| t.enabled.as_deref());
    let held = meminfo.and_then(|m| m.anon_huge_pages);
    let share = held.zip(meminfo.and_then(|m| m.anon_pages)).and_then(|(huge, anon)| huge.share_of(anon));
    let dir = "/sys/kernel/mm/transparent_hugepage";
    out.add("process memory gets them", enabled.map(|e| format!("{e} (setting)")), format!("{dir}/enabled"));
    out.add("size of one", thp.and_then(|t| t.page), format!("{dir}/hpage_pmd_size"));
    let value = thp.and_then(|t| t.defrag.as_deref()).map(|d| format!("{d} (setting): {}", defrag(d)));
    out.add("when none is free", value, format!("{dir}/defrag"));
    let shmem = thp.and_then(|t| t.shmem_enabled.as_deref());
    let value = shmem.map(|s| format!("{s} (setting)"));
    out.add("System V, memfd and shared anonymous memory get them", value, format!("{dir}/shmem_enabled"));
    out.add("tmpfs mounts get them", tmpfs(inputs.snapshot, shmem), "huge= of each mount in /proc/self/mountinfo");
    let sizes: Vec<String> = thp
        .into_iter()
        .flat_map(|t| &t.sizes)
        .filter(|size| size.enabled != "never")
        .map(|size| format!("{} {}", size.page, size.enabled))
        .collect();
    let value = (!sizes.is_empty()).then(|| sizes.join(", "));
    out.add("sizes that may be used", value, format!("{dir}/hugepages-*/enabled"));
    out.add(
        "pages of one that may be missing when it is put together",
        thp.and_then(|t| t.max_ptes_none).map(|n| format!("{n} (setting)")),
        format!("{dir}/khugepaged/max_ptes_none"),
    );
    out.add("process memory that uses them (now)", held, "/proc/meminfo AnonHugePages");
    out.add("of process memory", share.map(percent), "AnonHugePages / AnonPages");
    out.meminfo(inputs, "tmpfs and shared memory that uses them (now)", "ShmemHugePages");
    out.meminfo(inputs, "files that use them (now)", "FileHugePages");
    let vmstat = inputs.snapshot.vmstat.data();
    let faults = vmstat.and_then(|v| Some((v.thp_fault_alloc?, v.thp_fault_fallback?)));
    out.add(
        "made at a fault, refused for want of a block (counters since boot)",
        faults.map(|(made, refused)| format!("{made}, {refused}")),
        "/proc/vmstat thp_fault_alloc, thp_fault_fallback",
    );
    if let Some(window) = inputs.window {
        let split = window.per_second(|s| s.vmstat.data()?.thp_split_page);
        out.add("split again", split.map(|n| rate(n, "pages", window.span)), "/proc/vmstat thp_split_page");
    }
    let holds = match (held, share) {
        (Some(held), Some(share)) => format!("{held}, {} of process memory, uses them", percent(share)),
        (Some(held), None) => format!("{held} uses them"),
        (None, _) => "how much uses them was not seen".to_owned(),
    };
    let group = groups::huge_at_limit(inputs.snapshot).filter(|group| !groups::is_sandbox(&group.path));
    if let Some(group) = &group {
        out.put(
            "in the group: huge pages of process memory",
            format!("{} of {}", group.huge, group.anon),
            "memory.stat",
        );
        out.put(
            "that khugepaged may have filled in, at most",
            group.filled,
            "huge pages x max_ptes_none / pages of one",
        );
        let change = split_huge_pages(group);
        let commands = |list: &[String]| list.join("; ");
        out.to_do = format!(
            "Try whether the group needs less: {} (as root; back: {}). Or madvise instead of always.",
            commands(&change.commands),
            commands(&change.undo)
        );
    }
    let also = group.map(|group| format!(" {}.", filled_by_huge_pages(&group))).unwrap_or_default();
    match enabled {
        Some("always") => format!("On for every program (always): {holds}.{also}"),
        Some("madvise") => format!("On for programs that ask (madvise): {holds}."),
        Some("never") => format!("Off for process memory (never): {holds}."),
        Some(other) => format!("Set to {other}; {holds}."),
        None => unseen(inputs, "thp"),
    }
}

/// `never; /dev/shm always`: every mount by its huge= option, which is never where it does not show.
fn tmpfs(snapshot: &Snapshot, shmem: Option<&str>) -> Option<String> {
    match shmem {
        Some("deny") => return Some("none: shmem_enabled is deny".to_owned()),
        Some("force") => return Some("all: shmem_enabled is force".to_owned()),
        _ => {}
    }
    let mounts = snapshot.mounts.data()?.iter().filter(|m| m.fs == "tmpfs");
    let on: Vec<String> = mounts
        .filter_map(|m| Some((m, m.option("huge").filter(|huge| *huge != "never")?)))
        .map(|(m, huge)| format!("{} ({huge})", m.at))
        .collect();
    Some(if on.is_empty() { "none: no mount has huge=".to_owned() } else { list(&on) })
}

fn defrag(word: &str) -> &'static str {
    match word {
        "always" => "every fault may stop to compact",
        "defer" => "compact in the background only",
        "defer+madvise" => "programs that ask stop to compact, others leave it to the background",
        "madvise" => "programs that ask stop to compact",
        "never" => "take small pages instead",
        _ => "not a choice this version knows",
    }
}
