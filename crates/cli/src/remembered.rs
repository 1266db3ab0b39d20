//! What the tiers cost when they were last measured on this boot: `show tiers` and `explain` name it with its age.
//!
//! Kept beside the journal. What it is not: needed by anything; where it cannot be written or read, nothing is known.

use std::time::{SystemTime, UNIX_EPOCH};

use ramline_evidence::TierReport;
use ramline_kernel::output::{Format, Output};
use ramline_view::text::number;
use serde::Deserialize;
use serde_json::Value;

use crate::prelude::*;

const FILE: &str = "tiers.json";

#[derive(Debug, Serialize, Deserialize)]
struct Remembered {
    /// Of another boot the disks, the host and the settings may be others.
    boot_id: String,
    taken_unix_s: u64,
    report: TierReport,
}

/// Keeps a report for later commands.
pub fn keep(report: &TierReport) {
    let (Some(boot_id), Some(taken_unix_s)) = (boot_id(), now()) else { return };
    let remembered = Remembered { boot_id, taken_unix_s, report: report.clone() };
    let Some(state) = state::path().ok().and_then(|path| StateDir::open(&path).ok()) else { return };
    let Ok(text) = serde_json::to_string(&remembered) else { return };
    let format = Format { begins: b"{\"boot_id\"", mode: 0o600 };
    if let Ok(output) = Output::open(&state.path().join(FILE), format, "ramline measure tiers") {
        // It is a convenience: a full disk is told by those who need it.
        drop(output.write(text.as_bytes()));
    }
}

/// The report of this boot, its age as its first condition; `None` for a capture and where there is none.
#[must_use]
pub fn tiers(source: &Source) -> Option<TierReport> {
    if !source.is_live() {
        return None;
    }
    let state = StateDir::open_existing(&state::path().ok()?).ok()??;
    let text = input::read_text("read", &state.path().join(FILE), input::DOCUMENT).ok()?;
    let kept: Remembered = serde_json::from_str::<Value>(&text).and_then(serde_json::from_value).ok()?;
    let age = now()?.checked_sub(kept.taken_unix_s).filter(|_| Some(&kept.boot_id) == boot_id().as_ref())?;
    let minutes = Duration::from_secs(age).as_secs_f64() / 60.0;
    let mut report = kept.report;
    report.conditions.insert(0, format!("{} ago", number::minutes(minutes)));
    Some(report)
}

fn boot_id() -> Option<String> {
    process::boot_id(&Root::live()).ok()
}

fn now() -> Option<u64> {
    Some(SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs())
}
