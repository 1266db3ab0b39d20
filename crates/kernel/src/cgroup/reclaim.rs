//! Whether memory of a group is being reclaimed: by its limits, by those above it, or because the whole machine is short.

use ramline_units::growth;

use super::{Existing, Hierarchy};
use crate::prelude::*;

/// Counters that grow with reclaim, as they were when last looked at.
#[derive(Debug)]
pub struct ReclaimCount {
    /// The group and those above it; empty where it is not known.
    groups: Vec<Existing>,
    last: u64,
}

impl ReclaimCount {
    /// The directory of a process's group; `None` where no hierarchy has the memory controller.
    #[must_use]
    pub fn group_of(root: &Root, pid: u32) -> Option<PathBuf> {
        let hierarchy = Hierarchy::detect(root).ok()?;
        let path = hierarchy.group_of(root, pid).ok()?;
        Some(hierarchy.mount.join(path.trim_start_matches('/')))
    }

    /// Begins to count for the group with this directory; without one, for the machine alone.
    #[must_use]
    pub fn new(root: &Root, group: Option<PathBuf>) -> ReclaimCount {
        let above: Vec<PathBuf> = group.iter().flat_map(|dir| dir.ancestors().map(Path::to_owned)).collect();
        let groups = above.iter().map_while(|dir| Existing::open(dir).ok()).collect();
        let mut count = ReclaimCount { groups, last: 0 };
        count.last = count.now(root);
        count
    }

    fn now(&self, root: &Root) -> u64 {
        let of_machine = read_text(&root.path("/proc/vmstat")).unwrap_or_default();
        let scanned = super::stat::table(&of_machine);
        let machine = ["pgscan_kswapd", "pgscan_direct"].iter().filter_map(|name| scanned.get(*name)).sum::<u64>();
        // Version 2 counts scanned pages, also where a limit above is the reason; version 1 only how often a limit was hit.
        let of = |group: &Existing| group.stat().map(|stat| stat.pgscan.or(stat.limit_hits).unwrap_or(0)).unwrap_or(0);
        machine.saturating_add(self.groups.iter().map(of).sum())
    }

    /// Whether there was reclaim since the last call. A group that is gone has none.
    pub fn grew(&mut self, root: &Root) -> bool {
        let now = self.now(root);
        let grew = growth(self.last, now).is_some_and(|more| more > 0);
        self.last = now;
        grew
    }
}
