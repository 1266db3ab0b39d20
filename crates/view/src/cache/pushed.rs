//! Who took pages out, and what a recording cost: the same for `trace` and `watch`.

use ramline_snapshot::cache::{Level, Pushed, Recorded, Taken};
use ramline_units::{PageSize, Pages};

use crate::prelude::*;

/// Rows of the table.
const ROWS: usize = 8;

/// Pages as a size.
pub(super) fn size(pages: u64, page: Bytes) -> String {
    if pages == 0 { "0".to_owned() } else { Pages(pages).bytes(PageSize(page.0)).to_string() }
}

/// Its name and its number; of DAMON that it is DAMON.
pub(super) fn who(row: &Pushed) -> String {
    let name = format!("{} ({})", row.process, row.pid);
    if row.why == Taken::Age { format!("DAMON, {name}") } else { name }
}

/// Why, after the name.
pub(super) const fn why(why: Taken) -> &'static str {
    match why {
        Taken::Room => "to make room",
        Taken::Age => "because they were idle",
        Taken::Request => "on request",
    }
}

/// Who, how much, why, and for what, below a heading.
pub(super) fn takers(sheet: &mut Sheet, heading: &str, rows: &[Pushed], page: Bytes) {
    if !rows.is_empty() {
        sheet.heading(heading);
        sheet.table(table(rows, page));
        super::left_out(sheet, rows.len(), ROWS, "(--json prints all)");
    }
}

fn table(rows: &[Pushed], page: Bytes) -> Table<&Pushed> {
    let by = |row: &Pushed| {
        let through = row.through.as_ref().map(|thread| format!(", through {thread}")).unwrap_or_default();
        format!("{}{through}", who(row))
    };
    let what = |row: &Pushed| match (row.why, &row.file) {
        (Taken::Room, Some(file)) => format!("to make room for {}", file.path),
        (Taken::Room, None) => "to make room for memory of a process, or for a file that is not recorded".to_owned(),
        (Taken::Age, _) => "idle for a while, whether memory is short or not".to_owned(),
        (Taken::Request, _) => "on request (fadvise, as cache evict does), or the file was deleted or cut".to_owned(),
    };
    Table::from_rows(rows.iter().take(ROWS))
        .right("taken out", |row| size(row.pages, page))
        .wrapped("by", by)
        .wrapped("why, and for which file", what)
}

/// What was lost, what this kernel cannot tell, and what the recording cost.
pub(super) fn recorded(sheet: &mut Sheet, recorded: &Recorded) {
    if recorded.lost > 0 {
        let lost = number::things(recorded.lost, "record");
        sheet.warn(format!(
            "{lost} were lost for want of room: all counts are lower bounds. Fewer processes or files are recorded without loss (--pid, --path)."
        ));
    }
    match recorded.level {
        Level::Full => {}
        Level::NoMarks => sheet.warn(
"This kernel does not mark misses: pages that a process asked for in advance, or wrote, count as misses when it reads them.",
        ),
        Level::ChangesOnly => sheet.warn(
"This kernel (before 6.12) records only which pages came and went: no hits, no misses, and read-ahead is not kept apart.",
        ),
    }
    let Recorded { lasted, own_cpu, .. } = recorded;
    let records = number::things(recorded.events, "record");
    sheet.dim(format!(
        "Recorded for {lasted}: {records}, {own_cpu} of CPU time of ramline's own (what a record costs the recorded process is not in it)."
    ));
}
