//! File pages are refaulted at a rate, and each fault reads a window far larger than the page it needs.
//!
//! Under pressure the rest of the window is evicted before it is used, so read-ahead multiplies the reading without
//! helping: code-plus-data without swap did a third of a round in 40 s at 8 MiB, five rounds in 20 s at 128 KiB. Needs
//! a window; swap-ins are taken out of the count. A sequential reader (`cat`, a backup) makes no faults and reads much: its bytes would be
//! charged to the faults of others. So tasks must wait for memory, where that is measured: a reader of cold files does not.

use ramline_model::pressure::STALL_PERCENT;
use ramline_snapshot::blocks::BlockDevice;

use crate::prelude::*;

pub(super) const RULE: Rule = Rule {
    id: "read-ahead-amplifies-faults",
    looks_for: "large read-ahead while tasks wait for file pages that were evicted",
    explain: "read-ahead",
    check,
    cost_if_wrong: "long sequential reads of this device (backups) get slower",
    tune: Tune::No("read-ahead of a disk is no topic of tune: a rule of udev keeps it"),
};

/// The kernel's default. Nothing is said about a device at or below four times it.
const DEFAULT: Bytes = Bytes::from_kib(128);

/// Bytes read per major fault from which most of a read is not what was asked for.
const LEAST_PER_FAULT: f64 = 256.0 * 1024.0;

/// Major faults per second below which nothing waits for them.
const LEAST_FAULTS: f64 = 10.0;

fn check(inputs: &Inputs<'_>) -> Option<Draft> {
    let window = inputs.window?;
    let seen = look::refaults(&window)?;
    let disk = widest(inputs.snapshot)?;
    let read_ahead = disk.read_ahead.filter(|size| size.0 > 4 * DEFAULT.0)?;
    let (faults, read) = file_reads(&window)?;
    let per_fault = read / faults;
    if seen.per_second < REFAULTS_PER_S || faults < LEAST_FAULTS || per_fault < LEAST_PER_FAULT {
        return None;
    }
    // A fault reads no more than the read-ahead holds: what is more was read by read(2), and then nothing is known of the faults.
    if per_fault > read_ahead.as_f64() || !look::machine_reclaims(&window) || !waits(inputs) {
        return None;
    }
    let knob = format!("/sys/block/{}/queue/read_ahead_kb", word(&disk.name));
    Some(Draft {
        title: format!(
            "Each major fault reads {} from disk, with a read-ahead of {read_ahead} on {}",
            bytes_of(per_fault),
            disk.name
        ),
        weight: Weight::Warning,
        effect: format!(
            "at {DEFAULT} the {faults:.0} faults a second would read at most {}/s instead of {}/s",
            bytes_of(faults * DEFAULT.as_f64()),
            bytes_of(read)
        ),
        evidence: vec![
            evidence("major faults for files", rate(faults, "faults", window.span), "/proc/vmstat pgmajfault - pswpin"),
            evidence(
                "read from disks",
                format!("{}/s over {}", bytes_of(read), window.span),
                "/proc/vmstat pgpgin - pswpin",
            ),
            evidence(
                "file pages read again",
                rate(seen.per_second, "pages", window.span),
                "/proc/vmstat workingset_refault_file",
            ),
            evidence("read-ahead", read_ahead.to_string(), knob.clone()),
        ],
        confidence: Confidence::Medium,
        change: Some(Change::by(
            format!(
                "sets the read-ahead of {} to the kernel's default; to keep it: a udev rule with ATTR{{queue/read_ahead_kb}}",
                disk.name
            ),
            [format!("echo {} > {knob}", DEFAULT.0 >> 10)],
            [format!("echo {} > {knob}", read_ahead.0 >> 10)],
        )),
        ..Draft::default()
    })
}

/// Tasks waited for memory over the window, or that is not measured.
fn waits(inputs: &Inputs<'_>) -> bool {
    let memory = pressure::from_snapshot(inputs.snapshot, inputs.window).memory;
    memory.and_then(|p| p.some_percent).is_none_or(|percent| percent >= STALL_PERCENT)
}

/// Of the disks under mounted file systems, the one with the largest read-ahead.
fn widest(snapshot: &Snapshot) -> Option<&BlockDevice> {
    let mounts = snapshot.mounts.data()?;
    // A sandbox of ramline itself reads through a loop device of its own, which is gone when it ends.
    let lasting = |disk: &&BlockDevice| !disk.backing_file.as_ref().is_some_and(|file| file.contains("/ramline-"));
    let disks = mounts.iter().filter_map(|mount| look::disk_under(snapshot, &mount.at));
    disks.filter(lasting).max_by_key(|disk| disk.read_ahead)
}

/// Major faults and bytes read per second that were not swap-ins. A swap-in may bring neighbours, so the faults left
/// are a lower bound and zero means "cannot tell".
fn file_reads(window: &Window<'_>) -> Option<(f64, f64)> {
    let page = Bytes(window.after.machine.page_size.0).as_f64();
    let swapped = window.per_second(|s| s.vmstat.data()?.pswpin)?;
    let faults = window.per_second(|s| s.vmstat.data()?.pgmajfault)? - swapped;
    // pgpgin counts KiB, not pages.
    let read = window.per_second(|s| s.vmstat.data()?.pgpgin)? * 1024.0 - swapped * page;
    (faults > 0.0 && read > 0.0).then_some((faults, read))
}
