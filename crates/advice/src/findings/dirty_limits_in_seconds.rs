//! The limit of unwritten data, in seconds of this disk.
//!
//! The kernel lets processes write into the page cache until the dirty limit, a share of the memory available (20 %). What counts for
//! people is how long the disk needs for that much: an fsync, an unmount or a shutdown may wait for it, and reads queue
//! behind it. The kernel's own promise is that data is written within `dirty_expire_centisecs` (30 s). A limit worth more than that
//! cannot be kept.
//!
//! It needs the measured throughput of the root disk and nothing else: noise in zram or the page cache does not silence it. Where the
//! disk itself was measured under noise it cannot look, and [`missing`] gives the reason.
//!
//! Worked example: 50 GiB of limit on a disk of 500 MB/s: 107 s. The disk's sequential reads stand for its writes, which are seldom
//! faster, so the time is a lower bound.
//!
//! Where writers are being held back, no measurement is needed: what the disks write meanwhile is their pace. The kernel holds them
//! back above the middle of its two limits (`dirty_freerun_ceiling`, mm/page-writeback.c).

use ramline_snapshot::sysctl::VmSettings;

use crate::prelude::*;

pub(super) const RULE: Rule = Rule {
    id: "dirty-limits-in-seconds",
    looks_for: "a limit of unwritten data that this disk needs longer to write than the kernel promises",
    explain: "dirty",
    check,
    cost_if_wrong: "a burst of writes larger than the new limit waits for the disk earlier; files that are rewritten or deleted soon are written after all",
    tune: Tune::Settings(&["vm.dirty_bytes"]),
};

/// The kernel's default of `dirty_expire_centisecs`, in seconds; also taken where it is set lower, since that makes the
/// writing begin sooner and the disk no slower.
pub(crate) const EXPIRE_S: f64 = 30.0;
/// The largest ratio of its fastest pass to its slowest.
const SPREAD: f64 = 1.5;
/// The limit advised: what the disk writes between two wake-ups of the flusher (`dirty_writeback_centisecs`, 5 s).
pub(crate) const ADVISED_S: f64 = 5.0;

/// Of fewer pages written while writers wait no pace follows: their number alone makes it uncertain by a tenth.
const FEWEST_PAGES: f64 = 100.0;

/// The measurement it rests on.
const TIER: &str = "disk:/";

/// Why it cannot look, where it needs a measurement that is missing or not to be trusted.
pub(crate) fn missing(inputs: &Inputs<'_>) -> Option<String> {
    let Some(tiers) = inputs.tiers else { return Some("the speed of the disk was not measured".to_owned()) };
    let Some(throughput) = tiers.tier(TIER).and_then(|tier| tier.throughput.as_ref()) else {
        return Some("the speed of the root disk was not measured".to_owned());
    };
    // On a busy disk the measurement sees what the others leave: then the disk's own speed is not known.
    if throughput.min > 0.0 && throughput.max / throughput.min > SPREAD {
        return Some("the measured speed of the root disk varied by more than half".to_owned());
    }
    look::noise(tiers, TIER).map(|why| format!("the root disk was measured under noise ({why})"))
}

fn check(inputs: &Inputs<'_>) -> Option<Draft> {
    let snapshot = inputs.snapshot;
    let settings = snapshot.settings.data()?;
    let vmstat = snapshot.vmstat.data()?;
    let limit = Pages(vmstat.nr_dirty_threshold?).bytes(snapshot.machine.page_size);
    let Pace { per_second, grounds, held_back } = pace(inputs)?;
    // Without a pace, while writers wait: infinity.
    let seconds = limit.as_f64() / per_second;
    let is_stuck = held_back && per_second <= 0.0;
    #[expect(clippy::cast_precision_loss, reason = "a setting of a few thousand")]
    let expire = settings.dirty_expire_centisecs.map_or(EXPIRE_S, |value| (value as f64 / 100.0).max(EXPIRE_S));
    if seconds <= expire {
        return None;
    }
    let background = vmstat.nr_dirty_background_threshold;
    let background = background.map(|pages| Pages(pages).bytes(snapshot.machine.page_size));
    let dirty = snapshot.meminfo.data().and_then(|m| m.dirty);
    let busy = dirty.zip(background).is_some_and(|(dirty, background)| dirty > background);
    let advised = Bytes((bytes_of(per_second * ADVISED_S).0 >> 20).max(16) << 20);
    let disk = look::disk_under(snapshot, "/").map_or("the root disk", |disk| disk.name.as_str());
    Some(Draft {
        title: if is_stuck {
            format!("Programs that write wait for the disk: it writes hardly anything, up to {limit} unwritten")
        } else if held_back {
            format!("Programs that write wait for the disk: up to {limit} unwritten, {seconds:.0} s of its work")
        } else {
            format!("Up to {limit} may wait to be written, {seconds:.0} s of work for {disk}")
        },
        weight: if busy || held_back { Weight::Warning } else { Weight::Note },
        effect: if is_stuck {
            "programs that write, an fsync, an unmount or a shutdown wait until the disk has written more".to_owned()
        } else {
            format!(
                "after a large copy, an fsync, unmount or shutdown can wait {seconds:.0} s and longer; with {advised} it is about {ADVISED_S:.0} s"
            )
        },
        evidence: [
            Some(evidence("dirty limit", limit.to_string(), "/proc/vmstat nr_dirty_threshold")),
            background
                .map(|b| evidence("writing begins at", b.to_string(), "/proc/vmstat nr_dirty_background_threshold")),
            dirty.map(|dirty| evidence("unwritten now", dirty.to_string(), "/proc/meminfo Dirty")),
            Some(grounds),
            Some(evidence("promised", format!("{expire:.0} s"), "/proc/sys/vm/dirty_expire_centisecs")),
        ]
        .into_iter()
        .flatten()
        .collect(),
        confidence: Confidence::Medium,
        // How fast a disk is that writes nothing is not known.
        way: limits(settings, advised).filter(|_| !is_stuck).map_or(Way::Own, Way::Settings),
        ..Draft::default()
    })
}

/// How fast data gets to the disk, and how that is known.
pub(crate) struct Pace {
    pub per_second: f64,
    pub grounds: Evidence,
    /// Writers are being held back: it is what the disks do now.
    pub held_back: bool,
}

pub(crate) fn pace(inputs: &Inputs<'_>) -> Option<Pace> {
    if let Some(per_second) = inputs.window.as_ref().and_then(written_while_held_back) {
        let value = format!("{}/s, while writers wait", bytes_of(per_second));
        let grounds = evidence("written to the disks now", value, "/proc/vmstat nr_written");
        return Some(Pace { per_second, grounds, held_back: true });
    }
    if missing(inputs).is_some() {
        return None;
    }
    let throughput = inputs.tiers?.tier(TIER)?.throughput.as_ref().filter(|measured| measured.median > 0.0)?;
    let value = format!("{}/s (n {}); reads, which writes seldom surpass", bytes_of(throughput.median), throughput.n);
    let grounds = evidence("this disk in order", value, "measure tiers: disk:/");
    Some(Pace { per_second: throughput.median, grounds, held_back: false })
}

/// Bytes a second, where more than the kernel lets pass freely was unwritten in both looks; 0 where it is next to nothing: a slow disk of large requests may
/// end none of them in a short time, and of a few pages no pace follows.
fn written_while_held_back(window: &Window<'_>) -> Option<f64> {
    if !(held_back(window.before)? && held_back(window.after)?) {
        return None;
    }
    let pages = window.per_second(|s| s.vmstat.data()?.unknown.get("nr_written")?.parse().ok())?;
    let is_pace = pages * window.span.as_secs_f64() >= FEWEST_PAGES;
    Some(if is_pace { pages * Pages(1).bytes(window.after.machine.page_size).as_f64() } else { 0.0 })
}

fn held_back(snapshot: &Snapshot) -> Option<bool> {
    let (vmstat, meminfo) = (snapshot.vmstat.data()?, snapshot.meminfo.data()?);
    let limits = vmstat.nr_dirty_threshold?.checked_add(vmstat.nr_dirty_background_threshold?)?;
    let unwritten = meminfo.dirty? + meminfo.writeback.unwrap_or_default();
    Some(unwritten > Pages(limits / 2).bytes(snapshot.machine.page_size))
}

/// The two settings; the lower one first: the kernel halves it where it would be above the other.
pub(crate) fn limits(settings: &VmSettings, then: Bytes) -> Option<Vec<Setting<'static>>> {
    let set = |name, now: Option<i64>, then: u64, other, held: Option<i64>| {
        let then = i64::try_from(then).ok()?;
        Some(Setting { name, now: now?, then, instead: Some((other, held?)) })
    };
    Some(vec![
        set(
            "dirty_background_bytes",
            settings.dirty_background_bytes,
            then.0 / 2,
            "dirty_background_ratio",
            settings.dirty_background_ratio,
        )?,
        set("dirty_bytes", settings.dirty_bytes, then.0, "dirty_ratio", settings.dirty_ratio)?,
    ])
}
