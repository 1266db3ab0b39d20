//! Which groups are worth a line: the largest by one measure, with the groups above them, or one that was asked for.

use super::{GroupMemory, GroupTree, PartId};
use crate::prelude::*;

worded! {
    /// By what groups are put in order, largest first.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum Sort {
        /// Memory charged, all below included.
        #[default]
        Charged = "charged",
        /// Charged to the group itself.
        Own = "itself",
        /// Anonymous memory.
        Anon = "anon",
        /// Page cache.
        Cache = "cache",
        /// Shared memory and tmpfs.
        Shmem = "shmem",
        /// Kernel memory.
        Kernel = "kernel",
        /// What reclaim could take at once.
        Reclaimable = "freeable",
        /// Swap.
        Swap = "swap",
        /// Share of time spent waiting for memory in the last 10 s.
        Pressure = "",
        /// Growth over the window.
        Growth = "",
        /// Kills since the group was made.
        Kills = "",
    }
    /// The column of the table it is shown in; empty where it has none.
    column
}

/// What to show.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Selection {
    /// The order.
    pub sort: Sort,
    /// This many groups, and those above them; `None` for all.
    pub top: Option<usize>,
    /// Not deeper than this; `None` for all.
    pub depth: Option<usize>,
    /// A list in order instead of a tree: then without the groups above.
    pub flat: bool,
}

/// The groups that were chosen.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Selected {
    /// In the order they are shown; `parent` is an index into this list.
    pub groups: Vec<GroupMemory>,
    /// Groups left out.
    pub left_out: u64,
    /// What the largest of them has by the chosen order, where that is memory.
    pub largest_left_out: Option<Bytes>,
}

/// The measure as a number to compare; missing is least.
#[expect(clippy::cast_precision_loss, reason = "an order does not need the last bits")]
fn key(group: &GroupMemory, sort: Sort) -> f64 {
    let bytes = |bytes: Option<Bytes>| bytes.map_or(-1.0, Bytes::as_f64);
    match sort {
        Sort::Charged => bytes(group.current),
        Sort::Own => group.own.map_or(-1.0, |own| own.0 as f64),
        Sort::Anon => bytes(group.part(PartId::Anon)),
        Sort::Cache => group.file().as_f64(),
        Sort::Shmem => bytes(group.part(PartId::Shmem)),
        Sort::Kernel => group.kernel().as_f64(),
        Sort::Reclaimable => group.reclaim.now.as_f64(),
        Sort::Swap => bytes(group.swap),
        Sort::Pressure => group.pressure.as_ref().and_then(|p| p.some).map_or(-1.0, |some| some.avg10),
        Sort::Growth => group.rates.and_then(|r| r.growth).unwrap_or(f64::NEG_INFINITY),
        Sort::Kills => group.events.oom_kills.map_or(-1.0, |n| n as f64),
    }
}

/// Chooses and orders.
#[must_use]
pub fn select(tree: &GroupTree, selection: Selection) -> Selected {
    let all = &tree.groups;
    let larger = |a: &usize, b: &usize| {
        let by_key = key(&all[*b], selection.sort).total_cmp(&key(&all[*a], selection.sort));
        by_key.then_with(|| a.cmp(b))
    };
    let mut ranked: Vec<usize> =
        (0..all.len()).filter(|at| selection.depth.is_none_or(|deepest| all[*at].depth <= deepest)).collect();
    ramline_units::sort_by(&mut ranked, larger);
    let cut = selection.top.unwrap_or(usize::MAX).min(ranked.len());
    let order = if selection.flat { ranked[..cut].to_vec() } else { as_tree(all, &ranked[..cut], larger) };
    let mut place = vec![None; all.len()];
    for (new, old) in order.iter().enumerate() {
        place[*old] = Some(new);
    }
    let groups = order
        .iter()
        .map(|at| GroupMemory { parent: all[*at].parent.and_then(|parent| place[parent]), ..all[*at].clone() })
        .collect();
    let memory = !selection.sort.column().is_empty();
    let largest_left_out = ranked[cut..].iter().find(|at| place[**at].is_none()).filter(|_| memory);
    Selected {
        left_out: all.len().saturating_sub(order.len()) as u64,
        largest_left_out: largest_left_out.map(|at| bytes_of(key(&all[*at], selection.sort))),
        groups,
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it was a number of bytes before")]
fn bytes_of(key: f64) -> Bytes {
    Bytes(key.max(0.0) as u64)
}

/// The chosen groups with those above them, siblings in order, a parent before its children.
fn as_tree(all: &[GroupMemory], chosen: &[usize], larger: impl Fn(&usize, &usize) -> std::cmp::Ordering) -> Vec<usize> {
    let mut shown = vec![false; all.len()];
    for at in chosen {
        let mut way = Some(*at);
        while let Some(at) = way.filter(|at| !shown[*at]) {
            shown[at] = true;
            way = all[at].parent;
        }
    }
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); all.len()];
    let mut waiting: Vec<usize> = Vec::new();
    for at in (0..all.len()).filter(|at| shown[*at]) {
        match all[at].parent {
            Some(parent) => children[parent].push(at),
            None => waiting.push(at),
        }
    }
    ramline_units::sort_by(&mut waiting, &larger);
    waiting.reverse();
    let mut order = Vec::new();
    while let Some(at) = waiting.pop() {
        order.push(at);
        ramline_units::sort_by(&mut children[at], &larger);
        waiting.extend(children[at].iter().rev());
    }
    order
}

/// No group, or more than one, goes by that name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoSuchGroup {
    /// None does.
    #[error("no control group goes by '{}'; give its path below the mount, its last part, or the id of a container\n  try: ramline show cgroups", .0.escape_debug())]
    None(String),
    /// Several do.
    #[error("{} control groups go by '{}', the first two at {} and {}; give the whole path\n  try: ramline show cgroups --flat", count, name.escape_debug(), first.escape_debug(), second.escape_debug())]
    Several {
        /// As asked.
        name: String,
        /// How many.
        count: usize,
        /// One of them.
        first: String,
        /// Another.
        second: String,
    },
}

/// The group that goes by `name`: its path (below the mount or with it), the last part of its path, its owner's name or
/// a container's id, or where nothing goes by that, the beginning of a last part; beginnings have at least four characters.
///
/// # Errors
/// No group or several go by that name.
pub fn find(tree: &GroupTree, name: &str) -> Result<usize, NoSuchGroup> {
    let below = name.strip_prefix(tree.mount.as_str()).filter(|rest| rest.is_empty() || rest.starts_with('/'));
    let path = below.unwrap_or(name).trim_matches('/');
    if let Some(exact) = tree.groups.iter().position(|g| g.path.trim_matches('/') == path) {
        return Ok(exact);
    }
    let goes_by = |g: &GroupMemory| {
        let last = g.path.rsplit('/').next().unwrap_or_default();
        let short = name.get(..12).unwrap_or(name);
        let id = |o: &super::Owner| {
            o.kind.is_container() && name.len() >= 4 && last.contains(&o.name) && o.name.starts_with(short)
        };
        let is_named = g.container.as_ref().is_some_and(|of| {
            !of.id.is_empty()
                && last.contains(&of.id)
                && (of.name.as_deref() == Some(name) || of.words().as_deref() == Some(name))
        });
        is_named
            || last == name
            || g.owner.as_ref().is_some_and(|o| last.starts_with(&o.name) && o.name == name || id(o))
    };
    let begins =
        |g: &GroupMemory| name.len() >= 4 && g.path.rsplit('/').next().is_some_and(|last| last.starts_with(name));
    let all = |goes: &dyn Fn(&GroupMemory) -> bool| -> Vec<usize> {
        (0..tree.groups.len()).filter(|at| goes(&tree.groups[*at])).collect()
    };
    let mut found = all(&goes_by);
    if found.is_empty() {
        found = all(&begins);
    }
    match found.as_slice() {
        [one] => Ok(*one),
        [] => Err(NoSuchGroup::None(name.to_owned())),
        [a, b, ..] => Err(NoSuchGroup::Several {
            name: name.to_owned(),
            count: found.len(),
            first: tree.groups[*a].path.clone(),
            second: tree.groups[*b].path.clone(),
        }),
    }
}

/// The groups one step below `at`.
#[must_use]
pub fn children(tree: &GroupTree, at: usize) -> Vec<GroupMemory> {
    tree.groups.iter().filter(|g| g.parent == Some(at)).map(|g| GroupMemory { parent: None, ..g.clone() }).collect()
}
