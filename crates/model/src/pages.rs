//! What a profile of pages says: ratios with their intervals, the pool they would take, and which algorithm wins what.
//!
//! What it is not: a measurement, or advice. All of it is a function of the profile, so a profile of another host is judged as one of this.
//!
//! A ratio is that of the whole sample, pages of one repeated word among them, which take no data. `by_compression` is what zram's counters
//! would give (orig_data_size / compr_data_size), `in_ram` divides by what the allocator takes. Neither counts the table of slots.

mod winners;

use ramline_evidence::Interval;
use ramline_evidence::pages::{AlgorithmPages, By, DictionaryGain, Lengths, OwnerPages, PageProfile};
use ramline_units::{Bytes, JsonSchema};
use serde::{Deserialize, Serialize};

use crate::zsmalloc::{Pool, Zsmalloc};
pub use winners::{Contest, Winner};

/// What was concluded from a profile.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "Judged")]
pub struct PageVerdict {
    /// By algorithm, in the order of the profile.
    pub rows: Vec<Row>,
    /// Who wins what.
    pub winners: Vec<Winner>,
    /// Share of the sample that is one repeated word.
    pub same_filled: Option<f64>,
    /// Share of the sample that is zeros.
    pub zero_filled: Option<f64>,
    /// Share of the pages in RAM that are cold, where the kernel tells.
    pub cold: Option<f64>,
    /// Share of all pages that was taken.
    pub sampled: Option<f64>,
    /// Gains of dictionaries.
    pub dictionaries: Vec<Dictionary>,
    /// Ratios by process.
    pub owners: Vec<Owner>,
    /// Ratios by control group.
    pub groups: Vec<Owner>,
}

/// A ratio and between what it lies.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ranged {
    /// The value.
    pub value: f64,
    /// 95 % interval; `None` where it has no upper end.
    pub interval: Option<Interval>,
}

/// One algorithm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Row {
    /// Its name and level.
    pub algorithm: String,
    /// Who compressed.
    pub by: By,
    /// Bytes before over bytes after compression; `None` where nothing is left.
    pub by_compression: Option<f64>,
    /// Bytes before over bytes of RAM in a large pool.
    pub in_ram: Option<Ranged>,
    /// Share of the sample that is stored as it is.
    pub incompressible: Option<f64>,
    /// The pool of the sample itself.
    pub pool: Pool,
    /// `mem_used_total` of the scratch device it was written to.
    pub measured: Option<Bytes>,
    /// Predicted over measured, less 1.
    pub off: Option<f64>,
}

/// What a dictionary gains.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Dictionary {
    /// The algorithm.
    pub algorithm: String,
    /// Size of the dictionary.
    pub dictionary: Bytes,
    /// Pages it was tried on.
    pub pages: u64,
    /// Bytes of RAM a page takes without it.
    pub without: f64,
    /// And with.
    pub with: f64,
    /// Share of RAM it saves; negative where it costs.
    pub gain: Option<f64>,
}

/// One process or group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Owner {
    /// Process id; `None` for a group.
    pub pid: Option<u32>,
    /// Its name.
    pub name: String,
    /// Its anonymous pages, in RAM and in swap.
    pub pages: Bytes,
    /// Pages of it in the sample.
    pub sampled: u64,
    /// Share of these that is one repeated word.
    pub same_filled: Option<f64>,
    /// In RAM, by algorithm.
    pub ratios: Vec<(String, Option<Ranged>)>,
}

impl PageVerdict {
    /// The judgement of a profile.
    #[must_use]
    pub fn from_profile(profile: &PageProfile) -> PageVerdict {
        let page = profile.host.page.max(1);
        let zs = Zsmalloc::new(page, profile.chain.pages);
        let sampling = &profile.sampling;
        let rows: Vec<Row> = profile.algorithms.iter().map(|one| row(one, sampling.same_filled, &zs)).collect();
        let winners = winners::find(&profile.algorithms, &rows);
        PageVerdict {
            winners,
            rows,
            same_filled: share(sampling.same_filled, sampling.taken),
            zero_filled: share(sampling.zero_filled, sampling.taken),
            cold: sampling.cold_of.and_then(|(cold, of)| share(cold, of)),
            sampled: share(sampling.taken, sampling.present.saturating_add(sampling.swapped)),
            dictionaries: profile.dictionaries.iter().map(|gain| dictionary(gain, &zs)).collect(),
            owners: profile.owners.iter().map(|one| owner(one, page, &zs)).collect(),
            groups: profile.groups.iter().map(|one| owner(one, page, &zs)).collect(),
        }
    }

    /// The kernel's algorithms that stand in the final: its default, which its list begins with, then those that lead somewhere, and those
    /// that cannot be told from the overall winner. In the order in which they were measured.
    #[must_use]
    pub fn finalists(&self) -> Vec<String> {
        let kernel = || self.winners.iter().filter(|winner| winner.by == By::Kernel);
        let level = |name: &str| {
            kernel().any(|winner| winner.contest == Contest::Overall && winner.level_with.iter().any(|of| of == name))
        };
        let names = self.rows.iter().filter(|row| row.by == By::Kernel).map(|row| row.algorithm.as_str());
        let leads = |name: &str| kernel().any(|winner| winner.algorithm == name);
        let in_final = |(at, name): &(usize, &str)| *at == 0 || leads(name) || level(name);
        names.enumerate().filter(in_final).map(|(_, name)| name.to_owned()).collect()
    }

    /// The winner of a contest among those who compressed.
    #[must_use]
    pub fn winner(&self, contest: Contest, by: By) -> Option<&Winner> {
        self.winners.iter().find(|winner| winner.contest == contest && winner.by == by)
    }
}

fn share(part: u64, all: u64) -> Option<f64> {
    Bytes(part).share_of(Bytes(all))
}

fn row(one: &AlgorithmPages, same_filled: u64, zs: &Zsmalloc) -> Row {
    let pool = zs.pool(&one.lengths);
    let all = one.lengths.pages() + same_filled;
    let original = Bytes(all * one.lengths.page);
    let measured = one.pool.map(|pool| pool.mem_used).filter(|used| used.0 > 0);
    Row {
        algorithm: one.algorithm.clone(),
        by: one.by,
        by_compression: pool.stored.share_of(original).filter(|share| *share > 0.0).map(f64::recip),
        in_ram: in_ram(&one.lengths, same_filled, zs),
        incompressible: share(pool.huge, all),
        measured,
        off: measured.and_then(|measured| pool.used.share_of(measured)).map(|share| share - 1.0),
        pool,
    }
}

/// The 95 % point of a normal deviation.
const Z: f64 = 1.96;

/// Bytes before over bytes of RAM, with the interval that the spread between pages gives.
fn in_ram(lengths: &Lengths, same_filled: u64, zs: &Zsmalloc) -> Option<Ranged> {
    let pool = zs.pool(lengths);
    let (pages, all) = (lengths.pages() as f64, (lengths.pages() + same_filled) as f64);
    let mean = pool.each * pages / all;
    // Pages of one word take nothing and count as such.
    let squares = (pool.each * pool.each + pool.deviation * pool.deviation) * pages / all;
    let error = Z * ((squares - mean * mean).max(0.0) / all).sqrt();
    let page = lengths.page as f64;
    let interval = (mean > error).then(|| Interval { low: page / (mean + error), high: page / (mean - error) });
    (mean > 0.0).then(|| Ranged { value: page / mean, interval })
}

fn dictionary(gain: &DictionaryGain, zs: &Zsmalloc) -> Dictionary {
    let (without, with) = (zs.pool(&gain.without).each, zs.pool(&gain.with).each);
    Dictionary {
        algorithm: gain.algorithm.clone(),
        dictionary: gain.dictionary,
        pages: gain.pages,
        without,
        with,
        gain: (without > 0.0).then(|| 1.0 - with / without),
    }
}

fn owner(one: &OwnerPages, page: u64, zs: &Zsmalloc) -> Owner {
    Owner {
        pid: one.pid,
        name: one.name.clone(),
        pages: Bytes((one.present + one.swapped).saturating_mul(page)),
        sampled: one.sampled,
        same_filled: share(one.same_filled, one.sampled),
        ratios: one.lengths.iter().map(|of| (of.algorithm.clone(), in_ram(&of.lengths, one.same_filled, zs))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_evidence::pages::Sampling;

    fn algorithm(name: &str, lengths: &[(u64, u64)]) -> AlgorithmPages {
        let mut all = Lengths::new(4096);
        lengths.iter().for_each(|(length, n)| (0..*n).for_each(|_| all.add(*length)));
        AlgorithmPages {
            algorithm: name.into(),
            by: By::Library,
            code: String::new(),
            lengths: all,
            compress: None,
            compress_mean: None,
            reads: vec![],
            swap_in: None,
            pool: None,
            notes: vec![],
        }
    }

    fn profile(algorithms: Vec<AlgorithmPages>, same_filled: u64) -> PageProfile {
        PageProfile {
            host: ramline_evidence::pages::ProfileHost { page: 4096, ..Default::default() },
            sampling: Sampling { same_filled, taken: 200, present: 20_000, ..Sampling::default() },
            algorithms,
            ..PageProfile::default()
        }
    }

    #[test]
    fn same_filled_pages_take_nothing_and_incompressible_ones_a_whole_page() {
        // 100 pages of 1000 bytes (objects of 1008: 4 a page, with 64 bytes lost), 50 incompressible, 50 of one word.
        let judged = PageVerdict::from_profile(&profile(vec![algorithm("lz4", &[(1000, 100), (4096, 50)])], 50));
        let row = &judged.rows[0];
        assert_eq!(judged.same_filled, Some(0.25));
        assert_eq!((row.pool.huge, row.incompressible), (50, Some(0.25)));
        assert_eq!(row.pool.stored, Bytes(100 * 1000 + 50 * 4096));
        let (by_compression, in_ram) = (row.by_compression.unwrap(), row.in_ram.unwrap());
        assert!((by_compression - 200.0 * 4096.0 / 304_800.0).abs() < 1e-9);
        assert!((in_ram.value - 200.0 / (100.0 / 4.0 + 50.0)).abs() < 1e-9, "{in_ram:?}");
        let interval = in_ram.interval.unwrap();
        assert!(interval.low < in_ram.value && in_ram.value < interval.high);
        assert_eq!(judged.sampled, Some(0.01));
    }

    #[test]
    fn in_the_final_stand_the_kernel_s_default_and_whoever_wins_something() {
        let kernel = |name: &str, length| AlgorithmPages { by: By::Kernel, ..algorithm(name, &[(length, 200)]) };
        let judged = PageVerdict::from_profile(&profile(
            vec![algorithm("zstd:3", &[(500, 200)]), kernel("lzo-rle", 1500), kernel("lzo", 1600), kernel("zstd", 900)],
            0,
        ));
        assert_eq!(judged.winner(Contest::Ratio, By::Kernel).unwrap().algorithm, "zstd");
        assert_eq!(judged.finalists(), ["lzo-rle", "zstd"], "not the library's, and not who wins nothing");
        assert!(PageVerdict::from_profile(&profile(vec![algorithm("lz4", &[(500, 200)])], 0)).finalists().is_empty());
    }

    #[test]
    fn a_sample_of_one_word_alone_has_no_ratio() {
        let judged = PageVerdict::from_profile(&profile(vec![algorithm("lz4", &[])], 200));
        assert_eq!((judged.rows[0].by_compression, judged.rows[0].in_ram), (None, None));
    }

    #[test]
    fn the_prediction_stands_beside_the_measured_pool() {
        let mut one = algorithm("lz4", &[(2000, 100)]);
        one.pool = Some(ramline_evidence::pages::MeasuredPool { mem_used: Bytes(50 * 4096), ..Default::default() });
        let row = &PageVerdict::from_profile(&profile(vec![one], 0)).rows[0];
        assert_eq!((row.pool.used, row.measured, row.off), (Bytes(50 * 4096), Some(Bytes(50 * 4096)), Some(0.0)));
    }
}
