//! What a checkup rests on: what was not done, what was not seen, under what conditions all of it holds, and what looking cost.

use crate::prelude::*;
use crate::{CheckupReport, Skipped};
use ramline_sheet::format::long;

/// The sheet; all but its first sentence is shown on request.
#[must_use]
pub fn record(report: &CheckupReport) -> Sheet {
    let mut sheet = Sheet::new();
    sheet.answer(Paint::Plain, answer(report));
    sheet.more("Left behind by an earlier run", |more| {
        for (title, lines) in [("Removed before this one", &report.removed), ("Still there", &report.leftovers)] {
            if !lines.is_empty() {
                more.heading(title);
                lines.iter().for_each(|line| more.point("  - ", line));
            }
        }
    });
    let (not_done, not_seen) = (not_done(report), not_seen(report));
    sheet.more("Not done", |more| more.table(not_done));
    sheet.more("Not seen", |more| more.table(not_seen));
    sheet.more("Conditions and cost", |more| more.table(conditions(report)));
    sheet
}

/// How much is missing, in a sentence.
fn answer(report: &CheckupReport) -> String {
    match (report.skipped.len(), report.unseen.len()) {
        (0, 0) => "Everything that was asked for was done and seen.".to_owned(),
        (done, 0) => format!("Not done: {}.", several(done, "step")),
        (0, seen) => format!("Not seen: {}.", several(seen, "source")),
        (done, seen) => format!("Not done: {}. Not seen: {}.", several(done, "step"), several(seen, "source")),
    }
}

fn several(n: usize, one: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") }
}

fn not_done(report: &CheckupReport) -> Table<&Skipped> {
    let table = Table::from_rows(&report.skipped).wrapped("not done", |it| &it.what).wrapped("why", |it| &it.why);
    table.wrapped("what would do it", |it| it.fix.as_deref().unwrap_or("nothing helps here"))
}

fn not_seen(report: &CheckupReport) -> Table<&UnseenSection> {
    let table =
        Table::from_rows(&report.unseen).wrapped("not seen", |it| &it.section).wrapped("file", |it| &it.why.path);
    table.wrapped("why", |it| &it.why.reason)
}

fn conditions(report: &CheckupReport) -> Table {
    let machine = &report.machine;
    let cost = &report.cost;
    let who = if machine.root { "root" } else { "an ordinary user" };
    let pages = ramline_units::Bytes(machine.page_size.0);
    let unknown = || "not known".to_owned();
    let rows: [(&str, String); 10] = [
        ("Kernel", format!("{} on {}", machine.kernel, machine.arch)),
        ("CPUs, pages", format!("{} online, pages of {pages}", machine.cpus)),
        ("Hypervisor", machine.hypervisor.clone().unwrap_or_else(|| "none seen".to_owned())),
        ("Container", machine.container.clone().unwrap_or_else(|| "none seen".to_owned())),
        ("Up for", machine.uptime.map_or_else(unknown, long)),
        ("Taken", report.taken_unix_ns.map_or_else(unknown, date)),
        ("By", format!("{who}, ramline {}, {} checkup", report.ramline, report.mode.word())),
        ("Rates over", report.window.map_or_else(|| "no window: counters since boot only".to_owned(), long)),
        ("What it took", format!("{} from start to report, {} of CPU time", cost.wall, cost.cpu)),
        ("What it used", format!("{} of memory at its peak, {} written to disks", cost.peak_memory, cost.written)),
    ];
    Table::pairs(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkup::report::Skipped;
    use ramline_sheet::Depth;
    use ramline_sheet::text::Style;

    #[test]
    fn what_is_missing_is_counted_first_and_told_on_request() {
        let whole = CheckupReport::default();
        let brief = |report: &CheckupReport| record(report).text(&Style::default(), Depth::Brief);
        assert_eq!(brief(&whole), "Everything that was asked for was done and seen.\n--all shows more.\n");
        let skipped = Skipped { what: "the proof".into(), why: "needs root".into(), fix: None };
        let part = CheckupReport { skipped: vec![skipped], removed: vec!["a loop device".into()], ..whole };
        assert!(brief(&part).starts_with("Not done: 1 step.\n"));
        let all = record(&part).text(&Style::default(), Depth::All);
        assert!(all.contains("Removed before this one\n  - a loop device\n"), "{all}");
        assert!(all.contains("the proof  needs root  nothing helps here\n"), "{all}");
        assert!(all.contains("Rates over    no window: counters since boot only\n"), "{all}");
    }
}
