//! What things take, in nanoseconds.
//!
//! Left out: processors that share a device, and whatever another program does meanwhile.

mod tiers;

/// Uncertainty factor of assumed costs: on a busy machine a round took up to four times as long.
const ASSUMED_SPREAD: f64 = 4.0;
/// Uncertainty factor of what was measured once on a quiet machine: another program takes every second turn.
pub const MEASURED_SPREAD: f64 = 2.0;
/// What compression takes on a processor whose pace is known: of three libraries of lz4 the slowest takes this factor of the median.
const CODEC_SPREAD: f64 = 1.5;

/// So much longer it takes to fill a page with other contents than text: 3.7 to 4.1 µs with random bytes and 2.3 to 3.3 with zeros, 2.6 to 3.1 with text.
const CONTENTS: [(&str, f64); 2] = [("random", 1.1e3), ("zeros", -0.5e3)];
/// Compression and decompression of a page of text, and of random bytes, as `measure tiers` found them on another machine than the other costs are of. The last stands for
/// algorithms that are not here.
const CODECS: [(&str, [f64; 2], [f64; 2]); 4] = [
    ("lz4", [2.7e3, 0.8e3], [1e3, 0.4e3]),
    ("lzo", [4.8e3, 2.3e3], [0.8e3, 0.4e3]),
    ("lzo-rle", [4.9e3, 2.2e3], [0.9e3, 0.4e3]),
    ("zstd", [10.4e3, 3.6e3], [4e3, 0.4e3]),
];
/// A page of one word over and over is only looked through, and made again.
const ZEROS: [f64; 2] = [0.3e3, 0.3e3];

/// Uncertainty factors of costs, one for all costs of a kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// What a disk takes.
    pub device: f64,
    /// What a processor takes, compression aside.
    pub processor: f64,
    /// What it takes to compress and to decompress.
    pub codec: f64,
}

impl Spread {
    /// The same of each.
    #[must_use]
    pub const fn same(times: f64) -> Spread {
        Spread { device: times, processor: times, codec: times }
    }
}

/// How many times slower something was than it was taken to be, as runs showed it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// In the middle of the runs.
    pub times: f64,
    /// So many times less or more in one of them.
    pub spread: f64,
}

/// How many times slower disks were than they were taken to be. Those that are as fast by single pages may be unlike by long reads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Disk {
    /// In what a request takes at all.
    pub request: f64,
    /// In what each page of it takes.
    pub page: f64,
    /// Uncertainty factor of one run.
    pub spread: f64,
}

impl Disk {
    /// Cost that is `times` as much in both.
    #[must_use]
    pub const fn same_pace(Pace { times, spread }: Pace) -> Disk {
        Disk { request: times, page: times, spread }
    }
}

/// Nanoseconds of each step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Costs {
    /// From one touch to the next, beside the touches: the program works out where that is.
    pub between: f64,
    /// A touch that the page tables answer.
    pub hit: f64,
    /// A fault that finds its page in RAM.
    pub minor: f64,
    /// Beside its read, what comes from swap at once: what its fault takes at all, and each page of it.
    pub swap_in: [f64; 2],
    /// Beside its compression, a page that reclaim gives to a zram, or notes as one of zeros.
    pub swap_out: f64,
    /// Beside its fault, a page that is filled before the rounds: zeroed, made up and written.
    pub fill: f64,
    /// A read(2) of one page that is in RAM.
    pub call: f64,
    /// Each further page of it.
    pub copy: f64,
    /// A page that goes through the hands of reclaim.
    pub scan: f64,
    /// Beside `scan`, a single page of the classic inactive lists whose page tables say that it is in use.
    pub in_use: f64,
    /// Beside `scan`, a page of shared memory that reclaim takes from page tables and may not write.
    pub unmap: f64,
    /// What a processor has to do with a read of a file, beside the wait for it: with the request, and with each page of it.
    pub fetch: [f64; 2],
    /// So much longer than its disk does each read of a file take: through a device above it.
    pub layer: f64,
    /// A read of a file: what its disk takes at all, and each page of it.
    pub read: [f64; 2],
    /// What a processor has to do with a read from a swap area on disk, beside the wait for it.
    pub swap_fetch: f64,
    /// A read from a swap area on disk: what it takes at all, and each page of it.
    pub swap_read: [f64; 2],
    /// What reclaim takes to ask for a page to be written to a swap area on disk.
    pub swap_write: f64,
    /// A write to a swap area on disk: what its disk takes at all, and each page of it.
    pub swap_written: [f64; 2],
    /// A page compressed.
    pub compress: f64,
    /// A page decompressed.
    pub decompress: f64,
    /// Both were measured on this machine.
    pub is_codec_measured: bool,
    /// So many times less or more they may be.
    pub spread: Spread,
}

/// Whole nanoseconds.
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "times below a century, never negative")]
pub fn whole(ns: f64) -> u64 {
    // `round` is a call, and this stands in the way of each read.
    (ns.max(0.0) + 0.5) as u64
}

/// Pages of a read of which each takes its time; those behind them take half of it: rounds with windows of 8 MiB took 3 µs a page, those with windows of 32 pages
/// 6. (Requests of 1, 4, 8, 16 and 32 pages took 40, 77, 120, 143 and 148 µs, traced, so that a single one is flatter; a window mostly comes in several.)
const SHORT: u64 = 32;

/// A read of several pages from a disk: a cost for the request, and one for each page.
#[must_use]
pub fn read_cost(cost: [f64; 2], n: u64) -> u64 {
    whole(cost[0] + cost[1] * in_short(n))
}

/// Pages of a short read that take as long as these.
#[expect(clippy::cast_precision_loss, reason = "counts of pages")]
fn in_short(n: u64) -> f64 {
    let short = n.min(SHORT);
    short as f64 + (n - short) as f64 / 2.0
}

/// What steps take that are no device's, in whole nanoseconds.
#[derive(Debug, Clone, Copy)]
pub struct Steps {
    /// See [`Costs`].
    pub hit: u64,
    /// See [`Costs`].
    pub minor: u64,
    /// See [`Costs`].
    pub swap_in: [u64; 2],
    /// See [`Costs`].
    pub swap_out: u64,
    /// See [`Costs`].
    pub fill: u64,
    /// See [`Costs`].
    pub call: u64,
    /// See [`Costs`].
    pub copy: u64,
    /// See [`Costs`].
    pub scan: u64,
    /// See [`Costs`].
    pub in_use: u64,
    /// See [`Costs`].
    pub unmap: u64,
    /// See [`Costs`].
    pub fetch: [u64; 2],
    /// See [`Costs`].
    pub swap_fetch: u64,
    /// See [`Costs`].
    pub swap_write: u64,
    /// See [`Costs`].
    pub compress: u64,
    /// See [`Costs`].
    pub decompress: u64,
}

impl Steps {
    /// Of these costs.
    #[must_use]
    pub fn from_costs(costs: &Costs) -> Steps {
        Steps {
            hit: whole(costs.hit + costs.between),
            minor: whole(costs.minor + costs.between),
            swap_in: costs.swap_in.map(whole),
            swap_out: whole(costs.swap_out),
            // A page that is filled is the next one.
            fill: whole(costs.fill - costs.between),
            call: whole(costs.call + costs.between),
            copy: whole(costs.copy),
            scan: whole(costs.scan),
            in_use: whole(costs.in_use),
            unmap: whole(costs.unmap),
            fetch: costs.fetch.map(whole),
            swap_fetch: whole(costs.swap_fetch),
            swap_write: whole(costs.swap_write),
            compress: whole(costs.compress),
            decompress: whole(costs.decompress),
        }
    }
}

impl Default for Costs {
    /// As a virtual machine of 2026 has them, with a disk of its host; what `measure tiers` found here is better. Of a processor: by least squares from processor
    /// time and counts of these steps in rounds of 62 settings (bench/runs/accuracy-found-5.json), which they explain to within 5 % in the middle and 28 % at most. Of it went what
    /// compression took by `measure tiers` there (lz4: text 9.3 and 3.1 µs, random 6.1 and 1.7).
    /// Pages of shared memory, traced reclaim by reclaim in 12 runs: 0.27 µs each, 0.55 where it is in use, and 0.5 to 1.8 where it is unmapped and stays, by whether another
    /// processor has to be told.
    /// Of a disk: what those rounds took beyond that, 10 µs for a read and 6 to 8 for each page of it; writes of 1, 8, 32 and 254 pages took 34, 118, 288 and
    /// 1,707 µs (traced). Here a disk is taken to be half as fast as that one.
    fn default() -> Costs {
        Costs {
            between: 0.0,
            hit: 68.0,
            minor: 820.0,
            swap_in: [2.5e3, 2.5e3],
            swap_out: 2.5e3,
            fill: 2.2e3,
            call: 1200.0,
            copy: 900.0,
            scan: 270.0,
            in_use: 280.0,
            unmap: 1000.0,
            fetch: [11.4e3, 1.8e3],
            layer: 0.0,
            read: [20e3, 13e3],
            swap_fetch: 12.9e3,
            swap_read: [20e3, 13e3],
            swap_write: 4.1e3,
            swap_written: [80e3, 13e3],
            compress: CODECS[0].1[0],
            decompress: CODECS[0].1[1],
            is_codec_measured: false,
            spread: Spread::same(ASSUMED_SPREAD),
        }
    }
}

impl Costs {
    /// What compression took where the load ran, to compress and to decompress a page, with its uncertainty factor.
    #[must_use]
    pub fn with_codec(self, [compress, decompress]: [f64; 2], times: f64) -> Costs {
        let spread = Spread { codec: times, ..self.spread };
        Costs { compress, decompress, is_codec_measured: true, spread, ..self }
    }

    /// With disks slower by a factor.
    #[must_use]
    pub fn with_disk(self, Disk { request, page, spread }: Disk) -> Costs {
        let slower = |[all, each]: [f64; 2]| [all * request, each * page];
        Costs {
            read: slower(self.read),
            swap_read: slower(self.swap_read),
            swap_written: slower(self.swap_written),
            spread: Spread { device: spread, ..self.spread },
            ..self
        }
    }

    /// With a processor slower by a factor. Compression is so as well where it is only assumed, and no more uncertain than `CODEC_SPREAD` then.
    #[must_use]
    pub fn with_processor(self, pace: Pace) -> Costs {
        let spread = Spread { processor: pace.spread, codec: self.spread.codec.min(CODEC_SPREAD), ..self.spread };
        Costs { spread, ..self.each(1.0, pace.times, if self.is_codec_measured { 1.0 } else { pace.times }) }
    }

    /// For pages of such contents, and a zram with that algorithm.
    #[must_use]
    pub fn assumed(algorithm: &str, fill: &str) -> Costs {
        let costs = Costs::default();
        let more = CONTENTS.iter().find(|(name, _)| *name == fill).map_or(0.0, |(_, more)| *more);
        let known = CODECS.iter().find(|(name, ..)| *name == algorithm).unwrap_or(&CODECS[3]);
        let [compress, decompress] = match fill {
            "zeros" => ZEROS,
            "random" => known.2,
            _ => known.1,
        };
        Costs { fill: costs.fill + more, compress, decompress, ..costs }
    }

    /// Each kind multiplied by a factor.
    #[must_use]
    pub fn each(self, device: f64, processor: f64, codec: f64) -> Costs {
        let of_device = |cost: [f64; 2]| cost.map(|ns| ns * device);
        Costs {
            between: self.between * processor,
            hit: self.hit * processor,
            minor: self.minor * processor,
            swap_in: self.swap_in.map(|ns| ns * processor),
            swap_out: self.swap_out * processor,
            fill: self.fill * processor,
            call: self.call * processor,
            copy: self.copy * processor,
            scan: self.scan * processor,
            in_use: self.in_use * processor,
            unmap: self.unmap * processor,
            fetch: self.fetch.map(|ns| ns * processor),
            layer: self.layer * processor,
            read: of_device(self.read),
            swap_fetch: self.swap_fetch * processor,
            swap_read: of_device(self.swap_read),
            swap_write: self.swap_write * processor,
            swap_written: of_device(self.swap_written),
            compress: self.compress * codec,
            decompress: self.decompress * codec,
            is_codec_measured: self.is_codec_measured,
            spread: self.spread,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compression_is_assumed_by_algorithm_and_contents_and_an_unknown_one_as_the_slowest() {
        let of = |algorithm, fill| {
            let Costs { compress, decompress, .. } = Costs::assumed(algorithm, fill);
            [compress, decompress]
        };
        assert_eq!([of("lz4", "text"), of("zstd", "text")], [CODECS[0].1, CODECS[3].1]);
        assert_eq!([of("lz4", "random"), of("lz4", "zeros"), of("zstd", "zeros")], [CODECS[0].2, ZEROS, ZEROS]);
        assert_eq!(of("deflate", "text"), of("zstd", "text"));
        let fill = |fill| Costs::assumed("lz4", fill).fill;
        assert!(fill("zeros") < fill("text") && fill("text") < fill("random"));
    }

    #[test]
    fn compression_that_was_measured_stays_as_it_was_whatever_the_paces() {
        let four = Pace { times: 4.0, spread: 1.2 };
        let costs = Costs::default().with_codec([9e3, 3e3], 1.1).with_disk(Disk::same_pace(four)).with_processor(four);
        assert_eq!(([costs.compress, costs.decompress], costs.spread.codec), ([9e3, 3e3], 1.1));
        assert_eq!(costs.swap_fetch, 4.0 * Costs::default().swap_fetch);
    }

    #[test]
    fn a_disk_may_be_slower_by_its_requests_than_by_their_pages() {
        let costs = Costs::default();
        let slower = costs.with_disk(Disk { request: 3.0, page: 0.5, spread: 1.2 });
        let of = |costs: Costs| [costs.read, costs.swap_read, costs.swap_written];
        assert_eq!(of(slower), of(costs).map(|[all, each]| [3.0 * all, 0.5 * each]));
        assert_eq!(slower.spread, Spread { device: 1.2, ..costs.spread });
    }

    #[test]
    fn a_long_read_takes_less_for_each_page() {
        assert_eq!([1, 32, 34, 232].map(|n| read_cost([20.0, 4.0], n)), [24, 148, 152, 548]);
    }

    #[test]
    fn the_pace_of_a_processor_says_something_about_compression_only_where_that_was_not_measured() {
        let twice = Pace { times: 2.0, spread: 1.1 };
        let costs = Costs::default();
        let [assumed, measured] =
            [false, true].map(|is_codec_measured| Costs { is_codec_measured, ..costs }.with_processor(twice));
        assert_eq!([assumed.compress, measured.compress].map(|ns| ns / costs.compress), [2.0, 1.0]);
        assert_eq!(assumed.spread, Spread { device: ASSUMED_SPREAD, processor: 1.1, codec: CODEC_SPREAD });
    }
}
