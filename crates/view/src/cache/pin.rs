//! `cache pin`: what is held in memory, and what is not, with the reason.

use ramline_snapshot::cache::Pinned;

use crate::prelude::*;

/// What is said at first, and, in one line, after a change.
#[must_use]
pub fn pin(now: &Pinned, first: bool) -> Sheet {
    let mut sheet = Sheet::new();
    let files = number::things(now.files, "file");
    if first {
        let Pinned { pinned, budget, .. } = now;
        sheet.answer(Paint::Bold, format!("{pinned} of {files} are locked in memory, of a budget of {budget}."));
        sheet.line("They stay, also when they are replaced or grow, until this command ends (Ctrl-C).");
        let text = "Not all directories can be watched (inotify); files are looked at every 30 s.";
        sheet.warn((!now.watched).then_some(text));
    } else {
        let Pinned { pinned, replaced, resized, added, gone, .. } = now;
        sheet.line(format!(
            "{pinned} of {files} are locked: {replaced} replaced, {resized} resized, {added} added, {gone} gone so far."
        ));
    }
    if now.left_out > 0 {
        let files = number::things(now.left_out, "file");
        sheet.warn(format!("{files} left out; the first of them are printed on stderr."));
    }
    super::remarks(&mut sheet, Paint::Dim, "Passed over: ", "name", if first { &now.skipped } else { &[] });
    sheet
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_sheet::Depth;
    use ramline_sheet::text::Style;
    use ramline_units::Bytes;

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
        let text = pin(&now, true).text(&Style::default(), Depth::All);
        assert!(text.starts_with("3.0 MiB of 2 files are locked in memory, of a budget of 1.0 GiB."), "{text}");
        let line = pin(&now, false).text(&Style { colour: false, width: 100 }, Depth::All);
        assert_eq!(line, "3.0 MiB of 2 files are locked: 1 replaced, 0 resized, 0 added, 0 gone so far.\n");
    }
}
