//! What the kernel counts when memory is too short: time in which all tasks waited, and processes it killed.

use crate::Root;
use crate::kernel_file::read_text;

/// `full ... total=N` of PSI: time in which all tasks waited for memory, in microseconds since boot; `None` without PSI.
#[must_use]
pub fn full_us(root: &Root) -> Option<u64> {
    let text = read_text(&root.path("/proc/pressure/memory")).ok()?;
    text.lines().find(|line| line.starts_with("full "))?.split("total=").nth(1)?.trim().parse().ok()
}

/// `oom_kill` of vmstat: processes killed for memory since boot.
#[must_use]
pub fn kills(root: &Root) -> Option<u64> {
    let text = read_text(&root.path("/proc/vmstat")).ok()?;
    text.lines().find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok())
}
