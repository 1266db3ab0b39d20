//! `cache trace`: which pages were there when they were asked for, by file and by process.

use ramline_snapshot::cache::{Level, Touched, Traced};

use super::{Rows, pushed};
use crate::prelude::*;

/// Files for which the processes that took their pages out are listed.
const PUSHED: usize = 3;
/// Names keep so many columns while others can be spared.
const NAME: usize = 32;

impl Screen for Rows<'_, Traced> {
    fn sheet(&self) -> Sheet {
        let (mut sheet, traced) = (Sheet::new(), self.0);
        sheet.answer(Paint::Bold, answer(traced));
        let total = &traced.total;
        let size = |pages: u64| pushed::size(pages, traced.page);
        sheet.line(format!(
            "{} asked for pages: {} found, {} missed. {} on mapped files: {} missed.",
            number::things(total.reads, "read"),
            number::count(total.read_hits),
            number::count(total.read_misses),
            number::things(total.faults, "page fault"),
            number::count(total.mapped_misses)
        ));
        let (ahead, brought) = (size(total.read_ahead), size(total.brought));
        sheet.line(format!("Read ahead {ahead}, brought in otherwise (written, asked for in advance) {brought}."));
        let [evicted, by_age, dropped] = [total.evicted, total.by_age, total.dropped].map(size);
        sheet.line(format!(
            "Evicted {evicted}, of it by DAMON {by_age}; dropped (on request, or the file was deleted or cut) {dropped}."
        ));
        pushed::recorded(&mut sheet, &traced.recorded);
        if !traced.files.is_empty() {
            let rows = traced.files.iter().map(|file| (&file.touched, file.name.path.clone()));
            table(&mut sheet, self.1, "file", rows);
        }
        if traced.processes.len() > 1 {
            let rows = traced.processes.iter().map(|row| (&row.touched, format!("{} ({})", row.name, row.pid)));
            table(&mut sheet, self.1, "process", rows);
        }
        for file in traced.files.iter().filter(|file| !file.pushed.is_empty()).take(PUSHED) {
            let heading = format!("Who took pages of {} out", file.name.path);
            pushed::takers(&mut sheet, &heading, &file.pushed, traced.page);
        }
        sheet.blank();
        sheet.dim(
            "A page counts each time a read asks for it; a page that is still being read ahead counts as found, and its reader may wait for \
             it. A touch of a page that is mapped already leaves no record: of mapped files the share is that of page faults, and that of \
             all touches is higher. Neither does a read of a file in memory (tmpfs), or a write over pages that are there.",
        );
        sheet
    }
}

fn answer(traced: &Traced) -> String {
    let (total, whom) = (&traced.total, &traced.whom);
    if traced.recorded.level == Level::ChangesOnly {
        return format!("{whom}: {} brought into the page cache.", pushed::size(total.brought, traced.page));
    }
    match total.hit_share().map(number::percent) {
        None => format!("{whom}: no page of a file was asked for."),
        Some(share) => format!(
            "{whom}: {share} of {} found the page in the page cache; {} missed.",
            number::things(total.asked(), "page request"),
            number::count(total.misses())
        ),
    }
}

fn table<'a>(sheet: &mut Sheet, top: usize, what: &str, rows: impl ExactSizeIterator<Item = (&'a Touched, String)>) {
    let spare = |head| Column::right(head).spare();
    let (all, top) = (rows.len(), top.max(1));
    let rows: Vec<_> = rows.take(top).collect();
    let table = Table::from_rows(&rows)
        .right("found", |(touched, _)| touched.hits())
        .right("missed", |(touched, _)| touched.misses())
        .right("share", |(touched, _)| touched.hit_share().map(number::percent))
        .column(spare("ahead"), |(touched, _)| touched.read_ahead)
        .column(spare("brought"), |(touched, _)| touched.brought)
        .column(spare("evicted"), |(touched, _)| touched.evicted)
        .column(Column::wrapped(what).at_least(NAME), |(_, name)| name);
    sheet.headed_table(format!("By {what}"), table);
    super::left_out(sheet, all, top, super::TOP);
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_sheet::text::Style;
    use ramline_snapshot::cache::{Name, Pushed, Recorded, TracedFile};
    use ramline_units::{Bytes, Nanos};

    fn traced() -> Traced {
        let touched =
            Touched { reads: 10, read_hits: 75, read_misses: 25, read_ahead: 7, evicted: 3, ..Touched::default() };
        let by =
            Pushed { pid: 9, process: "tar".into(), file: Some(Name::new(b"/big")), pages: 3, ..Pushed::default() };
        let file = TracedFile { name: Name::new(b"/a\x1b[2J"), touched, pushed: vec![by], ..TracedFile::default() };
        let recorded = Recorded { lasted: Nanos(2_000_000_000), events: 120, lost: 4, ..Recorded::default() };
        Traced {
            page: Bytes(4096),
            whom: "cat".into(),
            recorded,
            total: touched,
            files: vec![file],
            ..Traced::default()
        }
    }

    #[test]
    fn the_screen_answers_first_and_says_what_is_lost_and_what_leaves_no_record() {
        let text = Rows(&traced(), 5).text(&Style::default());
        let first = text.lines().next().unwrap();
        assert_eq!(first, "cat: 75.0 % of 100 page requests found the page in the page cache; 25 missed.");
        for piece in
            ["4 records were lost", "lower bounds", "tar (9)", "/big", "12.0 KiB", "mapped already", "/a\\u{1b}[2J"]
        {
            assert!(text.contains(piece), "{piece}\n{text}");
        }
        assert!(!text.contains('\u{1b}'));
    }

    /// 6,000 touches in no order of a mapped file that is cold, 1,027 of them of a page that was touched before; the windows around these
    /// faults hold 16,352 pages.
    #[test]
    fn pages_beside_those_of_a_fault_are_no_hits_and_read_ahead_in_flight_is_no_wait() {
        let mut traced = traced();
        traced.whom = "python3 and what it starts".into();
        traced.total = Touched { faults: 4973, mapped: 16_352, mapped_misses: 4973, ..Touched::default() };
        let text = Rows(&traced, 5).text(&Style::default());
        let flowing = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flowing.starts_with("python3 and what it starts: 0.0 % of 4,973 page requests found"), "{text}");
        assert!(flowing.contains("that of all touches is higher") && !flowing.contains("16,352"), "{text}");
        // In order: read-ahead was under way for all but the first.
        traced.total = Touched { reads: 512, read_hits: 16_383, read_misses: 1, ..Touched::default() };
        let text = Rows(&traced, 5).text(&Style::default());
        let flowing = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flowing.contains("; 1 missed.") && !flowing.contains("had to wait"), "{text}");
        assert!(flowing.contains("still being read ahead counts as found, and its reader may wait"), "{text}");
        assert!(text.lines().next().unwrap().len() < 100, "{text}");
    }

    #[test]
    fn a_kernel_that_tells_no_requests_is_given_no_share() {
        let mut traced = traced();
        traced.recorded.level = Level::ChangesOnly;
        traced.total = Touched { brought: 4, ..Touched::default() };
        let text = Rows(&traced, 5).text(&Style { colour: false, width: 60 });
        assert!(text.starts_with("cat: 16.0 KiB brought into the page cache."), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
    }
}
