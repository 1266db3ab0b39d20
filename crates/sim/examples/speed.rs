//! Touches a second on one core: 20 million reads of one page each by Zipf's law, over a million pages, with room for a half and for nine tenths.
//!
//!     cargo run --release -p ramline-sim --example speed
//!     cargo run --release -p ramline-sim --example speed -- --requests > FILE     the same as libCacheSim's oracleGeneral (bench/simulator)

use std::hint::black_box;
use std::io::{BufWriter, Cursor, stdout};

use ramline_evidence::rng::SplitMix64;
use ramline_sim::chance::Chance;
use ramline_sim::cost::Costs;
use ramline_sim::kernel::{Kernel, Lists, PRESETS};
use ramline_sim::load::{Compact, PAGE};
use ramline_sim::memory::{Flushes, Setting, SwapTo};
use ramline_sim::run;
use ramline_trace::generate::{Access, Memory, Region, Touch};
use ramline_trace::touches::{self, Backing, Header, Origin, PageTouch, Reader, Record, Writer};
use ramline_trace::{FileId, oracle_general};

const PAGES: usize = 1_000_000;
const TOUCHES: u64 = 20_000_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut random = SplitMix64::new(256);
    let law = Zipf::new(&mut random);
    let pages = (0..TOUCHES).map(|_| law.page(&mut random));
    if std::env::args().nth(1).as_deref() == Some("--requests") {
        return export(pages);
    }
    let touches = pages.map(|page| Touch { region: 0, access: Access::Read(4096), offset: page * PAGE });
    let file = Region { memory: Memory::File, bytes: PAGES as u64 * PAGE };
    let Some(load) = Compact::new(&[file], std::iter::empty(), touches, TOUCHES) else { return Ok(()) };
    let mglru = PRESETS.map(|kernel| Kernel { lists: Lists::Generations, ..kernel });
    let kernels = [PRESETS[2], mglru[1], mglru[2], mglru[3]];
    let sizes = [(500_000, 32), (900_000, 32), (500_000, 1), (900_000, 1)];
    for (kernel, (limit, read_ahead)) in kernels.into_iter().flat_map(|kernel| sizes.map(|size| (kernel, size))) {
        let setting = Setting {
            limit,
            beside: None,
            swappiness: 60,
            swap: SwapTo::Nowhere,
            slots: 0,
            read_ahead,
            cluster: 8,
            fresh: 0.5,
            base: 0,
            flushes: Flushes::Every(2_000_000_000),
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
    Ok(())
}

/// The requests as another simulator reads them, a microsecond apart: libCacheSim counts none of the first second.
fn export(pages: impl Iterator<Item = u64>) -> Result<(), Box<dyn std::error::Error>> {
    let header = Header { page: 4096, origin: Origin::generated("zipf", Some(256)) };
    let mut writer = Writer::new(Vec::new(), &header)?;
    let backing = Backing::File { id: FileId { device: 0, inode: 1 }, name: None };
    writer.region(&touches::Region { backing, bytes: PAGES as u64 * PAGE, executable: false })?;
    for page in pages {
        let access = touches::Access::Read { within: 0, bytes: 4096 };
        writer.record(&Record::Touch(PageTouch { region: 0, page, access, thread: 0, cpu_ns: 1000 }))?;
    }
    let mut reader = Reader::new(Cursor::new(writer.finish()?))?;
    oracle_general::export(&mut reader, &mut BufWriter::new(stdout().lock()))?;
    Ok(())
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
