//! The raw record of one run of an arm: settings as asked for and as verified, times, samples, counters, verdict.
//!
//! Records are written before anything is concluded from them and are never edited. A record of an older version stays
//! readable: a field that came later has a default, and a field this version does not know is kept in `unknown`.
//!
//! ```
//! use ramline_evidence::{RunRecord, Verdict};
//! let record = RunRecord::parse(r#"{"format":1,"experiment":"code-plus-data","verdict":"completed","colour":"red"}"#)?;
//! assert_eq!(record.verdict, Verdict::Completed);
//! assert!(record.unknown.contains_key("colour"));
//! # Ok::<(), String>(())
//! ```

mod ended;
mod figure;

use ramline_units::growth;

use crate::prelude::*;
use crate::tiers::CodecTimes;

pub use ended::{RunOutcome, Verdict};
pub use figure::{Better, Figure, TIMES_AS_LONG};

/// The newest format this version writes and the newest it reads.
pub const FORMAT: u32 = 1;

/// What swap an arm has.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SwapKind {
    /// Whatever the machine has, with its settings.
    #[default]
    AsConfigured,
    /// The group may not swap.
    None,
    /// A fresh swap file on the scratch disk.
    File,
    /// A fresh zram device, with this algorithm (`None`: the kernel's choice).
    Zram {
        /// Compression algorithm.
        algorithm: Option<String>,
    },
    /// A small fresh zram device, and below it a fresh area on a disk that takes what does not fit.
    ZramOverFile {
        /// Compression algorithm.
        algorithm: Option<String>,
    },
    /// A fresh area on a disk with zswap, the compressed cache, before it.
    Zswap,
}

/// One arm: what is varied.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Arm {
    /// As given on the command line and in tables: `swap:60 random`.
    pub name: String,
    /// The swap.
    pub swap: SwapKind,
    /// vm.swappiness of the group; `None` leaves it.
    pub swappiness: Option<u32>,
    /// Fill of the data: `zeros`, `text`, `random`.
    pub fill: String,
    /// What else is varied, by name, as asked for.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
}

impl Arm {
    /// An arm that is only a name and settings.
    #[must_use]
    pub fn named(name: &str, settings: &[(&str, &str)]) -> Arm {
        let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Arm { name: name.to_owned(), settings, ..Arm::default() }
    }
}

/// The workload's sizes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Workload {
    /// One unit.
    pub unit: Bytes,
    /// Units of data.
    pub data_units: u32,
    /// Units of code.
    pub code_units: u32,
    /// Units of ballast (other programs).
    pub ballast_units: u32,
    /// Rounds to do.
    pub rounds: u32,
    /// Data in shared instead of private anonymous memory.
    pub shared: bool,
    /// Seed of the access pattern.
    pub seed: u64,
    /// Nominal limit of the group; with a zram pool, of both together.
    pub limit: Bytes,
    /// Read-ahead of the scratch device.
    pub read_ahead: Bytes,
    /// When the clock ends the rounds.
    pub timeout: Nanos,
    /// The group's statistics were brought up to date with every sample, as those of a whole machine always are.
    pub fresh_statistics: bool,
}

/// The page lists by which the kernel decides what goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Lru {
    /// Two lists each of file and anonymous pages.
    Classic,
    /// The multi-generational LRU.
    Mglru,
}

impl Lru {
    /// The word in tables and options.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Lru::Classic => "classic",
            Lru::Mglru => "mglru",
        }
    }
}

/// The machine a run was made on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RunMachine {
    /// `uname -r`.
    pub kernel: String,
    /// Processors online.
    pub cpus: u32,
    /// MemTotal.
    pub mem_total: Bytes,
    /// Bytes per page.
    pub page_size: u64,
    /// Memory controller used: 1 or 2.
    pub cgroup_version: u32,
    /// Page lists in force; `None` where nobody looked, as in records before this field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lru: Option<Lru>,
    /// This boot.
    pub boot_id: String,
    /// File system of the scratch place.
    pub scratch_fs: String,
    /// Disk below it.
    pub scratch_disk: Option<String>,
    /// Version of ramline.
    pub ramline: String,
}

/// One completed round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RoundTime {
    /// How long it took.
    pub took: Nanos,
    /// Sum of the bytes read, which must be the same in every arm with the same fill.
    pub checksum: u64,
}

/// What reclaim did to the group: differences of its counters from before the fill to the end. Pages unless said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Reclaim {
    /// Major faults of the workload.
    pub major_faults: u64,
    /// Refaulted file pages; `None` where the kernel does not count it for the group.
    pub refault_file: Option<u64>,
    /// Refaulted anonymous pages.
    pub refault_anon: Option<u64>,
    /// Pages swapped in.
    pub swap_in: Option<u64>,
    /// Pages swapped out.
    pub swap_out: Option<u64>,
    /// Of those read back, pages of zeros which never came from a device (since Linux 6.12).
    pub swap_in_zero: Option<u64>,
    /// Of those swapped out, pages of zeros which never reached a device.
    pub swap_out_zero: Option<u64>,
    /// Read from disks by the workload (bytes).
    pub read_bytes: Option<Bytes>,
    /// Direct reclaim: pages looked at and taken, anonymous.
    pub scanned_anon: Option<u64>,
    /// Pages taken, anonymous.
    pub stolen_anon: Option<u64>,
    /// Pages looked at, file.
    pub scanned_file: Option<u64>,
    /// Pages taken, file.
    pub stolen_file: Option<u64>,
    /// Time all tasks of the group stalled on memory (PSI full), where PSI is on (microseconds).
    pub psi_full_us: Option<u64>,
}

/// How well limit plus pool was held constant in an arm with zram.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PoolBalance {
    /// Nominal: what limit and pool should add up to.
    pub nominal: Bytes,
    /// Largest pool seen.
    pub pool_max: Bytes,
    /// Largest of limit + pool, looked at every millisecond.
    pub sum_max: Bytes,
    /// Smallest of limit + pool.
    pub sum_min: Bytes,
    /// Mean of limit + pool over the time of the run.
    pub sum_mean: Bytes,
    /// How long the workload was held until reclaim had made room for the pool, as an allocation on a whole machine waits.
    pub held: Nanos,
    /// Times the limit could not be lowered at once because reclaim found nothing.
    pub refused: u32,
}

impl PoolBalance {
    /// The largest deviation from nominal, as a share of it (0.02 is 2 %); `None` when nominal is 0.
    #[must_use]
    pub fn deviation(&self) -> Option<f64> {
        let over = self.sum_max.saturating_sub(self.nominal);
        let under = self.nominal.saturating_sub(self.sum_min);
        over.max(under).share_of(self.nominal)
    }
}

/// The raw record of one run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RunRecord {
    /// Format of this record; see [`FORMAT`].
    pub format: u32,
    /// Which experiment.
    pub experiment: String,
    /// Which of the interleaved repetitions, from 0.
    pub repetition: u32,
    /// Position in the order in which runs were made, from 0.
    pub order: u32,
    /// Start, in milliseconds since 1970.
    pub started_unix_ms: u64,
    /// The machine.
    pub machine: RunMachine,
    /// The arm as asked for.
    pub arm: Arm,
    /// The workload as asked for; of code-plus-data.
    pub workload: Workload,
    /// The parameters of the series, as asked for, by name.
    pub parameters: BTreeMap<String, Vec<String>>,
    /// Where it ran: `cgroup-v1`, `cgroup-v2`, `cgroup-v2 delegated`, `vm`, `none`.
    pub sandbox: String,
    /// The processor was emulated: its seconds are not those of a machine.
    pub emulated: bool,
    /// Settings as read back from inside the sandbox, by name.
    pub verified: BTreeMap<String, String>,
    /// How the run ended.
    pub verdict: Verdict,
    /// Wall time of the fill.
    pub fill: Nanos,
    /// Of it, what the workload was held for until reclaim had made room for the pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fill_held: Option<Nanos>,
    /// The completed rounds.
    pub rounds: Vec<RoundTime>,
    /// Share of the next round that was done when it ended, 0 to 1.
    pub fraction: f64,
    /// Wall time of the rounds, completed or not.
    pub elapsed: Nanos,
    /// Processor time of the workload from the end of its fill to its last report, as it says itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worked: Option<Nanos>,
    /// User time of the workload, whole life.
    pub user: Nanos,
    /// System time of the workload, whole life.
    pub system: Nanos,
    /// What reclaim did.
    pub reclaim: Reclaim,
    /// The numbers it brought, in the order of the table.
    pub figures: Vec<Figure>,
    /// What only this experiment knows: a tree of functions, a map of pages.
    pub detail: Option<serde_json::Value>,
    /// What compression took before the run, in arms with zram.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub codec: Option<CodecTimes>,
    /// Limit and pool, in arms with zram.
    pub pool: Option<PoolBalance>,
    /// Raw counters of the group and of the machine before.
    pub before: BTreeMap<String, u64>,
    /// The same of the group when the workload was ready to begin: what the program that does it takes before it touches its load.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub ready: BTreeMap<String, u64>,
    /// The same after.
    pub after: BTreeMap<String, u64>,
    /// One every 100 ms.
    pub samples: Vec<Sample>,
    /// Bystanders that were hurt, and anything else that qualifies the run.
    pub notes: Vec<String>,
    /// Fields of a newer version, kept as they were.
    #[serde(flatten)]
    pub unknown: BTreeMap<String, serde_json::Value>,
}

impl RunRecord {
    /// Reads a record of this or an older format.
    ///
    /// # Errors
    /// Text that is not a record, or one of a newer format.
    pub fn parse(text: &str) -> Result<RunRecord, String> {
        let record: RunRecord = ramline_units::json::parse(text).map_err(|error| error.to_string())?;
        if record.format > FORMAT {
            return Err(format!("the record has format {}, this version reads up to {FORMAT}", record.format));
        }
        // Ours have a few words; one of megabytes would have to be wrapped, drawn and compared everywhere.
        const LONGEST: usize = 4096;
        if record.experiment.len() > LONGEST || record.arm.name.len() > LONGEST {
            return Err(format!("the name of its experiment or setting is longer than {LONGEST} bytes"));
        }
        Ok(record)
    }

    /// How much a counter of the group or of the machine grew during the run; `None` where it was not read twice or went back.
    #[must_use]
    pub fn growth(&self, counter: &str) -> Option<u64> {
        growth(*self.before.get(counter)?, *self.after.get(counter)?)
    }

    /// Rounds done, with the fraction of the one that was cut short.
    #[must_use]
    pub fn rounds_done(&self) -> f64 {
        self.rounds.len() as f64 + self.fraction
    }

    /// Seconds per round; `None` when not even a thousandth of a round was done.
    #[must_use]
    pub fn seconds_per_round(&self) -> Option<f64> {
        let rounds = self.rounds_done();
        (rounds > 0.001).then(|| self.elapsed.as_secs_f64() / rounds)
    }

    /// What the arm asks for beyond what it may have: data, code and ballast less the limit.
    #[must_use]
    pub fn excess(&self) -> Bytes {
        let units = u64::from(self.workload.data_units)
            + u64::from(self.workload.code_units)
            + u64::from(self.workload.ballast_units);
        Bytes(self.workload.unit.0.saturating_mul(units)).saturating_sub(self.workload.limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the first version wrote it. Never change this text: it stands for everybody's old records.
    const OLDEST: &str = r#"{"format":1,"experiment":"code-plus-data","repetition":2,
        "arm":{"name":"swap:60 random","swap":"file","swappiness":60,"fill":"random"},
        "workload":{"unit":33554432,"data_units":14,"code_units":3,"rounds":11,"limit":503316480},
        "verdict":{"thrashing":"20 s passed"},"rounds":[{"took":1000000000,"checksum":7}],"fraction":0.5,"elapsed":3000000000}"#;

    #[test]
    fn the_oldest_record_stays_readable() {
        let record = RunRecord::parse(OLDEST).unwrap();
        assert_eq!(record.verdict, Verdict::Thrashing("20 s passed".to_owned()));
        assert_eq!(record.arm.swap, SwapKind::File);
        assert_eq!(record.seconds_per_round(), Some(2.0));
        assert_eq!(record.excess(), Bytes::from_mib(64));
        assert_eq!(record.machine.lru, None, "nobody looked then");
    }

    #[test]
    fn a_record_of_a_newer_format_is_refused_by_name_and_unknown_fields_survive() {
        assert!(RunRecord::parse(r#"{"format":2}"#).unwrap_err().contains("format 2"));
        let record = RunRecord::parse(r#"{"format":1,"humidity":0.4}"#).unwrap();
        assert!(serde_json::to_string(&record).unwrap().contains(r#""humidity":0.4"#));
    }

    #[test]
    fn a_run_without_progress_has_no_time_per_round() {
        assert_eq!(RunRecord::default().seconds_per_round(), None);
    }

    #[test]
    fn the_deviation_of_limit_and_pool_counts_both_ways() {
        let balance =
            PoolBalance { nominal: Bytes(1000), sum_max: Bytes(1010), sum_min: Bytes(970), ..PoolBalance::default() };
        assert_eq!(balance.deviation(), Some(0.03));
        assert_eq!(PoolBalance::default().deviation(), None);
    }
}
