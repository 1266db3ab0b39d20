//! `show cgroups`: the tree of memory control groups, where each one's charge goes, and what could be taken from it.
//!
//! What it is not: a list of who uses a shared page; the group that touched it first is charged.

mod asides;
mod one;

use ramline_model::groups::{
    self, GroupMemory, GroupTree, NoSuchGroup, NodeEviction, OwnerKind, PartId, Reading, Selected, Selection, Sort,
};
use ramline_snapshot::cgroup::Version;
use ramline_snapshot::{Seen, Snapshot, Unseen, Window};
use ramline_units::{Bytes, Limit, Nanos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::escape;
use crate::report::{SCHEMA_VERSION, UnseenSection};
use crate::text::{Cell, Column, Page, Paint, Style, Table, number, width};

/// Columns that the name of a group has at least, where the terminal allows.
const NAME: usize = 18;

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
    /// The tree, from a snapshot; the window supplies growth and rates.
    #[must_use]
    pub fn new(snapshot: &Snapshot, window: Option<&Window<'_>>, selection: Selection) -> Self {
        let tree = groups::of(snapshot, window);
        let shown = tree.as_ref().map(|tree| groups::select(tree, selection)).unwrap_or_default();
        ShowCgroups {
            sort: selection.sort,
            flat: selection.flat,
            shown,
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
        let Some(tree) = groups::of(snapshot, window) else { return Ok(Self::frame(snapshot, window, None)) };
        let at = groups::find(&tree, name)?;
        let group = tree.groups[at].clone();
        let readings = groups::readings(&group, snapshot);
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

    /// The screen.
    #[must_use]
    pub fn text(&self, style: &Style) -> String {
        let mut page = Page::new(style);
        match (&self.one, self.version) {
            (Some(one), _) => {
                one::text(&mut page, self, one);
                if !self.shown.groups.is_empty() {
                    page.heading("Directly below it (now, each with all below it)");
                    self.table(&mut page);
                }
            }
            (None, Some(version)) => {
                self.headline(&mut page, version);
                page.blank();
                self.table(&mut page);
                self.notable(&mut page);
                self.node(&mut page);
            }
            (None, None) => page.bold("No memory control group was seen."),
        }
        self.missed(&mut page);
        super::unseen(&mut page, &self.unseen);
        if self.version.is_some() {
            self.footer(&mut page);
        }
        page.finish()
    }

    fn headline(&self, page: &mut Page<'_>, version: Version) {
        let version = if version == Version::V1 { "1" } else { "2" };
        let count = number::things(self.count, "memory control group");
        page.bold(&format!(
            "{count} below {} (version {version}); each line is a group with all below it (now).",
            self.mount
        ));
        if version == "1" {
            page.dim("The top: all page cache and anonymous memory, and the kernel memory of the groups.");
        }
    }

    fn table(&self, page: &mut Page<'_>) {
        let groups = &self.shown.groups;
        // Nothing is left empty, so that a column of nothing goes away.
        let some = |bytes: Option<Bytes>| bytes.filter(|b| b.0 > 0).map(|b| b.to_string()).unwrap_or_default();
        let mut columns: Vec<(&str, Vec<String>)> = vec![
            ("charged", groups.iter().map(|g| g.current.map_or("not known".to_owned(), |b| b.to_string())).collect()),
            ("anon", groups.iter().map(|g| some(g.part(PartId::Anon))).collect()),
            ("cache", groups.iter().map(|g| some(Some(g.file()))).collect()),
            ("shmem", groups.iter().map(|g| some(g.part(PartId::Shmem))).collect()),
            ("kernel", groups.iter().map(|g| some(Some(g.kernel()))).collect()),
            ("freeable", groups.iter().map(|g| some(Some(g.reclaim.now))).collect()),
            ("swap", groups.iter().map(|g| some(g.swap)).collect()),
            ("limit", groups.iter().map(|g| some(g.bound.max.and_then(Limit::bytes))).collect()),
        ];
        if self.sort == Sort::Own {
            columns.insert(
                1,
                ("itself", groups.iter().map(|g| g.own.map(|b| b.to_string()).unwrap_or_default()).collect()),
            );
        }
        columns.retain(|(_, cells)| cells.iter().any(|cell| !cell.is_empty()));
        let room = |columns: &[(&str, Vec<String>)]| {
            let widest = |(head, cells): &(&str, Vec<String>)| {
                cells.iter().map(|cell| width(cell)).max().unwrap_or(0).max(width(head)) + 2
            };
            page.style().width.saturating_sub(columns.iter().map(widest).sum())
        };
        // A name needs room: what tells least goes first. The JSON document has it all.
        for dropped in ["shmem", "kernel", "limit", "swap", "anon", "cache", "freeable"] {
            if room(&columns) >= NAME {
                break;
            }
            let asked = dropped == self.sort.column();
            columns.retain(|(head, _)| *head != dropped || asked);
        }
        let name = room(&columns).max(12);
        let mut heads = vec![if self.flat { Column::wrapped("group").at_most(name) } else { Column::left("group") }];
        heads.extend(columns.iter().map(|(head, _)| Column::right(head)));
        let mut table = Table::new(heads);
        for (at, group) in groups.iter().enumerate() {
            let mut row = vec![Cell::from(self.label(group, name))];
            row.extend(columns.iter().map(|(head, cells)| {
                let paint = if *head == "limit" && is_full(group) { Paint::Warn } else { Paint::Plain };
                Cell::painted(paint, &cells[at])
            }));
            table.cells(row);
        }
        page.table(&table);
        if self.shown.left_out > 0 && self.one.is_none() {
            let largest = self.shown.largest_left_out.map(|b| format!(", the largest {b}")).unwrap_or_default();
            page.dim(&format!(
                "{} left out{largest}; all with --all.",
                number::things(self.shown.left_out, "more group")
            ));
        }
    }

    /// The name of a group in the tree, or its path in a list.
    fn label(&self, group: &GroupMemory, columns: usize) -> String {
        if self.flat && self.one.is_none() {
            return shortened(&group.path);
        }
        let depth = if self.flat { 0 } else { group.depth };
        let last = group.path.rsplit('/').next().unwrap_or_default();
        let mut name = if last.is_empty() { "/".to_owned() } else { name(group, last) };
        if let Some(owner) = group.owner.as_ref().filter(|o| o.kind.is_container() && last.contains(&o.name)) {
            // Of containers the id tells one from the other; it goes first where there is no room for both.
            if width(&name) + depth.min(8) * 2 > columns {
                name.clone_from(&owner.name);
            }
        }
        format!("{}{}", "  ".repeat(depth.min(8)), cut(&name, columns.saturating_sub(depth.min(8) * 2).max(12)))
    }

    fn footer(&self, page: &mut Page<'_>) {
        page.blank();
        let cost =
            self.cost.map(|cost| format!(": {} took {cost}", number::things(self.count, "group"))).unwrap_or_default();
        page.dim(&format!(
            "freeable: what reclaim could take at once, without swap, at most; what must be written first is not in it. A page is charged to the group that touched it \
             first. Reading makes the kernel bring each group's counters up to date{cost}."
        ));
        page.dim(if self.one.is_some() { "Next: ramline show cgroups" } else { "Next: ramline show cgroups GROUP" });
    }
}

/// Nearly at its own limit.
fn is_full(group: &GroupMemory) -> bool {
    let limit = group.bound.max.and_then(Limit::bytes);
    group.current.zip(limit).and_then(|(current, limit)| current.share_of(limit)).is_some_and(|share| share > 0.95)
}

/// The last part of a path, or what an engine calls the container.
fn name(group: &GroupMemory, last: &str) -> String {
    match &group.owner {
        Some(owner) if owner.kind.is_container() && last.contains(&owner.name) && last.len() > 40 => {
            format!("{} {}", owner.kind.label(), owner.name)
        }
        Some(owner) if owner.kind == OwnerKind::Pod && last.len() > 40 => format!("pod {}", owner.name),
        _ => shortened(last),
    }
}

/// A name in so many columns: its beginning and its end, which tells more than the middle.
fn cut(name: &str, columns: usize) -> String {
    let name = escape(name);
    if width(&name) <= columns {
        return name.into_owned();
    }
    let letters: Vec<char> = name.chars().collect();
    let (mut head, mut tail) = (String::new(), String::new());
    // A letter may take two columns: from both ends inwards, as long as there is room.
    for (first, last) in letters.iter().zip(letters.iter().rev()) {
        let longer = (format!("{head}{first}"), format!("{last}{tail}"));
        if width(&longer.0) + width(&longer.1) + 2 > columns {
            break;
        }
        (head, tail) = longer;
    }
    format!("{head}..{tail}")
}

/// A path with long ids cut to the 12 digits that engines show: 32 hexadecimal digits and more are no word.
pub(crate) fn shortened(path: &str) -> String {
    let mut out = String::new();
    let mut run = 0;
    for c in path.chars() {
        run = if c.is_ascii_hexdigit() { run + 1 } else { 0 };
        out.push(c);
        match run {
            32 => out.truncate(out.len() - 20),
            33.. => drop(out.pop()),
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_cut_to_twelve_digits_and_words_are_not() {
        let hex = "0123456789abcdef";
        assert_eq!(shortened(&format!("/a/docker-{}.scope", hex.repeat(4))), "/a/docker-0123456789ab.scope");
        assert_eq!(shortened(&format!("/{}/x", hex.repeat(2))), "/0123456789ab/x");
        assert_eq!(shortened(&format!("/{hex}")), format!("/{hex}"));
    }

    #[test]
    fn a_long_name_keeps_its_beginning_and_its_end() {
        assert_eq!(cut("systemd-networkd-wait-online.service", 20), "systemd-n..e.service");
        assert_eq!(cut("short", 20), "short");
        assert!(width(&cut(&"メモリ".repeat(20), 21)) <= 21);
        assert!(width(&cut(&"\u{7}".repeat(20), 12)) <= 12);
    }
}
