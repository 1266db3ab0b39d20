//! What a checkup rests on: what was not done, what was not seen, under what conditions all of it holds, and what looking cost.
//!
//! What it is not: what was found; those are the other topics of the report.

use crate::format::{date, long};
use crate::report::CheckupReport;
use crate::sheet::Sheet;
use crate::text::{Column, Paint, Table};

/// The sheet; all but its first sentence is shown on request.
#[must_use]
pub fn record(report: &CheckupReport) -> Sheet {
    let mut sheet = Sheet::new();
    sheet.answer(Paint::Plain, &answer(report));
    sheet.more("Left behind by an earlier run", |more| {
        for (title, lines) in [("Removed before this one", &report.removed), ("Still there", &report.leftovers)] {
            if !lines.is_empty() {
                more.heading(title);
                lines.iter().for_each(|line| more.point("  - ", line));
            }
        }
    });
    let (not_done, not_seen) = (not_done(report), not_seen(report));
    sheet.more("Not done", |more| more.table(&not_done));
    sheet.more("Not seen", |more| more.table(&not_seen));
    sheet.more("Conditions and cost", |more| more.table(&conditions(report)));
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

fn not_done(report: &CheckupReport) -> Table {
    let mut drawn =
        Table::new(vec![Column::wrapped("not done"), Column::wrapped("why"), Column::wrapped("what would do it")]);
    for skipped in &report.skipped {
        let fix = skipped.fix.as_deref().unwrap_or("nothing helps here");
        drawn.row([skipped.what.as_str().into(), skipped.why.as_str().into(), fix.into()]);
    }
    drawn
}

fn not_seen(report: &CheckupReport) -> Table {
    let mut drawn = Table::new(vec![Column::wrapped("not seen"), Column::wrapped("file"), Column::wrapped("why")]);
    for unseen in &report.unseen {
        let why = &unseen.why;
        drawn.row([unseen.section.as_str().into(), why.path.as_str().into(), why.reason.as_str().into()]);
    }
    drawn
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
    let mut drawn = Table::new(vec![Column::wrapped(""), Column::wrapped("")]);
    rows.into_iter().for_each(|(name, value)| drawn.row([name.into(), value.into()]));
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Skipped;
    use crate::sheet::Depth;
    use crate::text::Style;

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
