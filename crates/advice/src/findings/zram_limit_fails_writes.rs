//! A zram device whose `mem_limit` is reached: swap writes fail although the area looks half empty.
//!
//! `disksize` is the uncompressed capacity, `mem_limit` caps the compressed RAM. At the cap zram answers writes with an
//! error; the slot was chosen already, so the kernel does not try the next area. It keeps the page, and scans it again.

use ramline_snapshot::zram::{MmStat, ZramDevice};

use crate::prelude::*;

pub(super) const RULE: Rule = Rule {
    id: "zram-limit-fails-writes",
    looks_for: "a zram swap area at its memory limit",
    explain: "zram-limit",
    check,
    cost_if_wrong: "",
    tune: Tune::No("the limit belongs to what made the device: zram-resident-limit in zram-generator.conf"),
};

/// Share of the limit from which the next burst reaches it.
const NEAR: f64 = 0.9;

fn check(inputs: &Inputs<'_>) -> Option<Draft> {
    let areas = look::areas(inputs.snapshot)?;
    let (device, mm, limit, failed) = areas.iter().find_map(|area| {
        let device = look::zram_of(inputs.snapshot, area)?;
        let mm = device.mm.as_ref()?;
        let limit = mm.mem_limit.and_then(Limit::bytes)?;
        let failed = inputs.window.and_then(|w| failed_writes(&w, &device.name));
        let near = mm.mem_used_total.share_of(limit)? >= NEAR;
        (near || failed.is_some_and(|n| n > 0)).then_some((device, mm, limit, failed))
    })?;
    let share = mm.mem_used_total.share_of(limit)?;
    let failing = failed.filter(|n| *n > 0);
    let knob = format!("/sys/block/{}/mem_limit", device.name);
    let title = match (failing, inputs.window) {
        (Some(n), Some(window)) => {
            format!("{n} swap writes to {} failed in {} at its limit of {limit}", device.name, window.span)
        }
        _ => format!(
            "{} holds {} of its limit of {limit} ({}): the next writes fail",
            device.name,
            mm.mem_used_total,
            percent(share)
        ),
    };
    Some(Draft {
        title,
        weight: if failing.is_some() { Weight::Critical } else { Weight::Warning },
        effect: effect(device, mm, limit)
            + &look::kill_ahead(inputs.snapshot).map(|words| format!("; {words}")).unwrap_or_default(),
        evidence: grounds(inputs, device, mm, limit, failing),
        confidence: Confidence::High,
        already: vec![format!("{} of disksize, of which {} are filled", device.disksize, mm.orig_data_size)],
        cost_if_wrong: Some(format!(
            "without the limit the pool can grow to {} if nothing more compresses; a disk area behind it catches what is cold",
            device.disksize
        )),
        change: Some(Change::by(
            "lifts the limit (0 is no limit); to keep it: drop zram-resident-limit from zram-generator.conf",
            [format!("echo 0 > {knob}")],
            [format!("echo {} > {knob}", limit.0)],
        )),
        ..Draft::default()
    })
}

fn failed_writes(window: &Window<'_>, name: &str) -> Option<u64> {
    window.delta(|s| Some(s.zram.data()?.devices.iter().find(|d| d.name == name)?.io?.failed_writes))
}

fn effect(device: &ZramDevice, mm: &MmStat, limit: Bytes) -> String {
    // At the ratio so far the limit holds orig · limit / used; the rest of disksize is out of reach.
    let reachable = mm.orig_data_size.scale(limit.0, mm.mem_used_total.0).unwrap_or(device.disksize);
    let unusable = device.disksize.saturating_sub(reachable);
    format!("{unusable} of swap that /proc/swaps shows as free cannot be filled within {limit} at this ratio")
}

fn grounds(
    inputs: &Inputs<'_>,
    device: &ZramDevice,
    mm: &MmStat,
    limit: Bytes,
    failing: Option<u64>,
) -> Vec<crate::Evidence> {
    let dir = format!("/sys/block/{}", device.name);
    let mut out = vec![
        evidence(
            "compressed RAM in use",
            format!("{} of {limit}", mm.mem_used_total),
            format!("{dir}/mm_stat, fields 3 and 4"),
        ),
        evidence(
            "stored, uncompressed",
            format!("{} of {}", mm.orig_data_size, device.disksize),
            format!("{dir}/mm_stat, field 1; disksize"),
        ),
    ];
    if let (Some(n), Some(window)) = (failing, inputs.window) {
        out.put("failed writes", format!("{n} over {}", window.span), format!("{dir}/io_stat, field 2"));
    } else if let Some(io) = device.io.filter(|io| io.failed_writes > 0) {
        let value = format!("{} since the device was made (no rate)", io.failed_writes);
        out.put("failed writes", value, format!("{dir}/io_stat, field 2"));
    }
    out
}
