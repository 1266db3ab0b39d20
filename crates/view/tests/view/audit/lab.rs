//! Pages of the lab: where a curve ends, and what a stall is.

use ramline_evidence::{Arm, Better, Figure, Phase, RoundTime, RunRecord, Sample, SeriesTable};
use ramline_units::Nanos;
use ramline_view::html::{SeriesPage, series};
use ramline_view::sheet::Sheet;

use super::{flat, never};

/// 0.8 s of rounds, looked at every 100 ms; the last look found 2.77 of the 4 rounds done.
fn run(name: &str, stalled_us: u64) -> RunRecord {
    let sample = |index: u32| Sample {
        at: Nanos(u64::from(index) * 100_000_000),
        phase: Phase::Rounds,
        rounds: index / 3,
        fraction: if index == 7 { 0.77 } else { 0.0 },
        psi_full_us: Some(u64::from(index) * stalled_us),
        // What the kernel's mean of 10 s still has of the run before.
        psi_full_avg10: Some(2.1),
        ..Sample::default()
    };
    RunRecord {
        experiment: "code-plus-data".into(),
        arm: Arm::named(name, &[]),
        figures: vec![Figure::new("time per round", 0.2, "s", Better::Lower)],
        rounds: vec![RoundTime { took: Nanos(200_000_000), checksum: 1 }; 4],
        elapsed: Nanos(800_000_000),
        samples: (0..8).map(sample).collect(),
        ..RunRecord::default()
    }
}

fn page(records: &[RunRecord]) -> String {
    let table = SeriesTable::from_records(records).unwrap();
    let page = SeriesPage {
        table: &table,
        records,
        question: "?",
        how: "",
        docs: "",
        lead: &["time per round"],
        reading: &[],
        doubts: &[],
        two: false,
        sheet: &Sheet::new(),
        ramline: "0.1.0",
    };
    flat(&series(&page))
}

/// The figure of this title.
fn figure(page: &str, title: &str) -> Option<String> {
    let mut figures = page.split("<figure").skip(1).filter_map(|from| from.split("</figure>").next());
    figures.find(|figure| figure.contains(&format!(">{title}</title>"))).map(str::to_owned)
}

#[test]
fn a12_a_run_does_not_begin_with_the_stalls_of_the_one_before() {
    // The chart began at 2.1 %, which is what the run before had left in the mean of 10 s.
    assert_eq!(figure(&page(&[run("zram", 0)]), "Stalls"), None, "nothing stalled");
    // 50 ms of each 100: half of the time, on an axis that ends at 100 %.
    let chart = figure(&page(&[run("no-swap", 50_000)]), "Stalls").unwrap();
    assert!(chart.contains("no-swap: 50.0 % of the time") && chart.contains("Each chart is 100 % high"), "{chart}");
    never(&chart, &["2.1 %"]);
}

#[test]
fn a13_the_curve_of_rounds_ends_where_the_run_did() {
    let chart = figure(&page(&[run("zram", 0)]), "Rounds done").unwrap();
    assert!(chart.contains("zram: 4 rounds in 0.80 s"), "{chart}");
    never(&chart, &["2.77 rounds"]);
}
