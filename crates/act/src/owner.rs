//! Who ran: a process named for good by pid, start time and boot.

use ramline_kernel::{KernelError, Root, process};
use serde::{Deserialize, Serialize};

use crate::Result;

/// A process, past or present.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Its number.
    pub pid: u32,
    /// Clock ticks after boot at which it started.
    pub start: u64,
    /// The boot it ran in.
    pub boot_id: String,
}

impl Owner {
    /// This process.
    ///
    /// # Errors
    /// When /proc cannot be read.
    pub fn current(root: &Root) -> Result<Owner> {
        let pid = std::process::id();
        let start = process::start_time(root, pid).map_err(|error| {
            if !error.is_absent() {
                return error;
            }
            // In a chroot, say: then no later run could tell whether this one is alive.
            let rule = "/proc is not there, and without it nothing that is begun could be put back after a crash";
            KernelError::refused("start a run in", root.path("/"), rule, "").hint("mount -t proc proc /proc")
        })?;
        Ok(Owner { pid, start, boot_id: process::boot_id(root)? })
    }

    /// True when it ran in the boot that is up now; false also when that cannot be told.
    #[must_use]
    pub fn is_this_boot(&self, root: &Root) -> bool {
        process::boot_id(root).is_ok_and(|boot| boot == self.boot_id)
    }

    /// True while it runs.
    #[must_use]
    pub fn is_alive(&self, root: &Root) -> bool {
        self.is_this_boot(root) && process::is_same_process(root, self.pid, self.start)
    }
}
