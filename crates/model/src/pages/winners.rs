//! Who wins what, and whether it is clear: an algorithm leads where its interval is apart from that of every other one.
//!
//! What it is not: a recommendation. The fastest algorithm of a table has lost to the kernel's default in applications before.

use ramline_evidence::pages::{AlgorithmPages, By};
use ramline_evidence::{Interval, Measurement};
use ramline_units::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Row;

/// What is won.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Contest {
    /// Bytes/s read back, over all cluster sizes.
    Throughput,
    /// Mean time to read one page back.
    Latency,
    /// Reads a second, over all cluster sizes.
    Iops,
    /// Bytes before over bytes of RAM.
    Ratio,
    /// The geometric mean of three shares of the best: speed of reading back, speed of compressing, RAM saved.
    Overall,
}

impl Contest {
    /// All, in the order shown.
    pub const ALL: [Contest; 5] =
        [Contest::Throughput, Contest::Latency, Contest::Iops, Contest::Ratio, Contest::Overall];

    const fn is_less_better(self) -> bool {
        matches!(self, Contest::Latency)
    }
}

/// Who leads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Winner {
    /// What it leads in.
    pub contest: Contest,
    /// Among those who compressed.
    pub by: By,
    /// The algorithm.
    pub algorithm: String,
    /// With clusters of so many pages; `None` where clusters do not matter.
    pub pages: Option<u32>,
    /// How much: bytes/s, ns, 1/s, or a ratio; between 0 and 1 for the overall one.
    pub value: f64,
    /// Between what it lies.
    pub interval: Interval,
    /// Others it cannot be told from; with any, nobody has won.
    pub level_with: Vec<String>,
}

struct Candidate<'a> {
    algorithm: &'a str,
    pages: Option<u32>,
    value: f64,
    interval: Interval,
}

/// All contests, of libraries and of the kernel apart; none where there is no other algorithm.
pub fn find(algorithms: &[AlgorithmPages], rows: &[Row]) -> Vec<Winner> {
    let mut out = Vec::new();
    for by in [By::Library, By::Kernel] {
        let of: Vec<(&AlgorithmPages, &Row)> = algorithms.iter().zip(rows).filter(|(one, _)| one.by == by).collect();
        if of.len() > 1 {
            out.extend(Contest::ALL.iter().filter_map(|contest| winner(*contest, by, candidates(*contest, &of))));
        }
    }
    out
}

fn winner(contest: Contest, by: By, mut all: Vec<Candidate<'_>>) -> Option<Winner> {
    ramline_units::sort_by(&mut all, |a, b| {
        if contest.is_less_better() { a.value.total_cmp(&b.value) } else { b.value.total_cmp(&a.value) }
    });
    let first = all.first()?;
    let mut level_with: Vec<String> = Vec::new();
    for other in all.iter().filter(|other| other.algorithm != first.algorithm) {
        if !first.interval.apart_from(other.interval) && !level_with.iter().any(|known| known == other.algorithm) {
            level_with.push(other.algorithm.to_owned());
        }
    }
    Some(Winner {
        contest,
        by,
        algorithm: first.algorithm.to_owned(),
        pages: first.pages,
        value: first.value,
        interval: first.interval,
        level_with,
    })
}

fn candidates<'a>(contest: Contest, of: &[(&'a AlgorithmPages, &Row)]) -> Vec<Candidate<'a>> {
    let by_cluster = |pick: fn(&ramline_evidence::pages::ClusterRead) -> &Measurement, single: bool| {
        let reads = of.iter().flat_map(|(one, _)| one.reads.iter().map(move |read| (*one, read)));
        let reads = reads.filter(|(_, read)| !single || read.pages == 1);
        reads.map(|(one, read)| measured(&one.algorithm, (!single).then_some(read.pages), pick(read))).collect()
    };
    match contest {
        Contest::Throughput => by_cluster(|read| &read.rate, false),
        Contest::Iops => by_cluster(|read| &read.per_second, false),
        Contest::Latency => by_cluster(|read| &read.mean, true),
        Contest::Ratio => of.iter().filter_map(|(one, row)| ratio(one, row)).collect(),
        Contest::Overall => overall(of),
    }
}

fn measured<'a>(algorithm: &'a str, pages: Option<u32>, by: &Measurement) -> Candidate<'a> {
    Candidate { algorithm, pages, value: by.median, interval: by.interval().0 }
}

fn ratio<'a>(one: &'a AlgorithmPages, row: &Row) -> Option<Candidate<'a>> {
    let ratio = row.in_ram?;
    let interval = ratio.interval.unwrap_or(Interval { low: ratio.value, high: f64::INFINITY });
    Some(Candidate { algorithm: &one.algorithm, pages: None, value: ratio.value, interval })
}

/// RAM a ratio saves, as a share.
fn saved(ratio: f64) -> f64 {
    (1.0 - 1.0 / ratio).max(0.0)
}

fn overall<'a>(of: &[(&'a AlgorithmPages, &Row)]) -> Vec<Candidate<'a>> {
    let parts: Vec<(&AlgorithmPages, &Measurement, &Measurement, Candidate<'_>)> = of
        .iter()
        .filter_map(|(one, row)| {
            let read = one.reads.iter().find(|read| read.pages == 1)?;
            Some((*one, &read.mean, one.compress_mean.as_ref()?, ratio(one, row)?))
        })
        .collect();
    let least = |pick: fn(&(&AlgorithmPages, &Measurement, &Measurement, Candidate<'_>)) -> f64| {
        parts.iter().map(pick).fold(f64::INFINITY, f64::min)
    };
    let (read, write) = (least(|part| part.1.median), least(|part| part.2.median));
    let most = parts.iter().map(|part| saved(part.3.value)).fold(0.0, f64::max);
    if most <= 0.0 {
        return Vec::new();
    }
    let score =
        |read_ns: f64, write_ns: f64, ratio: f64| (read / read_ns * (write / write_ns) * (saved(ratio) / most)).cbrt();
    parts
        .iter()
        .map(|(one, reads, writes, ratio)| {
            let (r, w) = (reads.interval().0, writes.interval().0);
            Candidate {
                algorithm: &one.algorithm,
                pages: None,
                value: score(reads.median, writes.median, ratio.value),
                interval: Interval {
                    low: score(r.high, w.high, ratio.interval.low),
                    high: score(r.low, w.low, ratio.interval.high),
                },
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(algorithm: &str, value: f64, spread: f64) -> Candidate<'_> {
        Candidate { algorithm, pages: None, value, interval: Interval { low: value - spread, high: value + spread } }
    }

    #[test]
    fn where_intervals_overlap_nobody_has_won() {
        let won = winner(Contest::Latency, By::Library, vec![candidate("zstd", 9.0, 1.0), candidate("lz4", 2.0, 0.5)]);
        assert_eq!(won.map(|won| (won.algorithm, won.level_with)), Some(("lz4".to_owned(), vec![])));
        let level =
            winner(Contest::Ratio, By::Library, vec![candidate("zstd:1", 3.0, 0.2), candidate("zstd:3", 3.1, 0.2)]);
        assert_eq!(
            level.map(|won| (won.algorithm, won.level_with)),
            Some(("zstd:3".to_owned(), vec!["zstd:1".to_owned()]))
        );
        assert_eq!(winner(Contest::Ratio, By::Library, vec![]), None);
    }

    #[test]
    fn what_saves_nothing_wins_nothing_overall() {
        assert!((saved(4.0) - 0.75).abs() < 1e-12);
        assert_eq!(saved(0.9), 0.0);
    }
}
