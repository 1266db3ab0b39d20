//! A series of any experiment as a screen, and its raw figures as comma-separated values.
//!
//! What it is: for each arm the leading figures with their spread, what may be claimed against the first arm, and how the
//! runs ended. What it is not: the study; that is [`SeriesTable::of`].

use ramline_evidence::{ArmResult, FigureResult, Interval, Measurement, RunRecord, SeriesTable, Spread};

use super::headline::headline;
use crate::escape;
use crate::text::{Cell, Column, Page, Paint, Style, Table, bar, number};

/// How many figures stand beside the arm's name; the others follow one by one.
const LEAD: usize = 3;

/// The screen. `lead` names the figures to begin with; without any, the first ones of the records.
#[must_use]
pub fn series(table: &SeriesTable, lead: &[&str], style: &Style) -> String {
    let mut page = Page::new(style);
    page.bold(&headline(table, lead));
    page.dim(&head(table));
    if table.emulated {
        page.painted(
            Paint::Warn,
            "The processor was emulated: its seconds compare with each other, with no real machine.",
        );
    }
    let operations = super::operations::names(table);
    if !operations.is_empty() {
        super::operations::draw(&mut page, table, &operations, style);
        return page.finish();
    }
    let names = figures(table);
    let lead: Vec<&str> = lead.iter().copied().filter(|name| names.contains(name)).collect();
    let lead = if lead.is_empty() { names.iter().copied().take(LEAD).collect() } else { lead };
    let mut columns = vec![Column::wrapped("setting"), Column::right("n"), Column::left("ended")];
    for name in lead.iter().take(LEAD) {
        columns.push(Column::right(name));
        columns.push(Column::left(spread_head(table, name)));
    }
    let mut drawn = Table::new(columns);
    for arm in &table.arms {
        drawn.cells(row(arm, lead.get(..LEAD).unwrap_or(&lead), table.emulated));
    }
    page.table(&drawn);
    bars(&mut page, table, lead.first().copied());
    for arm in &table.arms {
        claims(&mut page, arm, table.emulated);
    }
    unproven(&mut page, table, &lead);
    match table.experiment.as_str() {
        "eat-memory" => super::eat::eaten(&mut page, &table.details),
        "drop" => super::dropped::dropped(&mut page, &table.details),
        _ => {}
    }
    rest(&mut page, table, &lead);
    page.finish()
}

/// Whether runs had one: `none`, or why there is none, is not the name of one.
pub(crate) fn is_sandbox(name: &str) -> bool {
    !name.is_empty() && !name.starts_with("none")
}

pub(super) fn head(table: &SeriesTable) -> String {
    let machine = table.machine.as_ref();
    let kernel = machine.map(|m| format!(", Linux {}", m.kernel)).unwrap_or_default();
    let cpus = machine.map(|m| format!(", {} CPUs, {} of memory", m.cpus, m.mem_total)).unwrap_or_default();
    let sandbox = if is_sandbox(&table.sandbox) { format!(" in {}", table.sandbox) } else { String::new() };
    format!("{}{sandbox}{kernel}{cpus}", table.experiment)
}

/// The figures of all arms, each once, in order.
pub(super) fn figures(table: &SeriesTable) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for figure in table.arms.iter().flat_map(|arm| &arm.figures) {
        if !names.contains(&figure.name.as_str()) {
            names.push(&figure.name);
        }
    }
    names
}

pub(super) fn spread_head(table: &SeriesTable, name: &str) -> &'static str {
    let exact = table.arms.iter().filter_map(|arm| arm.figure(name)).any(|figure| figure.measurement.ci95.is_some());
    if exact { "95 % interval" } else { "range" }
}

fn row(arm: &ArmResult, lead: &[&str], emulated: bool) -> Vec<Cell> {
    let bad = arm.verdicts.iter().any(|(word, _)| word != "completed");
    let paint = if bad { Paint::Warn } else { Paint::Good };
    let mut cells = vec![arm.name.as_str().into(), number::count(arm.n).into(), Cell::painted(paint, &ended(arm))];
    for name in lead {
        let figure = arm.figure(name);
        cells.push(
            figure.map(|f| value(f.measurement.median, &f.measurement.unit, emulated)).unwrap_or_default().into(),
        );
        cells.push(figure.map(spread).unwrap_or_default().into());
    }
    cells
}

/// How its runs ended, with counts where they differ.
pub(super) fn ended(arm: &ArmResult) -> String {
    let one = |(word, n): &(String, u64)| if arm.verdicts.len() == 1 { word.clone() } else { format!("{word} {n}") };
    arm.verdicts.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// A value in words. Emulated seconds say so: nothing may take them for a machine's.
pub(crate) fn value(value: f64, unit: &str, emulated: bool) -> String {
    match unit {
        "bytes" => number::bytes(value).to_string(),
        "bytes/s" => number::per_second(number::bytes(value)),
        "s" if emulated => format!("{} emulated", number::seconds(value)),
        "s" => number::seconds(value),
        _ => format!("{} {unit}", number::figure(value)),
    }
}

pub(super) fn spread(figure: &FigureResult) -> String {
    spread_of(&figure.measurement)
}

/// `1.2 to 1.4 s`.
pub(crate) fn spread_of(measurement: &Measurement) -> String {
    let (Interval { low, high }, _): (Interval, Spread) = measurement.interval();
    if measurement.n < 2 { String::new() } else { number::interval(low, high, &measurement.unit) }
}

/// The first leading figure as bars.
fn bars(page: &mut Page<'_>, table: &SeriesTable, name: Option<&str>) {
    let Some(name) = name else { return };
    let most = table.arms.iter().filter_map(|arm| Some(arm.figure(name)?.measurement.median)).fold(0.0, f64::max);
    if most <= 0.0 {
        return;
    }
    page.heading(name);
    let width = table.arms.iter().map(|arm| arm.name.chars().count()).max().unwrap_or(0).min(30);
    let lines = table.arms.iter().filter_map(|arm| {
        let figure = &arm.figure(name)?.measurement;
        let label: String = escape(&arm.name).chars().take(30).collect();
        Some(format!(
            "  {label:width$}  {} {}",
            bar(figure.median / most, 40),
            value(figure.median, &figure.unit, table.emulated)
        ))
    });
    page.raw(&lines.collect::<Vec<_>>());
}

/// What may be said of an arm against the first, one line a figure.
pub(super) fn claims(page: &mut Page<'_>, arm: &ArmResult, emulated: bool) {
    for figure in &arm.figures {
        let Some(versus) = figure.versus_first.as_ref().filter(|_| figure.claimed) else { continue };
        let kind = if emulated && figure.measurement.unit == "s" { " (emulated seconds)" } else { "" };
        page.point(&format!("  {}: ", arm.name), &format!("{}{kind}: {}.", figure.name, versus.sentence()));
    }
    for note in &arm.notes {
        page.point(&format!("  {}: ", arm.name), note);
    }
}

/// Where nothing is claimed of the leading figures, why.
pub(super) fn unproven(page: &mut Page<'_>, table: &SeriesTable, lead: &[&str]) {
    let leads = |figure: &&FigureResult| lead.contains(&figure.name.as_str());
    let all: Vec<&FigureResult> = table.arms.iter().flat_map(|arm| arm.figures.iter().filter(leads)).collect();
    let Some(versus) = all.iter().find_map(|figure| figure.versus_first.as_ref()) else { return };
    if !all.iter().any(|figure| figure.claimed) && !versus.is_claimed() {
        let n = versus.n.0.min(versus.n.1);
        let needed =
            if n < 6 { format!("{}; 6 are needed", number::things(n, "run")) } else { number::things(n, "run") };
        page.dim(&format!("No significant difference ({needed})."));
    }
}

/// The figures that do not lead.
fn rest(page: &mut Page<'_>, table: &SeriesTable, lead: &[&str]) {
    let names: Vec<&str> =
        figures(table).into_iter().filter(|name| !lead.iter().take(LEAD).any(|l| l == name)).collect();
    if names.is_empty() {
        return;
    }
    page.heading("All figures (median, and the interval over runs)");
    let mut drawn = Table::new(vec![
        Column::wrapped("figure"),
        Column::wrapped("setting"),
        Column::right("median"),
        Column::left("from, to"),
    ]);
    for name in names {
        for (index, arm) in table.arms.iter().filter(|arm| arm.figure(name).is_some()).enumerate() {
            let Some(figure) = arm.figure(name) else { continue };
            let label = if index == 0 { name } else { "" };
            drawn.row([
                label.into(),
                arm.name.as_str().into(),
                value(figure.measurement.median, &figure.measurement.unit, table.emulated).into(),
                spread(figure).into(),
            ]);
        }
    }
    page.table(&drawn);
}

/// One line a run and figure, for other tools: experiment, sandbox, emulated, arm, repetition, order, verdict, figure, value, unit.
#[must_use]
pub fn series_csv(records: &[RunRecord]) -> String {
    let mut out = String::from("experiment,sandbox,emulated,arm,repetition,order,verdict,figure,value,unit\n");
    for record in records {
        let verdict = ramline_evidence::verdict_word(&record.verdict);
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
            out += &fields.map(|field| quoted(&field)).join(",");
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
    use ramline_evidence::{Arm, Better, Figure, Verdict};
    use ramline_units::Bytes;

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
        let text = |n| series(&SeriesTable::of(&records(n)).unwrap(), &["wall"], &Style::default());
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
        let text = series(&SeriesTable::of(&all).unwrap(), &["wall"], &Style::default());
        assert!(text.contains("processor was emulated") && text.contains("s emulated"), "{text}");
    }

    #[test]
    fn names_with_commas_are_quoted_in_csv() {
        let csv = series_csv(&records(1));
        assert_eq!(csv.lines().count(), 5);
        assert!(csv.contains("cold-warm,,false,\"warm, quick\",0,0,completed,wall,0.5,s"), "{csv}");
    }
}
