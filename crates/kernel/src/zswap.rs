//! zswap: the switch, what it is set to, and its pool. All of it is the whole machine's.
//!
//! Where version 1 of cgroups is in use its pool is charged to no group.

use crate::meminfo;
use crate::prelude::*;
use crate::write::read_knob;

/// Where a parameter stands: `enabled`, `compressor`, `zpool`, `max_pool_percent`.
#[must_use]
pub fn parameter(root: &Root, name: &str) -> PathBuf {
    root.path("/sys/module/zswap/parameters").join(name)
}

/// A parameter as the kernel reports it; `None` on a kernel without zswap or without this parameter.
#[must_use]
pub fn read(root: &Root, name: &str) -> Option<String> {
    read_knob(&parameter(root, name))
}

/// True while pages go through it.
#[must_use]
pub fn is_on(root: &Root) -> bool {
    read(root, "enabled").as_deref() == Some("Y")
}

/// RAM the pool takes (`Zswap` of /proc/meminfo). Gauge.
///
/// # Errors
/// When the file cannot be read or lacks the line, as before Linux 5.19.
pub fn pool(root: &Root) -> Result<Bytes> {
    meminfo::line(root, "Zswap")
}
