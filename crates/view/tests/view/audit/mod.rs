//! Sentences that an audit quoted as wrong or misleading, each on the machine it was said of: what comes out now is right, and what was
//! quoted does not come out.
//!
//! `a18` is item A18 of its list of statements, `truth_9` number 9 of its measurements, `b2` a screen. What it is not: all of them. What is
//! said of a measurement, a trace or a series is tried beside the code that says it, what is said of a running kernel in tests/.

#![expect(clippy::disallowed_methods, reason = "what the tests hold the crate against are files")]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod first_line;
mod groups;
mod lab;
mod memory;
mod pages;
mod screens;

use std::path::PathBuf;

use ramline_advice::{Inputs, TOPICS, explain, findings, headline};
use ramline_gather::gather;
use ramline_kernel::Root;
use ramline_model::ledger::Ledger;
use ramline_model::watermarks;
use ramline_snapshot::machine::Machine;
use ramline_snapshot::meminfo::Meminfo;
use ramline_snapshot::pressure::Pressure;
use ramline_snapshot::vmstat::Vmstat;
use ramline_snapshot::{Seen, Snapshot, Wanted, Window};
use ramline_units::Nanos;
use ramline_view::text::Style;
use ramline_view::{CheckupReport, Screen, ShowMemory, ShowPressure, html, screen};

const STYLE: Style = Style { colour: false, width: 100 };

/// A directory of the checkout.
fn project(path: &str) -> PathBuf {
    ramline_testkit::project().join(path)
}

/// A captured tree below `fixtures/`.
fn tree(path: &str) -> Snapshot {
    gather(&Root::new(ramline_testkit::tree(path)), Wanted::ALL)
}

/// The machine of the audit: 2 processors, 23.5 GiB of which 23.0 are available, no swap, control groups of version 1, a read-ahead of 8 MiB.
fn audited() -> Snapshot {
    tree("healthy/linux-6.18-cgroup-v1")
}

/// A machine of which only /proc/meminfo is known.
fn known_by(meminfo: &str) -> Snapshot {
    let mut seen = Snapshot::new(Machine::default());
    seen.meminfo = Seen::new(Meminfo::parse("meminfo", meminfo).unwrap());
    seen
}

/// The machine two seconds earlier: lines of /proc/vmstat then and now, and in how many per cent of the time some task waited for memory.
fn two_seconds(now: &mut Snapshot, counters: &[(&str, u64, u64)], waited: u64) -> Snapshot {
    let vmstat = |pick: fn(&(&str, u64, u64)) -> u64| {
        let lines: String = counters.iter().map(|c| format!("{} {}\n", c.0, pick(c))).collect();
        Seen::new(Vmstat::parse("vmstat", &format!("nr_free_pages 1\n{lines}")).unwrap())
    };
    let stalled = |us: u64| {
        let text = format!("some avg10=0.00 avg60=0 avg300=0 total={us}\nfull avg10=0.00 avg60=0 avg300=0 total=0\n");
        Seen::new(Pressure::parse("memory", &text).unwrap())
    };
    let mut before = now.clone();
    before.machine.uptime = now.machine.uptime.map(|up| Nanos(up.0 - 2_000_000_000));
    (before.vmstat, before.pressure_memory) = (vmstat(|c| c.1), stalled(0));
    (now.vmstat, now.pressure_memory) = (vmstat(|c| c.2), stalled(waited * 20_000));
    before
}

/// On one line, so that a sentence is found wherever a screen breaks it.
fn flat(text: &str) -> String {
    text.replace('\u{a0}', " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The report of a quick checkup, as far as these sentences go.
fn checkup(inputs: &Inputs<'_>) -> CheckupReport {
    let verdict = headline(inputs);
    CheckupReport {
        machine: inputs.snapshot.machine.clone(),
        sentence: verdict.as_ref().map(|v| v.text.clone()).unwrap_or_default(),
        verdict,
        ledger: Ledger::from_snapshot(inputs.snapshot),
        pressure: Some(ramline_model::verdict::pressure_with_groups(inputs.snapshot, inputs.window)),
        watermarks: watermarks::from_snapshot(inputs.snapshot, inputs.window),
        findings: findings(inputs),
        ..CheckupReport::default()
    }
}

/// All that is said of the machine's state: the screens, the page, and the short answer to every question.
fn said(seen: &Snapshot, window: Option<Window<'_>>) -> String {
    let inputs = Inputs { snapshot: seen, window, tiers: None, runs: &[] };
    let report = checkup(&inputs);
    let mut all = vec![
        ShowMemory::new(seen, window.as_ref()).text(&STYLE),
        ShowPressure::new(seen, window.as_ref()).text(&STYLE),
        screen::findings(&report.findings, &STYLE),
        screen::checkup(&report, &[], &STYLE),
        html::page(&report),
    ];
    all.extend(TOPICS.iter().map(|topic| screen::explain(&explain(topic.id, &inputs).unwrap(), &STYLE)));
    flat(&all.join("\n"))
}

/// None of these is said.
fn never(said: &str, quoted: &[&str]) {
    for quoted in quoted {
        let at = said.find(quoted).map(|at| &said[..at + quoted.len()]);
        let around = at.map(|text| text.chars().rev().take(200).collect::<String>().chars().rev().collect::<String>());
        assert_eq!(around, None, "'{quoted}' is said");
    }
}
