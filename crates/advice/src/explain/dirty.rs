//! `dirty`: written data that waits in RAM, when it is written, and when writers are slowed down.

use ramline_model::costs::file_tier;
use ramline_snapshot::sysctl::VmSettings;

use crate::prelude::*;

pub(super) const TOPIC: Topic = Topic {
    id: "dirty",
    area: Area::Files,
    question: "How much written data may wait in RAM, and for how long?",
    wants: LIGHT,
    answer,
    mechanism: &[
        "A write goes to the page cache and returns. The kernel writes it to the disk later: when it is old enough, when the background threshold is passed, or when a program asks (fsync, sync).",
        "Half-way between the two thresholds writers are slowed down to what the disk takes; at the upper one they wait. A threshold worth many seconds of the disk means stalls of many seconds for programs that call fsync behind it.",
        "The ratios are shares of what could be dirty (free memory and file pages less reserves), not of the RAM, so they shrink as programs grow. The _bytes settings replace them: setting one sets the other to 0.",
        "Version 2 groups have their own share of the thresholds; on version 1 a group at its limit can fill up with dirty pages and wait in reclaim.",
    ],
    myth: "A larger dirty_ratio makes writing faster: it delays it. A burst that fits returns sooner, and the disk is as slow as before once it is full.",
    to_do: "Where the limit takes the disk longer than some seconds, set vm.dirty_bytes and vm.dirty_background_bytes; checkup gives the values.",
    next: "ramline show memory",
};

/// In bytes, as the kernel worked them out last.
struct Marks {
    /// Above: the kernel writes in the background.
    background: Bytes,
    /// At: writers wait for the disk.
    most: Bytes,
}

fn answer(inputs: &Inputs<'_>, out: &mut Explanation) -> String {
    let snapshot = inputs.snapshot;
    let meminfo = snapshot.meminfo.data();
    let settings = snapshot.settings.data();
    let waiting = meminfo.and_then(|m| Some(m.dirty? + m.writeback.unwrap_or_default()));
    let marks = marks(snapshot);
    out.meminfo(inputs, "unwritten (now)", "Dirty");
    out.meminfo(inputs, "being written (now)", "Writeback");
    out.add("writing begins above", marks.as_ref().map(|m| m.background), "/proc/vmstat nr_dirty_background_threshold");
    let value = marks.as_ref().map(|m| Bytes((m.background + m.most).0 / 2));
    out.add("writers slowed down above", value, "half of the sum of both thresholds");
    out.add("writers wait for the disk at", marks.as_ref().map(|m| m.most), "/proc/vmstat nr_dirty_threshold");
    out.add("set by", settings.and_then(knobs), "/proc/sys/vm/dirty_*");
    let old = settings.and_then(|s| s.dirty_expire_centisecs).and_then(centiseconds);
    out.add("written at the latest when this old", old, "/proc/sys/vm/dirty_expire_centisecs");
    let every = settings.and_then(|s| s.dirty_writeback_centisecs).and_then(centiseconds);
    out.add("the kernel looks every", every, "/proc/sys/vm/dirty_writeback_centisecs");
    let measured = inputs.tiers.and_then(|t| file_tier(t)?.throughput.as_ref()).filter(|m| m.median > 0.0);
    let at = |bytes: Bytes| measured.map(|m| nanos_of(bytes.as_f64() / m.median * 1e9));
    if let Some((m, limit)) = measured.zip(marks.as_ref().map(|m| m.most)) {
        let took =
            at(limit).map(|time| format!("{time} at the {}/s measured for reading (n {})", bytes_of(m.median), m.n));
        let what = format!("to write the limit of {limit} takes at least");
        out.add(&what, took, "measure tiers: median throughput of the disk; writing is rarely faster than reading");
        out.add("to write what is unwritten now takes at least", waiting.and_then(at), "the same throughput");
    }
    out.first(&["unwritten", "writing begins", "writers wait", "to write the limit", "written at the latest"]);
    match (waiting, &marks) {
        (Some(waiting), Some(m)) => format!(
            "{waiting} of written data waits for the disk. Up to {} may: from there on every writer waits; the kernel begins to write at {}.",
            m.most, m.background
        ),
        (Some(waiting), None) => format!("{waiting} of written data waits for the disk. The thresholds were not seen."),
        (None, _) => unseen(inputs, "meminfo"),
    }
}

fn marks(snapshot: &Snapshot) -> Option<Marks> {
    let vmstat = snapshot.vmstat.data()?;
    let bytes = |pages: u64| Pages(pages).bytes(snapshot.machine.page_size);
    Some(Marks { background: bytes(vmstat.nr_dirty_background_threshold?), most: bytes(vmstat.nr_dirty_threshold?) })
}

/// `20 % and 10 % of what could be dirty`, or the sizes where they are set.
fn knobs(settings: &VmSettings) -> Option<String> {
    let one = |bytes: Option<i64>, ratio: Option<i64>, name: &str| match bytes.and_then(|b| u64::try_from(b).ok()) {
        Some(bytes) if bytes > 0 => Some(format!("{name}_bytes {}", Bytes(bytes))),
        _ => ratio.map(|ratio| format!("{name}_ratio {ratio} %")),
    };
    let background = one(settings.dirty_background_bytes, settings.dirty_background_ratio, "dirty_background")?;
    Some(format!("{background}, {}", one(settings.dirty_bytes, settings.dirty_ratio, "dirty")?))
}

fn centiseconds(value: i64) -> Option<String> {
    let value = u64::try_from(value).ok()?;
    Some(if value == 0 { "never (0)".to_owned() } else { Nanos(value.saturating_mul(10_000_000)).to_string() })
}
