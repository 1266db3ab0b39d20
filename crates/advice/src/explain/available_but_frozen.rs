//! `available-but-frozen`: how a machine stands still while memory is available.

use ramline_model::verdict::{self, VerdictState};

use crate::prelude::*;

pub(super) const TOPIC: Topic = Topic {
    id: "available-but-frozen",
    area: Area::Memory,
    question: "How can a machine freeze while memory is available?",
    wants: LIGHT,
    answer,
    mechanism: &[
        "MemAvailable counts most of the page cache as available. But the code of running programs is page cache, too, and so are the files a database maps.",
        "When process memory cannot be swapped (no swap, or full), the kernel makes room by dropping exactly those pages. The programs read them again at once, which drops others: every program waits for the disk, and nothing is \"out of memory\".",
        "Free memory then hovers at the low mark and available stays well above zero: machines were found standing still with 15 % available. So thresholds on available memory (alarms, earlyoom at 10 %) do not fire.",
        "The signs that do show it: refaults a second, major faults, reads of the disk with the programs, and above all the `full` stall time. With swap, compressed swap included, idle process memory leaves instead; a larger min_ttl_ms (MGLRU) or a killer on stall times ends it early.",
    ],
    myth: "If memory is available, memory is not the problem: it is a stock of pages, some of which every program needs to take its next step.",
    to_do: "Alarm on stall times (psi full), not on available memory; have swap (zram is enough) for idle process memory.",
    next: "ramline show pressure --for 2s",
};

fn answer(inputs: &Inputs<'_>, out: &mut Explanation) -> String {
    let snapshot = inputs.snapshot;
    let meminfo = snapshot.meminfo.data();
    let available = available::bytes(snapshot);
    let mapped = meminfo.and_then(|m| Some(m.mapped?.saturating_sub(m.shmem.unwrap_or_default())));
    let share = available.zip(snapshot.mem_total()).and_then(|(a, total)| a.share_of(total));
    let value = available.zip(share).map(|(a, share)| format!("{a}, {} of RAM", percent(share)));
    out.add("available (now)", value, "/proc/meminfo MemAvailable");
    out.add(
        "code and files mapped by programs, at least (now)",
        mapped,
        "/proc/meminfo Mapped less Shmem: running code and mapped data, counted as available",
    );
    let swap = out.meminfo(inputs, "free swap (now)", "SwapFree");
    let refaults = out.refaults(inputs, "evicted and read again");
    let value = refaults.and_then(|r| Some(rate(r.faults?, "faults", r.span)));
    out.add("faults that had to read", value, "/proc/vmstat pgmajfault");
    let full = snapshot.pressure_memory.data().and_then(|p| p.full);
    let value = full.map(|f| format!("{:.2} % of the last 10 s", f.avg10));
    out.add("all tasks waited for memory", value, "/proc/pressure/memory full");
    match available {
        None => unseen(inputs, "meminfo"),
        Some(available) => {
            let state = verdict::from_snapshot(snapshot, inputs.window).map(|v| v.state);
            let now = match state {
                Some(VerdictState::Comfortable | VerdictState::Reclaiming) => {
                    "It does not happen here now: no task waits for memory"
                }
                Some(VerdictState::GroupAtLimit) => {
                    "It does not happen on the machine now, but in a group at its limit"
                }
                Some(VerdictState::RunningOut) => {
                    "It does not happen here yet: nothing waits, but what is available will not last"
                }
                Some(VerdictState::Low) => "It does not happen here yet: nothing waits, but little is available",
                Some(VerdictState::NearlyUsedUp) => {
                    "It does not happen here yet: nothing waits, but next to nothing is available"
                }
                Some(VerdictState::ReadAgain) => {
                    "It does not happen here now: tasks wait for pages evicted earlier, and there is room"
                }
                Some(VerdictState::Refaulting | VerdictState::Stalling | VerdictState::Thrashing) => {
                    "It happens here now: tasks wait for memory"
                }
                _ => "Whether it happens here now needs stall times or --for 2s",
            };
            let mapped = mapped.unwrap_or_default();
            let swap = if swap.unwrap_or_default() == Bytes(0) {
                "; without swap they are what is dropped in the end"
            } else {
                ""
            };
            format!("{now}. Of the {available} available, up to {mapped} is code and data that programs use{swap}.")
        }
    }
}
