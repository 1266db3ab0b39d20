//! Processes: what each holds, from the files that are cheap to read; page-table walks only where they were asked for.
//!
//! Shapes: `rss_anon`, `swap` and `page_tables` are exact and belong to one process each, except that a fork shares its parent's
//! anonymous pages until it writes. `rss_file` and `rss_shmem` count pages that others may map too, so they do not add up.

use crate::prelude::*;

mod kin;
mod parse;
mod run_as;

pub use kin::Program;
pub use parse::{NotAProcess, cgroup_path};
pub use run_as::{is_by_its_file, run_as};

/// The processes of the machine, as far as they could be seen.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Processes {
    /// By process id.
    pub list: Vec<Process>,
    /// Paths of memory control groups; [`Process::group`] is an index into them.
    pub groups: Vec<String>,
    /// Paths of programs; [`Process::exe`] is an index into them.
    pub programs: Vec<String>,
    /// Names of users, as far as /etc/passwd has them; [`Process::uid`] is the key.
    #[serde(deserialize_with = "by_uid")]
    pub users: BTreeMap<u32, String>,
    /// The machine's own sums, read just before and just after the pass.
    pub around: Option<Around>,
    /// What was not seen.
    pub missed: Missed,
    /// Page-table walks that were made to get [`Process::walked`].
    pub walks: Walks,
}

/// Mapped memory of the whole machine, each page counted once (`/proc/meminfo`): what all processes hold together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Around {
    /// AnonPages before the pass.
    pub anon_before: Bytes,
    /// AnonPages after it.
    pub anon_after: Bytes,
    /// Mapped before the pass: files and shared memory.
    pub mapped_before: Bytes,
    /// Mapped after it.
    pub mapped_after: Bytes,
    /// Anonymous memory of processes that began during the pass, at most: it is in the sum after it, and they are not in the
    /// list. `None` where that is not known.
    #[serde(default)]
    pub anon_begun: Option<Bytes>,
    /// Files and shared memory that these map, at most.
    #[serde(default)]
    pub mapped_begun: Option<Bytes>,
}

/// What a pass over the processes did not see.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Missed {
    /// Ended while they were read.
    pub vanished: u64,
    /// Began while they were read.
    pub begun: u64,
    /// Not reached in the time that was given.
    pub unreached: u64,
    /// Refused to this user.
    pub denied: u64,
    /// A file of theirs made no sense.
    pub malformed: u64,
    /// /proc is mounted so that other users' processes are hidden (`hidepid`).
    pub hidden: bool,
    /// Seen from inside a process namespace: processes outside it are not listed. `None` where that is not known.
    pub nested: Option<bool>,
}

/// Walks of page tables: each holds the process's mmap lock while it lasts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Walks {
    /// Processes walked.
    pub done: u64,
    /// Processes that would have changed the answer and were left out for the budget.
    pub left_out: u64,
    /// Processes left out because a walk would take too long.
    pub too_large: u64,
    /// Walks the kernel refused to this user.
    pub denied: u64,
    /// Time the walks took, added up over threads.
    pub cost: Nanos,
    /// Time they were allowed; `None` without bound.
    pub budget: Option<Nanos>,
}

/// One process. Gauges, unless said otherwise; `None` where the file was not seen.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Process {
    /// Process id.
    pub pid: u32,
    /// Process id of the parent.
    pub parent: u32,
    /// Its name (`comm`); any bytes, so it is escaped where it is shown.
    pub name: String,
    /// `R`, `S`, `D`, `Z`, ...
    pub state: char,
    /// Effective user.
    pub uid: u32,
    /// A thread of the kernel: it has no memory of its own.
    pub kernel_thread: bool,
    /// Clock ticks after boot at which it started: with the id, its identity.
    pub started_ticks: u64,
    /// Index into [`Processes::groups`].
    pub group: Option<u32>,
    /// Index into [`Processes::programs`].
    pub exe: Option<u32>,
    /// The name it was started by, where its program's file has another: a link, one file for several programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_as: Option<String>,
    /// Clock ticks of a processor it has used, in the kernel and outside. Counter.
    pub cpu_ticks: Option<u64>,
    /// Address space.
    pub vm_size: Option<Bytes>,
    /// Anonymous pages in RAM.
    pub rss_anon: Option<Bytes>,
    /// File pages mapped and in RAM.
    pub rss_file: Option<Bytes>,
    /// Shared-memory pages mapped and in RAM.
    pub rss_shmem: Option<Bytes>,
    /// Anonymous pages in swap; shared memory in swap is not counted.
    pub swap: Option<Bytes>,
    /// Page tables.
    pub page_tables: Option<Bytes>,
    /// Pages of the huge-page pool (hugetlb); in none of the other figures.
    pub hugetlb: Option<Bytes>,
    /// Locked pages.
    pub locked: Option<Bytes>,
    /// Major faults. Counter.
    pub major_faults: Option<u64>,
    /// Result of a walk of its page tables.
    pub walked: Option<Walked>,
    /// Where its swapped pages are, by swap area; empty where it has none or they were not looked up (root only).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub swapped_to: Vec<SwappedTo>,
}

/// Swapped pages of one process in one swap area.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SwappedTo {
    /// The kernel's number of the area: its place in /proc/swaps while none before it was turned off.
    pub area: u32,
    /// Pages there, uncompressed. Gauge.
    pub bytes: Bytes,
}

/// What a walk of the page tables says (`smaps_rollup`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Walked {
    /// Resident.
    pub rss: Bytes,
    /// Resident, each page divided by the number of its mappers.
    pub pss: Bytes,
    /// Of `pss`, anonymous; `None` before 5.3.
    pub pss_anon: Option<Bytes>,
    /// Of `pss`, files; `None` before 5.3.
    pub pss_file: Option<Bytes>,
    /// Of `pss`, shared memory; `None` before 5.3.
    pub pss_shmem: Option<Bytes>,
    /// Pages nobody else maps: what its end would free.
    pub uss: Bytes,
    /// In swap.
    pub swap: Bytes,
    /// In swap, each page divided by the number of its owners.
    pub swap_pss: Bytes,
    /// How long the walk took.
    pub cost: Nanos,
}

/// Keys of JSON objects are text; inside a tagged section serde does not make numbers of them by itself.
fn by_uid<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<u32, String>, D::Error> {
    let named = BTreeMap::<String, String>::deserialize(deserializer)?;
    let number = |(uid, name): (String, String)| Ok((uid.parse().map_err(serde::de::Error::custom)?, name));
    named.into_iter().map(number).collect()
}
