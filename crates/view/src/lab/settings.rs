//! The settings of a series: what was varied and how the runs ended; every run in the order in which they were made; and the kernel's
//! settings as they were read back.

use ramline_evidence::{Figure, SwapKind, Verdict, even};

use super::series::{figures, leading};
use crate::once::once;
use crate::prelude::*;

/// Runs listed: the raw records have the others.
const MOST_RUNS: usize = 150;
/// Figures beside a run, and reasons beside a setting.
const BESIDE: usize = 3;
/// Values of one setting of the kernel that differ from run to run are told up to this many.
const VALUES: usize = 2;

/// What was varied, and how the runs of each setting ended.
#[must_use]
pub fn settings(table: &SeriesTable, records: &[RunRecord]) -> Sheet {
    let ended = |arm: &ArmResult| {
        let words: Vec<&str> = arm.verdicts.iter().map(|(word, _)| word.as_str()).collect();
        Cell::painted(paint(&words), super::series::ended(arm))
    };
    let drawn = Table::from_rows(&table.arms)
        .wrapped("setting", |arm| &arm.name)
        .wrapped("varied", |arm| varied(arm, records))
        .right("runs", |arm| arm.n)
        .left("ended", ended)
        .wrapped("why", |arm| reasons(arm, records));
    let mut sheet = Sheet::new();
    sheet.table(drawn);
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
pub(crate) fn swap(kind: &SwapKind) -> Option<String> {
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
    let all = once(arm.runs(records).filter_map(|record| why(&record.verdict)));
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
    let mixed = !table.arms.iter().all(|arm| arm.emulated);
    let setting = |run: &RunRecord| {
        let emulated = if run.emulated && mixed { " (emulated)" } else { "" };
        format!("{}{emulated}", run.arm.name)
    };
    let ended = |run: &RunRecord| {
        let word = run.verdict.word();
        Cell::painted(paint(&[word]), word)
    };
    let figures = even::figures(records);
    let mut drawn = Table::from_rows(records.iter().zip(&figures).take(MOST_RUNS))
        .right("run", |(run, _)| run.place())
        .wrapped("setting", |(run, _)| setting(run))
        .left("began", |(run, _)| run.started().map(|began| date(began.0)))
        .left("ended", |(run, _)| ended(run));
    for name in names {
        drawn = drawn.right(name, |(run, figures)| one(figures, name, run.emulated));
    }
    let mut sheet = Sheet::new();
    let more = match number::beyond(records.len(), MOST_RUNS) {
        0 => String::new(),
        more => format!(" {} more are not listed.", number::count(more)),
    };
    sheet.line(format!(
        "In the order in which they were made; settings take turns.{more} ramline lab report --csv prints all figures of every run."
    ));
    sheet.table(drawn);
    sheet
}

fn one(figures: &[Figure], name: &str, emulated: bool) -> String {
    let figure = figures.iter().find(|figure| figure.name == name);
    figure.map_or_else(|| "-".to_owned(), |figure| value(figure.value, &figure.unit, emulated))
}

/// Settings as read back from inside the sandbox: those that every run had once, the others by setting of the series.
#[must_use]
pub fn read_back<'a>(table: &'a SeriesTable, records: &'a [RunRecord]) -> Sheet {
    let mut names: Vec<&str> = records.iter().flat_map(|run| run.verified.keys().map(String::as_str)).collect();
    names.sort_unstable();
    names.dedup();
    let mut sheet = Sheet::new();
    if names.is_empty() {
        return sheet;
    }
    let same = |name: &'a str| {
        let first = records.first()?.verified.get(name)?;
        records.iter().all(|run| run.verified.get(name) == Some(first)).then_some(first.as_str())
    };
    let (everywhere, differ): (Vec<&str>, Vec<&str>) = names.into_iter().partition(|name| same(name).is_some());
    let named = |names: Vec<&'a str>| Table::from_rows(names).wrapped("setting of the kernel", |name| name);
    let of_arm = |arm: &&ArmResult, name: &str| values(arm, records, name);
    let by_setting = named(differ).columns(&table.arms, |arm| Column::wrapped(&arm.name), of_arm);
    sheet.line("Read back from inside the sandbox before or after each run, not as asked for.");
    sheet.headed_table("The same in every run", named(everywhere).wrapped("value", same));
    sheet.headed_table("By setting", by_setting);
    sheet
}

fn values(arm: &ArmResult, records: &[RunRecord], name: &str) -> String {
    let values = once(arm.runs(records).filter_map(|run| run.verified.get(name)).map(String::as_str));
    if values.is_empty() { "-".to_owned() } else { listed(&values, VALUES, "; ", " more") }
}
