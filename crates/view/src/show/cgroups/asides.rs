//! What stands beside the table: what stands out, what others would say of the whole machine, and what was not seen.

use ramline_model::groups::GroupMemory;

use super::{ShowCgroups, one, shortened};
use crate::text::{Page, Paint, number};

/// Removed groups that still hold memory are said from this many on.
const MANY_DYING: u64 = 100;
/// No list is longer.
const NAMED: usize = 3;

impl ShowCgroups {
    /// What stands out: waiting, kills, hits of limits, growth.
    pub(super) fn notable(&self, page: &mut Page<'_>) {
        let groups = &self.shown.groups;
        let mut points = Vec::new();
        let mut say = |paint: Paint, head: &str, mut lines: Vec<(f64, String)>| {
            lines.sort_by(|a, b| b.0.total_cmp(&a.0));
            let more = lines.len().saturating_sub(NAMED);
            let mut text: Vec<String> = lines.into_iter().take(NAMED).map(|(_, line)| line).collect();
            if more > 0 {
                text.push(format!("{more} more"));
            }
            if !text.is_empty() {
                points.push((paint, format!("{head}: {}.", text.join("; "))));
            }
        };
        let below_top = || groups.iter().filter(|g| g.depth > 0);
        let waiting = below_top().filter_map(|g| {
            let some = g.pressure.as_ref()?.some.filter(|s| s.avg10 > 0.0)?;
            Some((some.avg10, format!("{} {:.1} %", shortened(&g.path), some.avg10)))
        });
        say(Paint::Bad, "Waited for memory in the last 10 s", waiting.collect());
        let counted = |n: Option<u64>, g: &GroupMemory, one: &str| {
            let n = n.filter(|n| *n > 0)?;
            #[expect(clippy::cast_precision_loss, reason = "an order does not need the last bits")]
            Some((n as f64, format!("{} {}", shortened(&g.path), number::things(n, one))))
        };
        let kills = below_top().filter_map(|g| counted(g.events.oom_kills, g, "process").map(plural_processes));
        say(Paint::Bad, "Killed for want of memory since the group was made (counter)", kills.collect());
        let hits = below_top().filter_map(|g| counted(g.events.limit_hits, g, "time"));
        say(Paint::Warn, "At their limit since they were made (counter)", hits.collect());
        let high = below_top().filter_map(|g| counted(g.events.high_hits, g, "time"));
        say(Paint::Warn, "Slowed down at memory.high since they were made (counter)", high.collect());
        if let Some(span) = self.span {
            let grown = below_top().filter_map(|g| {
                let growth = g.rates.and_then(|r| r.growth).filter(|growth| growth.abs() >= 4096.0)?;
                Some((growth, format!("{} {}", shortened(&g.path), one::growth(growth))))
            });
            say(Paint::Plain, &format!("Growth over {span}"), grown.collect());
            let back = below_top().filter_map(|g| {
                let rates = g.rates?;
                let pages = rates.refaults_file.unwrap_or(0.0) + rates.refaults_anon.unwrap_or(0.0);
                (pages > 0.0).then(|| (pages, format!("{} {} pages/s", shortened(&g.path), number::figure(pages))))
            });
            say(Paint::Warn, &format!("Came back after eviction over {span}"), back.collect());
        }
        let dying: Option<u64> = groups.iter().filter(|g| g.parent.is_none()).map(|g| g.dying).max().flatten();
        if let Some(n) = dying.filter(|n| *n >= MANY_DYING) {
            points.push((
                Paint::Warn,
                format!(
                    "{} were removed and still hold memory (now): page cache or tmpfs that they were charged for; it goes when \
                     that is reclaimed or deleted.",
                    number::things(n, "group")
                ),
            ));
        }
        if !points.is_empty() {
            page.blank();
        }
        for (paint, text) in points {
            page.painted(paint, &text);
        }
    }

    pub(super) fn node(&self, page: &mut Page<'_>) {
        let Some(node) = self.node else { return };
        page.heading("What others would say of the whole machine (now)");
        let older = node
            .available_older
            .map(|bytes| format!(" ({bytes} in releases that count the top as MemTotal less MemFree)"))
            .unwrap_or_default();
        page.point(
            "  ",
            &format!(
                "kubelet's eviction, memory.available: {}{older} = MemTotal {} less working set {}; working set = page cache \
                 and anonymous memory of the top, less inactive page cache. Active page cache and reclaimable slab count as used.",
                node.available, node.capacity, node.working_set
            ),
        );
        if let Some(kernel) = node.kernel_says {
            page.point("  ", &format!("the kernel, MemAvailable: {kernel}; what could be had without swapping."));
        }
    }

    pub(super) fn missed(&self, page: &mut Page<'_>) {
        let mut said = Vec::new();
        if !self.complete && self.version.is_some() {
            said.push(
                "the walk was cut at its bound of 20,000 groups or 20 s, the deepest groups are missing".to_owned(),
            );
        }
        if self.vanished > 0 {
            said.push(format!("{} vanished while being read", number::things(self.vanished, "group")));
        }
        if self.without_controller > 0 {
            let n = number::things(self.without_controller, "branch").replace("branchs", "branches");
            said.push(format!("{n} without the memory controller are charged to the group above"));
        }
        if self.unreadable > 0 {
            let first: Vec<String> =
                self.unreadable_first.iter().take(NAMED).map(|u| format!("{} ({})", u.path, u.reason)).collect();
            said.push(format!("{} could not be read: {}", number::things(self.unreadable, "file"), first.join(", ")));
        }
        if !said.is_empty() {
            page.blank();
            page.line(&format!("Not in these figures: {}.", said.join("; ")));
        }
    }
}

/// "1 processs" is none.
fn plural_processes((n, text): (f64, String)) -> (f64, String) {
    (n, text.replace("processs", "processes"))
}
