//! A hand-made report that fills every section, or almost none, or a series of the lab, as a page on standard output: `report full`,
//! `report empty`, `report series`.
//!
//! It is what the browser tests look at, and where new parts of the page are first seen. Names in it are hostile on
//! purpose: markup, escape sequences, text turned round. No number of it was measured anywhere.

mod advice;
mod lab;
mod machine;
mod series;

use ramline_snapshot::Unseen;
use ramline_units::{Bytes, Nanos};
use ramline_view::{CheckupCost, CheckupReport, Mode, SCHEMA_VERSION, Skipped, UnseenSection};

fn full() -> Option<CheckupReport> {
    let seen = machine::snapshot()?;
    Some(CheckupReport {
        schema_version: SCHEMA_VERSION,
        ramline: "0.1.0".to_owned(),
        mode: Mode::Full,
        machine: seen.machine.clone(),
        taken_unix_ns: seen.machine.taken_unix_ns,
        window: Some(Nanos(10_000_000_000)),
        sentence: "Files are read again after they were evicted, 412 pages a second: the swap that could hold idle memory instead is used only after a slower disk.".to_owned(),
        ledger: ramline_model::ledger::Ledger::from_snapshot(&seen),
        drift: Some(machine::drift()),
        measured: Some(lab::tiers()),
        watermarks: ramline_model::watermarks::from_snapshot(&seen, None),
        pressure: Some(machine::pressure()),
        swap: Some(machine::swap()),
        zram: Some(machine::zram()),
        tmpfs: Some(machine::tmpfs()),
        would_fit: machine::fits(),
        proof: ramline_view::ProofTable::from_runs(&lab::runs()),
        findings: advice::findings(),
        skipped: vec![
            Skipped { what: "arms with a fresh zram device".into(), why: "they touch the whole machine and were not agreed to".into(), fix: Some("sudo ramline checkup --full --prove".into()) },
            Skipped { what: "tiers: swap on /dev/vda2".into(), why: "the area is in use".into(), fix: None },
        ],
        unseen: vec![UnseenSection {
            section: "zswap".into(),
            why: Unseen::denied("/sys/kernel/debug/zswap/pool_total_size"),
        }],
        cost: CheckupCost { wall: Nanos(58_200_000_000), cpu: Nanos(9_400_000_000), peak_memory: Bytes::from_kib(7_412), written: Bytes::from_mib(1_536) },
        tiers: ramline_model::tiers::from_snapshot(&seen),
        verdict: ramline_model::verdict::from_snapshot(&seen, None),
        cost_ratio: ramline_model::costs::cost_ratio(&lab::tiers()),
        who: Some(machine::who()),
        removed: vec!["a swap area on /dev/loop2 of run 2026-11-19-0907".into()],
        leftovers: vec!["a loop device /dev/loop3 of run 2026-11-20-1412; `ramline lab clean` removes it".into()],
    })
}

fn main() -> std::process::ExitCode {
    let page = match std::env::args().nth(1).as_deref() {
        Some("full") => full().map(|report| ramline_view::html::page(&report)),
        Some("empty") => Some(ramline_view::html::page(&CheckupReport::default())),
        Some("series") => series::page(),
        _ => None,
    };
    let Some(page) = page else {
        eprintln!("cannot make a report: say which; try: cargo run -p ramline-view --example report -- full");
        return std::process::ExitCode::from(2);
    };
    print!("{page}");
    std::process::ExitCode::SUCCESS
}
