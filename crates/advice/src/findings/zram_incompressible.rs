//! A zram device full of pages that do not compress: each costs its full size in RAM, and the work on top.
//!
//! Counted are `huge_pages` (kept whole) among the pages that carry data; pages of one repeated word cost nothing and
//! are left out. A nearly empty device is not judged.

use ramline_model::zram::gain;
use ramline_snapshot::zram::ZramDevice;
use ramline_units::PageSize;

use crate::prelude::*;

pub(super) const RULE: Rule = Rule {
    id: "zram-incompressible",
    looks_for: "a zram swap area holding many incompressible pages",
    explain: "zram-ratio",
    check,
    cost_if_wrong: "the content changes with the load: look again before changing the set-up",
    tune: Tune::No("writing pages back is a pass, not a setting"),
};

/// Share of incompressible pages from which half the gain of typical content (2:1 to 3:1) is gone.
const LEAST_SHARE: f64 = 0.3;

/// Less in RAM than this says nothing about the load.
const LEAST_RESIDENT: Bytes = Bytes::from_mib(64);

fn check(inputs: &Inputs<'_>) -> Option<Draft> {
    let page = inputs.snapshot.machine.page_size;
    let areas = look::areas(inputs.snapshot)?;
    let (device, gain, share) = areas.iter().find_map(|area| {
        let device = look::zram_of(inputs.snapshot, area)?;
        let gain = gain(device, page, None).filter(|gain| gain.resident >= LEAST_RESIDENT)?;
        let share = gain.incompressible.filter(|share| *share >= LEAST_SHARE)?.min(1.0);
        Some((device, gain, share))
    })?;
    let kept_whole = device.mm.as_ref()?.huge_pages?.bytes(page);
    let ahead = look::kill_ahead(inputs.snapshot);
    Some(Draft {
        title: format!(
            "{} of the data on {} does not compress: {kept_whole} are kept whole",
            percent(share),
            device.name
        ),
        weight: if share >= 0.5 || ahead.is_some() { Weight::Warning } else { Weight::Note },
        effect: format!(
            "{} stored take {} of RAM and {} of slot table: {} {}{}",
            gain.stored,
            gain.mem_used,
            gain.slot_table,
            gain.net_saved.magnitude(),
            if gain.net_saved.is_negative() { "lost" } else { "gained" },
            ahead.map(|words| format!("; {words}")).unwrap_or_default()
        ),
        evidence: grounds(device, page)?,
        confidence: Confidence::High,
        already: already(device),
        change: change(device, kept_whole),
        ..Draft::default()
    })
}

fn grounds(device: &ZramDevice, page: PageSize) -> Option<Vec<Evidence>> {
    let mm = device.mm.as_ref()?;
    let field = |n: u8| format!("/sys/block/{}/mm_stat, field {n}", device.name);
    let huge = mm.huge_pages?;
    Some(vec![
        evidence("incompressible", format!("{} ({} pages)", huge.bytes(page), huge.0), field(8)),
        evidence("stored, uncompressed", mm.orig_data_size.to_string(), field(1)),
        evidence("of one repeated word, costing nothing", mm.same_pages.bytes(page).to_string(), field(6)),
        evidence("RAM taken", mm.mem_used_total.to_string(), field(3)),
    ])
}

fn already(device: &ZramDevice) -> Vec<String> {
    let mut out: Vec<String> = device.algorithm.iter().map(|name| format!("compressed with {name}")).collect();
    out.extend(backing(device).map(|place| format!("a backing device: {place}")));
    out
}

fn backing(device: &ZramDevice) -> Option<&str> {
    device.backing_dev.as_deref().filter(|place| !place.is_empty() && *place != "none")
}

/// With a backing device they can be written out; without one, looking closer is the advice.
fn change(device: &ZramDevice, kept_whole: Bytes) -> Option<Change> {
    let place = backing(device)?;
    Some(Change::by(
        format!("writes the incompressible pages of {} to {place}, which frees up to {kept_whole} of RAM", device.name),
        [format!("echo huge > /sys/block/{}/writeback", device.name)],
        ["# none needed: a page that is used again is read into RAM by itself".into()],
    ))
}
