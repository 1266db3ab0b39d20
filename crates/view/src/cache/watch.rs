//! `cache watch`: how much of files is in the page cache over time, and who took them out.

use ramline_snapshot::cache::{Look, Tally, TracedFile, Watched};

use super::{Rows, pushed};
use crate::prelude::*;

/// One look, as it is taken.
#[must_use]
pub fn look(look: &Look) -> String {
    let Tally { resident, evicted, .. } = look.tally;
    let share = look.tally.share().map(|share| format!(" ({})", number::percent(share))).unwrap_or_default();
    format!("{:>8}  {resident} resident{share}, evicted and not back {evicted}", look.at.to_string())
}

impl Screen for Rows<'_, Watched> {
    fn sheet(&self) -> Sheet {
        let (mut sheet, watched) = (Sheet::new(), self.0);
        sheet.answer(Paint::Bold, answer(watched));
        let total = &watched.total;
        if let (Some(first), Some(last)) = (watched.looks.first(), watched.looks.last()) {
            let (was, is) = (first.tally.resident, last.tally.resident);
            sheet.line(format!("In the page cache: {was} at first, {is} at the end."));
        }
        let [evicted, by_age, refaulted, dropped] = [total.evicted, total.by_age, total.refaulted, total.dropped]
            .map(|pages| pushed::size(pages, watched.page));
        sheet.line(format!(
            "Evicted {evicted}, of it by DAMON {by_age}; {refaulted} refaulted. Dropped (on request, or the file was deleted or cut) \
             {dropped}."
        ));
        pushed::recorded(&mut sheet, &watched.recorded);
        pushed::takers(&mut sheet, "Who took it out", &watched.pushed, watched.page);
        let top = self.1.max(1);
        sheet.headed_table("Files that lost pages", files(watched, top));
        super::left_out(&mut sheet, watched.files.len(), top, super::TOP);
        sheet
    }
}

fn files(watched: &Watched, top: usize) -> Table<&TracedFile> {
    let size = |pages: u64| pushed::size(pages, watched.page);
    Table::from_rows(watched.files.iter().take(top))
        .right("evicted", |file| size(file.touched.evicted))
        .right("refaulted", |file| size(file.touched.refaulted))
        .right("dropped", |file| size(file.touched.dropped))
        .wrapped("file", |file| &file.name.path)
}

fn answer(watched: &Watched) -> String {
    if watched.looks.is_empty() {
        return "It ended before the first look.".to_owned();
    }
    let total = &watched.total;
    let out = pushed::size(total.taken_out(), watched.page);
    let Some(most) = watched.pushed.first() else {
        return "Nothing left the page cache.".to_owned();
    };
    let all = if watched.pushed.len() > 1 { ", most of it by" } else { ", all of it by" };
    format!("{out} left the page cache{all} {}, {}.", pushed::who(most), pushed::why(most.why))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_sheet::text::Style;
    use ramline_snapshot::cache::{Name, Pushed, Taken, Tally, Touched};
    use ramline_units::{Bytes, Nanos};

    fn at(seconds: u64, resident: u64) -> Look {
        Look {
            at: Nanos(seconds * 1_000_000_000),
            tally: Tally { files: 1, span: Bytes(1 << 20), resident: Bytes(resident), ..Tally::default() },
        }
    }

    #[test]
    fn the_screen_names_who_pushed_what_out_and_for_which_file() {
        let push = Pushed {
            pid: 7,
            process: "tar".into(),
            file: Some(Name::new(b"/disk.img")),
            through: Some("kswapd0".into()),
            pages: 128,
            ..Pushed::default()
        };
        let watched = Watched {
            page: Bytes(4096),
            looks: vec![at(0, 1 << 20), at(2, 1 << 19)],
            total: Touched { evicted: 128, refaulted: 2, ..Touched::default() },
            pushed: vec![push],
            ..Watched::default()
        };
        let text = Rows(&watched, 5).text(&Style::default());
        for piece in [
            "512.0 KiB left the page cache, all of it by tar (7), to make room.\n",
            "In the page cache: 1.0 MiB at first, 512.0 KiB at the end.",
            "tar (7), through kswapd0",
            "to make room for /disk.img",
            "8.0 KiB refaulted",
        ] {
            assert!(text.contains(piece), "{piece}\n{text}");
        }
        assert_eq!(look(&at(2, 1 << 19)), "   2.0 s  512.0 KiB resident (50.0 %), evicted and not back 0 B");
    }

    #[test]
    fn damon_goes_by_age_for_no_process_and_cache_evict_is_named_as_the_evictor() {
        let row =
            |pid, process: &str, why, pages| Pushed { pid, process: process.into(), why, pages, ..Pushed::default() };
        let pushed = vec![row(812, "ramline cache evict", Taken::Request, 15_360), row(60, "kdamond.0", Taken::Age, 6)];
        let mut watched = Watched {
            page: Bytes(4096),
            looks: vec![at(0, 1 << 20), at(2, 0)],
            total: Touched { evicted: 6, by_age: 6, dropped: 15_360, ..Touched::default() },
            pushed,
            ..Watched::default()
        };
        let text = Rows(&watched, 5).text(&Style::default());
        let first = text.lines().next().unwrap();
        assert_eq!(first, "60.0 MiB left the page cache, most of it by ramline cache evict (812), on request.");
        assert!(text.contains("Evicted 24.0 KiB, of it by DAMON 24.0 KiB"), "{text}");
        assert!(text.contains("idle for a while, whether memory is short or not"), "{text}");
        assert!(!text.contains("since"), "it reads as time\n{text}");
        watched.pushed.remove(0);
        let text = Rows(&watched, 5).text(&Style::default());
        assert!(text.contains("all of it by DAMON, kdamond.0 (60), because they were idle."), "{text}");
    }
}
