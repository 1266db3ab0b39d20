//! Records of the lab, one a line, and everything that is made of a series of them.

use ramline_evidence::{RunRecord, SeriesTable};

/// One input.
pub fn once(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let records: Vec<RunRecord> = text.lines().take(40).filter_map(|line| RunRecord::parse(line).ok()).collect();
    let _ = SeriesTable::from_records(&records);
}
