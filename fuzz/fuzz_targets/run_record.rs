//! Records of the lab, one a line, and everything that is made of a series of them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ramline_evidence::{RunRecord, SeriesTable};

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let records: Vec<RunRecord> = text.lines().take(40).filter_map(|line| RunRecord::parse(line).ok()).collect();
    let _ = SeriesTable::of(&records);
});
