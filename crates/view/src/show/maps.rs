//! `show maps`: mapped files, what of them is in RAM, who shares it, and what reading it again would cost.

mod tables;

use ramline_model::maps::{Basis, Cost, Mapped, Speed};
use ramline_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::report::SCHEMA_VERSION;
use crate::text::{Page, Paint, Style, number};

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
        let cost = speed.as_ref().map(Cost::of);
        ShowMaps { schema_version: SCHEMA_VERSION, mapped, speed, cost, not_measured, top }
    }

    /// The screen.
    #[must_use]
    pub fn text(&self, style: &Style) -> String {
        let mut page = Page::new(style);
        page.bold(&self.answer());
        self.reread(&mut page);
        tables::files(&mut page, &self.mapped, self.top);
        tables::classes(&mut page, &self.mapped);
        tables::gone(&mut page, &self.mapped, self.top);
        tables::duplicates(&mut page, &self.mapped, self.top);
        tables::ranges(&mut page, &self.mapped);
        self.reading(&mut page);
        page.finish()
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
            format!("{} ({} code, {} data)", totals.resident, totals.code, totals.resident - totals.code)
        };
        let basis = if mapped.files.iter().any(|f| f.basis == Basis::PageCache) {
            "in the page cache inside the mapped ranges"
        } else {
            "present in their page tables"
        };
        format!("{who} {verb} {files}; {what} of them are in RAM (now; each page once; {basis}).")
    }

    /// What eviction would drop and what it would cost; what it cannot drop.
    fn reread(&self, page: &mut Page<'_>) {
        let reread = &self.mapped.reread;
        if self.mapped.totals.known > 0 {
            let dirty = match reread.dirty {
                Some(Bytes(0)) => String::new(),
                Some(dirty) => format!("; {dirty} more were changed and must be written first"),
                None => "; how much of it was changed and must be written first is not known for every file".to_owned(),
            };
            page.line(&format!(
                "If these pages were evicted, {} would be read again as they are used ({} of it code){dirty}.",
                reread.clean, reread.code
            ));
        }
        if let (Some(speed), Some(cost)) = (&self.speed, &self.cost) {
            cost_lines(page, speed, cost);
        } else if let Some(why) = &self.not_measured {
            page.dim(&format!("What that costs was not measured: {why}."));
        }
        let mut stays = Vec::new();
        if let Some(copies) = reread.copies.filter(|b| b.0 > 0) {
            stays.push(format!("{copies} of pages written in private mappings of files (copies)"));
        }
        if reread.memory.0 > 0 {
            stays.push(format!("{} of shared memory and files in RAM", reread.memory));
        }
        if !stays.is_empty() {
            page.line(&format!("Eviction cannot drop, only swap could take (now): {}.", stays.join("; ")));
        }
        if let Some(locked) = reread.locked.filter(|b| b.0 > 0) {
            page.line(&format!("{locked} of file pages are locked in RAM (now, by share): they stay."));
        }
    }

    /// How it was read, what that cost, what was not seen.
    fn reading(&self, page: &mut Page<'_>) {
        let (reading, missed) = (&self.mapped.reading, &self.mapped.missed);
        page.blank();
        let how = if reading.walked {
            "Page tables were walked (smaps, pagemap); the kernel holds a process's lock on its mappings while it prints each piece."
        } else {
            "No page table was walked, unless said so above: the ranges were listed, and the page cache was asked file by file."
        };
        let budget = reading.budget.map(|b| format!(" of {b} allowed")).unwrap_or_default();
        page.dim(&format!(
            "{how} {} in {} + {} for the files{budget}.",
            number::things(reading.ranges, "range"),
            reading.lists,
            reading.asking
        ));
        for (n, what) in [
            (missed.denied, "refused (permission denied)"),
            (missed.vanished, "ended while being read"),
            (missed.malformed, "gave lines that make no sense"),
            (reading.processes_left_out, "left out: the time allowed was over (try: --budget 5s)"),
        ] {
            if n > 0 {
                page.painted(Paint::Warn, &format!("Not seen: {} {what}.", tables::processes(n)));
            }
        }
        if missed.hidden {
            page.painted(Paint::Warn, "Not seen: processes of other users; /proc hides them (hidepid).");
        }
        if reading.files_left_out > 0 {
            let files = number::things(reading.files_left_out, "file");
            page.painted(Paint::Warn, &format!("Not asked: {files}; the time allowed was over (try: --budget 5s)."));
        }
        if reading.unknown_lines > 0 {
            page.dim(&format!(
                "{} of smaps had keys this version does not know.",
                number::things(reading.unknown_lines, "line")
            ));
        }
    }
}

fn cost_lines(page: &mut Page<'_>, speed: &Speed, cost: &Cost) {
    let order = cost.in_order.map(|t| format!("{t} in order to ")).unwrap_or_default();
    page.line(&format!(
        "At the speed of {} just now that costs {order}{} page by page, for the {} that are on it; faults with read-ahead lie between.",
        speed.disk, cost.one_by_one, cost.bytes
    ));
    let random = &speed.random;
    let mut text = format!(
        "Measured on these files past the page cache in {}: 4 KiB at random n {}, median {}, mean {}, 99 % below {}, range {} to {}",
        speed.took,
        number::count(random.n),
        random.p50_ns,
        ramline_units::Nanos(number::bytes(random.mean_ns).0),
        random.p99_ns,
        random.min_ns,
        random.max_ns
    );
    if let Some(m) = &speed.sequential {
        let (interval, _) = m.interval();
        let rate = |value: f64| number::per_second(number::bytes(value));
        let word = if m.ci95.is_some() { "95 % interval" } else { "range" };
        text += &format!(
            "; these files in order, up to 1 MiB at a time (one large file, as measure tiers reads, is often faster) n {}, median {} ({word} {} to {})",
            m.n,
            rate(m.median),
            rate(interval.low),
            rate(interval.high)
        );
    }
    page.dim(&format!("{text}. The drive or a hypervisor may have answered from a cache of its own."));
}
