//! `cache warm`: what was missing, what was read, how fast, and whether it stayed.

use ramline_snapshot::cache::{Doing, Stop, Warmed, WarmedFile};

use crate::prelude::*;

/// One line while it works: done, total, rate and time left in seconds.
#[must_use]
pub fn moving(done: Bytes, total: Bytes, rate: Bytes, left: Option<u64>, depth: u64) -> String {
    let share = done.share_of(total).map(|share| number::percent(share.min(1.0))).unwrap_or_default();
    let left = left.map_or_else(|| "time left unknown".to_owned(), |left| format!("{left} s left"));
    format!("{done} of {total} ({share}), {}, {left}, {depth} at a time", number::per_second(rate))
}

impl Screen for Warmed {
    fn sheet(&self) -> Sheet {
        let (mut sheet, done) = (Sheet::new(), self);
        sheet.answer(Paint::Bold, answer(self));
        sheet.warn(done.stopped.as_ref().map(stopped));
        sheet.line((done.doing == Doing::Done && done.read > Bytes::ZERO).then(|| speed(self)));
        sheet.dim(format!(
            "Up to {} could be used before free memory runs short ({}); then it would have stopped.",
            done.room, done.bound
        ));
        files(&mut sheet, "Direct I/O: ", &done.direct);
        files(&mut sheet, "Not as wanted: ", &done.lost);
        super::remarks(&mut sheet, Paint::Warn, "Unknown: ", "file", &done.unknown);
        super::remarks(&mut sheet, Paint::Dim, "Passed over: ", "name", &done.skipped);
        super::failures(&mut sheet, done.failed);
        sheet
    }
}

fn answer(done: &Warmed) -> String {
    let (before, of) = (done.before.resident, number::things(done.before.all_files(), "file"));
    if done.missing == Bytes::ZERO && done.before.files == 0 && done.before.unknown > 0 {
        return format!("How much of {of} is missing is not known.");
    }
    if done.missing == Bytes::ZERO {
        return format!("Nothing is missing: {before} of {of} are in the page cache, all that has data.");
    }
    let span = done.before.all_span();
    match done.after {
        Some(after) => format!("{after} of {span} in {of} are in the page cache now, counted again; before {before}."),
        None => format!("{} of {span} in {of} would be read; {before} are in the page cache.", done.missing),
    }
}

fn speed(done: &Warmed) -> String {
    let tried: Vec<String> =
        done.tried.iter().map(|(depth, rate)| format!("{depth}: {}", number::per_second(*rate))).collect();
    let tried = if tried.is_empty() { String::new() } else { format!(" (tried {})", tried.join(", ")) };
    let Warmed { read, missing, took, .. } = done;
    let (rate, readers) = (number::per_second(done.rate()), number::things(done.depth, "reader"));
    format!("Read {read} of {missing} missing in {took}, {rate}, {readers} at a time{tried}.")
}

pub(super) fn stopped(stop: &Stop) -> String {
    match stop {
        Stop::Room { bound, room, margin } => format!(
            "Stopped: {bound} has room for {room} without pushing out what is in use, {margin} of it are kept free; \
             more would only replace what was just read."
        ),
        Stop::Interrupted => "Stopped by a signal; what was read stays.".to_owned(),
    }
}

fn files(sheet: &mut Sheet, head: &str, files: &[WarmedFile]) {
    for file in files {
        let WarmedFile { name, text, after, .. } = file;
        sheet.painted_point(Paint::Warn, head, format!("{}: {text} ({after} in the page cache)", name.path));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_sheet::text::Style;
    use ramline_snapshot::cache::Tally;
    use ramline_units::Nanos;

    #[test]
    fn a_stop_says_what_bounds_it() {
        let done = Warmed {
            before: Tally { files: 1, span: Bytes::from_gib(30), ..Tally::default() },
            missing: Bytes::from_gib(30),
            read: Bytes::from_mib(300),
            after: Some(Bytes::from_mib(300)),
            took: Nanos(1_000_000_000),
            depth: 4,
            stopped: Some(Stop::Room {
                bound: "control group /db".into(),
                room: Bytes::from_mib(350),
                margin: Bytes::from_mib(50),
            }),
            ..Warmed::default()
        };
        let text = done.text(&Style::default());
        assert!(text.starts_with("300.0 MiB of 30.0 GiB in 1 file are in the page cache now"), "{text}");
        assert!(text.contains("Stopped: control group /db has room for 350.0 MiB"), "{text}");
        assert!(text.contains("300.0 MiB/s, 4 readers at a time"), "{text}");
    }

    #[test]
    fn progress_tells_rate_and_time_left() {
        let line = moving(Bytes::from_mib(512), Bytes::from_gib(1), Bytes::from_mib(256), Some(2), 8);
        assert_eq!(line, "512.0 MiB of 1.0 GiB (50.0 %), 256.0 MiB/s, 2 s left, 8 at a time");
    }
}
