//! A series of any experiment as a sheet, and its raw figures as comma-separated values.
//!
//! For each setting the leading figures with their spread, what may be claimed against the first one, and how the runs
//! ended.

use ramline_evidence::{ArmResult, Better, FigureResult, Interval, IntervalKind, Measurement, RunRecord, SeriesTable};

use super::headline::headline;
use super::operations;
use crate::once::once;
use ramline_sheet::{Bar, Bars, Cell, Column, Paint, Sheet, Table, number};

/// How many figures stand beside the setting's name; the others follow one by one.
const LEAD: usize = 3;
/// Charts that lead; a terminal draws the first.
const CHARTS: usize = 4;
/// Runs in the charts of the other figures together: more would make a page too large to mail.
const MOST_RUNS: usize = 700;

/// The sheet of a series of any experiment. `lead` names the figures to begin with; without any, the first ones of the records.
#[must_use]
pub fn series_sheet(table: &SeriesTable, lead: &[&str]) -> Sheet {
    sheet_with(table, lead, None, &|_| {})
}

/// The sheet of a series in which memory is eaten: also memory over time, and the columns of `free`.
#[must_use]
pub fn eaten_sheet(table: &SeriesTable, lead: &[&str]) -> Sheet {
    let details = &table.details;
    sheet_with(table, lead, super::eat::headline(details), &|sheet| super::eat::eaten(sheet, details))
}

/// The sheet of a series in which caches are dropped: also kinds of pages before and after.
#[must_use]
pub fn dropped_sheet(table: &SeriesTable, lead: &[&str]) -> Sheet {
    sheet_with(table, lead, None, &|sheet| super::dropped::dropped(sheet, &table.details))
}

/// The sheet with a first line of the experiment's own, and what only this experiment shows.
fn sheet_with(table: &SeriesTable, lead: &[&str], own: Option<String>, details: &dyn Fn(&mut Sheet)) -> Sheet {
    let mut sheet = Sheet::new();
    sheet.answer(Paint::Bold, own.unwrap_or_else(|| headline(table, lead)));
    sheet.dim(head(table));
    if table.emulated {
        sheet.warn("The processor was emulated: its seconds compare with each other, with no real machine.");
    }
    let lead = leading(table, lead);
    let operations = operations::names(table);
    if operations.is_empty() {
        plain(&mut sheet, table, &lead, details);
    } else {
        operations::draw(&mut sheet, table, &operations);
        sheet.append(charts(table, &lead, true));
    }
    sheet
}

/// A table of the leading figures, their charts, what may be claimed, what only this experiment shows, and all other figures.
fn plain(sheet: &mut Sheet, table: &SeriesTable, lead: &[&str], details: &dyn Fn(&mut Sheet)) {
    let beside: Vec<&str> = lead.iter().copied().take(LEAD).collect();
    let bad = |arm: &ArmResult| arm.verdicts.iter().any(|(word, _)| word != "completed");
    let paint = |arm: &ArmResult| if bad(arm) { Paint::Warn } else { Paint::Good };
    let mut drawn = Table::from_rows(&table.arms)
        .wrapped("setting", |arm| &arm.name)
        .right("n", |arm| arm.n)
        .left("ended", |arm| Cell::painted(paint(arm), ended(arm)));
    for name in &beside {
        drawn = drawn
            .right(name, |arm| arm.figure(name).map(|figure| median(arm, figure)))
            .column(Column::left(spread_head(table, name)).spare(), |arm| arm.figure(name).map(spread));
    }
    sheet.table(drawn);
    sheet.append(charts(table, lead, false));
    table.arms.iter().for_each(|arm| claims(sheet, arm));
    unproven(sheet, table, lead);
    details(sheet);
    let names: Vec<&str> = figures(table).into_iter().filter(|name| !beside.contains(name)).collect();
    sheet.append(medians_of(table, &names, lead));
}

/// The figures to begin with, of those that there are.
pub(crate) fn leading<'a>(table: &'a SeriesTable, lead: &[&'a str]) -> Vec<&'a str> {
    let names = figures(table);
    let named: Vec<&str> = lead.iter().copied().filter(|name| names.contains(name)).collect();
    if named.is_empty() { names.into_iter().take(CHARTS).collect() } else { named }
}

/// The leading figures as charts; `in_table` where a terminal has all of them in tables.
#[must_use]
pub fn charts(table: &SeriesTable, lead: &[&str], in_table: bool) -> Sheet {
    let mut sheet = Sheet::new();
    for (nth, name) in leading(table, lead).into_iter().take(CHARTS).enumerate() {
        sheet.bars(chart(table, name, in_table || nth > 0));
    }
    sheet
}

/// A figure of all settings that have it.
pub(crate) fn chart(table: &SeriesTable, name: &str, in_table: bool) -> Bars {
    let has: Vec<(&ArmResult, &FigureResult)> =
        table.arms.iter().filter_map(|arm| Some((arm, arm.figure(name)?))).collect();
    let bar = |(arm, figure): &(&ArmResult, &FigureResult)| {
        let measured = &figure.measurement;
        let interval = measured.interval().0;
        Bar {
            name: arm.name.clone(),
            value: number::value(measured.median, &measured.unit, arm.emulated),
            at: Some(measured.median),
            interval: (measured.n > 1).then_some((interval.low, interval.high)),
            runs: figure.values.clone(),
            open: false,
        }
    };
    let better = match has.first().map(|(_, figure)| figure.better) {
        Some(Better::Lower) => "Less is better.",
        Some(Better::Higher) => "More is better.",
        Some(Better::Neither) | None => "",
    };
    Bars {
        title: name.to_owned(),
        unit: has.first().map(|(_, figure)| figure.measurement.unit.clone()).unwrap_or_default(),
        // On the axis one word for all; of a mixed series each setting says for itself.
        emulated: has.iter().all(|(arm, _)| arm.emulated),
        rows: has.iter().map(bar).collect(),
        note: better.to_owned(),
        in_table,
    }
}

/// Whether runs had one: `none`, or why there is none, is not the name of one.
pub(crate) fn is_sandbox(name: &str) -> bool {
    !name.is_empty() && !name.starts_with("none")
}

pub(crate) fn head(table: &SeriesTable) -> String {
    let machine = table.machine.as_ref();
    let kernel = machine.map(|m| format!(", Linux {}", m.kernel)).unwrap_or_default();
    let cpus = machine.map(|m| format!(", {} CPUs, {} of memory", m.cpus, m.mem_total)).unwrap_or_default();
    let sandbox = if is_sandbox(&table.sandbox) { format!(" in {}", table.sandbox) } else { String::new() };
    format!("{}{sandbox}{kernel}{cpus}", table.experiment)
}

/// The figures of all arms, each once, in order.
pub(crate) fn figures(table: &SeriesTable) -> Vec<&str> {
    once(table.arms.iter().flat_map(|arm| &arm.figures).map(|figure| figure.name.as_str()))
}

pub(crate) fn spread_head(table: &SeriesTable, name: &str) -> &'static str {
    let exact = table.arms.iter().filter_map(|arm| arm.figure(name)).any(|figure| figure.measurement.ci95.is_some());
    if exact { "95 % interval" } else { "range" }
}

/// How its runs ended, with counts where they differ.
pub(crate) fn ended(arm: &ArmResult) -> String {
    match arm.verdicts.as_slice() {
        [(word, _)] => word.clone(),
        several => endings(several),
    }
}

/// `completed 6, thrashing 1`.
pub(crate) fn endings(ended: &[(String, u64)]) -> String {
    ended.iter().map(|(word, count)| format!("{word} {count}")).collect::<Vec<_>>().join(", ")
}

/// The median of a figure of a setting, with its unit.
pub(crate) fn median(arm: &ArmResult, figure: &FigureResult) -> String {
    number::value(figure.measurement.median, &figure.measurement.unit, arm.emulated)
}

pub(crate) fn spread(figure: &FigureResult) -> String {
    spread_of(&figure.measurement)
}

/// `1.2 to 1.4 s`.
pub(crate) fn spread_of(measurement: &Measurement) -> String {
    let (Interval { low, high }, _): (Interval, IntervalKind) = measurement.interval();
    if measurement.n < 2 { String::new() } else { number::interval(low, high, &measurement.unit) }
}

/// What may be said of a setting against the first, one line a figure.
pub(crate) fn claims(sheet: &mut Sheet, arm: &ArmResult) {
    let label = format!("  {}: ", arm.name);
    for figure in &arm.figures {
        let Some(versus) = figure.versus_first.as_ref().filter(|_| figure.claimed) else { continue };
        let kind = if arm.emulated && figure.measurement.unit == "s" { " (emulated seconds)" } else { "" };
        sheet.point(&label, format!("{}{kind}: {}.", figure.name, versus.sentence()));
    }
    arm.notes.iter().for_each(|note| sheet.point(&label, note));
}

/// Where nothing is claimed of the leading figures, why.
pub(crate) fn unproven(sheet: &mut Sheet, table: &SeriesTable, lead: &[&str]) {
    let leads = |figure: &&FigureResult| lead.contains(&figure.name.as_str());
    let all: Vec<&FigureResult> = table.arms.iter().flat_map(|arm| arm.figures.iter().filter(leads)).collect();
    let Some(versus) = all.iter().find_map(|figure| figure.versus_first.as_ref()) else { return };
    if !all.iter().any(|figure| figure.claimed) && !versus.is_claimed() {
        let n = versus.n.0.min(versus.n.1);
        let needed = if n < 6 { "; 6 are needed" } else { "" };
        sheet.dim(format!("No significant difference ({}{needed}).", number::things(n, "run")));
    }
}

/// All figures, where nothing else shows them.
#[must_use]
pub fn all_figures(table: &SeriesTable, lead: &[&str]) -> Sheet {
    medians_of(table, &figures(table), &leading(table, lead))
}

/// The medians of these figures, and charts of those that do not lead.
fn medians_of(table: &SeriesTable, names: &[&str], lead: &[&str]) -> Sheet {
    let drawn: Vec<&str> = lead.iter().copied().take(CHARTS).collect();
    let undrawn: Vec<&str> = names.iter().copied().filter(|name| !drawn.contains(name)).collect();
    let mut sheet = Sheet::new();
    if !names.is_empty() {
        sheet.more("All figures (median, and the interval over runs)", |more| {
            more.table(medians(table, names));
            table.within(&undrawn, MOST_RUNS).into_iter().for_each(|name| more.bars(chart(table, name, true)));
        });
    }
    sheet
}

fn medians(table: &SeriesTable, names: &[&str]) -> Table {
    let of = |name| {
        let has = table.arms.iter().filter_map(move |arm| Some((arm, arm.figure(name)?)));
        has.enumerate().map(move |(nth, (arm, figure))| (if nth == 0 { name } else { "" }, arm, figure))
    };
    Table::from_rows(names.iter().copied().flat_map(of))
        .wrapped("figure", |(name, ..)| name)
        .wrapped("setting", |(_, arm, _)| &arm.name)
        .right("median", |(_, arm, figure)| median(arm, figure))
        .left("from, to", |(.., figure)| spread(figure))
        .drawn()
}

/// One line a run and figure, for other tools: experiment, sandbox, emulated, arm, repetition, order, verdict, figure, value, unit.
#[must_use]
pub fn series_csv(records: &[RunRecord]) -> String {
    let mut out = String::from("experiment,sandbox,emulated,arm,repetition,order,verdict,figure,value,unit\n");
    for record in records {
        let verdict = record.verdict.word();
        for figure in &record.figures {
            let fields = [
                record.experiment.clone(),
                record.sandbox.clone(),
                record.emulated.to_string(),
                record.arm.name.clone(),
                record.repetition.to_string(),
                record.order.to_string(),
                verdict.to_owned(),
                figure.name.clone(),
                figure.value.to_string(),
                figure.unit.clone(),
            ];
            out.push_str(&fields.map(|field| quoted(&field)).join(","));
            out.push('\n');
        }
    }
    out
}

fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_evidence::{Arm, Figure, Verdict};
    use ramline_sheet::Depth;
    use ramline_sheet::text::Style;
    use ramline_units::Bytes;

    fn shown(records: &[RunRecord]) -> String {
        series_sheet(&SeriesTable::from_records(records).unwrap(), &["wall"]).text(&Style::default(), Depth::All)
    }

    fn records(n: u32) -> Vec<RunRecord> {
        let run = |arm: &str, wall: f64, bytes: Bytes| RunRecord {
            experiment: "cold-warm".to_owned(),
            arm: Arm::named(arm, &[]),
            verdict: Verdict::Completed,
            figures: vec![
                Figure::new("wall", wall, "s", Better::Lower),
                Figure::new("read", bytes.as_f64(), "bytes", Better::Lower),
            ],
            ..RunRecord::default()
        };
        let jitter = |i: u32| 0.001 * f64::from(i);
        (0..n)
            .flat_map(|i| {
                [run("cold", 2.0 + jitter(i), Bytes::from_mib(3)), run("warm, quick", 0.5 + jitter(i), Bytes(0))]
            })
            .collect()
    }

    #[test]
    fn a_difference_is_claimed_with_seven_runs_and_not_with_five() {
        let text = |n| shown(&records(n));
        assert!(text(7).contains("0.3 times as much (7 runs each, 95 % intervals apart, rank test"), "{}", text(7));
        assert!(
            text(7).starts_with("cold 2.00 s, warm, quick 0.50 s: cold is 4 times slower (7 runs each).\n"),
            "{}",
            text(7)
        );
        assert!(!text(5).contains("intervals apart") && text(5).contains("range"), "{}", text(5));
        assert!(text(5).contains("\nNo significant difference (5 runs; 6 are needed).\n"), "{}", text(5));
    }

    #[test]
    fn emulated_seconds_are_never_shown_as_seconds() {
        let mut all = records(7);
        all.iter_mut().for_each(|record| record.emulated = true);
        let text = shown(&all);
        assert!(text.contains("processor was emulated") && text.contains("s emulated"), "{text}");
    }

    #[test]
    fn names_with_commas_are_quoted_in_csv() {
        let csv = series_csv(&records(1));
        assert_eq!(csv.lines().count(), 5);
        assert!(csv.contains("cold-warm,,false,\"warm, quick\",0,0,completed,wall,0.5,s"), "{csv}");
    }
}
