//! `oom`: when something is killed for memory, and what would be.

use ramline_model::group;
use ramline_model::groups::{Cause, most_killed};

use crate::in_group;
use crate::prelude::*;

pub(super) const TOPIC: Topic = Topic {
    id: "oom",
    area: Area::Pressure,
    question: "When does the kernel kill for memory, and whom?",
    // With the groups that met a limit: most kills are in one.
    wants: Wanted { processes: true, killers: true, limited: true, ..LIGHT },
    answer,
    mechanism: &[
        "The kernel kills when an allocation has reclaimed again and again (16 rounds) and freed nothing: hardly any file pages left, swap full or missing. Long before that the machine may stand still. It kills with much memory free where the request could not take it: no block of its size, another zone or node, CMA.",
        "It takes the process with the most RAM, swap and page tables, shifted by its oom_score_adj (-1000 exempts it, 1000 offers it). Not the one that asked, nor the one that grew last.",
        "A group at its limit kills inside itself, however much the machine has free; \"killed since boot\" counts those too.",
        "Requests for large blocks (more than 8 pages in a row) fail instead of killing. On version 2 groups memory.oom.group kills the group as a whole.",
        "earlyoom and systemd-oomd act earlier, on thresholds of their own. With zram, free swap is a number of uncompressed bytes that may never fit, so such thresholds can mislead.",
    ],
    myth: "The killer runs when RAM is full: RAM is always nearly full. It runs when nothing can be reclaimed, which without swap means after the program code has been dropped and read again many times.",
    to_do: "Shield what must not be killed with OOMScoreAdjust= in its unit, and give large programs a limit of their own.",
    next: "ramline explain kill",
};

fn answer(inputs: &Inputs<'_>, out: &mut Explanation) -> String {
    let snapshot = inputs.snapshot;
    let kills = snapshot.vmstat.data().and_then(|v| v.oom_kill);
    let largest = largest(snapshot);
    out.add("killed since boot, in groups too", kills, "/proc/vmstat oom_kill");
    let over = inputs.window.and_then(|w| Some((w.delta(|s| s.vmstat.data()?.oom_kill)?, w.span)));
    out.add("killed in the window", over.map(|(n, span)| format!("{n} over {span}")), "/proc/vmstat oom_kill");
    let own = snapshot.cgroups.data().and_then(|c| c.own.as_ref()).and_then(|g| g.events.get("oom_kill").copied());
    out.add("killed in this group since boot", own, "memory.events or memory.oom_control oom_kill");
    out.meminfo(inputs, "file pages that can be dropped (now)", "Active(file) + Inactive(file)");
    out.meminfo(inputs, "free swap (now)", "SwapFree");
    out.meminfo(inputs, "free memory (now)", "MemFree");
    let room = group::from_snapshot(snapshot);
    let value = room.as_ref().map(|g| g.room);
    out.add("available below the limit of this group (now)", value, "limit - current + inactive_file");
    out.add(
        "largest process, as the kernel measures it",
        largest.map(|(p, bytes)| format!("{} ({}), {bytes}", p.name, p.pid)),
        "/proc/PID/status RssAnon + RssFile + RssShmem + VmSwap + VmPTE, adjustments left out",
    );
    let settings = snapshot.settings.data();
    out.add(
        "vm.panic_on_oom",
        settings.and_then(|s| s.panic_on_oom).map(|n| {
            if n == 0 {
                "0 (setting): kill and go on".to_owned()
            } else {
                format!("{n} (setting): the machine stops instead")
            }
        }),
        "/proc/sys/vm/panic_on_oom",
    );
    out.add(
        "daemons that kill earlier",
        snapshot.killers.data().map(|k| match (k.earlyoom.is_some(), k.oomd.is_some()) {
            (true, true) => "earlyoom and systemd-oomd run",
            (true, false) => "earlyoom runs",
            (false, true) => "systemd-oomd runs",
            (false, false) => "neither earlyoom nor systemd-oomd was seen",
        }),
        "/proc/PID, their settings",
    );
    let ttl = snapshot.lru_gen.data().and_then(|l| l.min_ttl_ms).filter(|ms| *ms > 0);
    let value = ttl.map(|ms| format!("{ms} ms of working set (setting)"));
    out.add("killed rather than thrash below", value, "/sys/kernel/mm/lru_gen/min_ttl_ms");
    let most = most_killed(snapshot);
    let value = most.map(|(group, n)| format!("{}: {n}", group.path));
    out.add("most in a group, since it was made", value, "memory.events or memory.oom_control oom_kill");
    let worst = in_group::worst(inputs);
    if let Some(said) = &worst {
        out.to_do = format!("{}.", capital(&said.to_do));
    }
    out.first(&["killed since", "most in a group", "free memory", "file pages", "free swap", "largest process"]);
    let in_groups = most.map(|(group, n)| (group.path.as_str(), n));
    let machine = short(inputs, kills, in_groups, largest);
    match worst {
        Some(said) if said.trouble.cause == Cause::Waits => machine,
        Some(said) => format!("{}. {machine}", said.title),
        None => machine,
    }
}

/// `oom_badness` without adjustments: what a process holds in RAM, in swap and as page tables.
fn badness(process: &Process) -> Option<Bytes> {
    let resident = process.rss_anon? + process.rss_file? + process.rss_shmem?;
    Some(resident + process.swap.unwrap_or_default() + process.page_tables.unwrap_or_default())
}

fn largest(snapshot: &Snapshot) -> Option<(&Process, Bytes)> {
    let list = &snapshot.processes.data()?.list;
    // Process 1 is never taken.
    let candidates = list.iter().filter(|p| !p.kernel_thread && p.pid != 1);
    candidates.filter_map(|p| Some((p, badness(p)?))).max_by_key(|(_, bytes)| *bytes)
}

fn short(
    inputs: &Inputs<'_>,
    kills: Option<u64>,
    in_groups: Option<(&str, u64)>,
    largest: Option<(&Process, Bytes)>,
) -> String {
    let Some(meminfo) = inputs.snapshot.meminfo.data() else { return unseen(inputs, "meminfo") };
    let past = match kills {
        // Before 4.13 the machine has no such counter; in a container it may be another machine's.
        Some(0) | None if in_groups.is_some() => {
            let (group, n) = in_groups.unwrap_or_default();
            format!(
                "In group {group} {} killed at its limit since it was made",
                if n == 1 { "1 process was".to_owned() } else { format!("{n} processes were") }
            )
        }
        Some(0) => "No process was killed for memory since boot".to_owned(),
        Some(1) => "1 process was killed for memory since boot, on the machine or in a group at its limit".to_owned(),
        Some(n) => {
            format!("{n} processes were killed for memory since boot, on the machine or in groups at their limits")
        }
        None => "Kills are not counted here".to_owned(),
    };
    // All three have to be gone before the machine kills; a group at its limit kills earlier.
    let files = meminfo.active_file.zip(meminfo.inactive_file).map(|(a, b)| a + b);
    let mut left: Vec<String> = Vec::new();
    left.extend(meminfo.mem_free.map(|free| format!("{free} of free memory")));
    left.extend(files.map(|files| format!("most of {files} of file pages")));
    left.extend(meminfo.swap_free.filter(|free| free.0 > 0).map(|free| format!("{free} of swap")));
    let when = if left.is_empty() {
        String::new()
    } else {
        format!(" Before the machine kills, {} are used up.", crate::text::list(&left))
    };
    let whom =
        largest.map(|(p, bytes)| format!(" The largest process is {} with {bytes}.", p.name)).unwrap_or_default();
    format!("{past}.{when}{whom}")
}
