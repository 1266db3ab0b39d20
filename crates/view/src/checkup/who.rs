//! Who uses the memory, for the report of a checkup: the largest programs and the largest control groups.
//!
//! The first lines of `show processes` and `show cgroups`, as data.

use ramline_model::groups;
use ramline_model::processes::{By, Spread, Who};

use crate::prelude::*;

/// So many of each: what is beyond is on the screens of their own.
const ROWS: usize = 8;

/// Who uses the memory.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WhoUses {
    /// The programs that hold most, the largest first; empty where processes were not seen.
    pub programs: Vec<ProgramUse>,
    /// Processes that were seen, kernel threads left out.
    pub processes: u64,
    /// What all processes hold together, each page counted once.
    pub whole: Option<Spread>,
    /// The control groups with the largest charge of their own, the largest first; empty where there are none.
    pub groups: Vec<GroupUse>,
}

/// What the processes of one program hold.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ProgramUse {
    /// The program's name.
    pub name: String,
    /// Its processes.
    pub processes: u64,
    /// What they hold in RAM, each page counted once over the whole machine. Gauge.
    pub holds: Spread,
    /// What they have in swap. Gauge.
    pub swap: Bytes,
}

/// What one control group is charged with.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GroupUse {
    /// Path below the hierarchy's mount.
    pub path: String,
    /// Charged to itself, groups below left out. Gauge.
    pub own: Bytes,
    /// The hard limit of the group; `None` where it was not seen.
    pub limit: Option<Limit>,
}

impl WhoUses {
    /// The users of memory in a snapshot; `None` where neither processes nor groups were seen.
    #[must_use]
    pub fn from_snapshot(snapshot: &Snapshot, window: Option<&Window<'_>>) -> Option<WhoUses> {
        let who = Who::from_snapshot(snapshot, window, By::Program);
        let tree = groups::from_snapshot(snapshot, window);
        if who.is_none() && tree.is_none() {
            return None;
        }
        let mut rows = who.as_ref().map(|who| who.rows.clone()).unwrap_or_default();
        ramline_units::sort_by_key(&mut rows, |row| std::cmp::Reverse(row.holds.value));
        let programs = rows.into_iter().take(ROWS).map(|row| ProgramUse {
            name: row.name,
            processes: row.processes,
            holds: row.holds,
            swap: row.swap,
        });
        Some(WhoUses {
            programs: programs.collect(),
            processes: who.as_ref().map_or(0, |who| who.processes),
            whole: who.map(|who| who.whole),
            groups: tree.map(|tree| largest(&tree)).unwrap_or_default(),
        })
    }

    /// What each program holds, of what the largest holds.
    pub fn shares(&self) -> impl Iterator<Item = Option<f64>> + '_ {
        let largest = self.programs.iter().map(|program| program.holds.value).max().unwrap_or_default();
        self.programs.iter().map(move |program| program.holds.value.share_of(largest))
    }

    /// `java 1.2 GiB (3 processes), postgres 300 MiB`: the first few, for one line.
    #[must_use]
    pub fn words(&self, count: usize) -> String {
        let one = |program: &ProgramUse| match program.processes {
            1 => format!("{} {}", program.name, program.holds.value),
            many => format!("{} {} ({many} processes)", program.name, program.holds.value),
        };
        self.programs.iter().take(count).map(one).collect::<Vec<_>>().join(", ")
    }
}

/// The root group holds what no group was charged with: that is no user.
fn largest(tree: &groups::GroupTree) -> Vec<GroupUse> {
    let own = |group: &groups::GroupMemory| {
        let own = u64::try_from(group.own?.0).ok().filter(|own| *own > 0)?;
        (group.path != "/").then(|| GroupUse { path: group.path.clone(), own: Bytes(own), limit: group.bound.max })
    };
    let mut out: Vec<GroupUse> = tree.groups.iter().filter_map(own).collect();
    ramline_units::sort_by_key(&mut out, |group| std::cmp::Reverse(group.own));
    out.truncate(ROWS);
    out
}
