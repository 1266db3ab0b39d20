//! `cache evict`: what left the page cache, and why the rest stays.

use ramline_snapshot::cache::{Doing, EvictedFile, EvictedFiles, Stay, Why};

use crate::prelude::*;

/// Processes named for one file.
const NAMED: usize = 3;

impl Screen for EvictedFiles {
    fn sheet(&self) -> Sheet {
        let (mut sheet, done) = (Sheet::new(), self);
        sheet.answer(Paint::Bold, answer(self));
        for (why, bytes) in &done.reasons {
            sheet.point("  ", format!("{bytes} {}", words(*why)));
        }
        if done.reasons.iter().any(|(why, _)| *why == Why::Dirty) {
            sheet.line("Dirty pages go after they are written; try: ramline cache evict --sync PATH");
        }
        if done.written > Bytes::ZERO && !done.synced {
            sheet.line(format!("{} of it was not yet written: the kernel wrote it, then dropped it.", done.written));
        }
        if !done.stays.is_empty() {
            sheet.blank();
            sheet.table(table(&done.stays));
            sheet.dim((done.more > 0).then(|| format!("and {} more (--top)", number::things(done.more, "file"))));
        }
        super::remarks(&mut sheet, Paint::Warn, "Not proven: ", "file", &done.unproven);
        super::remarks(&mut sheet, Paint::Dim, "Passed over: ", "name", &done.skipped);
        super::failures(&mut sheet, done.failed);
        sheet
    }
}

fn answer(done: &EvictedFiles) -> String {
    let of = number::things(done.files, "file");
    if done.files == 0 && !done.unproven.is_empty() {
        let of = number::things(done.unproven_files(), "file");
        return match done.doing {
            Doing::Dry => format!("What of {of} would leave the page cache is not known."),
            Doing::Done => format!("What left the page cache of {of} cannot be proven."),
        };
    }
    if done.before == Bytes::ZERO {
        return format!("Nothing of {of} is in the page cache.");
    }
    let gone = done.gone();
    match (done.doing, done.after) {
        (Doing::Dry, Bytes(0)) => format!("{gone} of {of} would leave the page cache: all that is in it."),
        (Doing::Dry, after) if gone == Bytes::ZERO => {
            format!("All {after} of {of} may stay in the page cache:")
        }
        (Doing::Dry, after) => format!("{gone} of {of} would leave the page cache; up to {after} may stay:"),
        (Doing::Done, Bytes(0)) => {
            format!("{gone} of {of} left the page cache: all that was in it, counted again.")
        }
        (Doing::Done, after) => format!("{gone} of {of} left the page cache; {after} stayed, counted again:"),
    }
}

const fn words(why: Why) -> &'static str {
    match why {
        Why::Dirty => "dirty or being written",
        Why::Locked => "locked into memory by a process",
        Why::Mapped => "mapped by a process",
        Why::LargeFolio => {
            "in a large folio that reaches beyond the range: the kernel drops it only as a whole (no other reason was found)"
        }
        Why::InMemory => "on a file system in memory: there the page cache is the file",
        Why::Other => "for no reason that could be seen: in use for a moment, or mapped by a process out of sight",
    }
}

fn table(stays: &[EvictedFile]) -> Table<&EvictedFile> {
    Table::from_rows(stays)
        .right("stays", |file| file.after)
        .right("of", |file| file.before)
        .wrapped("why", |file| reason(&file.stay))
        .left("file", |file| &file.name.path)
}

fn reason(stay: &Stay) -> String {
    let word = |why: &Why| match why {
        Why::Dirty => stay.dirty.map_or_else(|| "dirty".to_owned(), |bytes| format!("{bytes} dirty")),
        Why::Locked => format!("locked by {}", holders(stay, true)),
        Why::Mapped => format!("mapped by {}", holders(stay, false)),
        Why::LargeFolio => "large folio partly in the range".to_owned(),
        Why::InMemory => "in memory".to_owned(),
        Why::Other => "not seen".to_owned(),
    };
    stay.why.iter().map(word).collect::<Vec<_>>().join("; ")
}

fn holders(stay: &Stay, locked: bool) -> String {
    let all = stay.holders.iter().filter(|holder| holder.locked == locked);
    super::first(NAMED, all.map(|holder| format!("{} ({})", holder.name, holder.pid)), ", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_sheet::text::Style;
    use ramline_snapshot::cache::{Holder, Name, Remark};

    #[test]
    fn what_was_dirty_and_left_without_sync_was_written_first() {
        let done = EvictedFiles {
            files: 1,
            before: Bytes::from_mib(3),
            written: Bytes::from_mib(3),
            ..EvictedFiles::default()
        };
        let text = done.text(&Style::default());
        assert!(
            text.starts_with("3.0 MiB of 1 file left the page cache: all that was in it, counted again.\n"),
            "{text}"
        );
        assert!(text.contains("3.0 MiB of it was not yet written: the kernel wrote it, then dropped it."), "{text}");
        let remark = Remark { text: "fuse: opening a file there may empty it".into(), files: 1, example: None };
        let closed = EvictedFiles { doing: Doing::Dry, unproven: vec![remark], ..EvictedFiles::default() };
        let text = closed.text(&Style::default());
        assert!(text.starts_with("What of 1 file would leave the page cache is not known."), "{text}");
        let dry = EvictedFiles { doing: Doing::Dry, written: Bytes::ZERO, after: Bytes::from_mib(3), ..done };
        let text = dry.text(&Style::default());
        assert!(text.starts_with("All 3.0 MiB of 1 file may stay in the page cache:"), "{text}");
    }

    #[test]
    fn what_stays_is_told_with_its_reasons_and_the_way_out() {
        let holder = |name: &str, locked| Holder { pid: 7, name: name.into(), locked };
        let stay = Stay {
            why: vec![Why::Dirty, Why::Locked, Why::Mapped],
            dirty: Some(Bytes(4096)),
            holders: vec![holder("db", true), holder("web", false)],
        };
        let file = EvictedFile { name: Name::new(b"/x"), before: Bytes(16384), after: Bytes(8192), stay };
        let done = EvictedFiles {
            files: 3,
            before: Bytes(16384),
            after: Bytes(8192),
            reasons: vec![(Why::Dirty, Bytes(8192))],
            stays: vec![file],
            ..EvictedFiles::default()
        };
        let text = done.text(&Style { colour: false, width: 100 });
        assert!(text.starts_with("8.0 KiB of 3 files left the page cache; 8.0 KiB stayed, counted again:\n"), "{text}");
        assert!(text.contains("4.0 KiB dirty; locked by db (7); mapped by web (7)"), "{text}");
        assert!(text.contains("--sync"), "{text}");
    }
}
