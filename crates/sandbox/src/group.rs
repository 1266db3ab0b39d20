//! The memory group of a run: limited, kept from swapping, and what was set as it is read back.

use ramline_kernel::write::Change;
use ramline_units::Limit;

use crate::prelude::*;
use crate::requirements::headroom;

/// A fresh group, limited; where no limit is given, to what is left of memory, so that a command cannot hurt the machine.
///
/// # Errors
/// It cannot be made or limited; the journal undoes it.
pub fn limited(hierarchy: &Hierarchy, limit: Option<Bytes>, n: u32, run: &mut Run) -> Result<(Group, Bytes)> {
    let limit = limit.map_or_else(|| headroom(run.root()), Ok)?;
    let group = run.make_cgroup(hierarchy, n)?;
    group.set_memory_limit(Limit::At(limit))?;
    Ok((group, limit))
}

/// Keeps a group from swapping. A kernel without swap accounting, or a group without a limit, where that cannot be said, may still
/// have no swap at all, which is as good: then nothing is set.
///
/// # Errors
/// It cannot be kept from swapping.
pub fn forbid_swap(root: &Root, group: &Group) -> Result<Vec<Change>> {
    match group.set_swap_limit(Limit::At(Bytes::ZERO)) {
        Err(error) if (error.is_unsupported() || error.is_refused()) && swap::areas(root)?.is_empty() => Ok(Vec::new()),
        set => Ok(set?),
    }
}

/// What was set as it is read back, by the name of the file.
pub fn verified(changes: Vec<Change>) -> impl Iterator<Item = (String, String)> {
    let name = |change: &Change| change.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    changes.into_iter().map(move |change| (name(&change), change.after.unwrap_or_default()))
}
