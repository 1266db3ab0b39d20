//! A series of timings as the table people know from benchmark programs: median, range, how many times the fastest, and where the
//! time went.
//!
//! What it is not: a mean with a deviation. Times of runs are not spread evenly around a middle, so the median with its interval
//! stands there, and the smallest and largest beside it.

use ramline_evidence::even::CPU_TIME;
use ramline_evidence::{ArmResult, Measurement, SeriesTable};

use super::headline::headline;
use super::series::{claims, ended, head, spread_head, spread_of, unproven, value};
use crate::text::{Column, Page, Style, Table, bar, number};

const WALL: &str = "wall";
/// From this width on, smallest and largest have columns of their own.
const ROOMY: usize = 90;
/// Beside the time: what took it, and what it was read from. User and system time, or where the ticks are too few the sum.
const PARTS: [&str; 5] = ["user", "system", CPU_TIME, "major faults", "read from disks"];

/// The screen.
#[must_use]
pub fn timing(table: &SeriesTable, style: &Style) -> String {
    let mut page = Page::new(style);
    page.bold(&headline(table, &[WALL]));
    page.dim(&head(table));
    let roomy = style.width >= ROOMY;
    let fastest = walls(table).map(|(_, wall)| wall.median).fold(f64::INFINITY, f64::min);
    let mut columns = vec![Column::wrapped("setting")];
    columns.extend(["runs", "median", spread_head(table, WALL)].map(Column::right));
    if roomy {
        columns.extend(["min", "max"].map(Column::right));
    }
    columns.push(Column::right(if roomy { "times the fastest" } else { "ratio" }));
    let mut times = Table::new(columns);
    for (arm, wall) in walls(table) {
        let mut cells = vec![
            arm.name.as_str().into(),
            number::count(wall.n).into(),
            number::seconds(wall.median).into(),
            spread_of(wall).into(),
        ];
        if roomy {
            cells.extend([wall.min, wall.max].map(|time| number::seconds(time).into()));
        }
        cells.push(number::figure(wall.median / fastest).into());
        times.cells(cells);
    }
    page.table(&times);
    for arm in table.arms.iter().filter(|arm| arm.verdicts.iter().any(|(word, _)| word != "completed")) {
        page.line(&format!("{}: {}", arm.name, ended(arm)));
    }
    page.heading("Where the time went, and what was read for it (medians)");
    let mut columns = vec![Column::wrapped("setting")];
    let shown: Vec<&str> =
        PARTS.into_iter().filter(|name| table.arms.iter().any(|arm| arm.figure(name).is_some())).collect();
    columns.extend(shown.iter().map(|name| Column::right(name)));
    let mut parts = Table::new(columns);
    for arm in &table.arms {
        let cell = |name: &&str| {
            arm.figure(name)
                .map(|figure| short(figure.measurement.median, &figure.measurement.unit))
                .unwrap_or_default()
                .into()
        };
        parts.cells(std::iter::once(arm.name.as_str().into()).chain(shown.iter().map(cell)).collect());
    }
    page.table(&parts);
    bars(&mut page, table);
    for arm in &table.arms {
        claims(&mut page, arm, table.emulated);
    }
    unproven(&mut page, table, &[WALL]);
    page.finish()
}

fn walls(table: &SeriesTable) -> impl Iterator<Item = (&ArmResult, &Measurement)> {
    table.arms.iter().filter_map(|arm| Some((arm, &arm.figure(WALL)?.measurement)))
}

/// A count needs no unit below its name, and no decimals where it is whole.
fn short(median: f64, unit: &str) -> String {
    match unit {
        "faults" if median.fract() == 0.0 => format!("{median:.0}"),
        "faults" => number::figure(median),
        _ => value(median, unit, false),
    }
}

fn bars(page: &mut Page<'_>, table: &SeriesTable) {
    let most = walls(table).map(|(_, wall)| wall.median).fold(0.0, f64::max);
    if most <= 0.0 {
        return;
    }
    page.blank();
    let width = table.arms.iter().map(|arm| arm.name.chars().count()).max().unwrap_or(0).min(30);
    let lines = walls(table).map(|(arm, wall)| {
        let label: String = arm.name.chars().take(30).collect();
        format!("  {label:width$}  {} {}", bar(wall.median / most, 30), number::seconds(wall.median))
    });
    page.raw(&lines.collect::<Vec<_>>());
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_evidence::{Arm, Better, Figure, RunRecord, Verdict};

    fn records(n: u32) -> Vec<RunRecord> {
        let run = |arm: &str, wall: f64, verdict: Verdict| RunRecord {
            experiment: "cold-warm".to_owned(),
            arm: Arm::named(arm, &[]),
            verdict,
            figures: vec![
                Figure::new("wall", wall, "s", Better::Lower),
                Figure::new("user", wall / 2.0, "s", Better::Lower),
                Figure::new("major faults", 12.0, "faults", Better::Lower),
                Figure::new("read from disks", 3.0 * 1024.0 * 1024.0, "bytes", Better::Lower),
            ],
            ..RunRecord::default()
        };
        (0..n)
            .flat_map(|i| {
                let jitter = 0.001 * f64::from(i);
                [run("warm", 0.02 + jitter, Verdict::Completed), run("cold", 1.0 + jitter, Verdict::Completed)]
            })
            .collect()
    }

    #[test]
    fn the_table_has_range_ratio_and_where_the_time_went() {
        let text = timing(&SeriesTable::of(&records(7)).unwrap(), &Style::default());
        let line = text.lines().find(|line| line.starts_with("cold ")).unwrap();
        assert_eq!(
            line.split_whitespace().collect::<Vec<_>>().join(" "),
            "cold 7 1.00 s 1.00 to 1.00 s 1.00 s 1.01 s 43.6"
        );
        assert!(text.contains("95 % interval") && text.contains("3.0 MiB"), "{text}");
        assert!(
            text.contains("cold: wall: 43.6 times as much (7 runs each, 95 % intervals apart, rank test"),
            "{text}"
        );
    }

    #[test]
    fn a_narrow_terminal_gets_the_table_without_smallest_and_largest() {
        let text = timing(&SeriesTable::of(&records(7)).unwrap(), &Style { colour: false, width: 60 });
        assert!(
            text.lines().find(|line| line.starts_with("setting")).is_some_and(|line| line.ends_with("ratio")),
            "{text}"
        );
        assert!(text.lines().all(|line| line.chars().count() <= 66), "{text}");
    }

    #[test]
    fn a_command_of_milliseconds_has_its_cpu_time_in_one_column() {
        let mut all = records(3);
        for run in &mut all {
            run.figures.iter_mut().filter(|f| f.name == "user").for_each(|f| f.value = 0.004);
            run.figures.push(Figure::new("system", 0.001, "s", Better::Lower));
        }
        let text = timing(&SeriesTable::of(&all).unwrap(), &Style::default());
        assert!(text.contains("CPU time") && text.contains("5.00 ms") && !text.contains("user"), "{text}");
    }

    #[test]
    fn a_run_that_did_not_end_well_is_told() {
        let mut all = records(2);
        all[1].verdict = Verdict::Thrashing("60 s".to_owned());
        let text = timing(&SeriesTable::of(&all).unwrap(), &Style::default());
        assert!(text.contains("cold: thrashing 1, completed 1"), "{text}");
    }
}
