//! Lines to events: which line belongs to which report.
//!
//! A report begins with "invoked oom-killer" or a failed request, and ends where the next begins. What stands alone (a kill whose report was
//! suppressed, a table without its head) is a report of its own with that much in it. A kernel under the lock of the OOM killer prints one report at a
//! time; lines of other processors between them are passed over.

use std::collections::VecDeque;

use super::daemon::{DaemonKind, DaemonLine};
use super::daemon_lines::DaemonLines;
use super::fields::clip;
use super::kill_line::{Kill, kill};
use super::open::Open;
use super::prefix::Line;
use super::report::{LogEvent, Report, ReportKind, Stuck};
use super::rows::{ROWS, stuck};
use super::tasks::{Columns, TableBuilder};
use super::trigger;

/// Events that are kept: the last. One has some KiB.
const KEPT: usize = 2000;
/// Functions of a stack that are kept.
const STACK: usize = 64;

/// Events, made of lines.
#[derive(Debug, Default)]
pub(super) struct Builder {
    events: VecDeque<LogEvent>,
    earlier: u64,
    open: Option<Open>,
    stuck: Option<Stuck>,
    /// The figures that follow were asked for by SysRq: no kill and no failure is behind them.
    by_hand: bool,
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
            ramline_units::sort_by(list, |a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
            list.truncate(ROWS);
        }
        self.push(LogEvent::Report(Box::new(report)));
    }

    fn begin(&mut self, line: &Line<'_>, report: Report) -> &mut Open {
        self.close();
        self.by_hand = false;
        self.open.insert(Open::new(Report { at: line.stamp.clone(), ..report }))
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
        if self.open.as_mut().is_some_and(|open| open.rest_of_the_first_line(text)) {
            return;
        }
        if let Some(trigger) = trigger::invoked(text) {
            let report = Report { trigger: Some(trigger), constraint: constraint_of_policy(text), ..Report::default() };
            self.begin(line, report).first_line(text);
            return;
        }
        if let Some(trigger) = trigger::failure(text) {
            let report = Report { kind: ReportKind::Failure, trigger: Some(trigger), ..Report::default() };
            self.begin(line, report).first_line(text);
            return;
        }
        if is_shown_by_hand(text) {
            self.close();
            self.by_hand = true;
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
        let of_a_kill = text.starts_with("oom-kill:") || text.starts_with("Task in ") || Columns::parse(text).is_some();
        if self.by_hand && !of_a_kill {
            return;
        }
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

/// SysRq-m prints the figures of a report, and kills nothing.
fn is_shown_by_hand(text: &str) -> bool {
    let text = text.trim();
    text.starts_with("sysrq: ") && text.ends_with("Show Memory") || text == "SysRq : Show Memory"
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
        "Active_anon:",
        "Out of memory and no killable processes",
        "Kernel panic - not syncing: Out of memory",
        "Kernel panic - not syncing: out of memory",
    ];
    heads.iter().any(|head| text.starts_with(head)) || Columns::parse(text).is_some()
}
