//! The settings of a series: what was varied and how the runs ended; every run in the order in which they were made; and the kernel's
//! settings as they were read back.
//!
//! What it is not: what came out; that is the sheet of the series.

use ramline_evidence::{ArmResult, Figure, RunRecord, SeriesTable, SwapKind, Verdict, even};

use super::series::{figures, leading};
use ramline_sheet::Sheet;
use ramline_sheet::format::date;
use ramline_sheet::text::number::value;
use ramline_sheet::text::{Cell, Column, Paint, Table, number};

/// Runs listed: the raw records have the others.
const MOST_RUNS: usize = 150;
/// Figures beside a run, and reasons beside a setting.
const BESIDE: usize = 3;
/// Values of one setting of the kernel that differ from run to run are told up to this many.
const VALUES: usize = 2;

/// What was varied, and how the runs of each setting ended.
#[must_use]
pub fn settings(table: &SeriesTable, records: &[RunRecord]) -> Sheet {
    let mut drawn = Table::new(vec![
        Column::wrapped("setting"),
        Column::wrapped("varied"),
        Column::right("runs"),
        Column::left("ended"),
        Column::wrapped("why"),
    ]);
    for arm in &table.arms {
        let words: Vec<&str> = arm.verdicts.iter().map(|(word, _)| word.as_str()).collect();
        drawn.row([
            arm.name.as_str().into(),
            varied(arm, records).into(),
            number::count(arm.n).into(),
            Cell::painted(paint(&words), &super::series::ended(arm)),
            reasons(arm, records).into(),
        ]);
    }
    let mut sheet = Sheet::new();
    sheet.table(&drawn);
    sheet
}

/// What is varied, as asked for.
fn varied(arm: &ArmResult, records: &[RunRecord]) -> String {
    let Some(record) = arm.runs(records).next() else { return String::new() };
    let asked = &record.arm;
    let swappiness = asked.swappiness.map(|value| format!("swappiness {value}"));
    let fill = (!asked.fill.is_empty()).then(|| format!("{} data", asked.fill));
    let others = asked.settings.iter().map(|(name, value)| format!("{name} {value}"));
    let all: Vec<String> = swap(&asked.swap).into_iter().chain(swappiness).chain(fill).chain(others).collect();
    if all.is_empty() { "as named".to_owned() } else { all.join(", ") }
}

/// The swap of a setting in words; `None` where it is that of the machine.
pub(super) fn swap(kind: &SwapKind) -> Option<String> {
    let by = |algorithm: &Option<String>| algorithm.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
    match kind {
        SwapKind::AsConfigured => None,
        SwapKind::None => Some("no swap".to_owned()),
        SwapKind::File => Some("a fresh swap area".to_owned()),
        SwapKind::Zram { algorithm } => Some(format!("fresh zram{}", by(algorithm))),
        SwapKind::ZramOverFile { algorithm } => Some(format!("fresh zram{} above a swap area", by(algorithm))),
        SwapKind::Zswap => Some("a fresh swap area behind zswap".to_owned()),
    }
}

/// The colour of the worst of these ends.
fn paint(words: &[&str]) -> Paint {
    let has = |some: &[&str]| words.iter().any(|word| some.contains(word));
    match words {
        _ if has(&["killed", "failed"]) => Paint::Bad,
        _ if has(&["thrashing"]) => Paint::Warn,
        _ if has(&["completed"]) => Paint::Good,
        _ => Paint::Plain,
    }
}

fn why(verdict: &Verdict) -> Option<&str> {
    match verdict {
        Verdict::Thrashing(why) | Verdict::Killed(why) | Verdict::Failed(why) => Some(why),
        Verdict::Completed | Verdict::Unfinished => None,
    }
}

/// The reasons of its runs, each once.
fn reasons(arm: &ArmResult, records: &[RunRecord]) -> String {
    let mut all: Vec<&str> = Vec::new();
    for reason in arm.runs(records).filter_map(|record| why(&record.verdict)) {
        if !all.contains(&reason) {
            all.push(reason);
        }
    }
    listed(&all, BESIDE, "; and ", " more")
}

/// The first of these, and how many there are beyond them.
fn listed(all: &[&str], most: usize, before: &str, after: &str) -> String {
    let shown: Vec<&str> = all.iter().copied().take(most).collect();
    let more = match number::beyond(all.len(), shown.len()) {
        0 => String::new(),
        more => format!("{before}{}{after}", number::count(more)),
    };
    format!("{}{more}", shown.join("; "))
}

/// Every run, with the figures to begin with.
#[must_use]
pub fn runs(table: &SeriesTable, records: &[RunRecord], lead: &[&str]) -> Sheet {
    let lead = leading(table, lead);
    let others = figures(table).into_iter().filter(|name| !lead.contains(name));
    let names: Vec<&str> = lead.iter().copied().chain(others).take(BESIDE).collect();
    let mut columns =
        vec![Column::right("run"), Column::wrapped("setting"), Column::left("began"), Column::left("ended")];
    columns.extend(names.iter().map(|name| Column::right(name)));
    let mut drawn = Table::new(columns);
    let mixed = !table.arms.iter().all(|arm| arm.emulated);
    for (record, figures) in records.iter().zip(even::figures(records)).take(MOST_RUNS) {
        let word = record.verdict.word();
        let emulated = if record.emulated && mixed { " (emulated)" } else { "" };
        let began = record.started().map(|began| date(began.0)).unwrap_or_default();
        let shown = |name: &&str| Cell::from(one(&figures, name, record.emulated));
        let mut cells = vec![
            number::count(record.place()).into(),
            format!("{}{emulated}", record.arm.name).into(),
            began.into(),
            Cell::painted(paint(&[word]), word),
        ];
        cells.extend(names.iter().map(shown));
        drawn.cells(cells);
    }
    let mut sheet = Sheet::new();
    let more = match number::beyond(records.len(), MOST_RUNS) {
        0 => String::new(),
        more => format!(" {} more are not listed.", number::count(more)),
    };
    sheet.line(&format!(
        "In the order in which they were made; settings take turns.{more} ramline lab report --csv prints all figures of every run."
    ));
    sheet.table(&drawn);
    sheet
}

fn one(figures: &[Figure], name: &str, emulated: bool) -> String {
    let figure = figures.iter().find(|figure| figure.name == name);
    figure.map_or_else(|| "-".to_owned(), |figure| value(figure.value, &figure.unit, emulated))
}

/// Settings as read back from inside the sandbox: those that every run had once, the others by setting of the series.
#[must_use]
pub fn read_back(table: &SeriesTable, records: &[RunRecord]) -> Sheet {
    let mut names: Vec<&str> = records.iter().flat_map(|run| run.verified.keys().map(String::as_str)).collect();
    names.sort_unstable();
    names.dedup();
    let mut sheet = Sheet::new();
    if names.is_empty() {
        return sheet;
    }
    let same = |name: &str| {
        let first = records.first()?.verified.get(name)?;
        records.iter().all(|run| run.verified.get(name) == Some(first)).then_some(first.as_str())
    };
    let mut everywhere = Table::new(vec![Column::wrapped("setting of the kernel"), Column::wrapped("value")]);
    let mut columns = vec![Column::wrapped("setting of the kernel")];
    columns.extend(table.arms.iter().map(|arm| Column::wrapped(&arm.name)));
    let mut differ = Table::new(columns);
    for name in names {
        match same(name) {
            Some(value) => everywhere.row([name.into(), value.into()]),
            None => {
                let of_arm = |arm: &ArmResult| Cell::from(values(arm, records, name));
                differ.cells(std::iter::once(name.into()).chain(table.arms.iter().map(of_arm)).collect());
            }
        }
    }
    sheet.line("Read back from inside the sandbox before or after each run, not as asked for.");
    for (title, drawn) in [("The same in every run", everywhere), ("By setting", differ)] {
        if !drawn.is_empty() {
            sheet.heading(title);
            sheet.table(&drawn);
        }
    }
    sheet
}

fn values(arm: &ArmResult, records: &[RunRecord], name: &str) -> String {
    let mut values: Vec<&str> = Vec::new();
    for value in arm.runs(records).filter_map(|run| run.verified.get(name)) {
        if !values.contains(&value.as_str()) {
            values.push(value);
        }
    }
    if values.is_empty() { "-".to_owned() } else { listed(&values, VALUES, "; ", " more") }
}
