//! `cache`: files in the page cache, what was evicted, what was warmed; each as text and as JSON.
//!
//! What it is not: the walk or the counting; those are `ramline-pagecache`. All sizes are gauges.

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
pub use top::CacheTop;
pub use trace::CacheTrace;
pub use warm::{CacheWarm, moving};
pub use watch::{CacheWatch, look};

use ramline_snapshot::cache::Remark;

use crate::text::{Page, Paint, number};

/// Remarks below a heading of one word: how many files, what, and one of them.
fn remarks(page: &mut Page<'_>, paint: Paint, head: &str, one: &str, remarks: &[Remark]) {
    for remark in remarks {
        let example = remark.example.as_ref().map(|name| format!(", for example {}", name.path)).unwrap_or_default();
        let text = format!("{} ({}{example})", remark.text, number::things(remark.files, one));
        page.painted_point(paint, head, &text);
    }
}

/// Who else evicts here.
fn evictors(page: &mut Page<'_>, evictors: &[String]) {
    if !evictors.is_empty() {
        let who = evictors.join(", ");
        let text = format!(
            "{who} also evicts here: pages of files that are idle and not mapped leave by themselves (more: ramline explain evictors)."
        );
        page.painted(Paint::Warn, &text);
    }
}

fn failures(page: &mut Page<'_>, failed: u64) {
    if failed > 0 {
        let text = format!("{}; each was told on stderr, and the rest went on.", number::things(failed, "failure"));
        page.painted(Paint::Warn, &text);
    }
}
