//! A series whose figures are operations: one table an operation, a row a place, and where the first place does not win.
//!
//! Another order of the same [`SeriesTable`]: figures are named `OPERATION` and `OPERATION: PART`, and those of one
//! operation stand together.

use ramline_evidence::{Better, FigureResult, Lead};

use super::series::{endings, median, spread, spread_head};
use crate::once::once;
use crate::prelude::*;

/// Places that are memory: with them the others are compared, not they with each other.
const MEMORY: [&str; 2] = ["tmpfs", "ramfs"];

/// The operations of a table in order; nothing when its figures have no parts.
pub fn names(table: &SeriesTable) -> Vec<&str> {
    let names = table.arms.iter().flat_map(|arm| &arm.figures).filter_map(|figure| figure.name.split_once(": "));
    once(names.map(|(operation, _)| operation))
}

/// One table an operation, then what follows from them.
pub fn draw(sheet: &mut Sheet, table: &SeriesTable, operations: &[&str]) {
    ended(sheet, table);
    operations.iter().for_each(|operation| sheet.headed_table(*operation, one(table, operation)));
    lost(sheet, table);
    notes(sheet, table);
}

/// How the runs ended, and how many there were.
fn ended(sheet: &mut Sheet, table: &SeriesTable) {
    let table = Table::from_rows(&table.arms).wrapped("setting", |arm| &arm.name).right("n", |arm| arm.n);
    sheet.table(table.wrapped("ended", |arm| endings(&arm.verdicts)));
}

fn one<'a>(table: &'a SeriesTable, operation: &str) -> Table<&'a ArmResult> {
    let part = |figure: &'a FigureResult| figure.name.strip_prefix(operation)?.strip_prefix(": ");
    let parts: Vec<&str> = once(table.arms.iter().flat_map(|arm| &arm.figures).filter_map(part));
    let part = |arm: &'a ArmResult, name: &str| arm.figure(&format!("{operation}: {name}"));
    let has = |arm: &&ArmResult| {
        arm.figure(operation).is_some()
            || parts.iter().any(|name| arm.figure(&format!("{operation}: {name}")).is_some())
    };
    let drawn = Table::from_rows(table.arms.iter().filter(has))
        .wrapped("setting", |arm| &arm.name)
        .right("rate", |arm| arm.figure(operation).map(|figure| median(arm, figure)))
        .column(Column::left(spread_head(table, operation)).spare(), |arm| arm.figure(operation).map(spread))
        .column(Column::right("of first").spare(), |arm| arm.figure(operation).and_then(times_first));
    let median_of = |name: &&&str, arm| part(arm, name).map(|figure| median(arm, figure));
    drawn.columns(&parts, |name| Column::right(name), median_of)
}

/// Multiple of the first setting, where it may be claimed.
fn times_first(figure: &FigureResult) -> Option<String> {
    let versus = figure.versus_first.as_ref().filter(|_| figure.claimed)?;
    Some(format!("{} times", number::figure(versus.ratio_of_medians?)))
}

fn is_memory(arm: &ArmResult) -> bool {
    MEMORY.iter().any(|name| arm.name.starts_with(name))
}

/// The tmpfs the others are held against; nothing when there is nothing else.
fn memory_arm(table: &SeriesTable) -> Option<&ArmResult> {
    let plain = table.arms.iter().find(|arm| arm.name == "tmpfs");
    let memory = plain.or_else(|| table.arms.iter().find(|arm| is_memory(arm)))?;
    table.arms.iter().any(|arm| !is_memory(arm)).then_some(memory)
}

/// Rates at which another place is faster than `memory`, or cannot be told from it.
fn not_won(table: &SeriesTable, memory: &ArmResult) -> Table {
    let word = |lead| match lead {
        Lead::Ahead => "faster",
        Lead::PerhapsAhead => "perhaps faster",
        Lead::Level => "not told apart",
    };
    let lost = table.not_won(memory, |arm| !is_memory(arm));
    Table::from_rows(&lost)
        .wrapped("rate", |lost| &lost.ours.name)
        .column(Column::wrapped("place").at_most(14), |lost| &lost.other.name)
        .right("has", |lost| median(lost.other, lost.theirs))
        .right(&format!("{} has", memory.name), |lost| median(memory, lost.ours))
        .left("so it is", |lost| word(lost.lead))
        .drawn()
}

/// What the section rests on, or why there is none.
fn lost(sheet: &mut Sheet, table: &SeriesTable) {
    // Where nothing is a rate there is nothing to win.
    let rates = |arm: &&ArmResult| arm.figures.iter().any(|figure| figure.better == Better::Higher);
    let Some(memory) = memory_arm(table).filter(rates) else { return };
    sheet.heading(format!("Where {} does not win", memory.name));
    if table.arms.iter().any(|arm| arm.n < 2) {
        return sheet.line("One run proves nothing: at least two of each setting are needed, six for a claim.");
    }
    let drawn = not_won(table, memory);
    if drawn.is_empty() {
        sheet.line("Nowhere in what was measured.");
    } else {
        sheet.table(drawn);
    }
    sheet.dim(if table.has_few_runs() {
        "Fewer than 6 runs: 'perhaps faster' is an indication (the ranges are apart), no proof."
    } else {
        "Judged by 95 % intervals of the medians, or by ranks."
    });
}

/// What qualifies the runs, each once with the arms it holds for.
fn notes(sheet: &mut Sheet, table: &SeriesTable) {
    let mut all: Vec<(&str, Vec<&str>)> = Vec::new();
    for arm in &table.arms {
        for note in &arm.notes {
            match all.iter_mut().find(|(text, _)| text == note) {
                Some((_, arms)) => arms.push(&arm.name),
                None => all.push((note, vec![&arm.name])),
            }
        }
    }
    if !all.is_empty() {
        sheet.heading("Notes");
    }
    for (note, arms) in all {
        sheet.point(&format!("  {}: ", arms.join(", ")), format!("{note}."));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_evidence::{Arm, Figure, RunRecord, Verdict};
    use ramline_sheet::Depth;
    use ramline_sheet::text::Style;

    fn table(runs: u32) -> SeriesTable {
        let run = |arm: &str, i: u32, write: f64, warm: f64| RunRecord {
            experiment: "tmpfs-vs-disk".to_owned(),
            arm: Arm::named(arm, &[]),
            verdict: Verdict::Completed,
            figures: vec![
                Figure::new("write", write + f64::from(i), "bytes/s", Better::Higher),
                Figure::new("write: user", 0.5, "s", Better::Lower),
                Figure::new("read-warm", warm + f64::from(i), "bytes/s", Better::Higher),
                Figure::new("read-warm: user", 0.25, "s", Better::Lower),
            ],
            notes: if arm == "disk" { vec![] } else { vec!["fsync protects nothing".to_owned()] },
            ..RunRecord::default()
        };
        let records: Vec<_> = (0..runs)
            .flat_map(|i| [run("tmpfs", i, 9e9, 5e9), run("ramfs", i, 9e9, 5e9), run("disk", i, 1e9, 6e9)])
            .collect();
        SeriesTable::from_records(&records).unwrap()
    }

    fn text(runs: u32, width: usize) -> String {
        crate::screen::series_sheet(&table(runs), &["write"]).text(&Style { colour: false, width }, Depth::All)
    }

    #[test]
    fn where_tmpfs_does_not_win_is_said_and_where_it_wins_is_not() {
        let text = text(7, 100);
        let lost = text.split("Where tmpfs does not win").nth(1).unwrap();
        let lines: Vec<&str> = lost.lines().filter(|line| line.contains("GiB/s")).collect();
        assert_eq!(lines, ["read-warm  disk   5.6 GiB/s  4.7 GiB/s  faster"], "{text}");
        assert!(lost.contains("95 % intervals"), "{text}");
    }

    #[test]
    fn a_ratio_stands_only_where_it_may_be_claimed_and_a_note_stands_once() {
        assert!(text(7, 100).contains("0.11 times"), "{}", text(7, 100));
        assert!(!text(5, 100).contains("0.11 times"), "{}", text(5, 100));
        assert_eq!(text(7, 100).matches("fsync protects nothing").count(), 1);
        assert!(text(7, 100).contains("tmpfs, ramfs: fsync"), "{}", text(7, 100));
    }

    #[test]
    fn one_run_is_no_ground_to_say_where_anything_wins() {
        assert!(text(1, 100).contains("One run proves nothing"), "{}", text(1, 100));
        let three = text(3, 100);
        assert!(three.contains("perhaps faster") && three.contains("Fewer than 6 runs"), "{three}");
        assert!(!three.contains("  faster"), "nothing is claimed of three runs: {three}");
    }

    #[test]
    fn a_narrow_terminal_gets_no_intervals() {
        assert!(text(7, 60).lines().all(|line| line.chars().count() <= 60), "{}", text(7, 60));
    }
}
