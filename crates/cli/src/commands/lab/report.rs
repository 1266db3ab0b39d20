//! A series from its records: as text, JSON, CSV and a page.

use ramline_evidence::knee::Knee;
use ramline_evidence::{RunRecord, SeriesTable, SeriesVersus, together};
use ramline_kernel::output::Output;
use ramline_lab::experiment::{Experiment, Study};
use ramline_lab::experiments::find;
use ramline_view::ProofTable;
use ramline_view::html::{Reading, SeriesPage};
use ramline_view::screen::{self, ReadPaths};
use ramline_view::sheet::Sheet;

use crate::prelude::*;

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

/// The study of an experiment; one that is not known has that of all.
fn study(table: &SeriesTable) -> Study {
    find(&table.experiment).map_or(Study::Series, |experiment| experiment.study)
}

impl Shown {
    fn from_series(table: &SeriesTable, records: &[RunRecord]) -> Shown {
        // The table of the sandbox proves something for this machine, which a virtual machine's runs do not.
        let guests = records.iter().any(|record| record.sandbox == "vm");
        let found = match study(table) {
            Study::Proof if !guests => ProofTable::from_runs(records).map(Shown::Proof),
            Study::Paths => ReadPaths::from_records(records).map(Shown::Paths),
            Study::Knee => Knee::from_records(records).map(|knee| Shown::Knee(Box::new(knee))),
            Study::Proof | Study::Timing | Study::Eaten | Study::Dropped | Study::Series => None,
        };
        found.unwrap_or(Shown::Series)
    }

    /// What came out, for a terminal and for a page.
    fn sheet(&self, table: &SeriesTable, lead: &[&str]) -> Sheet {
        match self {
            Shown::Proof(proof) => screen::proof_sheet(proof, &screen::headline(table, lead)),
            Shown::Paths(paths) => paths.sheet(lead),
            Shown::Knee(knee) => screen::knee_sheet(knee, table),
            Shown::Series => match study(table) {
                Study::Timing => screen::timing_sheet(table),
                Study::Eaten => screen::eaten_sheet(table, lead),
                Study::Dropped => screen::dropped_sheet(table, lead),
                _ => screen::series_sheet(table, lead),
            },
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
    let shown = Shown::from_series(&table, &records);
    let sheet = shown.sheet(&table, lead);
    if html.as_ref().is_some_and(Output::is_stdout) {
        // The page is what was asked for there.
    } else if format.is_json() {
        shown.json(&table)?;
    } else {
        output::text(&sheet.text(&output::style(), Depth::All))?;
    }
    let doubts = ramline_lab::report::doubts(&records);
    for doubt in &doubts {
        ramline_kernel::stdio::tell(&format!("doubt: {doubt}"));
    }
    ramline_kernel::stdio::tell(&format!("Raw records: {}", folder.dir().display()));
    let page = Page { table: &table, records: &records, doubts: &doubts, two: false, sheet: &sheet };
    write(html, &page)?;
    Ok(exit::DONE)
}

/// What a page needs of one series or two.
struct Page<'a> {
    table: &'a SeriesTable,
    records: &'a [RunRecord],
    doubts: &'a [String],
    two: bool,
    sheet: &'a Sheet,
}

fn write(target: Option<Output>, page: &Page<'_>) -> Result<()> {
    let Some(target) = target else { return Ok(()) };
    let Page { table, records, doubts, two, sheet } = *page;
    let experiment = find(&table.experiment);
    let rows = experiment.map(Experiment::reading).unwrap_or_default();
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
        docs: &experiment.map(Experiment::docs).unwrap_or_default(),
        lead: experiment.map(|e| e.figures).unwrap_or_default(),
        reading: &reading,
        doubts,
        two,
        sheet,
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
///
/// # Errors
/// There are none, or they cannot be read.
pub fn series_of(folder: &RunFolder) -> Result<(SeriesTable, Vec<RunRecord>)> {
    let contents = folder.read()?;
    for problem in &contents.unreadable {
        ramline_kernel::stdio::tell(problem);
    }
    let none = || {
        let what =
            format!("{} is no folder of a series: it holds no record of a run (0000.json)", folder.dir().display());
        Failure::new(exit::FAILED, format!("{what}\n  try: ramline lab list"))
    };
    let mut table = SeriesTable::from_records(&contents.records).ok_or_else(none)?;
    if study(&table) == Study::Knee {
        // By limit, from small to large: the bend is the answer. Without a limit is what the others are compared with.
        let limit = |name: &str| name.strip_prefix("limit ").and_then(crate::retry::shown);
        ramline_units::sort_by_key(&mut table.arms, |arm| limit(&arm.name));
    }
    Ok((table, contents.records))
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
        return Err(Failure::usage(format!("{what}\n  try: {hint}")).into());
    }
    let versus = SeriesVersus::between(&first, &second);
    let sheet = screen::versus_sheet(&versus);
    if !html.as_ref().is_some_and(Output::is_stdout) {
        format.print(&Versioned::new(&versus), |style| sheet.text(style, Depth::All))?;
    }
    if let Some((table, records)) = together(&before, &after) {
        // What differs between them stands on the sheet.
        let page = Page { table: &table, records: &records, doubts: &[], two: true, sheet: &sheet };
        write(html, &page)?;
    }
    Ok(exit::DONE)
}
