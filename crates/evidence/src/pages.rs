//! What a machine's own pages compress to and how long that takes: a profile without contents, which can be carried to another host.
//!
//! What it is not: the pages, or a judgement. Of each page only the bucket of its compressed length is kept; pools, ratios and winners are
//! functions of this (`ramline_model::pages`).
//!
//! ```
//! use ramline_evidence::pages::Lengths;
//! let mut lengths = Lengths::new(4096);
//! [1000, 1001, 4096].iter().for_each(|length| lengths.add(*length));
//! // 1000 + 8 bytes of the allocator's handle are the last that fit into objects of 1008 bytes.
//! let buckets: Vec<(u64, u64)> = lengths.buckets.iter().map(|b| (b.object, b.pages)).collect();
//! assert_eq!((buckets, lengths.pages(), lengths.bytes()), (vec![(1008, 1), (1024, 1), (4096, 1)], 3, 6097));
//! ```

use ramline_units::{Bytes, JsonSchema};
use serde::{Deserialize, Serialize};

use crate::{LatencyStats, Measurement};

/// Version of the profile's format.
pub const PROFILE_FORMAT: u32 = 1;
/// Bytes zsmalloc puts before each object (ZS_HANDLE_SIZE on 64-bit machines).
pub const HANDLE: u64 = 8;
/// The smallest object (ZS_MIN_ALLOC_SIZE).
pub const LEAST_OBJECT: u64 = 32;

/// Compressed lengths of pages by the size of zsmalloc's object that takes them: exact for the pool whatever the kernel's chain size.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Lengths {
    /// Bytes of a page before compression.
    pub page: u64,
    /// By object size, ascending; only those with pages.
    pub buckets: Vec<Bucket>,
}

/// Pages whose compressed form needs an object of one size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Bucket {
    /// Bytes of the object, the handle among them.
    pub object: u64,
    /// How many pages.
    pub pages: u64,
    /// What they compressed to, together.
    pub bytes: u64,
}

impl Lengths {
    /// None yet.
    #[must_use]
    pub fn new(page: u64) -> Lengths {
        Lengths { page, buckets: Vec::new() }
    }

    /// Bytes from one object size to the next: 16 for pages of 4 KiB (ZS_SIZE_CLASS_DELTA).
    #[must_use]
    pub fn step(page: u64) -> u64 {
        (page >> 8).max(1)
    }

    /// One page more, by its compressed length.
    pub fn add(&mut self, length: u64) {
        let step = Lengths::step(self.page);
        let beyond = (length + HANDLE).saturating_sub(LEAST_OBJECT).div_ceil(step);
        let object = (LEAST_OBJECT + beyond * step).min(self.page);
        let at = self.buckets.partition_point(|bucket| bucket.object < object);
        if self.buckets.get(at).is_none_or(|bucket| bucket.object != object) {
            self.buckets.insert(at, Bucket { object, ..Bucket::default() });
        }
        if let Some(bucket) = self.buckets.get_mut(at) {
            bucket.pages += 1;
            bucket.bytes += length;
        }
    }

    /// Those of others as well.
    pub fn merge(&mut self, others: &Lengths) {
        for other in &others.buckets {
            let at = self.buckets.partition_point(|bucket| bucket.object < other.object);
            match self.buckets.get_mut(at).filter(|bucket| bucket.object == other.object) {
                Some(bucket) => {
                    bucket.pages += other.pages;
                    bucket.bytes += other.bytes;
                }
                None => self.buckets.insert(at, *other),
            }
        }
    }

    /// How many pages.
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.buckets.iter().map(|bucket| bucket.pages).sum()
    }

    /// What they compressed to, together.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.buckets.iter().map(|bucket| bucket.bytes).sum()
    }
}

/// Who compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// A library in user space.
    #[default]
    Library,
    /// The kernel, on a scratch zram device.
    Kernel,
}

/// Reading clusters of pages back, each page compressed alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClusterRead {
    /// Pages read one after the other: 1, 2, 4 or 8.
    pub pages: u32,
    /// How many readers at a time.
    pub readers: u32,
    /// Of one cluster.
    pub latency: LatencyStats,
    /// Means of the batches, in ns a cluster.
    pub mean: Measurement,
    /// Bytes/s, uncompressed, by batch.
    pub rate: Measurement,
    /// Clusters a second, by batch.
    pub per_second: Measurement,
}

impl ClusterRead {
    /// Bytes of a cluster of pages of `page` bytes: the block size.
    #[must_use]
    pub fn block(&self, page: u64) -> Bytes {
        Bytes(u64::from(self.pages).saturating_mul(page))
    }
}

/// What a scratch device said after the pages were written to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MeasuredPool {
    /// `orig_data_size`.
    pub orig_data: Bytes,
    /// `compr_data_size`.
    pub compr_data: Bytes,
    /// `mem_used_total`.
    pub mem_used: Bytes,
    /// `same_pages`.
    pub same_pages: u64,
    /// `huge_pages`; `None` before Linux 5.0.
    pub huge_pages: Option<u64>,
}

/// One algorithm on the sample.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AlgorithmPages {
    /// As zram names it, with its level: `lz4`, `zstd:3`.
    pub algorithm: String,
    /// Who compressed.
    pub by: By,
    /// The code: library and version, or kernel.
    pub code: String,
    /// Compressed lengths of all pages that are not same-filled.
    pub lengths: Lengths,
    /// Compressing one page.
    pub compress: Option<LatencyStats>,
    /// Means of the batches, in ns a page.
    pub compress_mean: Option<Measurement>,
    /// Reading back, by cluster size.
    pub reads: Vec<ClusterRead>,
    /// Real faults on pages in a scratch swap area, one page each.
    #[serde(default)]
    pub swap_in: Option<LatencyStats>,
    /// The pool of the scratch device.
    #[serde(default)]
    pub pool: Option<MeasuredPool>,
    /// What qualifies it.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// What a dictionary trained on one half of the sample gains on the other.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DictionaryGain {
    /// The algorithm.
    pub algorithm: String,
    /// Bytes of the dictionary.
    pub dictionary: Bytes,
    /// Pages compressed: none of them was trained on.
    pub pages: u64,
    /// Their lengths without.
    pub without: Lengths,
    /// And with.
    pub with: Lengths,
}

/// The sample of one process, or of one group.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct OwnerPages {
    /// Process id; `None` for a group.
    pub pid: Option<u32>,
    /// Name of the process, or path of the group.
    pub name: String,
    /// Its anonymous pages in RAM.
    pub present: u64,
    /// Its pages in swap.
    pub swapped: u64,
    /// Pages of it in the sample.
    pub sampled: u64,
    /// Of these, of one repeated word.
    pub same_filled: u64,
    /// Lengths of the others, by algorithm.
    pub lengths: Vec<OwnerLengths>,
}

/// Lengths of an owner's pages under one algorithm.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct OwnerLengths {
    /// The algorithm.
    pub algorithm: String,
    /// Compressed lengths.
    pub lengths: Lengths,
}

/// How the sample was drawn.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Sampling {
    /// Whose pages, in words.
    pub scope: String,
    /// Seed of the choice.
    pub seed: u64,
    /// Processes with anonymous pages.
    pub processes: u64,
    /// Processes that ended while they were looked at.
    pub ended: u64,
    /// Processes of other users.
    pub denied: u64,
    /// Processes left out for time or another reason.
    pub left_out: u64,
    /// Anonymous pages in RAM that can be swapped.
    pub present: u64,
    /// Pages in swap.
    pub swapped: u64,
    /// Locked pages, left out.
    pub locked: u64,
    /// Pages of the sample.
    pub taken: u64,
    /// Of these, read back from swap.
    pub taken_swapped: u64,
    /// Of these, cold: on the inactive list and not referenced.
    pub taken_cold: u64,
    /// Of pages in RAM looked at, how many were cold; `None` where the kernel does not tell this user.
    pub cold_of: Option<(u64, u64)>,
    /// Pages that were gone, or could not be read, when it was their turn.
    pub lost: u64,
    /// Pages of one repeated word: stored without data.
    pub same_filled: u64,
    /// Of these, of zeros: since Linux 6.12 they do not reach zram at all.
    pub zero_filled: u64,
}

/// Where and when it was measured.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ProfileHost {
    /// `uname -r`.
    pub kernel: String,
    /// Processor.
    pub cpu: String,
    /// Processors.
    pub cpus: u64,
    /// Bytes of a page.
    pub page: u64,
    /// MemTotal.
    pub mem_total: Option<Bytes>,
    /// Unix time, seconds.
    pub taken_unix_s: u64,
    /// Version of ramline.
    pub ramline: String,
    /// The build was not optimised: times mean nothing.
    pub unoptimised: bool,
}

/// The profile.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PageProfile {
    /// [`PROFILE_FORMAT`].
    pub format: u32,
    /// Where and when.
    pub host: ProfileHost,
    /// How the sample was drawn.
    pub sampling: Sampling,
    /// By algorithm, in the order measured.
    pub algorithms: Vec<AlgorithmPages>,
    /// Gains of dictionaries.
    pub dictionaries: Vec<DictionaryGain>,
    /// By process, most pages first.
    pub owners: Vec<OwnerPages>,
    /// By memory control group, most pages first.
    pub groups: Vec<OwnerPages>,
    /// Pages a zsmalloc chain may have, and whether it was probed.
    pub chain: Chain,
    /// What was not measured, and why.
    pub skipped: Vec<String>,
    /// Wall-clock seconds.
    pub took_s: f64,
    /// CPU seconds.
    pub cpu_s: f64,
}

/// Most pages of a zspage (CONFIG_ZSMALLOC_CHAIN_SIZE).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Chain {
    /// 4 to 16.
    pub pages: u64,
    /// Found on a scratch device; otherwise the kernel's default is assumed.
    pub probed: bool,
}

impl Default for Chain {
    /// The default of Linux since 6.3 (mm/Kconfig).
    fn default() -> Chain {
        Chain { pages: 8, probed: false }
    }
}

impl AlgorithmPages {
    /// Reading one page.
    #[must_use]
    pub fn single(&self) -> Option<&ClusterRead> {
        self.reads.iter().find(|read| read.pages == 1)
    }
}

impl PageProfile {
    /// What differs between the host of the profile and this one, for a warning.
    #[must_use]
    pub fn differs_from(&self, here: &ProfileHost) -> Vec<String> {
        let there = &self.host;
        let words = [
            ("kernel", &there.kernel, &here.kernel),
            ("processor", &there.cpu, &here.cpu),
            ("ramline", &there.ramline, &here.ramline),
        ];
        let mut out: Vec<String> =
            words.iter().filter(|(_, a, b)| a != b).map(|(what, a, b)| format!("{what} {a} there, {b} here")).collect();
        if there.page != here.page {
            out.push(format!("pages of {} there, of {} here", Bytes(there.page), Bytes(here.page)));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_falls_into_the_object_that_takes_it_with_its_handle() {
        let mut lengths = Lengths::new(4096);
        for length in [1, 24, 25, 40, 3624, 3625, 4088, 4089, 5000] {
            lengths.add(length);
        }
        let buckets: Vec<(u64, u64)> = lengths.buckets.iter().map(|b| (b.object, b.pages)).collect();
        assert_eq!(buckets, [(32, 2), (48, 2), (3632, 1), (3648, 1), (4096, 3)]);
        assert_eq!(lengths.bytes(), 1 + 24 + 25 + 40 + 3624 + 3625 + 4088 + 4089 + 5000);
    }

    #[test]
    fn a_profile_of_another_machine_is_recognised_by_kernel_and_processor() {
        let here = ProfileHost { kernel: "6.18".into(), cpu: "A".into(), page: 4096, ..ProfileHost::default() };
        let there = PageProfile { host: ProfileHost { cpu: "B".into(), ..here.clone() }, ..PageProfile::default() };
        assert_eq!(there.differs_from(&here), ["processor B there, A here"]);
        assert!(PageProfile { host: here.clone(), ..PageProfile::default() }.differs_from(&here).is_empty());
    }

    #[test]
    fn a_profile_of_an_older_version_without_later_fields_is_read() {
        let old: PageProfile = serde_json::from_str(r#"{"format":1}"#).unwrap();
        assert_eq!(old.chain, Chain { pages: 8, probed: false });
    }
}
