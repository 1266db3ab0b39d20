//! `show cgroups`: the tree of memory control groups, where each one's charge goes, and what could be taken from it.
//!
//! A shared page is charged to the group that touched it first.

mod asides;
mod one;

use ramline_model::groups::{
    self, GroupMemory, GroupTree, NoSuchGroup, NodeEviction, OwnerKind, PartId, Reading, Selected, Selection, Sort,
    Trouble,
};
use ramline_model::need;
use ramline_snapshot::cgroup::Version;
use ramline_snapshot::containers::Container;
use ramline_snapshot::{Seen, Unseen};

use crate::prelude::*;
use ramline_sheet::name;

/// Columns that the name of a group has at least, where the terminal allows.
const NAME: usize = 22;

/// The tree of memory control groups, or one of them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ShowCgroups {
    /// Version of this document.
    pub schema_version: u64,
    /// Interface; `None` where no group was seen.
    pub version: Option<Version>,
    /// Where the hierarchy is mounted.
    pub mount: String,
    /// Groups seen.
    pub count: u64,
    /// How they are ordered.
    pub sort: Sort,
    /// As a list and not as a tree.
    pub flat: bool,
    /// The groups shown.
    pub shown: Selected,
    /// The one that was asked for, with what other tools show for it.
    pub one: Option<OneGroup>,
    /// The group in the worst trouble at its limit now; `None` where there is none, and where one group was asked for.
    pub starving: Option<Trouble>,
    /// What the kubelet's eviction would compute for this machine.
    pub node: Option<NodeEviction>,
    /// Every swap area is zram: what goes there takes RAM again, compressed.
    pub swap_is_zram: bool,
    /// The walk came to its end within its bounds.
    pub complete: bool,
    /// Groups that vanished while they were read.
    pub vanished: u64,
    /// Groups whose use is charged to one above them (version 2 without the controller).
    pub without_controller: u64,
    /// Files that could not be used, all counted.
    pub unreadable: u64,
    /// The first few of them.
    pub unreadable_first: Vec<Unseen>,
    /// Time the walk took; `None` for a capture.
    pub cost: Option<Nanos>,
    /// Time between two walks, for growth and rates.
    pub span: Option<Nanos>,
    /// What could not be seen, and why.
    pub unseen: Vec<UnseenSection>,
}

/// One group in full.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OneGroup {
    /// The group.
    pub group: GroupMemory,
    /// What other tools show for it.
    pub readings: Vec<Reading>,
}

impl ShowCgroups {
    /// What it looks at.
    pub const WANTED: Wanted =
        Wanted { meminfo: true, groups: true, swaps: true, settings: true, containers: true, ..Wanted::NOTHING };

    /// The tree, from a snapshot; the window supplies growth and rates.
    #[must_use]
    pub fn new(snapshot: &Snapshot, window: Option<&Window<'_>>, selection: Selection) -> Self {
        let tree = groups::from_snapshot(snapshot, window);
        let shown = tree.as_ref().map(|tree| groups::select(tree, selection)).unwrap_or_default();
        ShowCgroups {
            sort: selection.sort,
            flat: selection.flat,
            shown,
            starving: groups::worst(snapshot, window).filter(|worst| worst.is_telling() || worst.is_now()),
            ..Self::frame(snapshot, window, tree.as_ref())
        }
    }

    /// One group; what is below it is in the list.
    ///
    /// # Errors
    /// No group or several go by that name.
    pub fn one(
        snapshot: &Snapshot,
        window: Option<&Window<'_>>,
        selection: Selection,
        name: &str,
    ) -> Result<Self, NoSuchGroup> {
        let Some(tree) = groups::from_snapshot(snapshot, window) else {
            return Ok(Self::frame(snapshot, window, None));
        };
        let at = groups::find(&tree, name)?;
        let group = tree.groups[at].clone();
        let mut readings = groups::readings(&group, snapshot);
        readings.extend(groups::missed(&group, snapshot));
        let children = GroupTree { groups: groups::children(&tree, at), ..tree.clone() };
        Ok(ShowCgroups {
            sort: selection.sort,
            flat: true,
            shown: groups::select(&children, Selection { flat: true, ..selection }),
            one: Some(OneGroup { group, readings }),
            ..Self::frame(snapshot, window, Some(&tree))
        })
    }

    fn frame(snapshot: &Snapshot, window: Option<&Window<'_>>, tree: Option<&GroupTree>) -> Self {
        let seen = snapshot.groups.data();
        let swaps = snapshot.swaps.data().map(Vec::as_slice).unwrap_or_default();
        let cost = match &snapshot.groups {
            Seen::Seen { cost, .. } => *cost,
            _ => None,
        };
        ShowCgroups {
            schema_version: SCHEMA_VERSION,
            version: tree.map(|t| t.version),
            mount: tree.map(|t| t.mount.clone()).unwrap_or_default(),
            count: tree.map_or(0, |t| t.groups.len() as u64),
            node: tree.and_then(|t| groups::node_eviction(t, snapshot)),
            swap_is_zram: !swaps.is_empty() && swaps.iter().all(|area| area.zram().is_some()),
            complete: seen.is_some_and(|s| s.complete),
            vanished: seen.map_or(0, |s| s.vanished),
            without_controller: seen.map_or(0, |s| s.without_controller),
            unreadable: seen.map_or(0, |s| s.unreadable),
            unreadable_first: seen.map(|s| s.unseen.clone()).unwrap_or_default(),
            cost,
            span: window.map(|w| w.span),
            unseen: super::unseen_of(snapshot, &["groups", "meminfo"]),
            ..ShowCgroups::default()
        }
    }

    fn headline(&self, sheet: &mut Sheet, version: Version) {
        let count = number::things(self.count, "memory control group");
        sheet.answer(Paint::Bold, format!("{count}; each line is a group with all below it (now)."));
        sheet.dim(match version {
            Version::V1 => format!(
                "Version 1, {}. The top: all page cache and anonymous memory, and the kernel memory of the groups.",
                self.mount
            ),
            Version::V2 => format!("Version 2, {}.", self.mount),
        });
    }

    /// What tells least goes first where there is little room; what it is sorted by stays.
    fn table(&self, sheet: &mut Sheet) {
        let sized = |head: &str, rank: u8| {
            let column = Column::right(head);
            if head == self.sort.column() { column } else { column.rank(rank) }
        };
        // Nothing is left empty, so that a column of nothing goes away.
        let some = |bytes: Option<Bytes>| bytes.filter(|b| b.0 > 0);
        let full = |group: &GroupMemory| if group.is_near_limit() { Paint::Warn } else { Paint::Plain };
        let limit = |group: &GroupMemory| some(group.bound.max.and_then(Limit::bytes));
        let groups = &self.shown.groups;
        let largest = groups.iter().filter_map(|g| g.current).max().unwrap_or_default();
        let name = if self.is_list() { Column::wrapped("group") } else { Column::name("group") };
        let table = Table::from_rows(groups)
            .keyed(|group| group.path.clone())
            .column(name.at_least(NAME), |group| self.label(group))
            .right("charged", |group| group.current.map_or("not known".to_owned(), |b| b.to_string()))
            .column(Column::left("").rank(5), |group| Cell::bar(group.current.and_then(|b| b.share_of(largest))))
            .column(sized("itself", 0), |group| group.own.filter(|_| self.sort == Sort::Own))
            .column(sized("anon", 2), |group| some(group.part(PartId::Anon)))
            .column(sized("cache", 1), |group| some(Some(group.file())))
            .column(sized("shmem", 7), |group| some(group.part(PartId::Shmem)))
            .column(sized("kernel", 6), |group| some(Some(group.kernel())))
            .column(sized("freeable", 0), |group| some(Some(group.reclaim.now)))
            .column(sized("swap", 3), |group| some(group.swap))
            .column(sized("limit", 4), |group| Cell::painted(full(group), limit(group)));
        sheet.table(table);
        if self.shown.left_out > 0 && self.one.is_none() {
            let largest = self.shown.largest_left_out.map(|b| format!(", the largest {b}")).unwrap_or_default();
            let more = number::things(self.shown.left_out, "more group");
            sheet.dim(format!("{more} left out{largest}; all with --all."));
        }
    }

    /// Paths instead of a tree.
    const fn is_list(&self) -> bool {
        self.flat && self.one.is_none()
    }

    /// The name of a group in the tree, or its path in a list.
    fn label(&self, group: &GroupMemory) -> Cell {
        if self.is_list() {
            return name::short_ids(&group.path).into();
        }
        let last = group.path.rsplit('/').next().unwrap_or_default();
        let mut cell = Cell::from(if last.is_empty() { "/".to_owned() } else { named(group, last) });
        // Where there is no room for all of it: its own name, or the id where it has none.
        if let Some(owner) = group.owner.as_ref().filter(|o| o.kind.is_container() && last.contains(&o.name)) {
            let name = group.container.as_ref().and_then(|container| container.name.as_ref());
            cell = cell.or(name.unwrap_or(&owner.name));
        }
        cell.at_depth(if self.flat { 0 } else { group.depth })
    }

    fn footer(&self, sheet: &mut Sheet) {
        sheet.blank();
        let cost =
            self.cost.map(|cost| format!(": {} took {cost}", number::things(self.count, "group"))).unwrap_or_default();
        sheet.dim(format!(
            "freeable: what reclaim could take at once, without swap, at most; what must be written first is not in it. A page is charged to the group that touched it \
             first. Reading makes the kernel bring each group's counters up to date{cost}."
        ));
        match &self.one {
            Some(one) if need::fills_limit(&one.group) => {
                sheet.next(&format!("sudo ramline need {}", ramline_units::quoted(&one.group.path)));
            }
            Some(_) => sheet.next("ramline show cgroups"),
            None => match &self.starving {
                Some(worst) => sheet.next(&format!("sudo ramline need {}", ramline_units::quoted(&worst.path))),
                None => sheet.next("ramline show cgroups GROUP"),
            },
        }
    }
}

impl Screen for ShowCgroups {
    fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::new();
        match (&self.one, self.version) {
            (Some(one), _) => {
                one::group(&mut sheet, self, one);
                if !self.shown.groups.is_empty() {
                    sheet.heading("Directly below it (now, each with all below it)");
                    self.table(&mut sheet);
                }
            }
            (None, Some(version)) => {
                self.headline(&mut sheet, version);
                sheet.blank();
                self.table(&mut sheet);
                self.notable(&mut sheet);
                self.node(&mut sheet);
            }
            (None, None) => sheet.answer(Paint::Bold, "No memory control group was seen."),
        }
        self.missed(&mut sheet);
        super::unseen(&mut sheet, &self.unseen);
        if self.version.is_some() {
            self.footer(&mut sheet);
        }
        sheet
    }
}

/// The last part of a path, or what an engine calls the container.
fn named(group: &GroupMemory, last: &str) -> String {
    let words = group.container.as_ref().and_then(Container::words);
    match &group.owner {
        Some(owner) if owner.kind.is_container() && last.contains(&owner.name) && last.len() > 40 => {
            format!("{} {}", owner.kind, words.as_ref().unwrap_or(&owner.name))
        }
        Some(owner) if owner.kind == OwnerKind::Pod && last.len() > 40 => {
            format!("pod {}", words.as_ref().unwrap_or(&owner.name))
        }
        _ => name::short_ids(last),
    }
}
