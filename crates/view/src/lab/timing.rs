//! A series of timings as the table people know from benchmark programs: median, range, how many times the fastest, and where the
//! time went.
//!
//! Times of runs are not spread evenly around a middle, so the median with its interval stands there, and the smallest
//! and largest beside it.

use ramline_evidence::Paced;
use ramline_evidence::even::CPU_TIME;

use super::headline::headline;
use super::series::{chart, claims, ended, head, spread_head, spread_of, unproven};
use crate::prelude::*;

const WALL: &str = "wall";
/// Beside the time: what took it, and what it was read from. User and system time, or where the ticks are too few the sum.
const PARTS: [&str; 5] = ["user", "system", CPU_TIME, "major faults", "read from disks"];

/// The sheet.
#[must_use]
pub fn timing_sheet(table: &SeriesTable) -> Sheet {
    let mut sheet = Sheet::new();
    sheet.answer(Paint::Bold, headline(table, &[WALL]));
    sheet.dim(head(table));
    sheet.table(times(table));
    for arm in table.arms.iter().filter(|arm| arm.verdicts.iter().any(|(word, _)| word != "completed")) {
        sheet.line(format!("{}: {}", arm.name, ended(arm)));
    }
    let parts: Vec<&str> =
        PARTS.into_iter().filter(|name| table.arms.iter().any(|arm| arm.figure(name).is_some())).collect();
    sheet.heading("Where the time went, and what was read for it (medians)");
    sheet.table(spent(table, &parts));
    sheet.bars(chart(table, WALL, false));
    parts.into_iter().for_each(|name| sheet.bars(chart(table, name, true)));
    table.arms.iter().for_each(|arm| claims(&mut sheet, arm));
    unproven(&mut sheet, table, &[WALL]);
    sheet
}

/// Times, each with how many times the fastest it is; smallest and largest where there is room.
fn times(table: &SeriesTable) -> Table<Paced<'_>> {
    Table::from_rows(table.paced(WALL))
        .wrapped("setting", |paced| &paced.arm.name)
        .right("runs", |paced| paced.measurement.n)
        .right("median", |paced| number::seconds(paced.measurement.median))
        .right(spread_head(table, WALL), |paced| spread_of(paced.measurement))
        .column(Column::right("min").spare(), |paced| number::seconds(paced.measurement.min))
        .column(Column::right("max").spare(), |paced| number::seconds(paced.measurement.max))
        .right("x fastest", |paced| number::figure(paced.times))
}

fn spent<'a>(table: &'a SeriesTable, parts: &[&str]) -> Table<&'a ArmResult> {
    let of = |arm: &ArmResult, name: &str| {
        let figure = arm.figure(name).map(|figure| &figure.measurement);
        figure.map(|measured| short(measured.median, &measured.unit))
    };
    let arms = Table::from_rows(&table.arms).wrapped("setting", |arm| &arm.name);
    arms.columns(parts, |name| Column::right(name), |name, arm| of(arm, name))
}

/// A count needs no unit below its name, and no decimals where it is whole.
fn short(median: f64, unit: &str) -> String {
    match unit {
        "faults" if median.fract() == 0.0 => format!("{median:.0}"),
        "faults" => number::figure(median),
        _ => value(median, unit, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_evidence::{Arm, Better, Figure, RunRecord, Verdict};
    use ramline_sheet::Depth;
    use ramline_sheet::text::Style;

    fn text(records: &[RunRecord], width: usize) -> String {
        let table = SeriesTable::from_records(records).unwrap();
        timing_sheet(&table).text(&Style { colour: false, width }, Depth::All)
    }

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
        let text = text(&records(7), 100);
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
        let text = text(&records(7), 60);
        assert!(
            text.lines()
                .find(|line| line.starts_with("setting"))
                .is_some_and(|line| line.ends_with("x fastest") && !line.contains("min")),
            "{text}"
        );
        assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
    }

    #[test]
    fn a_command_of_milliseconds_has_its_cpu_time_in_one_column() {
        let mut all = records(3);
        for run in &mut all {
            run.figures.iter_mut().filter(|f| f.name == "user").for_each(|f| f.value = 0.004);
            run.figures.push(Figure::new("system", 0.001, "s", Better::Lower));
        }
        let text = text(&all, 100);
        assert!(text.contains("CPU time") && text.contains("5.00 ms") && !text.contains("user"), "{text}");
    }

    #[test]
    fn a_run_that_did_not_end_well_is_told() {
        let mut all = records(2);
        all[1].verdict = Verdict::Thrashing("60 s".to_owned());
        let text = text(&all, 100);
        assert!(text.contains("cold: thrashing 1, completed 1"), "{text}");
    }
}
