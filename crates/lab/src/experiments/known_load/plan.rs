//! What a series of known-load will do, checked against the machine, for the reader to agree to.

use super::load_options::{LoadOptions, NAME};
use crate::limited::plan::{SeriesRequest, global};
use crate::prelude::*;

/// What will be done.
#[derive(Debug, Clone)]
pub struct KnownLoadPlan {
    /// Its options.
    pub options: LoadOptions,
    /// Where scratch files go.
    pub place: Place,
    /// The hierarchy the group is made in.
    pub hierarchy: Hierarchy,
    /// What is written to the disk at once.
    pub scratch: Bytes,
    /// What is made or changed outside the group.
    pub global: Vec<String>,
    /// What makes the timing doubtful but not impossible.
    pub doubts: Vec<String>,
}

impl KnownLoadPlan {
    /// Looks at the machine and says what would be done.
    ///
    /// # Errors
    /// `Refused` with every reason; nothing has been touched.
    pub fn checked(root: &Root, options: LoadOptions) -> Result<KnownLoadPlan> {
        let swap = options.swap_sizes();
        let scratch = image_size(options.bytes(true)) + swap.on_disk(&options.arms);
        let command = format!("ramline lab run {NAME}");
        let caller =
            Caller { command: &command, smaller: "--size 16MiB", without_swap: "--arms as-configured,no-swap" };
        let mut check = Check::new(root, caller);
        if is_unprivileged() {
            let text = "a memory cgroup with a file system of its own needs root";
            check.extend([Reason::privilege(text, format!("sudo {command}"))]);
        }
        let hierarchy = check.hierarchy();
        let (arms, limit) = (&options.arms, options.limit);
        let (dir, allow_busy) = (options.dir.as_deref(), options.allow_busy);
        let (place, doubts) =
            SeriesRequest { name: NAME, arms, limit, scratch, dir, allow_busy }.look(root, &mut check)?;
        let (hierarchy, place) = check.conclude(hierarchy.zip(place))?;
        let global = global(root, swap, arms, hierarchy.version());
        Ok(KnownLoadPlan { options, place, hierarchy, scratch, global, doubts })
    }

    /// The plan in sentences.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let LoadOptions { load, limit, arms, runs, timeout, .. } = &self.options;
        let demand = self.options.demand();
        let beyond = match demand.saturating_sub(*limit) {
            Bytes::ZERO => "which fits".to_owned(),
            beyond => format!("{beyond} too much"),
        };
        let (rounds, touches) = (load.round_count(), load.touches_of_a_round());
        vec![
            format!("{}; each at most {} s of rounds", counted(arms.len(), "settings", *runs), timeout.as_secs()),
            format!("{}: {rounds} rounds of {touches} touches over {demand}", load.name()),
            format!("in a memory cgroup limited to {limit}: {beyond}"),
            scratch_line(&format!(": up to {}", self.scratch), &self.place),
        ]
    }
}
