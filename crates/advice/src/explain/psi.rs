//! `psi`: what the kernel's pressure numbers mean.

use ramline_snapshot::Seen;
use ramline_snapshot::pressure::{Pressure, Stall};

use crate::prelude::*;

pub(super) const TOPIC: Topic = Topic {
    id: "psi",
    area: Area::Pressure,
    question: "What do the pressure numbers (PSI) mean?",
    wants: LIGHT,
    answer,
    mechanism: &[
        "`some` is the share of time in which at least one task stood still for want of the resource; `full` the share in which all that had work did. `full` is lost time.",
        "For memory it counts reclaiming by oneself, reading back pages that were evicted a moment ago, swap-ins, compaction and the slowing down at memory.high. Waiting for a first read of a file counts as io only.",
        "The averages fade: avg10 falls by half in about 7 s, so a peak shows in it afterwards. The total is exact; two looks at it give the share over any window.",
        "Kernels since 4.20 have it; some are built or booted with it off (psi=0). `full` for the CPU is always 0 for the whole machine. Groups have their own files on version 2 only.",
    ],
    myth: "10 % pressure means 10 % of memory is used: it means that work stood still a tenth of the time. A full machine may show 0, a half-empty group 90.",
    to_do: "Alarm on memory full above some percent of 60 s; below that nothing is lost.",
    next: "ramline show pressure --for 2s",
};

/// Per cent of the last 10 s: half of them.
const MOSTLY: f64 = 50.0;

fn answer(inputs: &Inputs<'_>, out: &mut Explanation) -> String {
    let snapshot = inputs.snapshot;
    let files = [("memory", &snapshot.pressure_memory), ("io", &snapshot.pressure_io), ("cpu", &snapshot.pressure_cpu)];
    for (name, pressure) in files {
        for (kind, stall) in pressure.data().into_iter().flat_map(kinds) {
            out.put(
                &format!("{name}, {}", meaning(kind)),
                format!(
                    "{:.2} % of the last 10 s, {:.2} % of 60 s, {:.2} % of 300 s; {} since boot",
                    stall.avg10,
                    stall.avg60,
                    stall.avg300,
                    Nanos(stall.total_us.saturating_mul(1000))
                ),
                format!("/proc/pressure/{name} {kind}"),
            );
        }
    }
    let seen = pressure::from_snapshot(snapshot, inputs.window);
    let over = seen.memory.as_ref().and_then(|m| m.some_percent).zip(seen.span);
    let value = over.map(|(percent, span)| format!("{percent:.2} % of {span}"));
    out.add("memory, some task, over the window", value, "growth of total= in /proc/pressure/memory");
    match snapshot.pressure_memory.data().and_then(|p| p.some) {
        Some(some) => {
            let of = |pressure: &Seen<Pressure>| pressure.data().and_then(|p| p.some).map(|some| some.avg10);
            let others = [("the disk", of(&snapshot.pressure_io)), ("a processor", of(&snapshot.pressure_cpu))];
            let others: Vec<(&str, f64)> =
                others.into_iter().filter_map(|(name, share)| Some((name, share?))).collect();
            let beside: String = others.iter().map(|(name, share)| format!(", {name} {share:.1} %")).collect();
            let first = format!("Of the last 10 s tasks waited for memory {:.1} %{beside}.", some.avg10);
            // More than half of the time, and more than for memory: what is slow is slow for that.
            let worst = others.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
            match worst.filter(|(_, share)| *share > MOSTLY && *share > some.avg10) {
                Some((name, _)) if some.avg10 < MOSTLY => {
                    out.to_do = format!(
                        "Look at what uses {name}: {}; memory is not what slows this machine.",
                        if name == "the disk" { "iostat, iotop" } else { "top" }
                    );
                    format!("{first} What is slow here waits for {name}, not for memory.")
                }
                _ => format!("{first} The numbers are shares of time, not of memory."),
            }
        }
        None => unseen(inputs, "pressure_memory"),
    }
}

fn kinds(pressure: &Pressure) -> impl Iterator<Item = (&'static str, Stall)> {
    [("some", pressure.some), ("full", pressure.full)].into_iter().filter_map(|(kind, stall)| Some((kind, stall?)))
}

fn meaning(kind: &str) -> &'static str {
    if kind == "some" { "some task waits" } else { "all tasks wait" }
}
