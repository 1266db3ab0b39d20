//! The same for one control group: what container tools would call its use.

use ramline_snapshot::Snapshot;
use ramline_snapshot::cgroup::{Group, Version};
use ramline_units::{Bytes, Deserialize, JsonSchema, Serialize};

use super::counter::Inputs;
use super::recipes::GROUP;
use super::{Row, Spread, rows, spread};

/// The tools that speak of one group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GroupTable {
    /// The group, below the hierarchy's mount.
    pub path: String,
    /// Its own limit; `None` without one.
    pub limit: Option<Bytes>,
    /// The tools.
    pub rows: Vec<Row>,
    /// `None` when all show the same.
    pub spread: Option<Spread>,
}

/// The group we are in; `None` when that is the root, of which container tools do not speak.
#[must_use]
pub fn own_group(snapshot: &Snapshot) -> Option<GroupTable> {
    let cgroups = snapshot.cgroups.data()?;
    cgroups.own.as_ref().and_then(|own| table(own, cgroups.version))
}

/// The group of this path: below the mount (`/system.slice/x.service`), or as the directory it is. `None` when there is none
/// of that name, or nothing of its memory could be read.
#[must_use]
pub fn of_group(snapshot: &Snapshot, path: &str) -> Option<GroupTable> {
    let wanted = path.trim_end_matches('/');
    let is = |group: &&Group| {
        let known = group.path.trim_end_matches('/');
        let below = wanted.strip_prefix("/sys/fs/cgroup");
        known.trim_start_matches('/') == wanted.trim_start_matches('/')
            || (!known.is_empty()
                && below.is_some_and(|below| below == known || below.strip_prefix("/memory") == Some(known)))
    };
    let all = snapshot.groups.data();
    let few = snapshot.cgroups.data();
    let found = all
        .and_then(|groups| Some((groups.list.iter().find(is)?, groups.version?)))
        .or_else(|| few.and_then(|few| few.own.iter().chain([&few.root]).find(is).map(|group| (group, few.version))));
    found.and_then(|(group, version)| table(group, version))
}

fn table(group: &Group, version: Version) -> Option<GroupTable> {
    // The root of version 2 has none: container tools do not speak of it.
    group.current?;
    let inputs = Inputs::of_group(group, version);
    let rows = rows(&inputs, GROUP);
    let spread = spread(&inputs, &rows, GROUP);
    let limit = group.max.and_then(ramline_units::Limit::bytes);
    Some(GroupTable { path: group.path.clone(), limit, rows, spread })
}
