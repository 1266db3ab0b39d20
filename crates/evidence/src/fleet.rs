//! Many hosts: the document that ramline-fleet makes of a store.
//!
//! Sizes are those of the study: KB, and 1 MB is 1000 KB. Intervals are Clopper and Pearson's, 95 %, made where the counts are.
//!
//! ```
//! use ramline_evidence::HostsBeyond;
//! let under = HostsBeyond { share: Some(0.75), low: Some(0.5), high: Some(0.875), ..HostsBeyond::default() };
//! assert_eq!(under.others().share, Some(0.25));
//! assert_eq!(under.others().low, Some(0.125));
//! ```

use crate::prelude::*;

/// A share of hosts with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HostShare {
    /// How many.
    pub hosts: u64,
    /// Of how many whose sizes are known.
    pub of: u64,
    /// From 0 to 1; `None` where none is known.
    pub share: Option<f64>,
    /// Lower end of the interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
}

/// What a size is like over all hosts, in KB; inodes are a count.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HostSize {
    /// Column of the store: `tmp_kib`.
    pub name: String,
    /// What it is.
    pub what: String,
    /// Of so many hosts.
    pub hosts: u64,
    /// Of so many more it is not known.
    pub unknown: u64,
    /// The least.
    pub min: Option<f64>,
    /// The most.
    pub max: Option<f64>,
    /// The mean.
    pub mean: Option<f64>,
    /// Half of the hosts have no more.
    pub median: Option<f64>,
    /// What most hosts have.
    pub mode: Option<f64>,
    /// Hosts by size, from one power of two up to the next.
    pub bins: Vec<HostBin>,
}

/// Hosts with a size in one range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HostBin {
    /// The least of the range.
    pub from: u64,
    /// The most of it.
    pub to: u64,
    /// How many hosts.
    pub hosts: u64,
}

/// Hosts of one role, or of one source of data.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HostGroup {
    /// The role or source; empty for hosts without a role.
    pub name: String,
    /// Hosts in it.
    pub hosts: u64,
    /// The newest day with data.
    pub last_day: Option<String>,
    /// Hosts where /tmp fits.
    pub fits: u64,
    /// Hosts where it does not.
    pub fails: u64,
    /// Hosts of which that is unknown.
    pub unknown: u64,
    /// Hosts of which the size of /tmp is unknown.
    pub tmp_unknown: u64,
    /// Hosts judged by free memory.
    pub by_free: u64,
}

/// Hosts on one side of a threshold.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HostsBeyond {
    /// Column of the store.
    pub variable: String,
    /// `under`, `above` or `at least`.
    pub side: String,
    /// KB.
    pub threshold: u64,
    /// How many.
    pub hosts: u64,
    /// Of how many whose size is known.
    pub of: u64,
    /// From 0 to 1.
    pub share: Option<f64>,
    /// Lower end of the interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
}

/// One way to say that /tmp fits.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FitModel {
    /// `half_of_ram`.
    pub name: String,
    /// What it asks.
    pub what: String,
    /// Hosts where it fits.
    pub fits: HostShare,
    /// Hosts where it does not.
    pub fails: HostShare,
    /// Hosts of which that is not known.
    pub unknown: u64,
}

/// On by default where there is more RAM than so much.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FitRule {
    /// KB.
    pub more_than_kib: u64,
    /// Hosts on which it would be on.
    pub on: HostShare,
    /// Of these, hosts with more in /tmp than half of RAM.
    pub fails: HostShare,
}

/// A host that would break.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct BrokenHost {
    /// Its name.
    pub host: String,
    /// KB of files in /tmp.
    pub tmp_kib: u64,
    /// KB of RAM free.
    pub free_kib: u64,
    /// KB of RAM available; `None` where that is not known, and free memory is what counts.
    pub available_kib: Option<u64>,
    /// The day on which most was lacking.
    pub day: Option<String>,
    /// KB of swap free.
    pub swap_free_kib: u64,
    /// KB of RAM.
    pub ram_kib: u64,
    /// KB of /tmp that find no room.
    pub lacks_kib: u64,
}

/// Lines of a file that was read for the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FileLines {
    /// All but comments.
    pub read: u64,
    /// Those that are hosts.
    pub taken: u64,
    /// The others.
    pub refused: u64,
}

/// The report of the study.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FleetReport {
    /// Version of this document.
    pub schema_version: u64,
    /// `study`.
    pub report: String,
    /// Some of the hosts are made up.
    pub synthetic: bool,
    /// Hosts in it.
    pub hosts: u64,
    /// Days of the host that has most; of several each size is that of its worst day.
    pub days: u64,
    /// The first day that counts.
    pub since: Option<String>,
    /// The last day that counts.
    pub until: Option<String>,
    /// Hosts of the store that were last seen before the first day, and do not count.
    pub last_seen_before: u64,
    /// Hosts of which it is not known which machine they are: one under two names counts twice.
    pub machine_unknown: u64,
    /// Would /tmp fit into the RAM that is available and free swap? Free memory counts where it is not known what is available.
    pub judged: Option<FitModel>,
    /// Hosts that were judged by free memory.
    pub judged_by_free: u64,
    /// Hosts without swap.
    pub without_swap: u64,
    /// Virtual machines among the hosts of which that is known.
    pub virtual_machines: HostShare,
    /// Hosts whose /tmp is a tmpfs already.
    pub in_ram: u64,
    /// Sizes.
    pub variables: Vec<HostSize>,
    /// Share of hosts with at least so much in /tmp, by powers of two.
    pub survival: Vec<HostsBeyond>,
    /// Hosts by source of their data.
    pub sources: Vec<HostGroup>,
    /// Hosts by role, where a file of roles was given.
    pub roles: Vec<HostGroup>,
    /// Shares of hosts beyond thresholds.
    pub shares: Vec<HostsBeyond>,
    /// Would /tmp fit?
    pub models: Vec<FitModel>,
    /// What would break if /tmp became a tmpfs as newer systems make it.
    pub upgrade: Vec<FitModel>,
    /// Defaults by RAM.
    pub rules: Vec<FitRule>,
    /// Hosts that would break, the one that lacks most in front; at most 100.
    pub breaks: Vec<BrokenHost>,
    /// How many would.
    pub break_count: u64,
    /// So many hosts without one that breaks would say: fewer than one in a thousand.
    pub clean_hosts_for_one_in_a_thousand: u64,
    /// What to do beside /tmp.
    pub actions: Vec<String>,
    /// What it does not say.
    pub caveats: Vec<String>,
    /// Of a file that was read for it.
    pub lines: Option<FileLines>,
}

impl HostSize {
    /// A value of an uptime in days.
    #[must_use]
    pub fn days(seconds: f64) -> f64 {
        seconds / 86_400.0
    }
}

impl HostBin {
    /// Least of the range and number of hosts, as a chart takes them.
    #[must_use]
    pub fn drawn(&self) -> (f64, f64) {
        (self.from as f64, self.hosts as f64)
    }
}

impl HostsBeyond {
    /// Those on the other side of the threshold.
    #[must_use]
    pub fn others(&self) -> HostShare {
        let rest = |share: Option<f64>| share.map(|share| 1.0 - share);
        HostShare {
            hosts: self.of.saturating_sub(self.hosts),
            of: self.of,
            share: rest(self.share),
            low: rest(self.high),
            high: rest(self.low),
        }
    }
}

impl FleetReport {
    /// What the answer says: by the RAM that is available where that is known.
    #[must_use]
    pub fn answer(&self) -> Option<&FitModel> {
        self.judged.as_ref().or_else(|| self.models.iter().find(|model| model.name == "free_and_swap"))
    }

    /// Whether all hosts that are judged are judged by free memory, for want of better.
    #[must_use]
    pub fn by_free_alone(&self) -> bool {
        self.judged.as_ref().is_none_or(|model| self.judged_by_free >= model.fits.of)
    }
}
