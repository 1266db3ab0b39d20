//! Lines to events: which line belongs to which report.
//!
//! A report begins with "invoked oom-killer" or a failed request, and ends where the next begins. What stands alone (a kill whose report was
//! suppressed, a table without its head) is a report of its own with that much in it. A kernel under the lock of the OOM killer prints one report at a
//! time; lines of other processors between them are passed over.

use std::collections::VecDeque;

use super::daemon::{DaemonKind, DaemonLine};
use super::daemon_lines::DaemonLines;
use super::fields::{between, clip, split_number};
use super::group::GroupFigures;
use super::kill_line::{Kill, kill};
use super::memory::Wrapped;
use super::prefix::Line;
use super::report::{LogEvent, Report, ReportKind, Stuck};
use super::rows::{ROWS, allocation, keep, slab, stuck};
use super::tasks::{Columns, TableBuilder};
use super::trigger;

/// Events that are kept: the last. One has some KiB.
const KEPT: usize = 2000;
/// Functions of a stack that are kept.
const STACK: usize = 64;

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
struct Open {
    report: Report,
    table: TableBuilder,
    wrapped: Wrapped,
    list: List,
    /// The line that names the choice was met; who died follows.
    chosen: Option<(u32, String, bool)>,
}

/// Events, made of lines.
#[derive(Debug, Default)]
pub(super) struct Builder {
    events: VecDeque<LogEvent>,
    earlier: u64,
    open: Option<Open>,
    stuck: Option<Stuck>,
    daemons: DaemonLines,
}

impl Builder {
    /// The next line.
    pub fn line(&mut self, line: &Line<'_>) {
        match self.daemons.line(line) {
            Some(DaemonLine::Kill(kill)) => {
                let again = matches!(self.events.back(), Some(LogEvent::Daemon(last))
                    if last.kind == kill.kind && last.victim == kill.victim && kill.pid.is_none_or(|pid| last.pid == Some(pid))
                    && matches!(kill.kind, DaemonKind::SystemdOomd | DaemonKind::Systemd | DaemonKind::Container));
                if !again {
                    self.push(LogEvent::Daemon(kill));
                }
            }
            Some(DaemonLine::Exited) => {
                if let Some(LogEvent::Daemon(last)) = self.events.back_mut() {
                    last.exited = true;
                }
            }
            Some(DaemonLine::Noted) => {}
            None if line.is_kernel() => self.kernel(line),
            None => {}
        }
    }

    /// All events, and how many there were before these.
    pub fn finish(mut self) -> (Vec<LogEvent>, u64) {
        self.close();
        for kill in std::mem::take(&mut self.daemons).finish() {
            self.push(LogEvent::Daemon(Box::new(kill)));
        }
        (self.events.into(), self.earlier)
    }

    fn push(&mut self, event: LogEvent) {
        if self.events.len() >= KEPT {
            self.events.pop_front();
            self.earlier = self.earlier.saturating_add(1);
        }
        self.events.push_back(event);
    }

    /// Ends the report that is open, and the task that was stuck.
    fn close(&mut self) {
        if let Some(stuck) = self.stuck.take() {
            self.push(LogEvent::Stuck(Box::new(stuck)));
        }
        let Some(open) = self.open.take() else { return };
        let mut report = open.report;
        let mut wanted: Vec<u32> = report.kills.iter().map(|kill| kill.pid).collect();
        wanted.extend(report.chosen.iter().map(|(pid, _)| *pid));
        report.tasks = open.table.finish(&wanted);
        for list in [&mut report.slabs, &mut report.allocations] {
            list.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
            list.truncate(ROWS);
        }
        self.push(LogEvent::Report(Box::new(report)));
    }

    fn begin(&mut self, line: &Line<'_>, report: Report) -> &mut Open {
        self.close();
        self.open.insert(Open { report: Report { at: line.stamp.clone(), ..report }, ..Open::default() })
    }

    /// The report that is open, or one without a head.
    fn current(&mut self, line: &Line<'_>) -> &mut Open {
        if self.open.is_none() {
            self.begin(line, Report::default());
        }
        self.open.get_or_insert_default()
    }

    fn kernel(&mut self, line: &Line<'_>) {
        let text = line.text;
        if let Some(trigger) = trigger::invoked(text) {
            self.begin(
                line,
                Report { trigger: Some(trigger), constraint: constraint_of_policy(text), ..Report::default() },
            );
            return;
        }
        if let Some(trigger) = trigger::failure(text) {
            let report = Report { kind: ReportKind::Failure, trigger: Some(trigger), ..Report::default() };
            self.begin(line, report).places(text);
            return;
        }
        if let Some((trigger, ms)) = trigger::stall(text) {
            let report =
                Report { kind: ReportKind::Stall, trigger: Some(trigger), stalled_ms: Some(ms), ..Report::default() };
            self.begin(line, report).places(text);
            return;
        }
        if let Some(found) = kill(text) {
            self.kill(line, found);
            return;
        }
        if let Some(stuck) = stuck(text) {
            self.close();
            self.stuck = Some(Stuck { at: line.stamp.clone(), ..stuck });
            return;
        }
        if let Some(name) = trigger::function(text) {
            let functions = match (&mut self.stuck, &mut self.open) {
                (Some(stuck), _) => &mut stuck.functions,
                (None, Some(open)) if open.report.memory.is_empty() && !open.table.is_begun() => {
                    &mut open.report.functions
                }
                _ => return,
            };
            if functions.len() < STACK {
                functions.push(clip(name, 80));
            }
            return;
        }
        self.part(line);
    }

    /// A line inside of a report, or one that stands for a report whose head is missing.
    fn part(&mut self, line: &Line<'_>) {
        let text = line.text.trim();
        if text.starts_with("oom-kill:") || begins_a_part(text) {
            // A task table is printed only for a kill: behind a failed request it is that of a report whose head is missing.
            let ended =
                self.open.as_ref().is_some_and(|open| open.report.kind != ReportKind::OutOfMemory || open.is_over());
            let of_kill =
                text.starts_with("oom-kill:") || Columns::parse(text).is_some() || text.starts_with("Task in ");
            if ended && of_kill {
                self.close();
            }
            self.current(line).line(text);
            return;
        }
        if self.open.is_none() && TableBuilder::default().row(text) {
            self.current(line).line(text);
            return;
        }
        if let Some(open) = &mut self.open {
            let orphan = open.report.kind != ReportKind::OutOfMemory && TableBuilder::default().row(text);
            if orphan {
                self.close();
                self.current(line).line(text);
            } else {
                open.line(text);
            }
        }
    }

    fn kill(&mut self, line: &Line<'_>, found: Kill) {
        match found {
            Kill::Chosen(choice) => {
                let ended = self
                    .open
                    .as_ref()
                    .is_some_and(|open| open.is_over() || open.report.kind != ReportKind::OutOfMemory);
                if ended {
                    self.close();
                }
                let open = self.current(line);
                open.report.global |= choice.global;
                open.report.in_group |= choice.in_group;
                open.report.chosen = Some((choice.pid, choice.name.clone()));
                open.chosen = Some((choice.pid, choice.name, choice.because_it_asked));
            }
            Kill::Died(mut died) => {
                let other = self.open.as_ref().is_some_and(|open| {
                    let full = !open.report.kills.is_empty() && !open.report.whole_group && open.chosen.is_none();
                    full || open.report.kind != ReportKind::OutOfMemory
                });
                if other {
                    self.close();
                }
                let open = self.current(line);
                if let Some((pid, name, asked)) = open.chosen.take() {
                    died.because_it_asked |= asked;
                    died.chosen = (pid != died.pid).then_some((pid, name));
                }
                open.report.global |= died.global;
                open.report.in_group |= died.in_group;
                if open.report.kills.len() < 1000 {
                    open.report.kills.push(died);
                }
            }
        }
    }
}

impl Open {
    /// Its last line was met: what follows belongs to another.
    fn is_over(&self) -> bool {
        !self.report.kills.is_empty() || self.report.no_victim || self.report.panic
    }

    fn line(&mut self, text: &str) {
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
            report.in_group = true;
            report.task_group = Some(clip(task, 512));
            report.limit_group = Some(clip(limit, 512));
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
    fn places(&mut self, text: &str) {
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

/// A new policy of the kernel names itself in the first line (BPF).
fn constraint_of_policy(text: &str) -> Option<String> {
    text.split_once("oom_policy=").map(|(_, name)| clip(name.trim(), 64))
}

/// A line that is the kernel's and part of a report, whatever stands before it.
fn begins_a_part(text: &str) -> bool {
    let heads = [
        "Mem-Info:",
        "Task in ",
        "memory: usage ",
        "memory+swap: usage ",
        "Memory cgroup stats for ",
        "Tasks state (memory",
        "active_anon:",
        "Out of memory and no killable processes",
        "Kernel panic - not syncing: Out of memory",
        "Kernel panic - not syncing: out of memory",
    ];
    heads.iter().any(|head| text.starts_with(head)) || Columns::parse(text).is_some()
}
