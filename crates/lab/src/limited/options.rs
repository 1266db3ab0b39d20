//! Options that every series in limited groups takes, and what they are read as.

use crate::prelude::*;

/// The settings.
pub const ARMS: Parameter = row(
    "arms",
    Kind::List,
    Some("as-configured,no-swap"),
    "Settings, comma-separated: as-configured, no-swap, swap:S, zram:S, zram:ALG:S, zram+swap:S, zram+swap:ALG:S, zswap:S (S is the swappiness)",
);

/// When it is over.
pub const TIMEOUT: Parameter = row("timeout", Kind::Time, Some("20s"), "When the clock ends the rounds of a run");

/// What the kernel knows of the group.
pub const STALE_STATISTICS: Parameter = row(
    "stale-statistics",
    Kind::Switch,
    Some("false"),
    "Leave the group's statistics up to 2 s old, as in a container, instead of exact, as on a whole machine",
);

/// The read-aheads of a series.
///
/// # Errors
/// One that is no size.
pub fn read_aheads(params: &Params, name: &str) -> Result<Vec<Bytes>> {
    let size = |text: &String| {
        text.parse().map_err(|_| {
            let message = format!("'{}' is not a size", text.escape_debug());
            LabError::usage(message, format!("ramline lab run {name} --read-ahead 128KiB,8MiB"))
        })
    };
    params.list("read-ahead").iter().map(size).collect()
}

/// Read-ahead of the scratch device in this arm: its own, or the one there is.
#[must_use]
pub fn read_ahead(arm: &Arm, all: &[Bytes]) -> Bytes {
    let own = arm.settings.get(arm::READ_AHEAD).and_then(|text| text.parse().ok());
    own.or_else(|| all.first().copied()).unwrap_or_default()
}

/// As recorded.
#[must_use]
pub fn nanos(time: Duration) -> Nanos {
    Nanos(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}
