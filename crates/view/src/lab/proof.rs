//! The proof of a checkup, and code-plus-data in the lab: the same work in a sandbox under different settings, as one sheet.

use ramline_evidence::{Measurement, RunOutcome, work};

use super::headline::{factor_of, headline};
use crate::proof::{ProofArm, ProofTable, ProofVersus};
use ramline_sheet::{Bar, Bars, Cell, Curve, Paint, Panel, Panels, Sheet, Table, number};

/// The answer where the runs are no longer at hand: the headline of the times in the table.
#[must_use]
pub fn proof_answer(table: &ProofTable) -> String {
    headline(&table.series(), &[work::TIME])
}

/// The answer, the workload and the settings; then what may be said of each, their times as charts, what reclaim did, and what was
/// run. `answer` is the headline of the same runs.
#[must_use]
pub fn proof_sheet(table: &ProofTable, answer: &str) -> Sheet {
    let mut sheet = Sheet::new();
    sheet.answer(Paint::Bold, answer);
    sheet.dim(head(table));
    sheet.table(arms(table));
    if table.arms.iter().filter_map(|arm| arm.versus_first.as_ref()).any(|versus| !versus.separated) {
        sheet.dim("In brackets: not proven (6 runs of each are needed, and intervals or ranks that are apart).");
    }
    sheet.more("How sure this is", |more| {
        table.arms.iter().for_each(|arm| told(more, arm));
    });
    sheet.more("Time per round, and rounds over time", |more| {
        let times = times(table);
        if !times.is_flat() {
            more.bars(times);
        }
        more.panels(rounds(table));
    });
    sheet.more("Per round (medians; pages unless a unit stands there)", |more| more.table(counts(table)));
    sheet.more("What was run", |more| {
        more.table(run(table));
        if let Some(machine) = table.machine.as_ref().filter(|machine| !machine.kernel.is_empty()) {
            let disk = machine.scratch_disk.as_ref().map(|disk| format!(" on {disk}")).unwrap_or_default();
            more.line(format!(
                "Linux {}, {} CPUs, {} of memory, control groups version {}, scratch place on {}{disk}.",
                machine.kernel, machine.cpus, machine.mem_total, machine.cgroup_version, machine.scratch_fs
            ));
        }
    });
    sheet
}

/// What may be said of a setting, and what qualifies it.
fn told(sheet: &mut Sheet, arm: &ProofArm) {
    let label = format!("  {}: ", arm.name);
    sheet.point(&label, arm.versus_first.as_ref().map(|versus| format!("{}.", versus.sentence)));
    sheet.point(&label, arm.why.as_ref().map(|why| format!("{} ({why}).", arm.outcome.word())));
    if let Some(deviation) = arm.pool_deviation {
        sheet.point(&label, format!("limit + pool stayed within {} of nominal.", number::percent(deviation)));
    }
    arm.notes.iter().for_each(|note| sheet.point(&label, note));
}

/// The workload in a sentence.
pub(crate) fn head(table: &ProofTable) -> String {
    let sharing = if table.shared { "shared" } else { "private" };
    format!(
        "{}: {} of data ({sharing}) and code in units of {} against a limit of {} ({} too much), {}, read-ahead {}",
        table.experiment,
        table.demand,
        table.unit,
        table.limit,
        table.excess,
        number::things(u64::from(table.rounds), "round"),
        table.read_ahead
    )
}

/// The arms: how they ended, and their time.
pub(crate) fn arms(table: &ProofTable) -> Table {
    let median = |measured: &Option<Measurement>| measured.as_ref().map(|m| number::figure(m.median));
    let time = |arm: &ProofArm| match arm.more_than_s {
        Some(bound) => Some(format!("> {}", number::figure(bound))),
        None => median(&arm.seconds_per_round),
    };
    let spread = |arm: &ProofArm| arm.seconds_per_round.as_ref().filter(|_| arm.more_than_s.is_none()).map(interval);
    Table::from_rows(table.arms.iter().zip(table.shares()))
        .wrapped("setting", |(arm, _)| &arm.name)
        .right("n", |(arm, _)| arm.n.to_string())
        .left("ended", |(arm, _)| Cell::painted(paint(arm.outcome), arm.outcome.word()))
        .right("s per round", |(arm, _)| time(arm))
        .bar(|(_, share)| share)
        .left(spread_head(table), |(arm, _)| spread(arm))
        .right("rounds", |(arm, _)| arm.rounds.as_ref().map(|m| format!("{:.1}", m.median)))
        .right("than the first", |(arm, _)| arm.versus_first.as_ref().and_then(than_the_first))
        .right("faults/round", |(arm, _)| median(&arm.major_faults))
        .drawn()
}

/// What reclaim did, and the CPU it took.
fn counts(table: &ProofTable) -> Table<&ProofArm> {
    let figure = |pick: fn(&ProofArm) -> &Option<Measurement>| {
        move |arm| pick(arm).as_ref().map(|measured| number::figure(measured.median))
    };
    Table::from_rows(&table.arms)
        .wrapped("setting", |arm| &arm.name)
        .right("file refaults", figure(|arm| &arm.refault_file))
        .right("anon refaults", figure(|arm| &arm.refault_anon))
        .right("swapped in", figure(|arm| &arm.swap_in))
        .right("swapped out", figure(|arm| &arm.swap_out))
        .right("read", |arm| arm.read_bytes.as_ref().map(|m| number::bytes(m.median)))
        .right("user s", figure(|arm| &arm.user_s))
        .right("system s", figure(|arm| &arm.system_s))
        .right("CPU s", figure(|arm| &arm.cpu_s))
}

fn spread_head(table: &ProofTable) -> &'static str {
    let exact = table.arms.iter().any(|arm| arm.seconds_per_round.as_ref().is_some_and(|m| m.ci95.is_some()));
    if exact { "95 % interval" } else { "range" }
}

const fn paint(outcome: RunOutcome) -> Paint {
    match outcome {
        RunOutcome::Completed => Paint::Good,
        RunOutcome::Unfinished => Paint::Plain,
        RunOutcome::Thrashing => Paint::Warn,
        RunOutcome::Killed | RunOutcome::Failed => Paint::Bad,
    }
}

/// `2.4 times slower`; what the runs do not prove stands in brackets.
fn than_the_first(versus: &ProofVersus) -> Option<String> {
    let over = if versus.at_least { "over " } else { "" };
    let word = if versus.is_slower() { "slower" } else { "faster" };
    let words = format!("{over}{} times {word}", factor_of(versus.factor()?));
    Some(if versus.separated { words } else { format!("({words})") })
}

fn interval(measured: &Measurement) -> String {
    let (interval, _) = measured.interval();
    if measured.n < 2 { String::new() } else { number::interval(interval.low, interval.high, "") }
}

/// Time per round.
fn times(table: &ProofTable) -> Bars {
    let bar = |arm: &ProofArm| {
        let bound = arm.more_than_s;
        let value = match (&arm.seconds_per_round, bound) {
            (_, Some(bound)) => format!("> {}", number::seconds(bound)),
            (Some(time), None) => number::seconds(time.median),
            (None, None) => arm.outcome.word().to_owned(),
        };
        let measured = arm.seconds_per_round.as_ref().filter(|time| time.n > 1 && bound.is_none());
        let interval = measured.map(|time| time.interval().0).map(|interval| (interval.low, interval.high));
        let (name, at) = (arm.name.clone(), arm.time_or_bound());
        Bar { name, value, at, interval, open: bound.is_some(), ..Bar::default() }
    };
    Bars {
        title: "Seconds per round (median; shorter is better)".to_owned(),
        unit: "s".to_owned(),
        rows: table.arms.iter().map(bar).collect(),
        ..Bars::default()
    }
}

/// Rounds over time of the first run of each setting.
fn rounds(table: &ProofTable) -> Panels {
    let last = |arm: &ProofArm| arm.timeline.last().copied();
    let shown = table.arms.iter().filter_map(|arm| Some((arm, last(arm).filter(|point| point.at_s > 0.0)?)));
    let panel = |(arm, end): (&ProofArm, crate::proof::ProofPoint)| Panel {
        name: arm.name.clone(),
        value: format!("{} rounds in {}", number::trimmed(end.rounds), number::seconds(end.at_s)),
        curves: vec![(Curve::First, arm.timeline.iter().map(|point| (point.at_s, point.rounds)).collect())],
        ..Panel::default()
    };
    Panels {
        title: "Rounds done".to_owned(),
        unit: "rounds".to_owned(),
        least: f64::from(table.rounds),
        panels: shown.map(panel).collect(),
        note: "The first run of each setting; steeper is better.".to_owned(),
        ..Panels::default()
    }
}

/// What each setting was.
fn run(table: &ProofTable) -> Table<&ProofArm> {
    let swap = |arm: &ProofArm| {
        let swappiness = arm.swappiness.map(|value| format!(", swappiness {value}")).unwrap_or_default();
        let swap = super::settings::swap(&arm.swap).unwrap_or_else(|| "as the machine has it".to_owned());
        format!("{swap}{swappiness}")
    };
    Table::from_rows(&table.arms)
        .wrapped("setting", |arm| &arm.name)
        .wrapped("swap", swap)
        .left("data", |arm| if arm.fill.is_empty() { "not known" } else { &arm.fill })
        .right("completed", |arm| format!("{} of {}", number::count(arm.completed), number::count(arm.n)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_evidence::{Arm, Phase, Reclaim, RoundTime, RunRecord, Sample, Verdict, Workload};
    use ramline_sheet::Depth;
    use ramline_sheet::text::Style;
    use ramline_units::{Bytes, Nanos};

    fn run(name: &str, seconds: u64, verdict: Verdict) -> RunRecord {
        let rounds = if verdict == Verdict::Completed {
            vec![RoundTime { took: Nanos(seconds * 1_000_000_000), checksum: 0 }]
        } else {
            vec![]
        };
        RunRecord {
            experiment: "code-plus-data".into(),
            arm: Arm { name: name.into(), ..Arm::default() },
            workload: Workload {
                unit: Bytes::from_mib(32),
                data_units: 14,
                code_units: 3,
                rounds: 1,
                limit: Bytes::from_mib(480),
                read_ahead: Bytes::from_kib(128),
                ..Workload::default()
            },
            verdict,
            rounds,
            elapsed: Nanos(seconds * 1_000_000_000),
            reclaim: Reclaim {
                major_faults: 17_864,
                refault_file: Some(52_542),
                swap_in: Some(105_033),
                ..Reclaim::default()
            },
            ..RunRecord::default()
        }
    }

    #[test]
    fn the_table_says_how_each_arm_ended_and_how_sure_the_ratio_is() {
        let runs = [
            run("as configured", 2, Verdict::Completed),
            run("as configured", 3, Verdict::Completed),
            run("no swap", 20, Verdict::Thrashing("20 s passed".into())),
        ];
        let sheet = proof_sheet(&ProofTable::from_runs(&runs).unwrap(), "It is so.");
        assert_eq!(
            sheet.text(&Style::default(), Depth::All),
            "\
It is so.
code-plus-data: 544.0 MiB of data (private) and code in units of 32.0 MiB against a limit of 480.0
MiB (64.0 MiB too much), 1 round, read-ahead 128.0 KiB
setting        n  ended      s per round  range         rounds         than the first  faults/round
as configured  2  completed         2.50  2.00 to 3.00     1.0                               17,864
no swap        1  thrashing       > 20.0                   0.0  (over 8 times slower)
In brackets: not proven (6 runs of each are needed, and intervals or ranks that are apart).

How sure this is
  no swap: more than 8.0 times as much; not one round was done before the clock ran out.
  no swap: thrashing (20 s passed).

Time per round, and rounds over time

Seconds per round (median; shorter is better)
  as configured  ######## 2.50 s
  no swap        ############################################################ > 20.0 s

Per round (medians; pages unless a unit stands there)
setting        file refaults  swapped in  CPU s
as configured         52,542     105,033      0
no swap

What was run
setting        swap                   data       completed
as configured  as the machine has it  not known     2 of 2
no swap        as the machine has it  not known     0 of 1
"
        );
    }

    #[test]
    fn the_answer_of_a_report_is_the_headline_of_its_times() {
        let mut runs = vec![run("as configured", 2, Verdict::Completed), run("zram", 1, Verdict::Completed)];
        runs.push(run("no swap", 20, Verdict::Thrashing("20 s passed".into())));
        let seven: Vec<RunRecord> = runs.iter().cycle().take(21).cloned().collect();
        assert_eq!(
            proof_answer(&ProofTable::from_runs(&seven).unwrap()),
            "zram is 2 times faster than as configured; no swap got stuck (7 runs each)."
        );
    }

    #[test]
    fn rounds_over_time_are_a_curve_for_each_setting() {
        let sample = |at: u64| Sample {
            at: Nanos(at * 1_000_000_000),
            phase: Phase::Rounds,
            fraction: if at == 0 { 0.0 } else { 0.5 },
            ..Sample::default()
        };
        let mut one = run("as configured", 2, Verdict::Completed);
        one.samples = vec![sample(0), sample(1)];
        let text = proof_sheet(&ProofTable::from_runs(&[one]).unwrap(), "").text(&Style::default(), Depth::All);
        assert!(text.contains("\nRounds done (up to 1.0)\n|"), "{text}");
        assert!(text.contains(" 0 s") && text.contains("2.0\na as configured\n"), "{text}");
    }
}
