//! `cache save`: what was hot, and what the hot set holds now.

use ramline_snapshot::cache::{Doing, Saved};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::report::SCHEMA_VERSION;
use crate::text::{Page, Paint, Style, number};

/// `cache save`: what was hot, and where that is kept.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CacheSave {
    /// Version of this document.
    pub schema_version: u64,
    /// What was done.
    #[serde(flatten)]
    pub done: Saved,
}

impl CacheSave {
    /// As a document.
    #[must_use]
    pub const fn new(done: Saved) -> Self {
        CacheSave { schema_version: SCHEMA_VERSION, done }
    }

    /// The screen.
    #[must_use]
    pub fn text(&self, style: &Style) -> String {
        let (mut page, done) = (Page::new(style), &self.done);
        let (hot, files) = (done.hot, number::things(done.files, "file"));
        page.bold(&match done.doing {
            Doing::Done => format!("{hot} of {files} are hot: saved in {}.", done.file.path),
            Doing::Dry => format!("{hot} of {files} are hot; nothing was written."),
        });
        let parts = done.files.saturating_sub(done.whole);
        let size = done.size.map(|size| format!(" The hot set takes {size}.")).unwrap_or_default();
        page.line(&format!(
            "{} as a whole, {} in part.{size} Looking took {}, all of it {}.",
            number::count(done.whole),
            number::count(parts),
            done.looked,
            done.took
        ));
        if let Some(before) = done.before {
            page.dim(&format!("The one before held {before}."));
        }
        super::remarks(&mut page, Paint::Warn, "Not in it: ", "file", &done.unknown);
        super::remarks(&mut page, Paint::Dim, "Passed over: ", "name", &done.skipped);
        super::failures(&mut page, done.failed);
        page.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_snapshot::cache::Name;
    use ramline_units::Bytes;

    #[test]
    fn it_says_how_much_is_hot_and_where_it_is_kept() {
        let done = Saved {
            file: Name::new(b"/var/lib/ramline/hotset"),
            files: 3,
            hot: Bytes::from_mib(5),
            whole: 2,
            size: Some(Bytes(900)),
            before: Some(Bytes::from_mib(4)),
            ..Saved::default()
        };
        let text = CacheSave::new(done).text(&Style::default());
        assert!(
            text.starts_with("5.0 MiB of 3 files are hot: saved in /var/lib/ramline/hotset.\n2 as a whole, 1 in part."),
            "{text}"
        );
        assert!(text.contains("The one before held 4.0 MiB."), "{text}");
    }
}
