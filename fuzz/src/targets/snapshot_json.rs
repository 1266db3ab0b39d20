//! A snapshot document, and everything the model makes of it.

use ramline_model::{ledger::Ledger, pressure, swap, tiers, tmpfs, verdict, watermarks, zram};
use ramline_snapshot::Snapshot;

/// One input.
pub fn once(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(seen) = Snapshot::from_json("fuzz", &text) else { return };
    let _ = Ledger::from_snapshot(&seen);
    let _ = (
        pressure::from_snapshot(&seen, None),
        watermarks::from_snapshot(&seen, None),
        verdict::from_snapshot(&seen, None),
    );
    let _ = (
        swap::from_snapshot(&seen, None),
        zram::from_snapshot(&seen),
        tmpfs::from_snapshot(&seen),
        tiers::from_snapshot(&seen),
    );
}
