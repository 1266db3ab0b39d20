//! The answer, as data.

use ramline_snapshot::kernel_log::{GroupFigures, NameTotal, Stamp};

use super::page_size::LogPageSize;
use super::sum::KillSum;
use super::zones::ZoneState;
use crate::prelude::*;

/// Who killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Killer {
    /// The kernel, for the machine.
    KernelGlobal,
    /// The kernel, for a group at its limit.
    KernelMemcg,
    /// The kernel; for which of the two is not in the log.
    Kernel,
    /// A BPF program, through the kernel.
    Bpf,
    /// The kernel, for want of a huge page.
    Hugetlb,
    /// systemd-oomd.
    SystemdOomd,
    /// earlyoom.
    Earlyoom,
    /// nohang.
    Nohang,
    /// The kubelet.
    Kubelet,
    /// Android's lmkd.
    Lmkd,
    /// Nothing was killed.
    #[default]
    None,
}

/// What filled memory, or why a request was not served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KillCause {
    /// Memory of processes.
    UserAnon,
    /// tmpfs or other shared memory.
    ShmemTmpfs,
    /// Memory of processes of a group at its limit.
    MemcgAnon,
    /// Files of a group at its limit that were not written yet, or could not be reclaimed.
    MemcgDirtyFile,
    /// A limit on swap, or on memory and swap, of a group.
    MemcgSwap,
    /// Kernel memory of a group.
    MemcgKmem,
    /// No block of the size, though memory was free.
    Fragmentation,
    /// Zones or nodes the request may use were full, others were not.
    ZoneOrPolicy,
    /// What was free is CMA, which the request may not use.
    CmaOnlyFree,
    /// Kernel objects.
    SlabGrowth,
    /// Memory in no counter.
    KernelUnaccounted,
    /// Huge pages set aside.
    HugepagesReserved,
    /// A request that may not wait; nothing was killed.
    AtomicBurst,
    /// vm.min_free_kbytes keeps a large part free.
    WatermarkSetting,
    /// A program's rule on waiting for memory.
    PressurePolicy,
    /// A program's rule on a threshold.
    ThresholdPolicy,
    /// Thrashing; nothing was killed.
    ThrashFreeze,
    /// Writing out memory needs memory; nothing was killed.
    ReclaimDeadlock,
    /// The system does not fit its memory.
    TooSmallSystem,
    /// It was not memory.
    NotMemory,
    /// The lines do not decide.
    #[default]
    Unknown,
}

/// How sure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// The lines do not decide.
    #[default]
    Unknown,
    /// They point there.
    Likely,
    /// The figures decide.
    Sure,
}

/// What decided, beside the figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The line of a program, in its words.
    Said(String),
    /// The reason named in the line contradicts the figures in it.
    Contradicts(String),
    /// A group refused a page to a fault, and the kernel took that for a shortage of the machine (before Linux 5.16).
    FaultInGroup,
    /// The cpuset or the memory policy allows only these nodes.
    OnlyNodes(Option<String>),
    /// A zone the request may use was above its mark when the figures were printed, after the failure.
    ZoneAboveMark,
    /// The request may not wait.
    MayNotWait,
    /// The request came out of reclaim itself.
    FromReclaim(String),
    /// It came before user space ran.
    BeforeUserSpace,
    /// How many milliseconds it waited.
    Stalled(u64),
    /// The number of stuck tasks, and for how many seconds the longest was.
    Stuck(u64, Option<u64>),
    /// Swap was there, and this much of it free.
    SwapFree(Bytes),
    /// The killer takes who asks, not who is largest (vm.oom_kill_allocating_task).
    KillsWhoAsks,
    /// All tasks have the same correction of at most -900: size decided nothing.
    AllProtected(i64),
    /// By hand, with SysRq.
    ByHand,
    /// Its usage was below its own limit: a limit above it was hit.
    LimitAbove,
    /// Available memory and free swap in percent, and nothing killed.
    LowWithoutKill(f64, Option<f64>),
}

/// What a test found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Verdict {
    /// The first test that holds.
    pub cause: KillCause,
    /// How sure.
    pub confidence: Certainty,
    /// Others that hold.
    pub also: Vec<KillCause>,
    /// What decided.
    pub reasons: Vec<Reason>,
}

impl Verdict {
    /// A verdict.
    #[must_use]
    pub const fn new(cause: KillCause, confidence: Certainty) -> Verdict {
        Verdict { cause, confidence, also: Vec::new(), reasons: Vec::new() }
    }

    /// With what decided.
    #[must_use]
    pub fn because(mut self, reason: Reason) -> Verdict {
        self.reasons.push(reason);
        self
    }

    /// At most likely.
    #[must_use]
    pub fn at_most_likely(mut self) -> Verdict {
        self.confidence = self.confidence.min(Certainty::Likely);
        self
    }
}

/// Who died.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Victim {
    /// Its name: a process, a unit or a pod.
    pub name: Option<String>,
    /// Its number.
    pub pid: Option<u32>,
    /// What it held in RAM, where the log says.
    pub held: Option<Bytes>,
    /// What it held in swap.
    pub swapped: Option<Bytes>,
    /// The administrator's correction (oom_score_adj).
    pub adj: Option<i64>,
    /// The number of others that were killed with it.
    pub others: u64,
}

/// The request.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Requested {
    /// Who asked.
    pub name: String,
    /// For a block of 2 to this power pages.
    pub order: Option<i32>,
    /// Its flags, as named.
    pub flags: Option<String>,
}

/// Another kill of the same log.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct OtherKill {
    /// When.
    pub at: Option<Stamp>,
    /// Who killed.
    pub killer: Killer,
    /// Who died.
    pub victim: Option<Victim>,
}

/// One kill, or one failure without a kill, explained.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Kill {
    /// Who killed; `none` where nothing was killed.
    pub killer: Killer,
    /// Who died first; null where the log names none.
    pub victim: Option<Victim>,
    /// What filled memory, or why the request was not served.
    pub cause: KillCause,
    /// True where the victim held little of what filled memory and is not of the program that did; null where the log does not tell.
    pub innocent_victim: Option<bool>,
    /// The memory limit of the group that killed.
    pub limit_bytes: Option<Bytes>,
    /// How sure the cause is.
    pub confidence: Certainty,
    /// Other causes that hold.
    pub also: Vec<KillCause>,
    /// When.
    pub at: Option<Stamp>,
    /// The group whose limit it is.
    pub group: Option<String>,
    /// The figures of that group.
    pub group_figures: Option<GroupFigures>,
    /// The request that was not served.
    pub request: Option<Requested>,
    /// The kernel's version.
    pub kernel: Option<String>,
    /// The size of a page, and how it is known.
    pub page_size: Option<LogPageSize>,
    /// Where memory was.
    pub sum: Option<KillSum>,
    /// Zones beside their marks.
    pub zones: Vec<ZoneState>,
    /// The largest programs of the table.
    pub programs: Vec<ProgramUse>,
    /// The largest kernel caches that cannot be reclaimed.
    pub slabs: Vec<(String, Bytes)>,
    /// What decided.
    pub reasons: Vec<Reason>,
    /// What the log lacks.
    pub missing: Vec<String>,
    /// The machine panicked.
    pub panicked: bool,
    /// Other kills of the log, the last ones.
    pub others: Vec<OtherKill>,
    /// How many there are.
    pub other_kills: u64,
    /// Nothing in the log is a kill, a failure or a stall.
    pub nothing_found: bool,
}

/// What the processes of one name held.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ProgramUse {
    /// The name.
    pub name: String,
    /// How many processes.
    pub tasks: u64,
    /// In RAM.
    pub rss: Bytes,
    /// In swap.
    pub swap: Bytes,
}

impl ProgramUse {
    pub(super) fn from_pages(total: &NameTotal, page: Bytes) -> ProgramUse {
        let bytes = |pages: u64| Bytes(pages.saturating_mul(page.0));
        ProgramUse { name: total.name.clone(), tasks: total.tasks, rss: bytes(total.rss), swap: bytes(total.swapents) }
    }

    /// In RAM and in swap.
    #[must_use]
    pub fn all(&self) -> Bytes {
        self.rss + self.swap
    }
}
