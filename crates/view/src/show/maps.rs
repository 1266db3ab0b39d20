//! `show maps`: mapped files, what of them is in RAM, who shares it, and what reading it again would cost.

mod tables;

use ramline_evidence::{LatencyStats, Measurement};
use ramline_model::maps::{Basis, Cost, Mapped, Speed};

use crate::prelude::*;

/// `show maps`: mapped files, by address range.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ShowMaps {
    /// Version of this document.
    pub schema_version: u64,
    /// Files, ranges, duplicates.
    #[serde(flatten)]
    pub mapped: Mapped,
    /// What a read of these files costs on their disk; `None` where it was not measured.
    pub speed: Option<Speed>,
    /// What reading the clean pages again would take at that speed.
    pub cost: Option<Cost>,
    /// Why it could not be measured.
    pub not_measured: Option<String>,
    /// Files the text shows; the document holds all.
    #[serde(skip)]
    pub top: usize,
}

impl ShowMaps {
    /// From a reading that was summed up, and a measurement or why there is none.
    #[must_use]
    pub fn new(mapped: Mapped, top: usize, measured: Option<Result<Speed, String>>) -> Self {
        let (speed, not_measured) = match measured {
            None => (None, None),
            Some(Ok(speed)) => (Some(speed), None),
            Some(Err(why)) => (None, Some(why)),
        };
        let cost = speed.as_ref().map(Cost::from_speed);
        ShowMaps { schema_version: SCHEMA_VERSION, mapped, speed, cost, not_measured, top }
    }

    fn answer(&self) -> String {
        let (mapped, totals) = (&self.mapped, &self.mapped.totals);
        if mapped.processes == 0 && mapped.reading.capture {
            return "This capture holds no mappings: reading them is too dear to do unasked.".to_owned();
        }
        let who = match &mapped.process {
            Some(one) => format!("{} (process {})", one.name, one.pid.unwrap_or_default()),
            None => tables::processes(mapped.processes),
        };
        let verb = if mapped.process.is_some() || mapped.processes == 1 { "maps" } else { "map" };
        if totals.files == 0 {
            return format!("{who} {verb} no file of a file system.");
        }
        let files = number::things(totals.files, "file");
        if totals.known == 0 {
            return format!(
                "{who} {verb} {} of {files}; how much of that is in RAM is not known here.",
                totals.unknown_size
            );
        }
        let what = if mapped.code_only {
            format!("{} of code", totals.resident)
        } else {
            format!("{} ({} code, {} data)", totals.resident, totals.code, totals.data())
        };
        let basis = if mapped.files.iter().any(|f| f.basis == Basis::PageCache) {
            "in the page cache inside the mapped ranges"
        } else {
            "present in their page tables"
        };
        format!("{who} {verb} {files}; {what} of them are in RAM (now; each page once; {basis}).")
    }

    /// What eviction would drop and what it would cost; what it cannot drop.
    fn reread(&self, sheet: &mut Sheet) {
        let reread = &self.mapped.reread;
        if self.mapped.totals.known > 0 {
            let dirty = match reread.dirty {
                Some(Bytes(0)) => String::new(),
                Some(dirty) => format!("; {dirty} more were changed and must be written first"),
                None => "; how much of it was changed and must be written first is not known for every file".to_owned(),
            };
            sheet.line(format!(
                "If these pages were evicted, {} would be read again as they are used ({} of it code){dirty}.",
                reread.clean, reread.code
            ));
        }
        if let (Some(speed), Some(cost)) = (&self.speed, &self.cost) {
            cost_lines(sheet, speed, cost);
        } else if let Some(why) = &self.not_measured {
            sheet.dim(format!("What that costs was not measured: {why}."));
        }
        let stays: Vec<String> = [
            (reread.copies, "of pages written in private mappings of files (copies)"),
            (Some(reread.memory), "of shared memory and files in RAM"),
        ]
        .into_iter()
        .filter_map(|(bytes, what)| Some(format!("{} {what}", bytes.filter(|b| b.0 > 0)?)))
        .collect();
        let only_swap = || format!("Eviction cannot drop, only swap could take (now): {}.", stays.join("; "));
        sheet.line((!stays.is_empty()).then(only_swap));
        let locked = reread.locked.filter(|b| b.0 > 0);
        sheet.line(locked.map(|b| format!("{b} of file pages are locked in RAM (now, by share): they stay.")));
    }

    /// How it was read, what that cost, what was not seen.
    fn reading(&self, sheet: &mut Sheet) {
        let (reading, missed) = (&self.mapped.reading, &self.mapped.missed);
        sheet.blank();
        let how = if reading.walked {
            "Page tables were walked (smaps, pagemap); the kernel holds a process's lock on its mappings while it prints each piece."
        } else {
            "No page table was walked, unless said so above: the ranges were listed, and the page cache was asked file by file."
        };
        let budget = reading.budget.map(|b| format!(" of {b} allowed")).unwrap_or_default();
        let (ranges, lists, asking) = (number::things(reading.ranges, "range"), reading.lists, reading.asking);
        sheet.dim(format!("{how} {ranges} in {lists} + {asking} for the files{budget}."));
        for (n, what) in [
            (missed.denied, "refused (permission denied)"),
            (missed.vanished, "ended while being read"),
            (missed.malformed, "gave lines that make no sense"),
            (reading.processes_left_out, "left out: the time allowed was over (try: --budget 5s)"),
        ] {
            sheet.warn((n > 0).then(|| format!("Not seen: {} {what}.", tables::processes(n))));
        }
        let hidden = "Not seen: processes of other users; /proc hides them (hidepid).";
        sheet.warn(missed.hidden.then_some(hidden));
        let files = number::things(reading.files_left_out, "file");
        let not_asked = || format!("Not asked: {files}; the time allowed was over (try: --budget 5s).");
        sheet.warn((reading.files_left_out > 0).then(not_asked));
        let lines = number::things(reading.unknown_lines, "line");
        let unknown = || format!("{lines} of smaps had keys this version does not know.");
        sheet.dim((reading.unknown_lines > 0).then(unknown));
    }
}

impl Screen for ShowMaps {
    fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::new();
        sheet.answer(Paint::Bold, self.answer());
        self.reread(&mut sheet);
        tables::files(&mut sheet, &self.mapped, self.top);
        tables::classes(&mut sheet, &self.mapped);
        tables::gone(&mut sheet, &self.mapped, self.top);
        tables::duplicates(&mut sheet, &self.mapped, self.top);
        tables::ranges(&mut sheet, &self.mapped);
        self.reading(&mut sheet);
        sheet
    }
}

fn cost_lines(sheet: &mut Sheet, speed: &Speed, cost: &Cost) {
    let order = cost.in_order.map(|t| format!("{t} in order to ")).unwrap_or_default();
    sheet.line(format!(
        "At the speed of {} just now that costs {order}{} page by page, for the {} that are on it; faults with read-ahead lie between.",
        speed.disk, cost.one_by_one, cost.bytes
    ));
    let LatencyStats { p50_ns, p99_ns, min_ns, max_ns, .. } = speed.random;
    let (n, mean, took) = (number::count(speed.random.n), number::nanos(speed.random.mean_ns), speed.took);
    let random = format!(
        "Measured on these files past the page cache in {took}: 4 KiB at random n {n}, median {p50_ns}, mean {mean}, 99 % below {p99_ns}, range {min_ns} to {max_ns}"
    );
    let in_order = speed.sequential.as_ref().map(in_order).unwrap_or_default();
    sheet.dim(format!("{random}{in_order}. The drive or a hypervisor may have answered from a cache of its own."));
}

fn in_order(measured: &Measurement) -> String {
    let (interval, _) = measured.interval();
    let word = if measured.ci95.is_some() { "95 % interval" } else { "range" };
    let rates = [measured.median, interval.low, interval.high];
    let [median, low, high] = rates.map(|value| number::per_second(number::bytes(value)));
    format!(
        "; these files in order, up to 1 MiB at a time (one large file, as measure tiers reads, is often faster) n {}, median {median} ({word} {low} to {high})",
        measured.n
    )
}

#[cfg(test)]
mod tests {
    use ramline_model::maps::{ClassUse, FileUse, Program, RangeUse, Totals};
    use ramline_snapshot::maps::{NameState, Usage};

    use super::*;
    use ramline_sheet::text::Style;
    use ramline_sheet::text::width;

    const LONG: &str = "/usr/lib/x86_64-linux-gnu/perl/5.36/auto/Encode/Encode.so";

    fn mapped() -> Mapped {
        let mib = Bytes::from_mib;
        let usage = Usage { rss: mib(4), anonymous: mib(1), shared_dirty: mib(1), ..Usage::default() };
        let file = |path: &str, name| FileUse {
            path: path.to_owned(),
            name,
            processes: 3,
            programs: vec![
                Program { name: "perl".to_owned(), processes: 2, pid: None },
                Program { name: "sh".to_owned(), processes: 1, pid: Some(7) },
            ],
            size: mib(9),
            resident: Some(mib(5)),
            clean: Some(mib(4)),
            code: Some(mib(2)),
            cached_share: Some(0.5),
            cached: Some(mib(5)),
            basis: Basis::PageCache,
            ..FileUse::default()
        };
        Mapped {
            processes: 3,
            totals: Totals { files: 3, known: 3, resident: mib(15), code: mib(2), gone: 1, ..Totals::default() },
            files: vec![
                file(LONG, NameState::There),
                file("/usr/lib/old.so", NameState::Replaced),
                file("/a", NameState::There),
            ],
            classes: vec![ClassUse { ranges: 2, usage: Some(usage), ..ClassUse::default() }],
            ranges: vec![RangeUse {
                pid: 31,
                start: "7f1a04dbc000".to_owned(),
                permissions: "r-xp".to_owned(),
                size: mib(4),
                path: Some(LONG.to_owned()),
                usage: Some(usage),
                ..RangeUse::default()
            }],
            ..Mapped::default()
        }
    }

    fn screen(columns: usize) -> String {
        ShowMaps::new(mapped(), 2, None).text(&Style { colour: false, width: columns })
    }

    #[test]
    fn a_wide_terminal_shows_every_path_whole_and_every_column() {
        let text = screen(200);
        let row = text.lines().find(|line| line.starts_with(LONG)).unwrap();
        let cells: Vec<&str> = row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
        assert_eq!(cells, [LONG, "5.0 MiB", "2.0 MiB", "4.0 MiB", "3", "50.0 %", "9.0 MiB"]);
        assert!(text.contains("/usr/lib/old.so (replaced)"), "{text}");
        assert!(text.contains("1 more file with 5.0 MiB resident (--top 3, --json for all)."), "{text}");
        assert!(!text.contains("..."), "{text}");
    }

    #[test]
    fn a_narrow_terminal_keeps_the_beginning_and_the_last_name_of_a_path() {
        for columns in [60, 80] {
            let text = screen(columns);
            assert!(text.lines().all(|line| width(line) <= columns), "{text}");
            assert!(text.contains("\n/usr/lib/.../Encode.so ") && !text.contains(LONG), "{text}");
        }
        assert!(screen(80).contains("used by") && !screen(60).contains("used by"), "{}", screen(60));
    }

    #[test]
    fn what_data_is_and_what_is_left_out_are_told() {
        let text = screen(200);
        assert!(
            text.starts_with(
                "3 processes map 3 files; 15.0 MiB (2.0 MiB code, 13.0 MiB data) of them are in RAM (now;"
            )
        );
        assert!(text.contains("Old files still mapped: 1 file (0 B resident, now)."), "{text}");
        assert!(text.contains("2 x perl, sh (7)"), "{text}");
    }
}
