//! `rss-pss`: why the processes' sizes do not add up to what is used.

use crate::prelude::*;

pub(super) const TOPIC: Topic = Topic {
    id: "rss-pss",
    area: Area::Memory,
    question: "Why do the sizes of processes not add up?",
    wants: Wanted { processes: true, ..LIGHT },
    answer,
    mechanism: &[
        "RSS is every page a process maps that is in RAM. A page of the C library, or of a database's shared buffers, is in the RSS of every process that maps it.",
        "Anonymous memory (heaps, stacks) belongs to one process, except after a fork: parent and child share it until one of them writes, and both count it.",
        "PSS divides each page by the number of its mappers, so PSS adds up; USS counts only pages that no other process maps: what the end of the process would free. Both need a walk of its page tables that holds a lock of the process, about 20 to 40 ms a GiB of 4 KiB pages.",
        "Mapped and AnonPages count each page once, so the total of all processes is known exactly without any walk. Page tables, kernel memory and pages in swap are in no RSS.",
    ],
    myth: "Adding up RES or RSS shows what is used: with 253 database processes over 16 GB of shared buffers that sum is several times the RAM.",
    to_do: "Compare processes by PSS (ramline show processes), never by the sum of RSS.",
    next: "ramline show processes",
};

fn answer(inputs: &Inputs<'_>, out: &mut Explanation) -> String {
    let processes = inputs.snapshot.processes.data();
    let list = processes.map(|p| p.list.as_slice()).filter(|list| !list.is_empty());
    let sum = |pick: fn(&Process) -> Option<Bytes>| list.map(|l| l.iter().filter_map(pick).sum::<Bytes>());
    let anon = sum(|p| p.rss_anon);
    let resident = sum(|p| Some(p.rss_anon? + p.rss_file? + p.rss_shmem?));
    out.add("processes seen", list.map(|l| l.iter().filter(|p| !p.kernel_thread).count()), "/proc/PID");
    out.add("their resident sizes (RSS), added up (now)", resident, "/proc/PID/status RssAnon + RssFile + RssShmem");
    let truth = out.meminfo(inputs, "what they map in RAM, each page counted once (now)", "AnonPages + Mapped");
    out.add("their anonymous memory, added up", anon, "/proc/PID/status RssAnon");
    out.meminfo(inputs, "anonymous memory, each page once", "AnonPages");
    out.meminfo(inputs, "file and shared pages mapped, each page once", "Mapped");
    let missed = processes.map(|p| p.missed).filter(|m| m.denied > 0 || m.vanished > 0 || m.malformed > 0 || m.hidden);
    out.add(
        "not seen",
        missed.map(|m| {
            let hidden = if m.hidden { "; others' processes are hidden (hidepid)" } else { "" };
            format!("{} refused, {} ended meanwhile, {} unreadable{hidden}", m.denied, m.vanished, m.malformed)
        }),
        "/proc/PID",
    );
    match (resident, truth) {
        (Some(resident), Some(truth)) => {
            let times = resident.share_of(truth).unwrap_or(1.0);
            let ram = inputs.snapshot.mem_total().and_then(|ram| resident.share_of(ram)).map(percent);
            format!(
                "Their sizes (RSS) add up to {resident}{}; together they use {truth} of RAM. Each shared page is in the RSS of every process that maps it: {times:.1} times too much here.",
                ram.map(|share| format!(", {share} of RAM")).unwrap_or_default()
            )
        }
        (None, Some(truth)) => format!(
            "Together the processes use {truth}, each page counted once. Single processes were not seen, so the sum of their sizes is not known."
        ),
        (_, None) => unseen(inputs, "meminfo"),
    }
}
