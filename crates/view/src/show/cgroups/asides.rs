//! What stands beside the table: what stands out, what others would say of the whole machine, and what was not seen.

use ramline_model::groups::{GroupMemory, NodeEviction, most};

use super::ShowCgroups;
use crate::prelude::*;
use ramline_sheet::text::name::short_ids;

/// Removed groups that still hold memory are said from this many on.
const MANY_DYING: u64 = 100;
/// No list is longer.
const NAMED: usize = 3;

impl ShowCgroups {
    /// What stands out: waiting, kills, hits of limits, growth.
    pub(super) fn notable(&self, sheet: &mut Sheet) {
        let groups = &self.shown.groups;
        let mut points = Vec::new();
        let mut say = |paint: Paint, head: &str, lines: Vec<String>| {
            let text = crate::cache::first(NAMED, lines.into_iter(), "; ");
            points.extend((!text.is_empty()).then(|| (paint, format!("{head}: {text}."))));
        };
        let waited = told(groups, GroupMemory::waited, |n| format!("{n:.2} %"));
        say(Paint::Bad, "Waited for memory in the last 10 s", waited);
        let events = |pick: fn(&GroupMemory) -> Option<u64>, one: &str| {
            told(groups, |g| pick(g).filter(|n| *n > 0), |n| number::things(n, one))
        };
        let kills = events(|g| g.events.oom_kills, "process");
        say(Paint::Bad, "Killed for want of memory since the group was made (counter)", kills);
        let hits = events(|g| g.events.limit_hits, "time");
        say(Paint::Warn, "At their limit since they were made (counter)", hits);
        let slowed = events(|g| g.events.high_hits, "time");
        say(Paint::Warn, "Slowed down at memory.high since they were made (counter)", slowed);
        if let Some(span) = self.span {
            let grown = told(groups, GroupMemory::grew, number::growth);
            say(Paint::Plain, &format!("Growth over {span}"), grown);
            let back = told(groups, GroupMemory::came_back, |n| format!("{} pages/s", number::figure(n)));
            say(Paint::Warn, &format!("Refaults over {span}"), back);
        }
        let dying: Option<u64> = groups.iter().filter(|g| g.parent.is_none()).map(|g| g.dying).max().flatten();
        points.extend(dying.filter(|n| *n >= MANY_DYING).map(|n| {
            let text = format!(
                "{} were removed and still hold memory (now): page cache or tmpfs that they were charged for; it goes when \
                 that is reclaimed or deleted.",
                number::things(n, "group")
            );
            (Paint::Warn, text)
        }));
        if !points.is_empty() {
            sheet.blank();
        }
        points.into_iter().for_each(|(paint, text)| sheet.painted(paint, text));
    }

    pub(super) fn node(&self, sheet: &mut Sheet) {
        let Some(node) = self.node else { return };
        sheet.heading("What other tools show for the whole machine (now)");
        let NodeEviction { available, capacity, working_set, .. } = node;
        let older = |bytes| format!(" ({bytes} in releases that count the top as MemTotal less MemFree)");
        let older = node.available_older.map(older).unwrap_or_default();
        sheet.point(
            "  ",
            format!(
                "kubelet's eviction, memory.available: {available}{older} = MemTotal {capacity} less working set {working_set}; working set = \
                 page cache and anonymous memory of the top, less inactive page cache. Active page cache and reclaimable slab count as used."
            ),
        );
        let kernel = |bytes| format!("the kernel, MemAvailable: {bytes}; what is available without swapping.");
        sheet.point("  ", node.kernel_says.map(kernel));
    }

    pub(super) fn missed(&self, sheet: &mut Sheet) {
        let mut said = Vec::new();
        let cut = "the deepest groups, for the walk ended at its bound of 20 s or 65,536 groups";
        said.extend((!self.complete && self.version.is_some()).then(|| cut.to_owned()));
        let vanished = number::things(self.vanished, "group");
        said.extend((self.vanished > 0).then(|| format!("{vanished} vanished while being read")));
        let branches = number::things(self.without_controller, "branch");
        let charged = || format!("{branches} without the memory controller are charged to the group above");
        said.extend((self.without_controller > 0).then(charged));
        if self.unreadable > 0 {
            let first: Vec<String> =
                self.unreadable_first.iter().take(NAMED).map(|u| format!("{} ({})", u.path, u.reason)).collect();
            said.push(format!("{} could not be read: {}", number::things(self.unreadable, "file"), first.join(", ")));
        }
        if !said.is_empty() {
            sheet.blank();
            sheet.line(format!("Not in these figures: {}.", said.join("; ")));
        }
    }
}

/// Each group for which there is something, the largest first: its path, and how much.
fn told<T: PartialOrd>(
    groups: &[GroupMemory],
    pick: impl Fn(&GroupMemory) -> Option<T>,
    words: impl Fn(T) -> String,
) -> Vec<String> {
    most(groups, pick).into_iter().map(|(group, n)| format!("{} {}", short_ids(&group.path), words(n))).collect()
}
