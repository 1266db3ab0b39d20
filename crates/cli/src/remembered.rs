//! What was last measured on this boot: what the tiers cost, which `show tiers` and `explain` name with its age, and what pages compress to,
//! which `tune plan` chooses an algorithm by.
//!
//! Kept beside the journal. What it is not: needed by anything; where it cannot be written or read, nothing is known.

use std::time::{SystemTime, UNIX_EPOCH};

use ramline_evidence::TierReport;
use ramline_evidence::pages::PageProfile;
use ramline_kernel::output::{Format, Output};
use ramline_view::text::number;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::prelude::*;

const TIERS: &str = "tiers.json";
const PAGES: &str = "pages.json";

#[derive(Debug, Serialize, Deserialize)]
struct Remembered<T> {
    /// Of another boot the disks, the host and the settings may be others.
    boot_id: String,
    taken_unix_s: u64,
    report: T,
}

/// Keeps a report for later commands.
pub fn keep(report: &TierReport) {
    write(TIERS, report, "ramline measure tiers");
}

/// Keeps a profile of all processes' pages, which has no contents, for `tune plan`.
pub fn keep_pages(profile: &PageProfile) {
    write(PAGES, profile, "ramline measure pages");
}

fn write(file: &str, report: &impl Serialize, hint: &str) {
    let (Some(boot_id), Some(taken_unix_s)) = (boot_id(), now()) else { return };
    let remembered = Remembered { boot_id, taken_unix_s, report };
    let Some(state) = state::path().ok().and_then(|path| StateDir::open(&path).ok()) else { return };
    let Ok(text) = serde_json::to_string(&remembered) else { return };
    let format = Format { begins: b"{\"boot_id\"", mode: 0o600 };
    if let Ok(output) = Output::open(&state.path().join(file), format, hint) {
        // It is a convenience: a full disk is told by those who need it.
        drop(output.write(text.as_bytes()));
    }
}

/// The report of this boot, its age as its first condition; `None` for a capture and where there is none.
#[must_use]
pub fn tiers(source: &Source) -> Option<TierReport> {
    let (mut report, minutes) = read::<TierReport>(source, TIERS)?;
    report.conditions.insert(0, format!("{} ago", number::minutes(minutes)));
    Some(report)
}

/// The profile of this boot; `None` for a capture and where there is none.
#[must_use]
pub fn pages(source: &Source) -> Option<PageProfile> {
    Some(read(source, PAGES)?.0)
}

/// Of this boot, with its age in minutes.
fn read<T: DeserializeOwned>(source: &Source, file: &str) -> Option<(T, f64)> {
    if !source.is_live() {
        return None;
    }
    let state = StateDir::open_existing(&state::path().ok()?).ok()??;
    let text = input::read_text("read", &state.path().join(file), input::DOCUMENT).ok()?;
    let kept: Remembered<T> = ramline_units::json::parse(&text).ok()?;
    let age = now()?.checked_sub(kept.taken_unix_s).filter(|_| Some(&kept.boot_id) == boot_id().as_ref())?;
    Some((kept.report, Duration::from_secs(age).as_secs_f64() / 60.0))
}

fn boot_id() -> Option<String> {
    process::boot_id(&Root::live()).ok()
}

fn now() -> Option<u64> {
    Some(SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs())
}
