//! `cache`: files in the page cache, what was evicted, what was warmed; each as text and as JSON.
//!
//! What it is not: the walk or the counting; those are `ramline-pagecache`. All sizes are those of one moment.

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

pub use evict::CacheEvict;
pub use pin::CachePin;
pub use restore::CacheRestore;
pub use run::CacheRun;
pub use save::CacheSave;
pub use stat::{CacheStat, Shown};
pub use top::{CacheTop, looking};
pub use trace::CacheTrace;
pub use warm::{CacheWarm, moving};
pub use watch::{CacheWatch, look};

use ramline_snapshot::cache::Remark;

use crate::text::{Page, Paint, Style, bar, number};

/// Remarks below a heading of one word: how many files, what, and one of them.
fn remarks(page: &mut Page<'_>, paint: Paint, head: &str, one: &str, remarks: &[Remark]) {
    for remark in remarks {
        let example = remark.example.as_ref().map(|name| format!(", for example {}", name.path)).unwrap_or_default();
        let text = format!("{} ({}{example})", remark.text, number::things(remark.files, one));
        page.painted_point(paint, head, &text);
    }
}

/// Columns of a bar in a table.
const BAR: usize = 10;
/// Below this width a table has no bars.
const BARS_FROM: usize = 72;

/// A share as a bar, where there is room for one.
fn bar_of(share: Option<f64>, style: &Style) -> String {
    share.filter(|_| style.width >= BARS_FROM).map(|share| bar(share, BAR)).unwrap_or_default()
}

fn failures(page: &mut Page<'_>, failed: u64) {
    if failed > 0 {
        let text = format!("{}, each printed on stderr; the rest went on.", number::things(failed, "failure"));
        page.painted(Paint::Warn, &text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_snapshot::cache::{EvictedFiles, Restored, Saved, Stat, Top, Warmed, Watched};

    #[test]
    fn what_else_evicts_is_named_on_one_screen_and_in_every_document() {
        let evictors = vec!["a DAMON pageout scheme (kdamond 0)".to_owned()];
        let (style, who) = (Style::default(), evictors.clone());
        let top = CacheTop::new(Top { evictors: evictors.clone(), ..Top::default() });
        assert_eq!(top.text(&style).matches("pageout scheme").count(), 1);
        let stat = CacheStat::new(Stat { evictors: evictors.clone(), ..Stat::default() }, Shown { top: 5 });
        let watch = CacheWatch::new(Watched { evictors: evictors.clone(), ..Watched::default() }, 5);
        let warm = CacheWarm::new(Warmed { evictors: evictors.clone(), ..Warmed::default() });
        let evict = CacheEvict::new(EvictedFiles { evictors: evictors.clone(), ..EvictedFiles::default() });
        let save = CacheSave::new(Saved { evictors: evictors.clone(), ..Saved::default() });
        let restore = CacheRestore::new(Restored { evictors, ..Restored::default() });
        let screens = [
            stat.text(&style),
            watch.text(&style),
            warm.text(&style),
            evict.text(&style),
            save.text(&style),
            restore.text(&style),
        ];
        for screen in screens {
            assert!(!screen.contains("pageout scheme"), "{screen}");
        }
        assert_eq!(serde_json::to_value(&stat).unwrap()["evictors"], serde_json::json!(who));
    }
}
