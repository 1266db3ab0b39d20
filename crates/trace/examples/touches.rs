//! How many bytes a touch takes, and how fast a file of touches is written and read: `cargo run --release -p ramline-trace --example touches`.
//!
//! Rates are of CPU time, as the kernel counts it for this process. Touches of one page each: by Zipf's law over a million pages in no order, and one page after the other.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a measurement: it reads its CPU time, and ends where something fails"
)]
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "counts of touches and pages as ratios"
)]

use ramline_evidence::rng::SplitMix64;
use ramline_trace::touches::{Access, Header, Origin, PageTouch, Reader, Record, Region, Writer};

const TOUCHES: u64 = 20_000_000;
const PAGES: u64 = 1_000_000;

/// Pages by Zipf's law with exponent 1, by a table of sums; the ranks lie in no order.
fn zipf() -> Vec<u64> {
    let mut sums = Vec::new();
    let mut sum = 0.0;
    for rank in 1..=PAGES {
        sum += 1.0 / rank as f64;
        sums.push(sum);
    }
    let mut random = SplitMix64::new(256);
    let mut place: Vec<u64> = (0..PAGES).collect();
    for at in (1..PAGES).rev() {
        place.swap(at as usize, random.below(at + 1) as usize);
    }
    let mut draw = || {
        let drawn = random.below(1 << 53) as f64 / (1u64 << 53) as f64 * sum;
        place[sums.partition_point(|before| *before <= drawn).min(PAGES as usize - 1)]
    };
    (0..TOUCHES).map(|_| draw()).collect()
}

/// CPU time of this process in seconds; the first number of its statistics of the scheduler.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
}

fn measure(name: &str, pages: &[u64], access: impl Fn(u64) -> Access) {
    let header = Header { page: 4096, origin: Origin::generated(name, Some(256)) };
    let began = cpu_seconds();
    let mut writer = Writer::new(Vec::new(), &header).unwrap();
    let region = writer.region(&Region::anonymous(PAGES * 4096)).unwrap();
    for &page in pages {
        let touch = PageTouch { region, page, access: access(page), thread: 0, cpu_ns: 100 };
        writer.record(&Record::Touch(touch)).unwrap();
    }
    let file = writer.finish().unwrap();
    let wrote = cpu_seconds() - began;
    let mut rates = Vec::new();
    for _ in 0..5 {
        let began = cpu_seconds();
        let mut reader = Reader::new(&file[..]).unwrap();
        let (mut count, mut sum) = (0u64, 0u64);
        while let Some(record) = reader.next_record().unwrap() {
            if let Record::Touch(touch) = record {
                (count, sum) = (count + 1, sum.wrapping_add(touch.page));
            }
        }
        assert!(reader.is_whole() && count == pages.len() as u64 && sum == pages.iter().sum::<u64>());
        rates.push(count as f64 / (cpu_seconds() - began) / 1e6);
    }
    rates.sort_by(f64::total_cmp);
    let (bytes, all) = (file.len() as f64 / pages.len() as f64, pages.len() as f64);
    let (written, least, middle, most) = (all / wrote / 1e6, rates[0], rates[2], rates[4]);
    println!(
        "{name}: {bytes:.4} bytes a touch; {written:.0} million a second written, {middle:.0} ({least:.0} to {most:.0}) read"
    );
}

fn main() {
    let zipf = zipf();
    measure("Zipf, loads", &zipf, |_| Access::Load);
    measure("Zipf, a third stores", &zipf, |page| if page % 3 == 0 { Access::Store } else { Access::Load });
    let sequential: Vec<u64> = (0..TOUCHES).map(|n| n % PAGES).collect();
    measure("sequential", &sequential, |_| Access::Load);
}
