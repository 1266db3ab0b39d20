//! Touches a second on one core: 20 million reads of one page each by Zipf's law, over a million pages, with room for a half and for nine tenths.
//!
//!     cargo run --release -p ramline-sim --example speed

use std::hint::black_box;

use ramline_evidence::rng::SplitMix64;
use ramline_sim::chance::Chance;
use ramline_sim::cost::Costs;
use ramline_sim::kernel::{Kernel, Lists, PRESETS};
use ramline_sim::load::{Compact, PAGE};
use ramline_sim::memory::{Setting, SwapTo};
use ramline_sim::run;
use ramline_trace::generate::{Access, Memory, Region, Touch};

const PAGES: usize = 1_000_000;
const TOUCHES: u64 = 20_000_000;

fn main() {
    let mut random = SplitMix64::new(256);
    let law = Zipf::new(&mut random);
    let touches =
        (0..TOUCHES).map(|_| Touch { region: 0, access: Access::Read(4096), offset: law.page(&mut random) * PAGE });
    let file = Region { memory: Memory::File, bytes: PAGES as u64 * PAGE };
    let Some(load) = Compact::new(&[file], std::iter::empty(), touches, TOUCHES) else { return };
    let mglru = PRESETS.map(|kernel| Kernel { lists: Lists::Generations, ..kernel });
    let kernels = [PRESETS[2], mglru[1], mglru[2], mglru[3]];
    let sizes = [(500_000, 32), (900_000, 32), (500_000, 1), (900_000, 1)];
    for (kernel, (limit, read_ahead)) in kernels.into_iter().flat_map(|kernel| sizes.map(|size| (kernel, size))) {
        let setting = Setting {
            limit,
            swappiness: 60,
            swap: SwapTo::Nowhere,
            slots: 0,
            read_ahead,
            cluster: 8,
            base: 0,
            stale: Some(2_000_000_000),
            costs: Costs::default(),
            kernel,
        };
        let pages = run::pages(&load, |_, _| 0);
        let begin = processor_time();
        let outcome = black_box(run::compact(&load, pages, setting, u64::MAX, Chance::default()));
        let took = processor_time() - begin;
        println!(
            "{}: room for {limit} of {PAGES} pages, read-ahead {read_ahead}: {:.1} million touches a second, {} pages read",
            kernel.named(),
            rate(took),
            outcome.counts.read
        );
    }
}

#[expect(clippy::cast_precision_loss, reason = "millions")]
fn rate(nanoseconds: u64) -> f64 {
    TOUCHES as f64 * 1e3 / nanoseconds.max(1) as f64
}

/// Nanoseconds that a processor worked for this thread: what others do meanwhile does not count.
#[expect(clippy::disallowed_methods, reason = "it is speed that is measured")]
fn processor_time() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|first| first.parse().ok()).unwrap_or(0)
}

/// Page of rank r with a weight of 1/r, the ranks at places by chance.
struct Zipf {
    sums: Vec<f64>,
    places: Vec<u32>,
}

#[expect(clippy::cast_precision_loss, reason = "a million ranks")]
impl Zipf {
    fn new(random: &mut SplitMix64) -> Zipf {
        let mut sum = 0.0;
        let sums = (1..=PAGES).map(|rank| {
            sum += 1.0 / rank as f64;
            sum
        });
        let sums = sums.collect();
        let mut places: Vec<u32> = (0..).take(PAGES).collect();
        for last in (1..PAGES).rev() {
            places.swap(last, usize::try_from(random.below(last as u64 + 1)).unwrap_or(0));
        }
        Zipf { sums, places }
    }

    fn page(&self, random: &mut SplitMix64) -> u64 {
        let all = self.sums.last().copied().unwrap_or(1.0);
        let at = (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64 * all;
        let rank = self.sums.partition_point(|sum| *sum <= at).min(PAGES - 1);
        self.places[rank].into()
    }
}
