//! `cache pin`: what is held in memory, and what is not, with the reason.

use ramline_snapshot::cache::Pinned;
use ramline_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::report::SCHEMA_VERSION;
use crate::sheet::{Depth, Sheet};
use crate::text::{Paint, Style, number};

/// `cache pin`: what is held in memory; one document at first and one after each change.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CachePin {
    /// Version of this document.
    pub schema_version: u64,
    /// What is held.
    #[serde(flatten)]
    pub now: Pinned,
}

impl CachePin {
    /// As a document.
    #[must_use]
    pub const fn new(now: Pinned) -> Self {
        CachePin { schema_version: SCHEMA_VERSION, now }
    }

    /// What is said at first, and, in one line, after a change.
    #[must_use]
    pub fn sheet(&self, first: bool) -> Sheet {
        let (mut sheet, now) = (Sheet::new(), &self.now);
        let files = number::things(now.files, "file");
        if first {
            let answer = format!("{} of {files} are locked in memory, of a budget of {}.", now.pinned, now.budget);
            sheet.answer(Paint::Bold, &answer);
            sheet.line("They stay, also when they are replaced or grow, until this command ends (Ctrl-C).");
            if !now.watched {
                let text = "Not all directories can be watched (inotify); files are looked at every 30 s.";
                sheet.painted(Paint::Warn, text);
            }
        } else {
            sheet.line(&format!(
                "{} of {files} are locked: {} replaced, {} resized, {} added, {} gone so far.",
                now.pinned, now.replaced, now.resized, now.added, now.gone
            ));
        }
        if now.left_out > 0 {
            let files = number::things(now.left_out, "file");
            sheet.painted(Paint::Warn, &format!("{files} left out; the first of them are printed on stderr."));
        }
        super::remarks(&mut sheet, Paint::Dim, "Passed over: ", "name", if first { &now.skipped } else { &[] });
        sheet
    }

    /// The same as text.
    #[must_use]
    pub fn text(&self, style: &Style, first: bool) -> String {
        self.sheet(first).text(style, Depth::All)
    }

    /// Nothing is locked any more.
    #[must_use]
    pub fn released(pinned: Bytes) -> String {
        format!("{pinned} released.\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_what_is_locked_and_then_what_changed() {
        let now = Pinned {
            files: 2,
            pinned: Bytes::from_mib(3),
            budget: Bytes::from_gib(1),
            watched: true,
            replaced: 1,
            ..Pinned::default()
        };
        let pin = CachePin::new(now);
        let text = pin.text(&Style::default(), true);
        assert!(text.starts_with("3.0 MiB of 2 files are locked in memory, of a budget of 1.0 GiB."), "{text}");
        let line = pin.text(&Style { colour: false, width: 100 }, false);
        assert_eq!(line, "3.0 MiB of 2 files are locked: 1 replaced, 0 resized, 0 added, 0 gone so far.\n");
    }
}
