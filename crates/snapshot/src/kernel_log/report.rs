//! What a log holds, as data: reports of kills and of failed requests, tasks that hang, and kills by others.

use super::daemon::DaemonKill;
use super::group::GroupFigures;
use super::kill_line::KillLine;
use super::memory::MemoryFigures;
use super::stamp::Stamp;
use super::tasks::TaskTable;
use super::trigger::Trigger;
use crate::prelude::*;

/// Why the kernel printed a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReportKind {
    /// It was out of memory, or a group was.
    #[default]
    OutOfMemory,
    /// A request failed; nothing is killed for that.
    Failure,
    /// A request waited for long; nothing is killed for that.
    Stall,
}

/// One report, as far as the log has it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// Why it was printed.
    pub kind: ReportKind,
    /// When.
    pub at: Option<Stamp>,
    /// The request; `None` where the first line is missing.
    pub trigger: Option<Trigger>,
    /// How long a request had waited, in milliseconds.
    pub stalled_ms: Option<u64>,
    /// The version of the kernel.
    pub kernel: Option<String>,
    /// Functions of the stack, the innermost first.
    pub functions: Vec<String>,
    /// `constraint=`, as printed.
    pub constraint: Option<String>,
    /// The nodes a memory policy allows; `None` where it is not printed or is `(null)`.
    pub nodemask: Option<String>,
    /// The nodes the cpuset allows.
    pub mems_allowed: Option<String>,
    /// The cpuset.
    pub cpuset: Option<String>,
    /// The group whose limit was hit.
    pub limit_group: Option<String>,
    /// The group of who was chosen.
    pub task_group: Option<String>,
    /// The line of the choice: name and number.
    pub chosen: Option<(u32, String)>,
    /// The report says that the machine was out of memory.
    pub global: bool,
    /// The report says that a group was.
    pub in_group: bool,
    /// The group's figures.
    pub group: Option<GroupFigures>,
    /// The machine's.
    pub memory: MemoryFigures,
    /// Its tasks.
    pub tasks: TaskTable,
    /// Slab that cannot be reclaimed: name and size, the largest.
    pub slabs: Vec<(String, Bytes)>,
    /// Allocations by the line of the kernel's source that made them (memory allocation profiling), the largest.
    pub allocations: Vec<(String, Bytes)>,
    /// Who was killed, in order.
    pub kills: Vec<KillLine>,
    /// memory.oom.group: all of a group are killed.
    pub whole_group: bool,
    /// No process could be killed.
    pub no_victim: bool,
    /// The machine panicked on it.
    pub panic: bool,
}

/// How a task was stuck.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StuckKind {
    /// Blocked without being interruptible (hung task).
    Hung,
    /// A processor did nothing else (soft lockup, RCU stall).
    Lockup,
    /// No free huge page for a fault in a mapping of huge pages: the process is killed.
    NoHugePage,
}

/// A task that was stuck, or died for want of a huge page.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Stuck {
    /// How.
    pub kind: Option<StuckKind>,
    /// When.
    pub at: Option<Stamp>,
    /// The task.
    pub name: Option<String>,
    /// Its number.
    pub pid: Option<u32>,
    /// For how long, in seconds.
    pub seconds: Option<u64>,
    /// Where it waits, the innermost first.
    pub functions: Vec<String>,
}

/// One thing that a log holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LogEvent {
    /// The kernel's report.
    Report(Box<Report>),
    /// What a program in user space, or one that watches the kernel, says of a kill.
    Daemon(Box<DaemonKill>),
    /// A task that was stuck.
    Stuck(Box<Stuck>),
}

impl LogEvent {
    /// When.
    #[must_use]
    pub fn at(&self) -> Option<&Stamp> {
        match self {
            LogEvent::Report(report) => report.at.as_ref(),
            LogEvent::Daemon(kill) => kill.at.as_ref(),
            LogEvent::Stuck(stuck) => stuck.at.as_ref(),
        }
    }
}
