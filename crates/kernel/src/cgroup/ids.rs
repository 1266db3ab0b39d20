//! By what the kernel itself knows a group: the id of its directory, which is its inode.

use super::path::groups_in;
use crate::prelude::*;

/// More groups than this are not looked up.
const MOST: usize = 20_000;

/// The ids of the group in this directory and of all below it.
///
/// # Errors
/// `Absent` when it is gone; `Refused` for more than 20,000 groups. One below that vanishes meanwhile is left out.
pub fn ids_below(dir: &Path) -> Result<Vec<u64>> {
    let top = std::fs::metadata(dir).tried("look at the control group", dir)?;
    let (mut ids, mut waiting) = (vec![top.ino()], vec![dir.to_owned()]);
    while let Some(dir) = waiting.pop() {
        for below in groups_in(&dir) {
            if ids.len() >= MOST {
                let numbers = format!("more than {MOST} are below it");
                return Err(KernelError::refused("watch", &dir, "a group with fewer groups below", numbers));
            }
            ids.extend(std::fs::metadata(&below).map(|found| found.ino()));
            waiting.push(below);
        }
    }
    Ok(ids)
}
