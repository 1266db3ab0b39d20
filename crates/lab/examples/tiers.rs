//! Measures the tiers of this machine and prints them.
//!
//! `cargo run --release -p ramline-lab --example tiers -- [--quick] [--zram STATE_DIR] [--dir DIR] [--json]`
//! `--zram` is consent to a scratch zram device, with its journal in STATE_DIR.

use std::error::Error;
use std::path::Path;

use ramline_act::{RunLock, StateDir};
use ramline_evidence::{Measurement, TierMeasurement};
use ramline_kernel::signals;
use ramline_lab::progress::Progress;
use ramline_lab::tiers::{self, Measured, Options};
use ramline_units::{Bytes, Nanos};

struct Stderr;

impl Progress for Stderr {
    fn step(&mut self, what: &str) {
        eprintln!("{what}");
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    signals::install();
    let mut options = Options::full();
    let mut json = false;
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} needs a directory"));
        match word.as_str() {
            "--quick" => options.quick = true,
            "--json" => json = true,
            "--dir" => options.dir = value()?.into(),
            "--zram" => {
                let state = StateDir::open(Path::new(&value()?))?;
                options.scratch_zram = Some(RunLock::take(&state, &options.root)?);
            }
            other => {
                return Err(format!("'{other}' is not an option: --quick, --json, --dir DIR, --zram STATE_DIR").into());
            }
        }
    }
    let measured = tiers::measure(&options, &mut Stderr)?;
    if json {
        println!("{}", serde_json::to_string_pretty(&measured)?);
    } else {
        print(&measured);
    }
    Ok(())
}

fn print(measured: &Measured) {
    let report = &measured.report;
    println!(
        "{:<52} {:>9} {:>9} {:>9} {:>8} {:>9} {:>19} {:>12}",
        "tier", "p50", "p99", "mean", "n", "x RAM", "batch medians", "sequential"
    );
    for tier in &report.tiers {
        println!("{}", line(measured, tier));
    }
    for tier in &report.tiers {
        println!("\n{}: {}", tier.tier, tier.method);
        tier.notes.iter().for_each(|note| println!("  - {note}"));
    }
    println!();
    report.conditions.iter().for_each(|condition| println!("{condition}"));
    report.skipped.iter().for_each(|skipped| println!("not measured: {}", skipped.replace('\n', "\n  ")));
    println!("took {:.1} s, {} written to a disk", report.took_s, measured.written);
    if let Some(cost) = &measured.cost {
        let hypothetical = if cost.hypothetical { " (hypothetical: not in use)" } else { "" };
        println!(
            "\nr = {} / {}{hypothetical} = {:.0} / {:.0} ns = {:.1}",
            cost.file_tier, cost.swap_tier, cost.file_ns, cost.swap_ns, cost.r
        );
        println!("{}: {} (confidence: {})", cost.formula, cost.swappiness, cost.confidence);
        if let Some(charged) = cost.with_compression {
            println!("with the write charged as well: r = {:.1}, swappiness {}", charged.r, charged.swappiness);
        }
        if let Some(zram) = cost.if_zram {
            println!("with the fastest zram alone: r = {:.1}, swappiness {}", zram.r, zram.swappiness);
        }
        for blend in &cost.blended {
            let share = blend.fast_share * 100.0;
            println!(
                "{share:.0} % of swap-ins from {}, the rest from {}: r = {:.2}, swappiness {}",
                blend.fast_tier, blend.slow_tier, blend.r, blend.swappiness
            );
        }
    }
}

fn line(measured: &Measured, tier: &TierMeasurement) -> String {
    let dash = || "-".to_owned();
    let latency = |value: fn(&ramline_evidence::LatencyStats) -> String| tier.latency.as_ref().map_or_else(dash, value);
    let times = measured.report.multiple_of_ram(&tier.tier).map_or_else(dash, |times| format!("{times:.2}"));
    let spread = measured.spread.iter().find(|spread| spread.tier == tier.tier);
    let spread = spread.map_or_else(dash, |spread| {
        format!("{} to {}", nanos(spread.batch_medians.min), nanos(spread.batch_medians.max))
    });
    let rate = |rate: &Measurement| format!("{}/s", bytes(rate.median));
    format!(
        "{:<52} {:>9} {:>9} {:>9} {:>8} {:>9} {:>19} {:>12}",
        tier.label,
        latency(|l| l.p50_ns.to_string()),
        latency(|l| l.p99_ns.to_string()),
        latency(|l| nanos(l.mean_ns)),
        latency(|l| l.n.to_string()),
        times,
        spread,
        tier.throughput.as_ref().map_or_else(dash, rate),
    )
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "measured times and rates, positive and far below 2^63"
)]
fn nanos(value: f64) -> String {
    Nanos(value.round() as u64).to_string()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "measured times and rates, positive and far below 2^63"
)]
fn bytes(value: f64) -> String {
    Bytes(value.round() as u64).to_string()
}
