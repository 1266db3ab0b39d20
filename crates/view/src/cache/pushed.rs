//! Who pushed pages out, and what a recording cost: the same for `trace` and `watch`.

use ramline_snapshot::cache::{Level, Pushed, Recorded};
use ramline_units::Bytes;

use crate::text::{Column, Page, Paint, Table, number};

/// Rows of the table.
const ROWS: usize = 8;

/// Pages as a size.
pub(super) fn size(pages: u64, page: Bytes) -> String {
    if pages == 0 { "0".to_owned() } else { Bytes(pages.saturating_mul(page.0)).to_string() }
}

/// Who, how much, and for what.
pub(super) fn table(rows: &[Pushed], page: Bytes) -> Table {
    let mut table =
        Table::new(vec![Column::right("pushed out"), Column::wrapped("by"), Column::wrapped("while it brought in")]);
    for row in rows.iter().take(ROWS) {
        let through = row.through.as_ref().map(|thread| format!(", through {thread}")).unwrap_or_default();
        let by = format!("{} ({}){through}", row.process, row.pid);
        let what =
            row.file.as_ref().map_or("nothing recorded: memory of its own, or of others", |file| file.path.as_str());
        table.row([size(row.pages, page).into(), by.as_str().into(), what.into()]);
    }
    table
}

/// What was lost, what this kernel cannot tell, and what the recording cost.
pub(super) fn recorded(page: &mut Page<'_>, recorded: &Recorded) {
    if recorded.lost > 0 {
        let text = format!(
            "{} were lost for want of room: all counts are lower bounds. Fewer processes or files are recorded without loss (--pid, --path).",
            number::things(recorded.lost, "record")
        );
        page.painted(Paint::Warn, &text);
    }
    match recorded.level {
        Level::Full => {}
        Level::NoMarks => page.painted(
            Paint::Warn,
            "This kernel does not mark misses: pages that a process asked for in advance, or wrote, count as misses when it reads them.",
        ),
        Level::ChangesOnly => page.painted(
            Paint::Warn,
            "This kernel (before 6.12) tells only which pages came and went: no hits, no misses, and read-ahead is not told apart.",
        ),
    }
    let text = format!(
        "Recorded for {}: {}, {} of CPU time of ramline's own (what a record costs the recorded process is not in it).",
        recorded.lasted,
        number::things(recorded.events, "record"),
        recorded.own_cpu
    );
    page.dim(&text);
}
