//! `measure tiers`: what an access to each tier costs, and the swappiness those costs alone imply.
//!
//! What it is not: advice; the ratio says nothing about how often either access happens.

use ramline_evidence::{Measurement, TierReport};
use ramline_units::Nanos;

use crate::sheet::Sheet;
use crate::text::{Column, Page, Style, Table, number};
use ramline_model::costs::CostRatio;

/// The table of tiers, their notes and conditions, and the ratio.
#[must_use]
pub fn tiers(report: &TierReport, ratio: Option<&CostRatio>, style: &Style) -> String {
    let mut page = Page::new(style);
    page.bold(&format!(
        "What the tiers cost here: 4 KiB at random, and in sequence (measured, one at a time, in {})",
        number::seconds(report.took_s)
    ));
    let mut notes: Vec<&str> = Vec::new();
    page.table(&table(report, &mut notes));
    for (index, note) in notes.iter().enumerate() {
        page.point(&format!("  [{}] ", index + 1), note);
    }
    if !report.conditions.is_empty() {
        page.heading("Conditions");
        for condition in &report.conditions {
            page.point("  ", condition);
        }
    }
    if !report.skipped.is_empty() {
        page.heading("Not measured");
        for skipped in &report.skipped {
            page.point("  ", skipped);
        }
    }
    if let Some(ratio) = ratio {
        page.heading("What these costs alone imply");
        implied(&mut page, ratio);
    }
    page.finish()
}

fn table<'a>(report: &'a TierReport, notes: &mut Vec<&'a str>) -> Table {
    let mut table = Table::new(vec![
        Column::wrapped("tier"),
        Column::right("median"),
        Column::left("batches"),
        Column::right("99 %"),
        Column::right("n"),
        Column::right("x RAM"),
        Column::right("in sequence"),
    ]);
    for tier in &report.tiers {
        let marks: String = tier.notes.iter().map(|note| mark(note, notes)).collect();
        let latency = tier.latency;
        table.row([
            format!("{}{marks}", tier.label).into(),
            latency.map(|l| l.p50_ns.to_string()).unwrap_or_default().into(),
            tier.batches.as_ref().map(batches).unwrap_or_default().into(),
            latency.map(|l| l.p99_ns.to_string()).unwrap_or_default().into(),
            latency.map(|l| number::count(l.n)).unwrap_or_default().into(),
            report.multiple_of_ram(&tier.tier).map(times).unwrap_or_default().into(),
            tier.throughput.as_ref().map(rate).unwrap_or_default().into(),
        ]);
    }
    table
}

/// The number of a note, which is kept once however many tiers carry it.
fn mark<'a>(note: &'a str, notes: &mut Vec<&'a str>) -> String {
    let at = notes.iter().position(|known| *known == note).unwrap_or_else(|| {
        notes.push(note);
        notes.len() - 1
    });
    format!(" [{}]", at + 1)
}

fn times(multiple: f64) -> String {
    if multiple >= 10.0 { number::figure(multiple.round()) } else { format!("{multiple:.1}") }
}

/// The median throughput with its unit.
fn rate(measured: &Measurement) -> String {
    number::per_second(number::bytes(measured.median))
}

/// The least and the largest median of a batch.
pub(crate) fn batches(medians: &Measurement) -> String {
    let ns = |value: f64| Nanos(number::bytes(value.round()).0);
    let (low, high) = (ns(medians.min).to_string(), ns(medians.max).to_string());
    // The unit once where both ends share it.
    match (low.split_once(' '), high.split_once(' ')) {
        (Some((value, a)), Some((_, b))) if a == b => format!("{value} to {high}"),
        _ => format!("{low} to {high}"),
    }
}

/// The swappiness that the costs of two tiers imply.
pub(crate) fn implied(page: &mut Sheet, ratio: &CostRatio) {
    let time = |ns: f64| Nanos(number::bytes(ns.round()).0);
    page.line(&format!(
        "r = {} ({}) / {} ({}) = {:.2} (mean costs)",
        time(ratio.file_ns),
        ratio.file_tier,
        time(ratio.swap_ns),
        ratio.swap_tier,
        ratio.r
    ));
    page.line(&format!("swappiness = 200 r / (1 + r) = {}; confidence {}", ratio.swappiness, ratio.confidence));
    if let (Some(write), Some(implied)) = (ratio.compress_ns, ratio.with_compression) {
        page.line(&format!(
            "With the write before each swap-in charged as well ({}): r = {:.2}, swappiness {}.",
            time(write),
            implied.r,
            implied.swappiness
        ));
    }
    if let Some(zram) = ratio.if_zram {
        page.line(&format!("With the fastest zram alone instead: r = {:.2}, swappiness {}.", zram.r, zram.swappiness));
    }
    for blend in &ratio.blended {
        page.line(&format!(
            "With {} in front of {} and {} of swap-ins served by the first: r = {:.2}, swappiness {} (100 at most with two tiers).",
            blend.fast_tier,
            blend.slow_tier,
            number::percent(blend.fast_share),
            blend.r,
            blend.swappiness
        ));
    }
    if ratio.hypothetical {
        page.line("No swap area is on: this says what zram would mean, not what is.");
    }
    page.dim("r says nothing about how often either happens; only a run proves a setting. Next: ramline lab run code-plus-data");
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_evidence::{LatencyStats, TierMeasurement};

    fn tier(id: &str, ns: u64, notes: &[&str]) -> TierMeasurement {
        TierMeasurement {
            tier: id.into(),
            label: id.into(),
            latency: LatencyStats::of(&[Nanos(ns), Nanos(ns), Nanos(ns * 2)]),
            batches: Measurement::of(&[90.0, 95.0, 1500.0], "ns", "", &[]),
            throughput: Measurement::of(&[1_073_741_824.0, 2_147_483_648.0, 1_610_612_736.0], "bytes/s", "", &[]),
            method: String::new(),
            notes: notes.iter().map(|n| (*n).to_owned()).collect(),
        }
    }

    #[test]
    fn every_cost_has_its_unit_its_n_and_its_spread_and_a_note_is_said_once() {
        let report = TierReport {
            tiers: vec![
                tier("ram", 90, &[]),
                tier("disk:/", 90_000, &["cached below", "busy"]),
                tier("swap:/x", 45_000, &["busy"]),
            ],
            conditions: vec!["6.1, 2 CPUs".into()],
            skipped: vec!["zram: needs consent".into()],
            took_s: 4.25,
        };
        let ratio = CostRatio {
            file_tier: "disk:/".into(),
            file_ns: 90_000.0,
            swap_tier: "swap:/x".into(),
            swap_ns: 45_000.0,
            r: 2.0,
            swappiness: 133,
            confidence: "low".into(),
            ..CostRatio::default()
        };
        assert_eq!(
            tiers(&report, Some(&ratio), &Style::default()),
            "\
What the tiers cost here: 4 KiB at random, and in sequence (measured, one at a time, in 4.25 s)
tier             median  batches              99 %  n  x RAM  in sequence
ram               90 ns  90 ns to 1.5 us    180 ns  3    1.0    1.5 GiB/s
disk:/ [1] [2]  90.0 us  90 ns to 1.5 us  180.0 us  3  1,000    1.5 GiB/s
swap:/x [2]     45.0 us  90 ns to 1.5 us   90.0 us  3    500    1.5 GiB/s
  [1] cached below
  [2] busy

Conditions
  6.1, 2 CPUs

Not measured
  zram: needs consent

What these costs alone imply
r = 90.0 us (disk:/) / 45.0 us (swap:/x) = 2.00 (mean costs)
swappiness = 200 r / (1 + r) = 133; confidence low
r says nothing about how often either happens; only a run proves a setting. Next: ramline lab run
code-plus-data
"
        );
    }
}
