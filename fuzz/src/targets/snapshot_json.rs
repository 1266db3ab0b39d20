//! A snapshot document, and everything the model makes of it.

use ramline_model::{ledger::Ledger, pressure, swap, tiers, tmpfs, verdict, watermarks, zram};
use ramline_snapshot::Snapshot;

/// One input.
pub fn once(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(seen) = Snapshot::from_json("fuzz", &text) else { return };
    let _ = Ledger::of(&seen);
    let _ = (pressure::of(&seen, None), watermarks::of(&seen, None), verdict::of(&seen, None));
    let _ = (swap::of(&seen, None), zram::of(&seen), tmpfs::of(&seen), tiers::of(&seen));
}
