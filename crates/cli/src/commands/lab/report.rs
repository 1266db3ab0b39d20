//! A series from its records: as text, JSON, CSV and a page.

use std::path::Path;

use anyhow::Result;
use ramline_evidence::knee::Knee;
use ramline_evidence::{RunRecord, SeriesTable, Versus, together};
use ramline_kernel::output::Output;
use ramline_lab::experiments::find;
use ramline_lab::store::RunFolder;
use ramline_view::ProofTable;
use ramline_view::html::{Reading, SeriesPage};
use ramline_view::screen::{self, ReadPaths};
use ramline_view::text::Style;
use serde::Serialize;

use crate::exit::{self, Failure};
use crate::output::{self, Format, Versioned};
use crate::place;

/// A series, studied the way that fits its experiment.
enum Shown {
    /// The table of the sandbox.
    Proof(ProofTable),
    /// Ways through the kernel.
    Paths(ReadPaths),
    /// A limit.
    Knee(Box<Knee>),
    /// The table that fits every experiment.
    Series,
}

impl Shown {
    fn of(table: &SeriesTable, records: &[RunRecord]) -> Shown {
        // The table of the sandbox proves something for this machine, which a virtual machine's runs do not.
        let guests = records.iter().any(|record| record.sandbox == "vm");
        let found = match table.experiment.as_str() {
            ramline_lab::code_plus_data::NAME if !guests => ProofTable::of(records).map(Shown::Proof),
            ramline_lab::read_path::NAME => ReadPaths::of(records).map(Shown::Paths),
            ramline_lab::knee::NAME => Knee::from_records(records).map(|knee| Shown::Knee(Box::new(knee))),
            _ => None,
        };
        found.unwrap_or(Shown::Series)
    }

    fn text(&self, table: &SeriesTable, lead: &[&str], style: &Style) -> String {
        match self {
            Shown::Proof(proof) => screen::proof(proof, &screen::headline(table, lead), style),
            Shown::Paths(paths) => paths.text(lead, style),
            Shown::Knee(knee) => screen::knee(knee, table, style),
            Shown::Series if table.experiment == ramline_lab::cold_warm::NAME => screen::timing(table, style),
            Shown::Series => screen::series(table, lead, style),
        }
    }

    fn json(&self, table: &SeriesTable) -> Result<()> {
        fn document(data: &impl Serialize) -> Result<()> {
            output::json(&Versioned::new(data))
        }
        match self {
            Shown::Proof(proof) => document(proof),
            Shown::Paths(paths) => document(paths),
            Shown::Knee(knee) => document(knee),
            Shown::Series => document(table),
        }
    }

    /// The answer, where it is no difference between arms.
    fn answer(&self) -> Option<String> {
        match self {
            Shown::Knee(knee) => Some(format!("{}.", knee.sentence())),
            _ => None,
        }
    }
}

/// A file for the page.
///
/// # Errors
/// It cannot be written.
pub fn target(path: &Path) -> Result<Output> {
    place::open(path, place::HTML, "ramline lab report --html series.html")
}

/// Prints a folder's records, and writes the page where one is wanted.
///
/// # Errors
/// There are none, or stdout or the file cannot be written.
pub fn print(folder: &RunFolder, format: Format, html: Option<Output>) -> Result<u8> {
    let (table, records) = series_of(folder)?;
    let lead = find(&table.experiment).map(|e| e.figures).unwrap_or_default();
    let shown = Shown::of(&table, &records);
    if html.as_ref().is_some_and(Output::is_stdout) {
        // The page is what was asked for there.
    } else if format.is_json() {
        shown.json(&table)?;
    } else {
        output::text(&shown.text(&table, lead, &output::style()))?;
    }
    let doubts = ramline_lab::report::doubts(&records);
    for doubt in &doubts {
        ramline_kernel::stdio::tell(&format!("doubt: {doubt}"));
    }
    ramline_kernel::stdio::tell(&format!("Raw records: {}", folder.dir().display()));
    let text = shown.text(&table, lead, &Style::default());
    let answer = shown.answer();
    let page = Page {
        table: &table,
        records: &records,
        doubts: &doubts,
        two: false,
        answer: answer.as_deref(),
        screen: &text,
    };
    write(html, &page)?;
    Ok(exit::DONE)
}

/// What a page needs of one series or two.
struct Page<'a> {
    table: &'a SeriesTable,
    records: &'a [RunRecord],
    doubts: &'a [String],
    two: bool,
    answer: Option<&'a str>,
    screen: &'a str,
}

fn write(target: Option<Output>, page: &Page<'_>) -> Result<()> {
    let Some(target) = target else { return Ok(()) };
    let Page { table, records, doubts, two, answer, screen } = *page;
    let experiment = find(&table.experiment);
    let rows = experiment.map(ramline_lab::experiment::Experiment::reading).unwrap_or_default();
    let reading: Vec<Reading> = rows
        .into_iter()
        .map(|(shown, sentence)| Reading { shown: shown.to_owned(), sentence: sentence.to_owned() })
        .collect();
    let file = (!target.is_stdout()).then(|| target.path().display().to_string());
    let text = ramline_view::html::series(&SeriesPage {
        table,
        records,
        question: experiment.map(|e| e.question).unwrap_or_default(),
        how: experiment.map(|e| e.how).unwrap_or_default(),
        docs: experiment.map(|e| e.docs).unwrap_or_default(),
        lead: experiment.map(|e| e.figures).unwrap_or_default(),
        reading: &reading,
        doubts,
        two,
        answer,
        screen,
        ramline: env!("CARGO_PKG_VERSION"),
    });
    target.write(text.as_bytes())?;
    if let Some(file) = file {
        ramline_kernel::stdio::tell(&format!("Page: {file}"));
    }
    Ok(())
}

/// Prints one line a run and figure.
///
/// # Errors
/// As [`print`].
pub fn csv(folder: &RunFolder) -> Result<u8> {
    output::text(&screen::series_csv(&series_of(folder)?.1))?;
    Ok(exit::DONE)
}

/// The study of a folder's records, and these.
fn series_of(folder: &RunFolder) -> Result<(SeriesTable, Vec<RunRecord>)> {
    let contents = folder.read()?;
    for problem in &contents.unreadable {
        ramline_kernel::stdio::tell(problem);
    }
    let none = || {
        let what = format!("{} holds no record of a run", folder.dir().display());
        Failure::new(exit::FAILED, format!("{what}\n  try: ramline lab list"))
    };
    Ok((SeriesTable::of(&contents.records).ok_or_else(none)?, contents.records))
}

/// Prints two series side by side.
///
/// # Errors
/// They are of different experiments, or as [`print`].
pub fn compare(first: &RunFolder, second: &RunFolder, format: Format, html: Option<Output>) -> Result<u8> {
    let (first, before) = series_of(first)?;
    let (second, after) = series_of(second)?;
    if first.experiment != second.experiment {
        let what = format!("a series of {} cannot be compared with one of {}", first.experiment, second.experiment);
        let hint = format!("ramline lab list; both must be of {}", first.experiment);
        return Err(Failure::new(exit::USAGE, format!("{what}\n  try: {hint}")).into());
    }
    let versus = Versus::of(&first, &second);
    if !html.as_ref().is_some_and(Output::is_stdout) {
        format.print(&Versioned::new(&versus), |versus, style| screen::versus(versus.data(), style))?;
    }
    let doubts: Vec<String> = versus.unlike.iter().map(|what| format!("the two differ in {what}")).collect();
    if let Some((table, records)) = together(&before, &after) {
        let screen = screen::versus(&versus, &Style::default());
        let page = Page { table: &table, records: &records, doubts: &doubts, two: true, answer: None, screen: &screen };
        write(html, &page)?;
    }
    Ok(exit::DONE)
}
