//! `measure tiers`: what an access to each tier costs, and the swappiness those costs alone imply.
//!
//! What it is not: advice; the ratio says nothing about how often either access happens.

use ramline_evidence::{LatencyStats, Measurement, RAM, TierReport};
use ramline_units::Nanos;

use crate::text::{Column, Page, Paint, Style, Table, number};
use ramline_model::costs::CostRatio;

/// The table of tiers, what qualifies it, and the ratio. `verbose` adds how each was measured and under what conditions.
#[must_use]
pub fn tiers(report: &TierReport, ratio: Option<&CostRatio>, verbose: bool, style: &Style) -> String {
    let mut page = Page::new(style);
    page.bold(&first_line(report));
    if let Some(noisy) = report.conditions.iter().find(|line| line.starts_with("trust: noisy")) {
        page.painted_point(Paint::Warn, "", &format!("{noisy}."));
    }
    let mut notes: Vec<&str> = Vec::new();
    page.table(&table(report, verbose, &mut notes));
    for (index, note) in notes.iter().enumerate() {
        page.point(&format!("  [{}] ", index + 1), note);
    }
    if verbose {
        page.heading("How each was measured");
        for tier in &report.tiers {
            page.point(&format!("  {}: ", tier.label), &tier.method);
        }
        page.heading("Conditions");
        for condition in &report.conditions {
            page.point("  ", condition);
        }
    }
    if !report.skipped.is_empty() {
        page.heading("Not measured");
        for skipped in &report.skipped {
            // What failed, and below it what to do.
            let mut lines = skipped.split('\n').map(str::trim);
            page.point("  ", lines.next().unwrap_or_default());
            lines.filter(|line| !line.is_empty()).for_each(|line| page.point("    ", line));
        }
    }
    if let Some(ratio) = ratio {
        ratio_text(&mut page, ratio);
    }
    if !verbose {
        page.dim("How each was measured, and under what conditions: ramline measure tiers --verbose");
    }
    page.finish()
}

/// The slowest place a page may come from, against RAM.
fn first_line(report: &TierReport) -> String {
    let slowest =
        report.tiers.iter().filter_map(|tier| Some((tier, tier.latency?, report.multiple_of_ram(&tier.tier)?)));
    let slowest = slowest.max_by(|a, b| a.2.total_cmp(&b.2)).filter(|(.., multiple)| *multiple > 1.0);
    match (slowest, report.tier(RAM).and_then(|ram| ram.latency)) {
        (Some((tier, latency, multiple)), Some(ram)) => format!(
            "4 KiB from {} take {}, {} times as long as from RAM ({}).",
            tier.label,
            latency.p50_ns,
            times(multiple),
            ram.p50_ns
        ),
        _ => format!("Measured in {}: 4 KiB at random, and in sequence.", number::seconds(report.took_s)),
    }
}

fn table<'a>(report: &'a TierReport, verbose: bool, notes: &mut Vec<&'a str>) -> Table {
    let mut columns = vec![Column::wrapped("tier"), Column::right("median")];
    columns.extend(verbose.then(|| Column::left("batches")));
    columns.extend([
        Column::right("99 %"),
        Column::left("of it (95 %)"),
        Column::right("n"),
        Column::right("x RAM"),
        Column::right("in sequence"),
    ]);
    let mut table = Table::new(columns);
    for tier in &report.tiers {
        let marks: String = tier.notes.iter().map(|note| mark(note, notes)).collect();
        let latency = tier.latency;
        let mut cells = vec![
            format!("{}{marks}", tier.label).into(),
            latency.map(|l| l.p50_ns.to_string()).unwrap_or_default().into(),
        ];
        if verbose {
            cells.push(tier.batches.as_ref().map(batches).unwrap_or_default().into());
        }
        cells.extend([
            latency.map(|l| l.p99_ns.to_string()).unwrap_or_default().into(),
            latency.map(|l| between(&l)).unwrap_or_default().into(),
            latency.map(|l| number::count(l.n)).unwrap_or_default().into(),
            report.multiple_of_ram(&tier.tier).map(times).unwrap_or_default().into(),
            tier.throughput.as_ref().map(rate).unwrap_or_default().into(),
        ]);
        table.cells(cells);
    }
    table
}

/// How sure the 99th percentile of so many operations is.
fn between(latency: &LatencyStats) -> String {
    match (latency.p99_low_ns, latency.p99_high_ns) {
        (Some(low), Some(high)) => number::interval(low.as_secs_f64(), high.as_secs_f64(), "s"),
        (Some(low), None) => format!("over {low}"),
        (None, _) => String::new(),
    }
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

fn ratio_text(page: &mut Page<'_>, ratio: &CostRatio) {
    let time = |ns: f64| Nanos(number::bytes(ns.round()).0);
    page.heading("What these costs alone imply");
    if ratio.hypothetical {
        page.line(&format!(
            "No swap is on, so they imply no swappiness. A swap-in from {} would take {}, a file page from {} {}: {}.",
            ratio.swap_tier,
            time(ratio.swap_ns),
            ratio.file_tier,
            time(ratio.file_ns),
            if ratio.r >= 1.0 {
                format!("the swap-in is {} times cheaper", times(ratio.r))
            } else {
                format!("the file page is {} times cheaper", times(1.0 / ratio.r))
            }
        ));
        page.dim("Only a run proves that it pays. Next: ramline lab run code-plus-data");
        return;
    }
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
            method: "by pread".into(),
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
            skipped: vec!["zram: needs consent\n  try: sudo ramline measure tiers".into()],
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
            tiers(&report, Some(&ratio), false, &Style::default()),
            "\
4 KiB from disk:/ take 90.0 us, 1,000 times as long as from RAM (90 ns).
tier             median      99 %  of it (95 %)  n  x RAM  in sequence
ram               90 ns    180 ns  over 90 ns    3    1.0    1.5 GiB/s
disk:/ [1] [2]  90.0 us  180.0 us  over 90.0 us  3  1,000    1.5 GiB/s
swap:/x [2]     45.0 us   90.0 us  over 45.0 us  3    500    1.5 GiB/s
  [1] cached below
  [2] busy

Not measured
  zram: needs consent
    try: sudo ramline measure tiers

What these costs alone imply
r = 90.0 us (disk:/) / 45.0 us (swap:/x) = 2.00 (mean costs)
swappiness = 200 r / (1 + r) = 133; confidence low
r says nothing about how often either happens; only a run proves a setting. Next: ramline lab run
code-plus-data
How each was measured, and under what conditions: ramline measure tiers --verbose
"
        );
        let all = tiers(&report, None, true, &Style::default());
        assert!(
            all.contains("90 ns to 1.5 us") && all.contains("6.1, 2 CPUs") && all.contains("disk:/: by pread"),
            "{all}"
        );
        let none = CostRatio { hypothetical: true, ..ratio };
        let text = tiers(&report, Some(&none), false, &Style::default());
        assert!(
            text.contains("imply no swappiness") && !text.contains("133"),
            "without swap nothing is recommended: {text}"
        );
    }

    #[test]
    fn a_99th_percentile_of_many_reads_stands_with_its_interval() {
        let durations: Vec<Nanos> = (1..=10_000).map(|n| Nanos(n * 1000)).collect();
        assert_eq!(between(&LatencyStats::of(&durations).unwrap()), "9.88 to 9.92 ms");
    }
}
