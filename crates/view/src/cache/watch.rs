//! `cache watch`: how much of files is in the page cache over time, and who pushed them out.

use ramline_snapshot::cache::{Look, Watched};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::pushed;
use crate::report::SCHEMA_VERSION;
use crate::text::{Column, Page, Style, Table, number};

/// `cache watch`: how much of files is in the page cache over time, and who pushed them out.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CacheWatch {
    /// Version of this document.
    pub schema_version: u64,
    /// What was seen.
    #[serde(flatten)]
    pub watched: Watched,
    /// Rows the text shows; the document holds all.
    #[serde(skip)]
    pub top: usize,
}

/// One look, as it is taken.
#[must_use]
pub fn look(look: &Look) -> String {
    let share = look.tally.share().map(|share| format!(" ({})", number::percent(share))).unwrap_or_default();
    format!(
        "{:>8}  {} resident{share}, evicted and not back {}",
        look.at.to_string(),
        look.tally.resident,
        look.tally.evicted
    )
}

impl CacheWatch {
    /// As a document.
    #[must_use]
    pub const fn new(watched: Watched, top: usize) -> Self {
        CacheWatch { schema_version: SCHEMA_VERSION, watched, top }
    }

    /// The screen.
    #[must_use]
    pub fn text(&self, style: &Style) -> String {
        let (mut page, watched) = (Page::new(style), &self.watched);
        page.bold(&self.answer());
        let total = &watched.total;
        let came = format!(
            "{} came back after that; {} were taken out since a file was deleted or not wanted. Counters.",
            pushed::size(total.refaulted, watched.page),
            pushed::size(total.dropped, watched.page)
        );
        page.line(&came);
        super::evictors(&mut page, &watched.evictors);
        pushed::recorded(&mut page, &watched.recorded);
        if !watched.pushed.is_empty() {
            page.heading("Who pushed it out");
            page.table(&pushed::table(&watched.pushed, watched.page));
        }
        if !watched.files.is_empty() {
            page.heading("Files that lost pages");
            let mut table = Table::new(vec![
                Column::right("evicted"),
                Column::right("came back"),
                Column::right("dropped"),
                Column::wrapped("file"),
            ]);
            for file in watched.files.iter().take(self.top.max(1)) {
                let sizes = [file.touched.evicted, file.touched.refaulted, file.touched.dropped]
                    .map(|pages| pushed::size(pages, watched.page));
                let [evicted, back, dropped] = sizes;
                table.row([evicted.into(), back.into(), dropped.into(), file.name.path.as_str().into()]);
            }
            page.table(&table);
        }
        page.finish()
    }

    fn answer(&self) -> String {
        let watched = &self.watched;
        let (Some(first), Some(last)) = (watched.looks.first(), watched.looks.last()) else {
            return "It was not looked at even once.".to_owned();
        };
        let out = pushed::size(watched.total.evicted, watched.page);
        let was = format!("{} resident at first, {} at the end", first.tally.resident, last.tally.resident);
        if watched.total.evicted == 0 {
            return format!("Nothing was pushed out: {was}.");
        }
        let who = watched
            .pushed
            .first()
            .map(|push| format!(", most of it by {} ({})", push.process, push.pid))
            .unwrap_or_default();
        format!("{out} were pushed out{who}: {was}.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_snapshot::cache::{Name, Pushed, Tally, Touched};
    use ramline_units::{Bytes, Nanos};

    #[test]
    fn the_screen_names_who_pushed_what_out_and_for_which_file() {
        let at = |seconds: u64, resident| Look {
            at: Nanos(seconds * 1_000_000_000),
            tally: Tally { files: 1, span: Bytes(1 << 20), resident: Bytes(resident), ..Tally::default() },
        };
        let push = Pushed {
            pid: 7,
            process: "tar".into(),
            file: Some(Name::new(b"/disk.img")),
            through: Some("kswapd0".into()),
            pages: 128,
        };
        let watched = Watched {
            page: Bytes(4096),
            looks: vec![at(0, 1 << 20), at(2, 1 << 19)],
            total: Touched { evicted: 128, refaulted: 2, ..Touched::default() },
            pushed: vec![push],
            ..Watched::default()
        };
        let text = CacheWatch::new(watched, 5).text(&Style::default());
        let first =
            "512.0 KiB were pushed out, most of it by tar (7): 1.0 MiB resident at first, 512.0 KiB at the end.";
        for piece in [first, "tar (7), through kswapd0", "/disk.img", "8.0 KiB came back"] {
            assert!(text.contains(piece), "{piece}\n{text}");
        }
        assert_eq!(look(&at(2, 1 << 19)), "   2.0 s  512.0 KiB resident (50.0 %), evicted and not back 0 B");
    }
}
