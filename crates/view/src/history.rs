//! What was recorded: `ramline history`, its check, and sar's tables.

use ramline_evidence::history::{CheckedFile, HistoryCheck, HistoryList, RecordedFile, RecordedGap};
use ramline_model::sar::{self, SarMemory, SarPaging, SarProcessors, SarSwap, SarSwapping};
use ramline_units::escape;

use crate::prelude::*;

impl Screen for HistoryList {
    fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::new();
        let dir = escape(&self.dir);
        if self.files.is_empty() {
            sheet.answer(Paint::Bold, format!("Nothing is recorded in {dir}."));
            sheet.line("Record from now on: sudo systemctl enable --now ramline-record, or in the foreground:");
            sheet.command(2, "sudo ramline record");
            return sheet;
        }
        sheet.answer(Paint::Bold, format!("{} of history in {dir}.", self.bytes));
        let drawn = Table::from_rows(&self.files)
            .left("file", |file: &RecordedFile| escape(&file.name).into_owned())
            .left("from and to", |file| match (&file.unreadable, file.seconds) {
                (Some(why), _) => escape(why).into_owned(),
                (None, true) => format!("{}, every second before a kill or a long wait", file.time),
                (None, false) => file.time.clone(),
            })
            .right("frames", |file| file.frames)
            .right("boots", |file| file.boots)
            .right("size", |file| file.bytes);
        sheet.table(drawn);
        let gaps = Table::from_rows(&self.gaps)
            .left("nothing was recorded", |gap: &RecordedGap| gap.time.clone())
            .wrapped("why", |gap| escape(&gap.why).into_owned());
        sheet.headed_table("Gaps", gaps);
        sheet.dim(Some("A moment: ramline show --at TIME; a table: ramline history sar -r".to_owned()));
        sheet
    }
}

impl Screen for HistoryCheck {
    fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::new();
        if self.is_damaged() {
            sheet.answer(Paint::Warn, "Some of what was recorded is lost; the rest can be read.");
        } else {
            sheet.answer(Paint::Good, "Every frame can be read.");
        }
        let drawn = Table::from_rows(&self.files)
            .left("file", |file: &CheckedFile| escape(&file.name).into_owned())
            .right("frames", |file| file.frames)
            .right("lost frames", |file| file.lost_frames)
            .right("lost bytes", |file| file.lost_bytes)
            .wrapped("", |file| match &file.unreadable {
                Some(why) => escape(why).into_owned(),
                None if file.torn_end => "the last frame was not written whole".to_owned(),
                None => String::new(),
            });
        sheet.table(drawn);
        sheet
    }
}

/// `history sar`: sar's columns of what was recorded.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SarTable {
    /// Version of this document.
    pub schema_version: u64,
    /// One a step.
    pub rows: Vec<SarRow>,
}

/// One line of sar: only the parts that were asked for.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SarRow {
    /// Milliseconds since 1970.
    pub unix_ms: u64,
    /// The same as local time.
    pub time: String,
    /// `-r`.
    pub memory: Option<SarMemory>,
    /// `-S`.
    pub swap: Option<SarSwap>,
    /// `-B`.
    pub paging: Option<SarPaging>,
    /// `-W`.
    pub swapping: Option<SarSwapping>,
    /// `-u`.
    pub processors: Option<SarProcessors>,
}

/// As sar prints them: KiB without a unit.
fn kib(bytes: Option<Bytes>) -> String {
    bytes.map(|bytes| sar::kib(bytes).to_string()).unwrap_or_default()
}

/// And rates and percents with two digits.
fn two(value: Option<f64>) -> String {
    value.map(|value| format!("{value:.2}")).unwrap_or_default()
}

/// The rows that have a part.
fn with<T>(rows: &[SarRow], part: fn(&SarRow) -> Option<&T>) -> Table<(&str, &T)> {
    Table::from_rows(rows.iter().filter_map(move |row| Some((row.time.as_str(), part(row)?))))
        .left("time", |(time, _)| time)
}

impl Screen for SarTable {
    fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::new();
        if self.rows.is_empty() {
            sheet.answer(Paint::Bold, "Nothing was recorded in this time.");
            return sheet;
        }
        let memory = with(&self.rows, |row| row.memory.as_ref())
            .right("kbmemfree", |(_, m)| kib(m.free))
            .right("kbavail", |(_, m)| kib(m.available))
            .right("kbmemused", |(_, m)| kib(m.used))
            .right("%memused", |(_, m)| two(m.used_percent))
            .right("total-free", |(_, m)| kib(m.not_free))
            .right("%total-free", |(_, m)| two(m.not_free_percent))
            .right("kbbuffers", |(_, m)| kib(m.buffers))
            .right("kbcached", |(_, m)| kib(m.cached))
            .right("kbcommit", |(_, m)| kib(m.commit))
            .right("%commit", |(_, m)| two(m.commit_percent))
            .right("kbactive", |(_, m)| kib(m.active))
            .right("kbinact", |(_, m)| kib(m.inactive))
            .right("kbdirty", |(_, m)| kib(m.dirty));
        sheet.table(memory);
        let swap = with(&self.rows, |row| row.swap.as_ref())
            .right("kbswpfree", |(_, s)| kib(s.free))
            .right("kbswpused", |(_, s)| kib(s.used))
            .right("%swpused", |(_, s)| two(s.used_percent))
            .right("kbswpcad", |(_, s)| kib(s.cached))
            .right("%swpcad", |(_, s)| two(s.cached_percent));
        sheet.table(swap);
        let paging = with(&self.rows, |row| row.paging.as_ref())
            .right("pgpgin/s", |(_, p)| two(p.read_kib))
            .right("pgpgout/s", |(_, p)| two(p.written_kib))
            .right("fault/s", |(_, p)| two(p.faults))
            .right("majflt/s", |(_, p)| two(p.major_faults))
            .right("pgfree/s", |(_, p)| two(p.freed))
            .right("pgscank/s", |(_, p)| two(p.scanned_kswapd))
            .right("pgscand/s", |(_, p)| two(p.scanned_direct))
            .right("pgsteal/s", |(_, p)| two(p.reclaimed))
            .right("%vmeff", |(_, p)| two(p.efficiency_percent))
            .right("refault file/s", |(_, p)| two(p.refaults_file))
            .right("refault anon/s", |(_, p)| two(p.refaults_anon));
        sheet.table(paging);
        let swapping = with(&self.rows, |row| row.swapping.as_ref())
            .right("pswpin/s", |(_, s)| two(s.read))
            .right("pswpout/s", |(_, s)| two(s.written));
        sheet.table(swapping);
        let processors = with(&self.rows, |row| row.processors.as_ref())
            .right("%user", |(_, p)| two(p.user))
            .right("%nice", |(_, p)| two(p.nice))
            .right("%system", |(_, p)| two(p.system))
            .right("%iowait", |(_, p)| two(p.iowait))
            .right("%steal", |(_, p)| two(p.steal))
            .right("%idle", |(_, p)| two(p.idle));
        sheet.table(processors);
        sheet
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_sheet::text::Style;

    #[test]
    fn a_line_of_sar_has_its_columns_and_both_meanings_of_used() {
        let memory = SarMemory {
            free: Some(Bytes::from_kib(100)),
            used: Some(Bytes::from_kib(300)),
            used_percent: Some(30.0),
            not_free: Some(Bytes::from_kib(900)),
            not_free_percent: Some(90.0),
            ..SarMemory::default()
        };
        let row = SarRow { time: "00:46:05".to_owned(), memory: Some(memory), ..SarRow::default() };
        let table = SarTable { rows: vec![row], ..SarTable::default() };
        let text = table.text(&Style { width: 200, ..Style::default() });
        assert!(text.contains("kbmemused") && text.contains("00:46:05") && text.contains("30.00"), "{text}");
        assert!(text.contains("total-free") && text.contains("90.00"), "{text}");
        assert!(!text.contains("pswpin"), "{text}");
    }

    #[test]
    fn an_empty_history_says_how_to_begin_one() {
        let list = HistoryList { dir: "/var/lib/ramline/history".to_owned(), ..HistoryList::default() };
        let text = list.text(&Style::default());
        assert!(text.contains("Nothing is recorded") && text.contains("sudo ramline record"), "{text}");
    }
}
