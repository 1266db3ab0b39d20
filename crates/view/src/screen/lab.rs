//! The lab: the table of arms of code-plus-data with its charts.
//!
//! What it is not: the study; the table is made by [`ProofTable::of`].

use ramline_evidence::Measurement;

use crate::escape;
use crate::proof::{Outcome, ProofArm, ProofTable};
use crate::text::{Cell, Column, Page, Paint, Style, Table, bar, chart, number};

/// The headline, the table of settings, time per round as bars, and rounds over time.
#[must_use]
pub fn proof(table: &ProofTable, headline: &str, style: &Style) -> String {
    let mut page = Page::new(style);
    page.bold(headline);
    page.dim(&head(table));
    page.table(&arms(table));
    page.heading("Per round (medians; pages unless a unit stands there)");
    page.table(&counts(table));
    for arm in &table.arms {
        if let Some(versus) = &arm.versus_first {
            page.point(&format!("  {}: ", arm.name), &format!("{}.", versus.sentence));
        }
        if let Some(why) = &arm.why {
            page.point(&format!("  {}: ", arm.name), &format!("{} ({why}).", arm.outcome.word()));
        }
        if let Some(deviation) = arm.pool_deviation {
            page.point(
                &format!("  {}: ", arm.name),
                &format!("limit + pool stayed within {} of nominal.", number::percent(deviation)),
            );
        }
        for note in &arm.notes {
            page.point(&format!("  {}: ", arm.name), note);
        }
    }
    times(&mut page, table);
    rounds(&mut page, table);
    page.finish()
}

/// The workload in a sentence.
pub(crate) fn head(table: &ProofTable) -> String {
    let sharing = if table.shared { "shared" } else { "private" };
    format!(
        "{}: {} of data ({sharing}) and code against a limit of {} ({} too much), {}, read-ahead {}",
        table.experiment,
        table.demand,
        table.limit,
        table.excess,
        number::things(u64::from(table.rounds), "round"),
        table.read_ahead
    )
}

/// The arms: how they ended, and their time.
pub(crate) fn arms(table: &ProofTable) -> Table {
    let mut out = Table::new(vec![
        Column::wrapped("setting"),
        Column::right("n"),
        Column::left("ended"),
        Column::right("s per round"),
        Column::left(spread_head(table)),
        Column::right("rounds"),
        Column::right("than the first"),
        Column::right("faults/round"),
    ]);
    for arm in &table.arms {
        out.cells(row(arm));
    }
    out
}

/// What reclaim did, and the CPU it took.
fn counts(table: &ProofTable) -> Table {
    let mut out = Table::new(vec![
        Column::wrapped("setting"),
        Column::right("file refaults"),
        Column::right("anon refaults"),
        Column::right("swapped in"),
        Column::right("swapped out"),
        Column::right("read"),
        Column::right("user s"),
        Column::right("system s"),
    ]);
    for arm in &table.arms {
        let figure =
            |m: &Option<Measurement>| Cell::from(m.as_ref().map(|m| number::figure(m.median)).unwrap_or_default());
        let read = arm.read_bytes.as_ref().map(|m| number::bytes(m.median).to_string());
        out.row([
            arm.name.as_str().into(),
            figure(&arm.refault_file),
            figure(&arm.refault_anon),
            figure(&arm.swap_in),
            figure(&arm.swap_out),
            read.unwrap_or_default().into(),
            figure(&arm.user_s),
            figure(&arm.system_s),
        ]);
    }
    out
}

fn spread_head(table: &ProofTable) -> &'static str {
    let exact = table.arms.iter().any(|arm| arm.seconds_per_round.as_ref().is_some_and(|m| m.ci95.is_some()));
    if exact { "95 % interval" } else { "range" }
}

fn row(arm: &ProofArm) -> Vec<Cell> {
    let paint = match arm.outcome {
        Outcome::Completed => Paint::Good,
        Outcome::Unfinished => Paint::Plain,
        Outcome::Thrashing => Paint::Warn,
        Outcome::Killed | Outcome::Failed => Paint::Bad,
    };
    let (time, spread) = match (&arm.seconds_per_round, arm.more_than_s) {
        (Some(time), _) => (number::figure(time.median), interval(time)),
        (None, Some(bound)) => (format!("> {}", number::figure(bound)), String::new()),
        (None, None) => (String::new(), String::new()),
    };
    let versus = arm.versus_first.as_ref().map(|v| {
        let slower = v.ratio >= 1.0;
        let factor = super::headline::factor_of(if slower { v.ratio } else { 1.0 / v.ratio.max(f64::MIN_POSITIVE) });
        let over = if v.at_least { "over " } else { "" };
        let words = format!("{over}{factor} times {}", if slower { "slower" } else { "faster" });
        // What the runs do not prove stands in brackets.
        if v.separated { words } else { format!("({words})") }
    });
    vec![
        arm.name.as_str().into(),
        arm.n.to_string().into(),
        Cell::painted(paint, arm.outcome.word()),
        time.into(),
        spread.into(),
        arm.rounds.as_ref().map(|m| format!("{:.1}", m.median)).unwrap_or_default().into(),
        versus.unwrap_or_default().into(),
        arm.major_faults.as_ref().map(|m| number::figure(m.median)).unwrap_or_default().into(),
    ]
}

fn interval(measured: &Measurement) -> String {
    let (interval, _) = measured.interval();
    if measured.n < 2 { String::new() } else { number::interval(interval.low, interval.high, "") }
}

/// Time per round as bars: shorter is better.
fn times(page: &mut Page<'_>, table: &ProofTable) {
    let time = |arm: &ProofArm| arm.seconds_per_round.as_ref().map(|m| m.median).or(arm.more_than_s);
    let Some(longest) = table.arms.iter().filter_map(time).reduce(f64::max).filter(|s| *s > 0.0) else { return };
    let name_width = table.arms.iter().map(|arm| crate::text::width(&escape(&arm.name))).max().unwrap_or(0);
    let room = page.style().width.saturating_sub(name_width + 24).clamp(10, 60);
    page.heading("Seconds per round (median; shorter is better)");
    let mut lines = Vec::new();
    for arm in &table.arms {
        let name = escape(&arm.name).into_owned();
        let padding = " ".repeat(name_width - crate::text::width(&name));
        let more = if arm.seconds_per_round.is_none() { "> " } else { "" };
        let drawn = match time(arm) {
            Some(s) => format!("{} {more}{}", bar(s / longest, room).trim_end_matches('.'), number::seconds(s)),
            None => arm.outcome.word().to_owned(),
        };
        lines.push(format!("  {name}{padding}  {drawn}"));
    }
    page.raw(&lines);
}

/// Rounds over time of the first run of each setting.
fn rounds(page: &mut Page<'_>, table: &ProofTable) {
    let letters = ('a'..='z').zip(&table.arms).filter(|(_, arm)| arm.timeline.len() > 1);
    let curves: Vec<_> =
        letters.clone().map(|(c, arm)| (c, arm.timeline.iter().map(|p| (p.at_s, p.rounds)).collect())).collect();
    let lines = chart(&curves, "s", "Rounds done", page.style().width.saturating_sub(2).min(78), 12);
    if lines.is_empty() {
        return;
    }
    page.blank();
    page.raw(&lines);
    let legend: Vec<String> = letters.map(|(c, arm)| format!("{c} {}", arm.name)).collect();
    page.dim(&legend.join(", "));
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_evidence::{Arm, Reclaim, RoundTime, RunRecord, Verdict, Workload};
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
        let text = proof(&ProofTable::of(&runs).unwrap(), "It is so.", &Style::default());
        assert_eq!(
            text,
            "\
It is so.
code-plus-data: 544.0 MiB of data (private) and code against a limit of 480.0 MiB (64.0 MiB too
much), 1 round, read-ahead 128.0 KiB
setting        n  ended      s per round  range         rounds         than the first  faults/round
as configured  2  completed         2.50  2.00 to 3.00     1.0                               17,864
no swap        1  thrashing       > 20.0                   0.0  (over 8 times slower)

Per round (medians; pages unless a unit stands there)
setting        file refaults  swapped in
as configured         52,542     105,033
no swap
  no swap: more than 8.0 times as much; not one round was done before the clock ran out.
  no swap: thrashing (20 s passed).

Seconds per round (median; shorter is better)
  as configured  ######## 2.50 s
  no swap        ############################################################ > 20.0 s
"
        );
    }
}
