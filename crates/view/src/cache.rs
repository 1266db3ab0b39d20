//! `cache`: files in the page cache, what was evicted, what was warmed; each as a sheet and as JSON.
//!
//! The walk and the counting are `ramline-pagecache`. All sizes are those of one moment.

mod evict;
mod pin;
mod pushed;
mod restore;
mod run;
mod save;
mod stat;
mod top;
mod trace;
mod warm;
mod watch;

pub use pin::pin;
pub use top::looking;
pub use warm::moving;
pub use watch::look;

use ramline_snapshot::cache::{FileRow, Remark};

use crate::prelude::*;

/// What was seen, with so many rows of each table on its screen.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a, T>(pub &'a T, pub usize);

/// Remarks below a heading of one word: how many files, what, and one of them.
fn remarks(sheet: &mut Sheet, paint: Paint, head: &str, one: &str, remarks: &[Remark]) {
    for remark in remarks {
        let example = remark.example.as_ref().map(|name| format!(", for example {}", name.path)).unwrap_or_default();
        sheet.painted_point(paint, head, format!("{} ({}{example})", remark.text, number::things(remark.files, one)));
    }
}

fn failures(sheet: &mut Sheet, failed: u64) {
    let text = || format!("{}, each printed on stderr; the rest went on.", number::things(failed, "failure"));
    sheet.warn((failed > 0).then(text));
}

/// How many rows are not shown, and how to see them.
fn left_out(sheet: &mut Sheet, all: usize, shown: usize, how: &str) {
    let more = number::beyond(all, shown);
    sheet.dim((more > 0).then(|| format!("and {} more {how}", number::count(more))));
}

/// How much of a file is in the page cache.
fn resident(row: &FileRow) -> String {
    row.resident.map_or_else(|| "unknown".to_owned(), |bytes| bytes.to_string())
}

/// The first few of these, and how many there are beyond them.
pub(crate) fn first(most: usize, all: impl Iterator<Item = String>, between: &str) -> String {
    let mut named: Vec<String> = all.collect();
    let more = number::beyond(named.len(), most);
    named.truncate(most);
    named.extend((more > 0).then(|| format!("{} more", number::count(more))));
    named.join(between)
}

/// How to see the rows of a table whose length can be chosen.
const TOP: &str = "(--top; --json prints all)";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Screen;
    use crate::document::Versioned;
    use ramline_sheet::text::Style;
    use ramline_snapshot::cache::{EvictedFiles, Restored, Saved, Stat, Top, Warmed, Watched};

    #[test]
    fn what_else_evicts_is_named_on_one_screen_and_in_every_document() {
        let evictors = vec!["a DAMON pageout scheme (kdamond 0)".to_owned()];
        let (style, who) = (Style::default(), evictors.clone());
        let top = Top { evictors: evictors.clone(), ..Top::default() };
        assert_eq!(top.text(&style).matches("pageout scheme").count(), 1);
        let stat = Stat { evictors: evictors.clone(), ..Stat::default() };
        let screens = [
            Rows(&stat, 5).text(&style),
            Rows(&Watched { evictors: evictors.clone(), ..Watched::default() }, 5).text(&style),
            Warmed { evictors: evictors.clone(), ..Warmed::default() }.text(&style),
            EvictedFiles { evictors: evictors.clone(), ..EvictedFiles::default() }.text(&style),
            Saved { evictors: evictors.clone(), ..Saved::default() }.text(&style),
            Restored { evictors, ..Restored::default() }.text(&style),
        ];
        for screen in screens {
            assert!(!screen.contains("pageout scheme"), "{screen}");
        }
        assert_eq!(serde_json::to_value(Versioned::new(&stat)).unwrap()["evictors"], serde_json::json!(who));
    }
}
