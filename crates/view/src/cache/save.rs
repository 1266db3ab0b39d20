//! `cache save`: what was hot, and what the hot set holds now.

use ramline_snapshot::cache::{Doing, Saved};

use crate::prelude::*;

impl Screen for Saved {
    fn sheet(&self) -> Sheet {
        let (mut sheet, done) = (Sheet::new(), self);
        let (hot, files) = (done.hot, number::things(done.files, "file"));
        let answer = match done.doing {
            Doing::Done => format!("{hot} of {files} are hot: saved in {}.", done.file.path),
            Doing::Dry => format!("{hot} of {files} are hot; nothing was written."),
        };
        sheet.answer(Paint::Bold, &answer);
        let size = done.size.map(|size| format!(" The hot set takes {size}.")).unwrap_or_default();
        let (whole, in_part, looked) = (number::count(done.whole), number::count(done.in_part()), done.looked);
        sheet.line(format!(
            "{whole} as a whole, {in_part} in part.{size} Looking took {looked}, all of it {}.",
            done.took
        ));
        sheet.dim(done.before.map(|before| format!("The one before held {before}.")));
        super::remarks(&mut sheet, Paint::Warn, "Not in it: ", "file", &done.unknown);
        super::remarks(&mut sheet, Paint::Dim, "Passed over: ", "name", &done.skipped);
        super::failures(&mut sheet, done.failed);
        sheet
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_sheet::text::Style;
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
        let text = done.text(&Style::default());
        assert!(
            text.starts_with("5.0 MiB of 3 files are hot: saved in /var/lib/ramline/hotset.\n2 as a whole, 1 in part."),
            "{text}"
        );
        assert!(text.contains("The one before held 4.0 MiB."), "{text}");
    }
}
