//! A report while it is read: what each of its lines adds.
//!
//! Which report a line belongs to is decided before (`build`).

use super::fields::{between, clip, split_number};
use super::group::GroupFigures;
use super::memory::Wrapped;
use super::report::Report;
use super::rows::{allocation, keep, slab};
use super::tasks::{Columns, TableBuilder};
use super::trigger;

/// Which list a line may belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum List {
    #[default]
    None,
    Statistics,
    Slab,
    Allocations,
}

/// A report while it is read.
#[derive(Debug, Default)]
pub(super) struct Open {
    /// What was read of it.
    pub report: Report,
    /// Its tasks.
    pub table: TableBuilder,
    wrapped: Wrapped,
    list: List,
    /// The first line, where it ends in a comma: a mail has broken it there.
    broken: Option<String>,
    /// The line that names the choice was met; who died follows.
    pub chosen: Option<(u32, String, bool)>,
}

impl Open {
    /// One without a line yet.
    pub fn new(report: Report) -> Open {
        Open { report, ..Open::default() }
    }

    /// Its last line was met: what follows belongs to another.
    pub fn is_over(&self) -> bool {
        !self.report.kills.is_empty() || self.report.no_victim || self.report.panic
    }

    /// The line that began it.
    pub fn first_line(&mut self, text: &str) {
        self.broken = text.trim_end().ends_with(',').then(|| clip(text.trim(), 1000));
        self.places(text);
    }

    /// What stands behind the break of the first line, if it is that.
    pub fn rest_of_the_first_line(&mut self, text: &str) -> bool {
        let Some(head) = self.broken.take() else { return false };
        let text = text.trim();
        let keys = ["gfp_mask=", "mode:", "nodemask=", "order=", "order:", "oom_score_adj=", "oom_adj=", "cpuset="];
        if !keys.iter().any(|key| text.starts_with(key)) {
            return false;
        }
        let whole = format!("{head} {text}");
        if let Some(trigger) = trigger::invoked(&whole).or_else(|| trigger::failure(&whole)) {
            self.report.trigger = Some(trigger);
        }
        self.first_line(&whole);
        true
    }

    pub fn line(&mut self, text: &str) {
        let report = &mut self.report;
        if let Some((pid, version)) = trigger::cpu_line(text) {
            if let Some(trigger) = report.trigger.as_mut() {
                trigger.pid = trigger.pid.or(pid);
            }
            report.kernel = report.kernel.take().or(version);
        } else if let Some(rest) = text.strip_prefix("oom-kill:") {
            self.choice(rest);
        } else if let Some((task, limit)) =
            text.strip_prefix("Task in ").and_then(|rest| rest.split_once(" killed as a result of limit of "))
        {
            report.task_group = Some(clip(task, 512));
            // Alibaba's kernels print this line for a kill of the machine too.
            if limit.trim() == "host" {
                report.global = true;
            } else {
                report.in_group = true;
                report.limit_group = Some(clip(limit, 512));
            }
        } else if text.starts_with("Tasks in ") && text.contains("memory.oom.group") {
            report.whole_group = true;
        } else if text.starts_with("Out of memory and no killable processes")
            || text.starts_with("Memory cgroup out of memory: no killable")
        {
            report.no_victim = true;
        } else if text.starts_with("Kernel panic") {
            report.panic = true;
        } else if text.contains(" cpuset=") && text.contains(" mems_allowed=") {
            self.places(text);
        } else if !self.list_line(text) {
            let _ = self.report.memory.line(text, &mut self.wrapped);
        }
    }

    /// A line of a list: the group's figures, tasks, slab, allocations.
    fn list_line(&mut self, text: &str) -> bool {
        if let Some(columns) = Columns::parse(text) {
            self.list = List::None;
            self.table.header(columns);
            return true;
        }
        if text.starts_with("Tasks state") || text.starts_with("Mem-Info") {
            self.list = List::None;
            return true;
        }
        if self.table.row(text) {
            return true;
        }
        let report = &mut self.report;
        if ["memory: usage", "memory+swap: usage", "swap: usage", "kmem: usage"]
            .iter()
            .any(|head| text.starts_with(head))
        {
            report.in_group = true;
            return report.group.get_or_insert_default().usage_line(text);
        }
        if text.starts_with("Memory cgroup stats") {
            report.in_group = true;
            self.list = List::Statistics;
            return report.group.get_or_insert_with(GroupFigures::default).statistics_line(text);
        }
        self.list = match text {
            "Unreclaimable slab info:" => List::Slab,
            "Memory allocations:" => List::Allocations,
            _ => {
                return match self.list {
                    List::Statistics => report.group.as_mut().is_some_and(|group| group.statistic(text)),
                    List::Slab => slab(text).map(|row| keep(&mut report.slabs, row)).is_some(),
                    List::Allocations => allocation(text).map(|row| keep(&mut report.allocations, row)).is_some(),
                    List::None => false,
                };
            }
        };
        true
    }

    /// `oom-kill:constraint=...`: commas separate, and a name may hold one.
    fn choice(&mut self, rest: &str) {
        let report = &mut self.report;
        let value = |key: &str| between(&format!(",{rest},"), &format!(",{key}="), ",").map(|value| clip(value, 512));
        report.constraint = value("constraint").or(report.constraint.take());
        report.limit_group = value("oom_memcg").or(report.limit_group.take());
        report.task_group = value("task_memcg").or(report.task_group.take());
        report.cpuset = value("cpuset").or(report.cpuset.take());
        // A list of nodes has commas of its own.
        let list = |key: &str| {
            let (_, rest) = rest.split_once(key)?;
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != '-' && c != ',').unwrap_or(rest.len());
            Some(rest.get(..end)?.trim_end_matches(',').to_owned()).filter(|nodes| !nodes.is_empty())
        };
        report.mems_allowed = list("mems_allowed=").or(report.mems_allowed.take());
        report.nodemask = list("nodemask=").or(report.nodemask.take());
        report.global |= rest.contains(",global_oom,");
        report.in_group |= report.limit_group.is_some();
        let task = rest.split_once(",task=").and_then(|(_, rest)| {
            let (name, rest) = rest.rsplit_once(",pid=")?;
            Some((u32::try_from(split_number(rest)?.0).ok()?, clip(name, 64)))
        });
        report.chosen = report.chosen.take().or(task);
    }

    /// `cpuset=/ mems_allowed=0-1`, `nodemask=(null),cpuset=/,mems_allowed=0`.
    pub fn places(&mut self, text: &str) {
        let list = |key: &str| {
            let (_, rest) = text.split_once(key)?;
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != '-' && c != ',').unwrap_or(rest.len());
            Some(rest.get(..end)?.trim_end_matches(',').to_owned()).filter(|nodes| !nodes.is_empty())
        };
        let report = &mut self.report;
        report.mems_allowed = report.mems_allowed.take().or_else(|| list("mems_allowed="));
        report.nodemask = report.nodemask.take().or_else(|| list("nodemask="));
        let cpuset = text.split_once("cpuset=").map(|(_, rest)| rest.split([',', ' ']).next().unwrap_or_default());
        report.cpuset = report.cpuset.take().or_else(|| cpuset.map(|name| clip(name, 200)));
    }
}
