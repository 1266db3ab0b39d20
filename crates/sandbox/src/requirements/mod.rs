//! What an experiment needs of the machine, what was found, and why it cannot begin: looked at before anything is made.
//!
//! A refusal names everything that is missing, with the numbers, and one command against the first of it; commands are the
//! caller's. While a run goes on the watchdog looks again.
//!
//! ```no_run
//! use ramline_kernel::Root;
//! use ramline_sandbox::requirements::{Requirements, Tool};
//! use ramline_units::Bytes;
//! let needed = Requirements {
//!     command: "ramline lab run eat-memory".to_owned(),
//!     smaller: "--limit 64MiB",
//!     without_swap: "--arms no-swap",
//!     root_for: "a memory cgroup, a loop device and a mount need root",
//!     group: true,
//!     memory: Bytes::from_mib(256),
//!     tools: Tool::OWN_FS,
//!     scratch: Bytes::from_mib(64),
//!     ..Requirements::default()
//! };
//! let found = needed.check(&Root::live(), Vec::new())?;
//! println!("scratch files go to {}", found.place.dir.display());
//! # Ok::<(), ramline_sandbox::LabError>(())
//! ```

mod busy;
mod check;
pub mod consent;
mod place;
mod reason;

use ramline_kernel::place::Place;

pub use self::busy::{BUSY_LIMIT, LOOK, settle};
pub use self::check::{Check, PRIORITY, Tool, headroom, margin};
pub use self::place::scratch_line;
pub use self::reason::{Caller, Lack, Reason, is_unprivileged};
use crate::prelude::*;

/// What is asked of the machine.
#[derive(Debug, Clone, Default)]
pub struct Requirements<'a> {
    /// The command whose variants are proposed: `ramline lab run eat-memory`.
    pub command: String,
    /// Its options that need less memory and disk.
    pub smaller: &'a str,
    /// Its options that make no swap area.
    pub without_swap: &'a str,
    /// What needs root, as a sentence: `mounting file systems needs root`.
    pub root_for: &'a str,
    /// A memory cgroup is made.
    pub group: bool,
    /// What is taken from memory at most, without the margin.
    pub memory: Bytes,
    /// Programs and drivers.
    pub tools: &'a [Tool],
    /// What is written to the scratch place at once.
    pub scratch: Bytes,
    /// The priority of the swap area that is made there.
    pub swap_priority: Option<i32>,
    /// The place that was named.
    pub dir: Option<PathBuf>,
    /// A busy machine will do.
    pub allow_busy: bool,
}

impl Requirements<'_> {
    /// Looks at everything; `own` are the reasons the experiment has found itself.
    ///
    /// # Errors
    /// `Refused` with every reason and its numbers; nothing has been touched.
    pub fn check(&self, root: &Root, own: Vec<Reason>) -> Result<Resources> {
        let (command, smaller, without_swap) = (self.command.as_str(), self.smaller, self.without_swap);
        let mut check = Check::new(root, Caller { command, smaller, without_swap });
        if is_unprivileged() {
            check.lacks(Lack::Privilege, self.root_for);
        }
        check.extend(own);
        let hierarchy = if self.group { check.group() } else { None };
        check.memory(self.memory, &self.memory.to_string())?;
        check.tools(self.tools);
        let place = check.place(self.scratch, self.dir.as_deref(), self.swap_priority.is_some());
        if let Some(priority) = self.swap_priority {
            check.outranked(priority)?;
        }
        let doubts = check.busy(self.allow_busy)?;
        check.conclude(place.map(|place| Resources { place, hierarchy, doubts }))
    }
}

/// What was found.
#[derive(Debug, Clone)]
pub struct Resources {
    /// Where scratch files go.
    pub place: Place,
    /// What makes timing doubtful but not impossible.
    pub doubts: Vec<String>,
    hierarchy: Option<Hierarchy>,
}

impl Resources {
    /// Version 1 or 2, where groups are made.
    #[must_use]
    pub fn version(&self) -> Option<Version> {
        self.hierarchy.as_ref().map(Hierarchy::version)
    }

    /// Makes group number `n`.
    ///
    /// # Errors
    /// It cannot be made, or no group was asked for.
    pub fn make_group(&self, n: u32, run: &mut Run) -> Result<Group> {
        let none = || LabError::Workload("there is no hierarchy of groups".to_owned());
        Ok(run.make_cgroup(self.hierarchy.as_ref().ok_or_else(none)?, n)?)
    }

    /// The line of a plan that says how much is written where.
    #[must_use]
    pub fn scratch_sentence(&self, size: Bytes) -> String {
        format!("scratch: {size} below {} ({}), removed afterwards", self.place.dir.display(), self.place.fs_type)
    }

    /// Where a run with a group happens, for its record.
    pub fn describe(&self, record: &mut RunRecord) {
        describe(record, self.version(), Some(&self.place));
    }

    /// The same of a run without.
    pub fn describe_place(&self, record: &mut RunRecord) {
        describe(record, None, Some(&self.place));
    }
}

/// Where a run happens, for its record: the version of its group, and the disk its files are on.
pub fn describe(record: &mut RunRecord, version: Option<Version>, place: Option<&Place>) {
    let (sandbox, number) = match version {
        Some(Version::V1) => ("cgroup-v1", 1),
        Some(Version::V2) => ("cgroup-v2", 2),
        None => ("none", 0),
    };
    (record.sandbox, record.machine.cgroup_version) = (sandbox.to_owned(), number);
    if let Some(place) = place {
        record.machine.scratch_fs.clone_from(&place.fs_type);
        record.machine.scratch_disk.clone_from(&place.device);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_says_in_which_sandbox_and_on_which_disk_it_was_made() {
        let place = ramline_kernel::place::describe("/".as_ref()).unwrap();
        let mut record = RunRecord::default();
        describe(&mut record, Some(Version::V1), Some(&place));
        assert_eq!((record.sandbox.as_str(), record.machine.cgroup_version), ("cgroup-v1", 1));
        assert_eq!(record.machine.scratch_fs, place.fs_type);
        describe(&mut record, None, None);
        assert_eq!((record.sandbox.as_str(), record.machine.cgroup_version), ("none", 0));
    }
}
