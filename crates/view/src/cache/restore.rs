//! `cache restore`: what of a hot set is there again, and what is not, with the reason.

use ramline_snapshot::cache::{Doing, Restored, WarmedFile};

use crate::prelude::*;

impl Screen for Restored {
    fn sheet(&self) -> Sheet {
        let (mut sheet, done) = (Sheet::new(), self);
        sheet.answer(Paint::Bold, answer(self));
        if let Some(stop) = &done.stopped {
            sheet.warn(super::warm::stopped(stop));
            sheet.line("What serves most readers was read first: mapped files, then small ones.");
        }
        if done.doing == Doing::Done && done.read > Bytes::ZERO {
            let (read, took, depth) = (done.read, done.took, number::things(done.depth, "reader"));
            sheet.line(format!("Read {read} in {took}, {}, {depth} at a time.", number::per_second(done.rate())));
        }
        let boot = if done.same_boot { "in this boot" } else { "in an earlier boot" };
        let files = number::things(done.files, "file");
        let when = done.age.map_or_else(
            || "at a time that is still to come by the clock of this machine".to_owned(),
            |age| format!("{} ago", number::age(age)),
        );
        sheet.dim(format!("The hot set was saved {boot}, {when}, with {} of {files}.", done.hot));
        sheet.dim(format!(
            "Up to {} could be used before free memory runs short ({}); then it would have stopped.",
            done.room, done.bound
        ));
        if done.not_looked_at > 0 {
            let files = number::things(done.not_looked_at, "file");
            sheet.warn(format!("{files} had not been looked at when it ended: they are in no number above."));
        }
        if done.listed_again > 0 {
            let lines = number::things(done.listed_again, "line");
            sheet.warn(format!("{lines} of the hot set list a file once more: each file is counted once."));
        }
        some(&mut sheet, "changed since, left alone", done.changed, &done.changed_files);
        some(&mut sheet, "gone", done.gone, &done.gone_files);
        some(&mut sheet, "not as wanted", done.lost, &done.lost_files);
        super::failures(&mut sheet, done.failed);
        sheet
    }
}

fn answer(done: &Restored) -> String {
    match done.after {
        _ if done.files == 0 => "The hot set is empty: nothing was hot when it was saved.".to_owned(),
        _ if done.wanted == Bytes::ZERO && done.not_looked_at == 0 => "Nothing of the hot set is as it was.".to_owned(),
        None => format!("{} of {} would be read; {} are in the page cache.", done.missing, done.wanted, done.before),
        Some(after) => format!(
            "{after} of {} are in the page cache now ({}), counted again; before {}.",
            done.wanted,
            done.share(after).map(number::percent).unwrap_or_default(),
            done.before
        ),
    }
}

fn some(sheet: &mut Sheet, what: &str, count: u64, named: &[WarmedFile]) {
    if count == 0 {
        return;
    }
    sheet.warn(format!("{} {what}:", number::things(count, "file")));
    for file in named {
        sheet.point("  ", format!("{}: {}", file.name.path, file.text));
    }
    let more = number::beyond(usize::try_from(count).unwrap_or(usize::MAX), named.len());
    sheet.painted_point(Paint::Dim, "  ", (more > 0).then(|| format!("and {} more", number::count(more))));
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_sheet::text::Style;
    use ramline_snapshot::cache::Name;
    use ramline_units::Nanos;

    #[test]
    fn what_is_back_and_what_has_changed_are_told() {
        let changed =
            WarmedFile { name: Name::new(b"/a"), text: "it was written since".to_owned(), ..WarmedFile::default() };
        let done = Restored {
            files: 30,
            wanted: Bytes::from_mib(100),
            missing: Bytes::from_mib(60),
            before: Bytes::from_mib(40),
            after: Some(Bytes::from_mib(100)),
            read: Bytes::from_mib(60),
            took: Nanos(1_000_000_000),
            age: Some(Nanos(90_000_000_000)),
            changed: 22,
            changed_files: vec![changed],
            ..Restored::default()
        };
        let text = done.text(&Style { colour: false, width: 100 });
        assert!(text.starts_with("100.0 MiB of 100.0 MiB are in the page cache now (100 %)"), "{text}");
        assert!(text.contains("/a: it was written since\n  and 21 more"), "{text}");
        assert!(text.contains("60.0 MiB/s") && text.contains("in an earlier boot, 90 s ago"), "{text}");
    }

    #[test]
    fn one_that_was_interrupted_says_of_how_many_files_nothing_is_known() {
        let done = Restored { files: 30, not_looked_at: 30, after: Some(Bytes::ZERO), ..Restored::default() };
        let text = done.text(&Style { colour: false, width: 100 });
        assert!(text.contains("30 files had not been looked at") && !text.contains("Nothing of the hot set"), "{text}");
    }
}
