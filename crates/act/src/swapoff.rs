//! Whether a swap area can be switched off: its pages go back into memory, and must fit there.

mod groups;

use std::path::Path;

use ramline_kernel::{Cause, KernelError, Root, meminfo, swap};
use ramline_units::Bytes;

use self::groups::too_small_group;

/// Refuses when the pages of `path` would take more than half of MemAvailable, and when a control group at its limit would
/// have to take back more than fits below it, unless other areas can hold it.
///
/// # Errors
/// `Refused` with the numbers; `Absent` when the area is not on.
pub fn check_swapoff(root: &Root, path: &Path) -> Result<(), KernelError> {
    let areas = swap::areas(root)?;
    let (on, others): (Vec<_>, Vec<_>) = areas.into_iter().partition(|area| Path::new(&area.path) == path);
    let area = on.first().ok_or_else(|| KernelError::new("swap off", path, Cause::Absent))?;
    let available = meminfo::available(root)?;
    if area.used.0 > available.0 / 2 {
        let numbers = format!("{} in use, {available} available", area.used);
        let rule = "its pages must fit into half of the available memory";
        return Err(KernelError::refused("swap off", path, rule, numbers).hint("ramline show swap"));
    }
    let elsewhere = others.iter().fold(Bytes::ZERO, |free, other| free + other.free());
    if area.used > Bytes::ZERO
        && let Some(group) = too_small_group(root, area.used, elsewhere)
    {
        let numbers = format!(
            "{} has {} to take back and room for {}; it would need {} of {}, it has {}: raise it, or wait until what runs there has ended",
            group.dir.display(),
            group.swapped,
            group.free,
            group.files.join(" and "),
            group.needs,
            group.limit
        );
        let rule =
            "no control group may have to take back more than its limit allows: the kernel would kill a process in it";
        return Err(KernelError::refused("swap off", path, rule, numbers).hint("ramline show cgroups"));
    }
    Ok(())
}
