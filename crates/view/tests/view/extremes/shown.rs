//! Everything that is computed and drawn: from a snapshot and records, and from documents that were stored.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ramline_advice::planning::{Ask, plan};
use ramline_advice::{Inputs, TOPICS, explain, findings};
use ramline_evidence::knee::Knee;
use ramline_evidence::{Arm, DropRun, EatRun, RunRecord, SeriesTable, SeriesVersus, TierReport, path::CallPath};
use ramline_model::groups::{Selection, Sort};
use ramline_model::ledger::Ledger;
use ramline_model::processes::{By, Filter};
use ramline_model::{costs, pressure, swap, tiers, tmpfs, verdict, watermarks, zram};
use ramline_plan::Goal;
use ramline_snapshot::cache::{EvictedFiles, Pinned, Ran, Restored, Saved, Stat, Top, Traced, Warmed, Watched};
use ramline_snapshot::setup::SetUp;
use ramline_snapshot::{Snapshot, Window};
use ramline_units::{Bytes, Nanos};
use ramline_view::html::{SeriesPage, page, series};
use ramline_view::sheet::{Depth, Sheet};
use ramline_view::text::Style;
use ramline_view::{
    CheckupComparison, CheckupReport, Drift, ProofTable, Screen, ShowCgroups, ShowMaps, ShowMemory, ShowPressure,
    ShowProcesses, ShowSwap, ShowTiers, ShowTmpfs, ShowTranslate, ShowZram, SortBy, TunePlan, UnseenSection, WhoUses,
    cache, figure, screen,
};

use super::made::Maker;

const STYLE: Style = Style { colour: false, width: 100 };

fn text(sheet: &Sheet) -> String {
    sheet.text(&STYLE, Depth::All)
}

/// Draws one thing; its name goes to the list when that fails.
pub fn draw(name: &str, broken: &mut Vec<String>, make: impl FnOnce() -> String) {
    match catch_unwind(AssertUnwindSafe(make)) {
        Ok(text) if text.len() < 1 << 22 => {}
        Ok(text) => broken.push(format!("{name}: {} bytes of text", text.len())),
        Err(_) => broken.push(name.to_owned()),
    }
}

/// All of one machine.
pub fn machine(seen: &Snapshot, window: Option<&Window<'_>>, made: &mut Maker, broken: &mut Vec<String>) {
    let (report, runs): (TierReport, Vec<RunRecord>) = (made.make(), vec![made.make(), made.make()]);
    let inputs = Inputs { snapshot: seen, window: window.copied(), tiers: Some(&report), runs: &runs };
    let selection = |sort, flat| Selection { sort, flat, top: Some(2), ..Selection::default() };
    draw("memory", broken, || ShowMemory::new(seen, window).text(&STYLE));
    draw("tiers", broken, || ShowTiers::new(seen, Some(&report)).text(&STYLE));
    draw("zram", broken, || ShowZram::new(seen).text(&STYLE));
    draw("swap", broken, || ShowSwap::new(seen, window).text(&STYLE));
    draw("tmpfs", broken, || ShowTmpfs::new(seen).text(&STYLE));
    draw("pressure", broken, || ShowPressure::new(seen, window).text(&STYLE));
    draw("translate", broken, || ShowTranslate::new(seen, None).text(&STYLE));
    draw("translate a group", broken, || ShowTranslate::new(seen, Some("/a")).text(&STYLE));
    draw("cgroups", broken, || ShowCgroups::new(seen, window, Selection::default()).text(&STYLE));
    for sort in [Sort::Own, Sort::Kernel, Sort::Growth, Sort::Kills] {
        draw("cgroups, sorted", broken, || ShowCgroups::new(seen, window, selection(sort, true)).text(&STYLE));
    }
    for name in ["/", "/a", "/a/b"] {
        let one = || ShowCgroups::one(seen, window, Selection::default(), name);
        draw(name, broken, || one().map_or_else(|e| e.to_string(), |s| s.text(&STYLE)));
    }
    for by in [By::Program, By::Process, By::Service, By::Tree] {
        let who = || ShowProcesses::new(seen, window, by, SortBy::Growth, &Filter::default()).top(Some(2));
        draw("processes", broken, || who().text(&STYLE));
    }
    let set_up: SetUp = made.make();
    for goal in [Goal::Balanced, Goal::Capacity, Goal::Latency, Goal::FlashWear] {
        let ask = Ask { goal, ..Ask::default() };
        draw("a plan", broken, || TunePlan::new(plan(&inputs, &set_up, &ask), seen, &[]).text(&STYLE));
    }
    draw("findings", broken, || screen::findings(&findings(&inputs), &STYLE));
    for topic in TOPICS {
        draw(topic.id, broken, || screen::explain(&explain(topic.id, &inputs).unwrap(), &STYLE));
    }
    let report = || checkup(seen, window, &inputs);
    draw("checkup", broken, || screen::checkup(&report(), &[], &STYLE));
    draw("checkup as a page", broken, || page(&report()));
    draw("checkup against itself", broken, || {
        CheckupComparison::between(&(&report()).into(), &(&report()).into()).text(&STYLE)
    });
    for name in ["ledger.lines[0].bytes", "MemTotal", "leftover", "refaults", "pgmajfault"] {
        let tell = || figure::find(name).map(|found| found.figure(seen, window).text(&STYLE));
        draw(name, broken, || tell().unwrap_or_default());
    }
}

fn checkup(seen: &Snapshot, window: Option<&Window<'_>>, inputs: &Inputs<'_>) -> CheckupReport {
    let ledgers = window.and_then(|w| Ledger::from_snapshot(w.before).zip(Ledger::from_snapshot(w.after)));
    CheckupReport {
        machine: seen.machine.clone(),
        taken_unix_ns: seen.machine.taken_unix_ns,
        verdict: verdict::from_snapshot(seen, window.copied()),
        ledger: Ledger::from_snapshot(seen),
        drift: ledgers.map(|(before, after)| Drift::between(&before, &after, Nanos(u64::MAX))),
        tiers: tiers::from_snapshot(seen),
        measured: inputs.tiers.cloned(),
        cost_ratio: inputs.tiers.and_then(costs::cost_ratio),
        watermarks: watermarks::from_snapshot(seen, window.copied()),
        pressure: Some(pressure::from_snapshot(seen, window.copied())),
        swap: swap::from_snapshot(seen, window.copied()),
        zram: zram::from_snapshot(seen),
        tmpfs: tmpfs::from_snapshot(seen),
        would_fit: ShowTmpfs::new(seen).would_fit,
        who: WhoUses::from_snapshot(seen, window),
        proof: ProofTable::from_runs(inputs.runs),
        findings: findings(inputs),
        unseen: UnseenSection::from_snapshot(seen),
        ..CheckupReport::default()
    }
}

/// Every document that may come from a file.
pub fn documents(made: &mut Maker, broken: &mut Vec<String>) {
    macro_rules! texts {
        ($($kind:ty),*) => {$({
            let document: $kind = made.make();
            draw(stringify!($kind), broken, || document.text(&STYLE));
        })*};
    }
    texts!(ShowMemory, ShowTiers, ShowZram, ShowSwap, ShowTmpfs, ShowPressure, ShowTranslate, ShowProcesses);
    texts!(TunePlan, ShowCgroups, ShowMaps, EvictedFiles, Restored, Ran, Saved, Top, Warmed);
    let (stat, traced, watched): (Stat, Traced, Watched) = (made.make(), made.make(), made.make());
    draw("Stat", broken, || cache::Rows(&stat, 0).text(&STYLE));
    draw("Traced", broken, || cache::Rows(&traced, 0).text(&STYLE));
    draw("Watched", broken, || cache::Rows(&watched, 0).text(&STYLE));
    let pinned: Pinned = made.make();
    draw("Pinned", broken, || text(&cache::pin(&pinned, true)));
    let report: CheckupReport = made.make();
    draw("CheckupReport", broken, || screen::checkup(&report, &[], &STYLE) + &page(&report));
    let older: CheckupReport = made.make();
    draw("CheckupComparison", broken, || CheckupComparison::between(&(&older).into(), &(&report).into()).text(&STYLE));
    let (measured, ratio): (TierReport, costs::CostRatio) = (made.make(), made.make());
    draw("TierReport", broken, || screen::tiers(&measured, Some(&ratio), true, &STYLE));
    let (table, proof, knee): (SeriesTable, ProofTable, Knee) = (made.make(), made.make(), made.make());
    draw("SeriesTable", broken, || text(&screen::series_sheet(&table, &[])) + &text(&screen::timing_sheet(&table)));
    draw("ProofTable", broken, || text(&screen::proof_sheet(&proof, &screen::proof_answer(&proof))));
    draw("Knee", broken, || {
        let next = format!("{:?}", knee.next());
        text(&screen::knee_sheet(&knee, &table)) + &next
    });
    let moving = |n: u64| ramline_view::cache::moving(Bytes(n), Bytes(n), Bytes(n), Some(n), n);
    draw("a line while files are read", broken, || moving(u64::MAX) + &moving(0));
}

/// Every way to study records of runs.
pub fn records(made: &mut Maker, broken: &mut Vec<String>) {
    let details = [made.json::<EatRun>(), made.json::<DropRun>(), made.json::<CallPath>()];
    let experiments = ["eat-memory", "drop", "path"];
    for (detail, experiment) in details.into_iter().zip(experiments) {
        let runs: Vec<RunRecord> = (0..4)
            .map(|n| {
                let arm = Arm { name: ["a", "b"][n % 2].to_owned(), ..made.make() };
                let detail = Some(detail.clone());
                RunRecord { experiment: experiment.to_owned(), arm, detail, ..made.make() }
            })
            .collect();
        draw(experiment, broken, || {
            let Some(table) = SeriesTable::from_records(&runs) else { return String::new() };
            let sheets = [screen::series_sheet, screen::eaten_sheet, screen::dropped_sheet];
            let screen: String = sheets.iter().map(|sheet| text(&sheet(&table, &[]))).collect();
            let versus = text(&screen::versus_sheet(&SeriesVersus::between(&table, &table)));
            let paths =
                screen::ReadPaths::from_records(&runs).map_or_else(String::new, |paths| text(&paths.sheet(&[])));
            let proof =
                ProofTable::from_runs(&runs).map_or_else(String::new, |table| text(&screen::proof_sheet(&table, "")));
            let ended = screen::run_ended(&runs[0], u32::MAX - 1, u32::MAX, f64::MAX, Some(f64::MAX));
            let live = screen::live(
                &screen::Live {
                    order: u32::MAX - 1,
                    total: u32::MAX,
                    rounds: u32::MAX,
                    sample: runs[0].samples.first(),
                    ..screen::Live::default()
                },
                &STYLE,
            );
            let knee =
                Knee::from_records(&runs).map_or_else(String::new, |knee| text(&screen::knee_sheet(&knee, &table)));
            let page = series(&SeriesPage {
                table: &table,
                records: &runs,
                question: "",
                how: "",
                docs: "",
                lead: &[],
                reading: &[],
                doubts: &[],
                two: false,
                sheet: &screen::series_sheet(&table, &[]),
                ramline: "",
            });
            [page, screen, screen::series_csv(&runs), versus, paths, proof, ended, live, knee].concat()
        });
    }
}
