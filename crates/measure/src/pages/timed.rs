//! One algorithm on the sample: each page compressed once, then clusters of pages read back at random places; every operation timed.
//!
//! What it is not: parallel: one reader. The clock's own cost is subtracted, and durations during which another task had the CPU are left
//! out. Batches are interleaved over the sample, so that they differ by the machine and not by whose pages they hold.

use std::time::{Duration, Instant};

use ramline_evidence::Measurement;
use ramline_evidence::pages::{AlgorithmPages, By, ClusterRead, Lengths};
use ramline_evidence::rng::SplitMix64;
use ramline_kernel::KernelError;
use ramline_kernel::process;

use super::error::PagesError;
use super::sample::{Sample, repeated, stop_if_interrupted, wide};
use super::store::Store;
use crate::codec::Codec;
use crate::tiers::timing::{Clock, Series};

/// Batches of each measurement: from six on there is an interval (evidence::study).
pub const BATCHES: usize = 8;
/// Pages of a cluster: what page-cluster 0 to 3 would read.
pub const CLUSTERS: [u32; 4] = [1, 2, 4, 8];
/// No other task has the CPU for less than this before it is ours again.
const SHORTEST_TURN_NS: u64 = 20_000;

/// Means of batches beside all durations.
#[derive(Default)]
pub struct Timed {
    series: Series,
    means: Vec<f64>,
    sum: u64,
    count: u64,
    preemptions: u64,
}

impl Timed {
    pub fn begin() -> Timed {
        Timed { preemptions: process::preemptions(), ..Timed::default() }
    }

    /// Times one operation.
    pub fn one<T>(&mut self, clock: &Clock, operation: impl FnOnce() -> T) -> T {
        let before = Instant::now();
        let out = operation();
        let took = ramline_units::Nanos::from(before.elapsed()).0.saturating_sub(clock.overhead.0);
        let seen = self.preemptions;
        // Looked at only where it can have happened: the look costs a system call.
        if took > SHORTEST_TURN_NS {
            self.preemptions = process::preemptions();
        }
        if self.preemptions == seen {
            self.series.record(took);
            self.sum += took;
            self.count += 1;
        }
        out
    }

    #[expect(clippy::cast_precision_loss, reason = "durations far below 2^53 ns")]
    pub fn close_batch(&mut self) {
        if self.count > 0 {
            self.means.push(self.sum as f64 / self.count as f64);
        }
        (self.sum, self.count) = (0, 0);
        self.series.close_batch();
    }

    /// All durations.
    pub fn latency(&self) -> Option<ramline_evidence::LatencyStats> {
        self.series.latency()
    }

    /// Means of the batches, each turned into another quantity.
    pub fn means(&self, unit: &str, turn: impl Fn(f64) -> f64) -> Option<Measurement> {
        let values: Vec<f64> = self.means.iter().filter(|mean| **mean > 0.0).map(|mean| turn(*mean)).collect();
        Measurement::from_values(&values, unit, "means of batches", &[])
    }

    /// As the reading of clusters of so many pages of `page` bytes.
    pub fn cluster(&self, pages: u32, page: usize) -> Option<ClusterRead> {
        let bytes = f64::from(pages) * f64::from(u32::try_from(page).unwrap_or(u32::MAX));
        Some(ClusterRead {
            pages,
            readers: 1,
            latency: self.latency()?,
            mean: self.means("ns", |mean| mean)?,
            rate: self.means("bytes/s", |mean| bytes * 1e9 / mean)?,
            per_second: self.means("1/s", |mean| 1e9 / mean)?,
        })
    }
}

/// Measures one codec; `slice` is the time for reading one cluster size.
pub fn measure(
    sample: &Sample,
    algorithm: &str,
    codec: &mut dyn Codec,
    store: &mut Store,
    clock: &Clock,
    slice: Duration,
) -> Result<AlgorithmPages, PagesError> {
    let page = sample.page_bytes();
    let mut lengths = Lengths::new(wide(page));
    store.clear(sample.len());
    let compress = compress(sample, algorithm, codec, store, clock, &mut lengths)?;
    let mut reads = Vec::new();
    for pages in CLUSTERS {
        reads.extend(read(sample, algorithm, codec, store, clock, slice, pages)?.cluster(pages, page));
    }
    Ok(AlgorithmPages {
        algorithm: algorithm.to_owned(),
        by: By::Library,
        code: codec.code(),
        lengths,
        compress: compress.latency(),
        compress_mean: compress.means("ns", |mean| mean),
        reads,
        swap_in: None,
        pool: None,
        notes: Vec::new(),
    })
}

fn compress(
    sample: &Sample,
    algorithm: &str,
    codec: &mut dyn Codec,
    store: &mut Store,
    clock: &Clock,
    lengths: &mut Lengths,
) -> Result<Timed, PagesError> {
    let mut timed = Timed::begin();
    for batch in 0..BATCHES {
        for index in (batch..sample.len()).step_by(BATCHES) {
            stop_if_interrupted()?;
            let page = sample.page(index);
            if let Some(word) = repeated(page) {
                store.put_word(index, word);
                continue;
            }
            let done = timed.one(clock, || codec.compress(page, store.scratch()));
            let length = done.ok_or_else(|| failed("compress", algorithm))?;
            lengths.add(wide(length));
            store.keep(index, length, page);
        }
        timed.close_batch();
    }
    Ok(timed)
}

fn read(
    sample: &Sample,
    algorithm: &str,
    codec: &mut dyn Codec,
    store: &mut Store,
    clock: &Clock,
    slice: Duration,
    pages: u32,
) -> Result<Timed, PagesError> {
    let mut timed = Timed::begin();
    let cluster = usize::try_from(pages).unwrap_or(1);
    let Some(clusters) = Some(sample.len() / cluster).filter(|n| *n > 0) else { return Ok(timed) };
    let mut random = SplitMix64::new(sample.sampling.seed);
    let share = slice / u32::try_from(BATCHES).unwrap_or(1);
    for _ in 0..BATCHES {
        let start = Instant::now();
        let mut done = 0;
        while done < 20 || start.elapsed() < share {
            stop_if_interrupted()?;
            let first = usize::try_from(random.below(wide(clusters))).unwrap_or(0) * cluster;
            let fine = timed.one(clock, || (0..cluster).all(|n| store.fetch(first + n, n, codec)));
            if !fine {
                return Err(failed("decompress", algorithm));
            }
            done += 1;
        }
        timed.close_batch();
    }
    Ok(timed)
}

fn failed(what: &str, algorithm: &str) -> PagesError {
    KernelError::unsupported(what, format!("a page with {algorithm}"), "the library did not take the page").into()
}
