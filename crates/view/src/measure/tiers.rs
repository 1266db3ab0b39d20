//! `measure tiers`: what an access to each tier costs, and the swappiness those costs alone imply.
//!
//! The ratio says nothing about how often either access happens.

use ramline_evidence::{LatencyStats, Measurement, RAM, TierMeasurement, TierReport};
use ramline_model::costs::{Blend, CostRatio, Implied};

use ramline_sheet::{Column, Depth, Paint, Sheet, Style, Table, number};

/// The screen. `verbose` adds how each was measured and under what conditions.
#[must_use]
pub fn tiers(report: &TierReport, ratio: Option<&CostRatio>, verbose: bool, style: &Style) -> String {
    tiers_sheet(report, ratio, verbose).text(style, Depth::All)
}

/// The table of tiers, what qualifies it, and the ratio. `verbose` as for [`tiers`].
#[must_use]
pub fn tiers_sheet(report: &TierReport, ratio: Option<&CostRatio>, verbose: bool) -> Sheet {
    let mut sheet = Sheet::new();
    sheet.answer(Paint::Bold, first_line(report));
    sheet.warn(report.conditions.iter().find(|line| line.starts_with("trust: noisy")).map(|noisy| format!("{noisy}.")));
    let notes = notes(report);
    sheet.table(table(report, verbose, &notes));
    notes.iter().for_each(|(number, note)| sheet.point(&format!("  [{number}] "), *note));
    if verbose {
        how(&mut sheet, report);
    }
    not_measured(&mut sheet, report);
    if let Some(ratio) = ratio {
        sheet.heading("What these costs alone imply");
        implied(&mut sheet, ratio);
    }
    if !verbose {
        sheet.dim("How each was measured, and under what conditions: ramline measure tiers --verbose");
    }
    sheet
}

fn how(sheet: &mut Sheet, report: &TierReport) {
    sheet.heading("How each was measured");
    let methods = Table::from_rows(&report.tiers).column(Column::wrapped("").at_most(26), |tier| &tier.label);
    sheet.table(methods.wrapped("", |tier| &tier.method).indented(2));
    sheet.heading("Conditions");
    report.conditions.iter().for_each(|condition| sheet.point("  ", condition));
}

fn not_measured(sheet: &mut Sheet, report: &TierReport) {
    if report.skipped.is_empty() {
        return;
    }
    sheet.heading("Not measured");
    for skipped in &report.skipped {
        // What failed, and below it what to do.
        let mut lines = skipped.split('\n').map(str::trim);
        sheet.point("  ", lines.next().unwrap_or_default());
        lines.filter(|line| !line.is_empty()).for_each(|line| sheet.point("    ", line));
    }
}

/// The slowest place a page may come from, against RAM.
fn first_line(report: &TierReport) -> String {
    let slowest = report.slowest_tier().and_then(|(tier, multiple)| Some((tier, tier.latency?, multiple)));
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

/// The notes of all tiers, each once however many tiers carry it, with its number.
fn notes(report: &TierReport) -> Vec<(u64, &str)> {
    (1..).zip(crate::once::once(report.tiers.iter().flat_map(|tier| &tier.notes).map(String::as_str))).collect()
}

fn table<'a>(report: &'a TierReport, verbose: bool, notes: &[(u64, &str)]) -> Table<&'a TierMeasurement> {
    let label = |tier: &TierMeasurement| {
        let marks = tier.notes.iter().filter_map(|note| notes.iter().find(|(_, known)| known == note));
        format!("{}{}", tier.label, marks.map(|(number, _)| format!(" [{number}]")).collect::<String>())
    };
    Table::from_rows(&report.tiers)
        .wrapped("tier", label)
        .right("median", |tier| tier.latency.map(|l| l.p50_ns))
        .column(Column::left("batches").spare(), |tier| tier.batches.as_ref().filter(|_| verbose).map(batches))
        .right("99 %", |tier| tier.latency.map(|l| l.p99_ns))
        .column(Column::left("of it (95 %)").spare(), |tier| tier.latency.map(|l| between(&l)))
        .right("n", |tier| tier.latency.map(|l| l.n))
        .right("x RAM", |tier| report.multiple_of_ram(&tier.tier).map(times))
        .right("in sequence", |tier| tier.throughput.as_ref().map(rate))
}

/// How sure the 99th percentile of so many operations is.
fn between(latency: &LatencyStats) -> String {
    match (latency.p99_low_ns, latency.p99_high_ns) {
        (Some(low), Some(high)) => number::interval(low.as_secs_f64(), high.as_secs_f64(), "s"),
        (Some(low), None) => format!("over {low}"),
        (None, _) => String::new(),
    }
}

fn times(multiple: f64) -> String {
    if multiple >= 10.0 { number::figure(multiple.round()) } else { format!("{multiple:.1}") }
}

/// The median throughput with its unit.
pub(crate) fn rate(measured: &Measurement) -> String {
    number::per_second(number::bytes(measured.median))
}

/// The least and the largest median of a batch.
pub(crate) fn batches(medians: &Measurement) -> String {
    let (low, high) = (number::nanos(medians.min).to_string(), number::nanos(medians.max).to_string());
    // The unit once where both ends share it.
    match (low.split_once(' '), high.split_once(' ')) {
        (Some((value, a)), Some((_, b))) if a == b => format!("{value} to {high}"),
        _ => format!("{low} to {high}"),
    }
}

/// The swappiness that the costs of two tiers imply.
pub(crate) fn implied(sheet: &mut Sheet, ratio: &CostRatio) {
    let time = number::nanos;
    let CostRatio { swap_tier, file_tier, r, swappiness, confidence, .. } = ratio;
    let (swap_in, file_page) = (time(ratio.swap_ns), time(ratio.file_ns));
    if ratio.hypothetical {
        let cheaper = ratio.cheaper();
        let (which, factor) = (if cheaper.swap_in { "the swap-in" } else { "the file page" }, times(cheaper.times));
        sheet.line(format!(
            "No swap is on, so they imply no swappiness. A swap-in from {swap_tier} would take {swap_in}, a file page from {file_tier} \
             {file_page}: {which} is {factor} times cheaper."
        ));
        sheet.dim("Only a run proves that it pays. Next: ramline lab run code-plus-data");
        return;
    }
    sheet.line(format!("r = {file_page} ({file_tier}) / {swap_in} ({swap_tier}) = {r:.2} (mean costs)"));
    sheet.line(format!("swappiness = 200 r / (1 + r) = {swappiness}; confidence {confidence}"));
    let (write, compressed) = (ratio.compress_ns.map(time), ratio.with_compression);
    sheet.line(write.zip(compressed).map(|(write, Implied { r, swappiness })| {
        format!("With the write before each swap-in charged as well ({write}): r = {r:.2}, swappiness {swappiness}.")
    }));
    sheet.line(ratio.if_zram.map(|Implied { r, swappiness }| {
        format!("With the fastest zram alone instead: r = {r:.2}, swappiness {swappiness}.")
    }));
    for Blend { fast_tier, slow_tier, fast_share, r, swappiness } in &ratio.blended {
        let share = number::percent(*fast_share);
        sheet.line(format!(
            "With {fast_tier} in front of {slow_tier} and {share} of swap-ins served by the first: r = {r:.2}, swappiness {swappiness} (100 at most with two tiers)."
        ));
    }
    sheet.dim("r says nothing about how often either happens; only a run proves a setting. Next: ramline lab run code-plus-data");
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_evidence::TierMeasurement;
    use ramline_units::Nanos;

    fn tier(id: &str, ns: u64, notes: &[&str]) -> TierMeasurement {
        TierMeasurement {
            tier: id.into(),
            label: id.into(),
            latency: LatencyStats::from_durations(&[Nanos(ns), Nanos(ns), Nanos(ns * 2)]),
            batches: Measurement::from_values(&[90.0, 95.0, 1500.0], "ns", "", &[]),
            throughput: Measurement::from_values(
                &[1_073_741_824.0, 2_147_483_648.0, 1_610_612_736.0],
                "bytes/s",
                "",
                &[],
            ),
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
            all.contains("90 ns to 1.5 us") && all.contains("6.1, 2 CPUs") && all.contains("\n  disk:/   by pread"),
            "{all}"
        );
        for width in [60, 80] {
            let narrow = tiers(&report, Some(&ratio), true, &Style { colour: false, width });
            assert!(narrow.lines().all(|line| ramline_sheet::text::width(line) <= width), "{narrow}");
        }
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
        assert_eq!(between(&LatencyStats::from_durations(&durations).unwrap()), "9.88 to 9.92 ms");
    }
}
