//! The picture every 100 ms while a run goes on.
//!
//! It holds what `free`, `top` and the group's files show of one run.

use crate::prelude::*;

/// Where the workload is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Started, waiting to be let go.
    #[default]
    Start,
    /// Mapping the code file and reading its first byte.
    Map,
    /// Writing the data for the first time.
    Fill,
    /// The rounds.
    Rounds,
    /// All rounds done.
    Done,
}

/// What `free` would show of the whole machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HostPicture {
    /// MemFree.
    pub free: Bytes,
    /// Buffers + Cached + SReclaimable, as procps 4 counts buff/cache.
    pub buff_cache: Bytes,
    /// MemAvailable.
    pub available: Bytes,
    /// SwapTotal - SwapFree.
    pub swap_used: Bytes,
}

/// One sample of a run. Gauges unless said.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Sample {
    /// Since the workload was let go.
    pub at: Nanos,
    /// What it is doing.
    pub phase: Phase,
    /// Rounds completed.
    pub rounds: u32,
    /// Share of the present phase (fill) or round that is done, 0 to 1.
    pub fraction: f64,
    /// What the group is charged for.
    pub usage: Bytes,
    /// Its limit now (it follows the pool in arms with zram).
    pub limit: Bytes,
    /// Anonymous memory of the workload, without shmem.
    pub anon: Bytes,
    /// The rest of the usage: page cache with shmem, and the kernel's own.
    pub file: Bytes,
    /// With shared data: what is mapped of it and of the code; 0 otherwise.
    pub shmem: Bytes,
    /// Swap used since the run began.
    pub swap: Bytes,
    /// Memory of the zram pool, which no group is charged for.
    pub pool: Option<Bytes>,
    /// R, S, D, Z as ps shows it.
    pub state: Option<char>,
    /// Resident set of the workload.
    pub rss: Bytes,
    /// Of which shared (file mappings and shmem).
    pub rss_shared: Bytes,
    /// Major faults since the workload started. Counter.
    pub major_faults: u64,
    /// User time of the workload. Counter.
    pub user: Nanos,
    /// System time of the workload (direct reclaim is in here). Counter.
    pub system: Nanos,
    /// Refaults of file pages on the machine since the run began; absent where the kernel does not count them. Counter.
    pub refault_file: Option<u64>,
    /// Refaults of anonymous pages on the machine since the run began. Counter.
    pub refault_anon: Option<u64>,
    /// Time all tasks stalled on memory since the run began (PSI full, difference of `total`, microseconds): of the group where it
    /// has PSI (cgroup v2), otherwise of the machine. Counter; absent where PSI is off.
    pub psi_full_us: Option<u64>,
    /// PSI of the host, `full avg10` in per cent, which begins with what was before; absent where PSI is off.
    pub psi_full_avg10: Option<f64>,
    /// The machine.
    pub host: HostPicture,
}

/// The memory of a sandbox at one sample, as parts of its limit and the pool together; of its use and the pool without a limit.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SampleMemory {
    /// Share of anonymous memory, 0 to 1.
    pub anon: f64,
    /// Share of the page cache and the rest of the use.
    pub file: f64,
    /// Share of the pool of zram.
    pub pool: f64,
    /// What the limit leaves (bytes); `None` without a limit.
    pub free: Option<Bytes>,
}

impl Sample {
    /// The memory in shares, and what is left.
    #[must_use]
    pub fn memory(&self) -> SampleMemory {
        let limit = Some(self.limit).filter(|limit| *limit > Bytes::ZERO);
        let pool = self.pool.unwrap_or_default();
        let whole = limit.unwrap_or(self.usage) + pool;
        let share = |bytes: Bytes| bytes.share_of(whole).unwrap_or_default();
        SampleMemory {
            anon: share(self.anon),
            file: share(self.file),
            pool: share(pool),
            free: limit.map(|limit| limit.saturating_sub(self.usage)),
        }
    }

    /// Rounds, the present one by its part: 3.25.
    #[must_use]
    pub fn rounds_so_far(&self) -> f64 {
        f64::from(self.rounds) + self.fraction
    }

    /// Refaults on the machine since the run began, of files and of anonymous pages, as far as they are counted. Counter.
    #[must_use]
    pub fn refaults(&self) -> Option<u64> {
        self.refault_file.into_iter().chain(self.refault_anon).reduce(u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_are_of_the_limit_and_the_pool() {
        let mib = Bytes::from_mib;
        let sample = Sample { usage: mib(75), limit: mib(100), anon: mib(50), file: mib(25), ..Sample::default() };
        let of = sample.memory();
        assert_eq!((of.anon, of.file, of.pool, of.free), (0.5, 0.25, 0.0, Some(mib(25))));
        let pool = Sample { pool: Some(mib(25)), limit: mib(75), ..sample.clone() }.memory();
        assert_eq!((pool.anon, pool.pool, pool.free), (0.5, 0.25, Some(Bytes::ZERO)));
        let open = Sample { limit: Bytes::ZERO, ..sample }.memory();
        assert_eq!((open.file, open.free), (25.0 / 75.0, None));
        assert_eq!(Sample::default().memory(), SampleMemory::default());
    }

    #[test]
    fn a_round_that_goes_on_counts_by_its_part() {
        let refaults = (Some(u64::MAX), Some(1));
        let sample = Sample {
            rounds: 3,
            fraction: 0.25,
            refault_file: refaults.0,
            refault_anon: refaults.1,
            ..Sample::default()
        };
        assert_eq!((sample.rounds_so_far(), sample.refaults()), (3.25, Some(u64::MAX)));
        assert_eq!(Sample::default().refaults(), None, "not counted is not none");
    }
}
