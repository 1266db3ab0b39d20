//! `rss-pss`: why the processes' sizes do not add up to what is used.

use super::topic::{Answer, Area, LIGHT, Numbers, Topic, sentences, unseen};
use crate::Inputs;
use crate::text::percent;
use ramline_snapshot::Wanted;
use ramline_snapshot::processes::Process;
use ramline_units::Bytes;

pub(super) const TOPIC: Topic = Topic {
    id: "rss-pss",
    area: Area::Memory,
    question: "Why do the sizes of processes not add up?",
    wants: Wanted { processes: true, ..LIGHT },
    answer,
};

fn answer(inputs: &Inputs<'_>) -> Answer {
    let meminfo = inputs.snapshot.meminfo.data();
    let processes = inputs.snapshot.processes.data();
    let list = processes.map(|p| p.list.as_slice()).filter(|list| !list.is_empty());
    let sum = |pick: fn(&Process) -> Option<Bytes>| list.map(|l| l.iter().filter_map(pick).sum::<Bytes>());
    let anon = sum(|p| p.rss_anon);
    let resident = sum(|p| Some(p.rss_anon? + p.rss_file? + p.rss_shmem?));
    let truth = meminfo.and_then(|m| Some(m.anon_pages? + m.mapped?));
    let mut numbers = Numbers::default();
    numbers.add("processes seen", list.map(|l| l.iter().filter(|p| !p.kernel_thread).count()), "/proc/PID");
    numbers.add(
        "their resident sizes (RSS), added up (now)",
        resident,
        "/proc/PID/status RssAnon + RssFile + RssShmem",
    );
    numbers.add("what they map in RAM, each page counted once (now)", truth, "/proc/meminfo AnonPages + Mapped");
    numbers.add("their anonymous memory, added up", anon, "/proc/PID/status RssAnon");
    numbers.add("anonymous memory, each page once", meminfo.and_then(|m| m.anon_pages), "/proc/meminfo AnonPages");
    numbers.add("file and shared pages mapped, each page once", meminfo.and_then(|m| m.mapped), "/proc/meminfo Mapped");
    let missed = processes.map(|p| p.missed).filter(|m| m.denied > 0 || m.vanished > 0 || m.malformed > 0 || m.hidden);
    numbers.add(
        "not seen",
        missed.map(|m| {
            let hidden = if m.hidden { "; others' processes are hidden (hidepid)" } else { "" };
            format!("{} refused, {} ended meanwhile, {} unreadable{hidden}", m.denied, m.vanished, m.malformed)
        }),
        "/proc/PID",
    );
    let short = match (resident, truth) {
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
    };
    Answer {
        short,
        numbers: numbers.0,
        mechanism: sentences([
            "RSS is every page a process maps that is in RAM. A page of the C library, or of a database's shared buffers, is in the RSS of every process that maps it.",
            "Anonymous memory (heaps, stacks) belongs to one process, except after a fork: parent and child share it until one of them writes, and both count it.",
            "PSS divides each page by the number of its mappers, so PSS adds up; USS counts only pages that no other process maps: what the end of the process would free. Both need a walk of its page tables that holds a lock of the process, about 20 to 40 ms a GiB of 4 KiB pages.",
            "Mapped and AnonPages count each page once, so the total of all processes is known exactly without any walk. Page tables, kernel memory and pages in swap are in no RSS.",
        ]),
        myth: Some("Adding up RES or RSS shows what is used: with 253 database processes over 16 GB of shared buffers that sum is several times the RAM.".into()),
        to_do: "Compare processes by PSS (ramline show processes), never by the sum of RSS.".into(),
        next: "ramline show processes".into(),
    }
}
