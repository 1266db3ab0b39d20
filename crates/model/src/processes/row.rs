//! One line of the answer, and the sums it is part of.

use crate::prelude::*;

/// A size that is known between bounds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Spread {
    /// At least.
    pub low: Bytes,
    /// Most likely.
    pub value: Bytes,
    /// At most.
    pub high: Bytes,
}

impl Spread {
    /// Known exactly.
    #[must_use]
    pub const fn exact(value: Bytes) -> Self {
        Spread { low: value, value, high: value }
    }

    /// All three at most this.
    #[must_use]
    pub fn at_most(self, most: Bytes) -> Spread {
        Spread { low: self.low.min(most), value: self.value.min(most), high: self.high.min(most) }
    }

    /// How far the truth can be from the value.
    #[must_use]
    pub fn error(&self) -> Bytes {
        self.value.saturating_sub(self.low).max(self.high.saturating_sub(self.value))
    }
}

/// One line of the answer: a group of processes, or one. Gauges.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Row {
    /// What it is grouped by: a program, a user, a control group; any bytes of the machine's.
    pub name: String,
    /// The process, where the row is one.
    pub pid: Option<u32>,
    /// Whose processes they are; `None` where they are of several users.
    pub user: Option<String>,
    /// The command line, where it was asked for and the row is one process; any bytes of the machine's.
    pub command: Option<String>,
    /// Processes in it that have memory of their own.
    pub processes: u64,
    /// What it holds in RAM, each page counted once over the whole machine (PSS).
    pub holds: Spread,
    /// Of `holds`, anonymous: heap, stack.
    pub anon: Bytes,
    /// Of `holds`, its share of files and shared memory.
    pub shared: Bytes,
    /// What it maps and is in RAM, pages counted again in every process.
    pub rss: Bytes,
    /// Pages nobody else maps (USS), where every process of it was walked.
    pub own: Option<Bytes>,
    /// In swap, uncompressed; what forks share is counted in each.
    pub swap: Bytes,
    /// What its swapped pages cost in RAM; `None` where it has none or that is not known.
    pub swap_costs: Option<Spread>,
    /// Page tables, exact.
    pub page_tables: Bytes,
    /// Locked in RAM.
    pub locked: Bytes,
    /// In the pool of huge pages; not in `holds`.
    pub hugetlb: Bytes,
    /// Growth of anonymous memory, in RAM or in swap, of those that were there before and after; `None` without a window.
    pub growth: Option<SignedBytes>,
    /// Processors it used in the window, 1 for one that was busy all the time, of those that were there before and after; `None` without
    /// a window.
    pub cpu: Option<f64>,
    /// Processes whose page tables were walked.
    pub walked: u64,
    /// Processes taken to be like a walked fork of the same kind.
    pub alike: u64,
    /// Depth in the tree of processes; 0 elsewhere.
    pub depth: u64,
}

/// Sums over processes against the machine's own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Identity {
    /// Anonymous residents, added up over processes.
    pub anon_sum: Bytes,
    /// AnonPages: each page once. `None` where meminfo was not seen.
    pub anon_pages: Option<Bytes>,
    /// Files and shared memory in RAM, added up over processes.
    pub shared_sum: Bytes,
    /// Mapped: each page once.
    pub mapped: Option<Bytes>,
    /// What the two counters moved by and can lag behind while the processes were read.
    pub drift: Bytes,
}

impl Identity {
    /// What the anonymous sum counts more than once: pages that forks share. Negative: somebody not seen holds it.
    #[must_use]
    pub fn excess(&self) -> Option<SignedBytes> {
        Some(SignedBytes::difference(self.anon_sum, self.anon_pages?))
    }
}

/// The bytes of a sum made in floating point, which is exact to 8 PiB.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to what fits")]
pub(crate) fn bytes(value: f64) -> Bytes {
    Bytes(if value.is_finite() { value.clamp(0.0, 9.0e18).round() as u64 } else { 0 })
}
