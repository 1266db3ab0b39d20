//! Loads by name: what users type, with sizes that follow from one number.
//!
//! ```
//! use ramline_trace::generate::Load;
//! let load = Load::named("scan-read", 96 << 20, 8, 256).unwrap();
//! assert_eq!((load.name(), load.demand()), ("scan-read", 96 << 20));
//! ```

use super::{BLOCK, Chase, CodePlusData, Heap, Load, Phases, READ, Readers, STEP, Server, Skew};

/// Most loads: 80 of 100 touches go to some 30 of 100 places.
const SKEW: Skew = Skew { thousandths: 900 };
/// Where hot pages shall stand out: 90 of 100 touches go to 10 of 100 places.
const SHARP: Skew = Skew { thousandths: 1200 };
/// Of 1000 touches of a heap.
const STORES: u32 = 300;
/// Of 1000 touches of a reader beside which there is a scan.
const SCAN: u32 = 200;

impl Load {
    /// The names.
    pub const NAMES: [&str; 10] = [
        "zipf-read",
        "zipf-mmap",
        "scan-read",
        "scan-mmap",
        "heap",
        "heap-shared",
        "server",
        "chase",
        "phases",
        "code-plus-data",
    ];

    /// Rounds that code-plus-data has at most: then its window of data is at the end.
    pub const MOST_ROUNDS_OF_CODE_PLUS_DATA: u32 = 11;

    /// The load of that name, which wants `demand` bytes in all (rounded down to what its parts are multiples of).
    /// `None` for a name that is none of [`Load::NAMES`], a demand below 1 MiB or above 8 TiB, and for more rounds than code-plus-data has.
    #[must_use]
    pub fn named(name: &str, demand: u64, rounds: u32, seed: u64) -> Option<Load> {
        if !(1 << 20..=1 << 43).contains(&demand) {
            return None;
        }
        let all = demand / BLOCK * BLOCK;
        // So many sixteenths of it.
        let part = |sixteenths: u64| all / BLOCK * sixteenths / 16 * BLOCK;
        let reader =
            |mapped| Readers { file: all, scanned: 0, scan: 0, mapped, length: READ, skew: SKEW, rounds, seed };
        let scanner =
            |mapped| Load::Readers(Readers { file: all - part(8), scanned: part(8), scan: SCAN, ..reader(mapped) });
        let heap = |shared| Load::Heap(Heap { bytes: all, shared, stores: STORES, skew: SKEW, rounds, seed });
        Some(match name {
            "zipf-read" => Load::Readers(reader(false)),
            "zipf-mmap" => Load::Readers(reader(true)),
            "scan-read" => scanner(false),
            "scan-mmap" => scanner(true),
            "heap" => heap(false),
            "heap-shared" => heap(true),
            "server" => {
                let (file, code) = (part(5), part(2));
                Load::Server(Server { heap: all - file - code, file, code, stores: STORES, skew: SKEW, rounds, seed })
            }
            "chase" => Load::Chase(Chase { bytes: all, rounds, seed }),
            "phases" => {
                Load::Phases(Phases { heap: all - part(6), file: part(6), stores: STORES, skew: SHARP, rounds, seed })
            }
            "code-plus-data" if rounds <= Self::MOST_ROUNDS_OF_CODE_PLUS_DATA => {
                let unit = demand / 17 / STEP * STEP;
                Load::CodePlusData(CodePlusData { unit, code: 3, data: 14, rounds, seed, shared: false })
            }
            _ => return None,
        })
    }

    /// Its name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Load::CodePlusData(_) => "code-plus-data",
            Load::Readers(Readers { mapped, scanned, .. }) => match (*scanned > 0, *mapped) {
                (false, false) => "zipf-read",
                (false, true) => "zipf-mmap",
                (true, false) => "scan-read",
                (true, true) => "scan-mmap",
            },
            Load::Heap(Heap { shared: false, .. }) => "heap",
            Load::Heap(_) => "heap-shared",
            Load::Server(_) => "server",
            Load::Chase(_) => "chase",
            Load::Phases(_) => "phases",
        }
    }

    /// Bytes of all its regions.
    #[must_use]
    pub fn demand(&self) -> u64 {
        self.regions().iter().map(|region| region.bytes).sum()
    }

    /// How unequal its places are; `None` where that is no property of it.
    #[must_use]
    pub const fn skew(&self) -> Option<Skew> {
        match self {
            Load::Readers(Readers { skew, .. })
            | Load::Heap(Heap { skew, .. })
            | Load::Server(Server { skew, .. })
            | Load::Phases(Phases { skew, .. }) => Some(*skew),
            Load::CodePlusData(_) | Load::Chase(_) => None,
        }
    }

    /// The same with another skew; `None` where it has none.
    #[must_use]
    pub fn with_skew(mut self, new: Skew) -> Option<Load> {
        match &mut self {
            Load::Readers(Readers { skew, .. })
            | Load::Heap(Heap { skew, .. })
            | Load::Server(Server { skew, .. })
            | Load::Phases(Phases { skew, .. }) => *skew = new,
            Load::CodePlusData(_) | Load::Chase(_) => return None,
        }
        Some(self)
    }

    /// Bytes of a read(2) of a reader; `None` where that cannot be chosen.
    #[must_use]
    pub const fn length(&self) -> Option<u32> {
        match self {
            Load::Readers(Readers { mapped: false, length, .. }) => Some(*length),
            _ => None,
        }
    }

    /// The same with reads of another length; `None` where it cannot be chosen, or its files are no multiples of it.
    #[must_use]
    pub fn with_length(mut self, new: u32) -> Option<Load> {
        let Load::Readers(load) = &mut self else { return None };
        let whole = |bytes: u64| bytes.is_multiple_of(u64::from(new));
        if load.mapped || new == 0 || !whole(load.file) || !whole(load.scanned) || !u64::from(new).is_multiple_of(STEP)
        {
            return None;
        }
        load.length = new;
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Access, Memory};
    use super::*;

    fn all(demand: u64, seed: u64) -> impl Iterator<Item = Load> {
        Load::NAMES.into_iter().map(move |name| Load::named(name, demand, 3, seed).unwrap())
    }

    #[test]
    fn a_load_has_the_name_it_is_made_by_and_wants_what_was_asked_for() {
        for (name, load) in Load::NAMES.into_iter().zip(all(5_000_000, 1)) {
            assert_eq!(load.name(), name);
            assert!((4_900_000..=5_000_000).contains(&load.demand()), "{name}: {}", load.demand());
        }
        assert_eq!(Load::named("nothing", 1 << 20, 1, 1), None);
        assert_eq!(Load::named("heap", 1 << 19, 1, 1), None);
        assert_eq!(Load::named("code-plus-data", 1 << 20, 12, 1), None);
    }

    #[test]
    fn every_touch_lies_in_its_region_and_only_files_are_read() {
        for load in [all(1 << 20, 2), all((3 << 20) + 4096, 3)].into_iter().flatten() {
            let regions = load.regions();
            for touch in load.fill().chain(load.rounds()) {
                let region = regions[touch.region as usize];
                let length = match touch.access {
                    Access::Read(length) => u64::from(length),
                    _ => 1,
                };
                let is_file = region.memory == Memory::File;
                assert!(touch.offset + length <= region.bytes, "{}: {touch:?}", load.name());
                assert!(!matches!(touch.access, Access::Read(_)) || is_file && touch.offset.is_multiple_of(STEP));
                assert!(touch.access != Access::Store || !is_file, "no file is written");
            }
        }
    }

    #[test]
    fn anonymous_memory_is_filled_page_after_page_and_files_are_not() {
        for load in all(1 << 20, 2) {
            let mut fill = load.fill();
            for (n, region) in load.regions().iter().enumerate().filter(|(_, region)| region.memory != Memory::File) {
                for offset in (0..region.bytes).step_by(4096) {
                    let touch = fill.next().unwrap();
                    assert_eq!((touch.region as usize, touch.access, touch.offset), (n, Access::Store, offset));
                }
            }
            assert_eq!(fill.next(), None);
        }
    }

    #[test]
    fn a_seed_gives_the_same_touches_and_another_gives_others() {
        for ((load, same), other) in all(2 << 20, 7).zip(all(2 << 20, 7)).zip(all(2 << 20, 8)) {
            assert!(load.rounds().eq(same.rounds()));
            assert!(!load.rounds().eq(other.rounds()), "{}", load.name());
        }
    }

    #[test]
    fn a_round_has_two_to_four_page_touches_for_each_page_of_the_load() {
        for load in all(4 << 20, 1) {
            let touches = u64::from(load.round_count()) * load.touches_of_a_round();
            assert_eq!(load.rounds().count() as u64, touches);
            let pages = |access| if let Access::Read(length) = access { u64::from(length) / STEP } else { 1 };
            let touched: u64 = load.rounds().map(|touch| pages(touch.access)).sum();
            let ratio = touched as f64 / f64::from(load.round_count()) / (load.demand() / STEP) as f64;
            // Code-plus-data goes by its code, which is 3 of 17 units.
            let least = if load.name() == "code-plus-data" { 0.3 } else { 1.9 };
            assert!((least..=4.6).contains(&ratio), "{}: {ratio}", load.name());
        }
    }

    #[test]
    fn skew_and_length_are_taken_where_they_mean_something() {
        let (flat, load) = (Skew { thousandths: 0 }, |name| Load::named(name, 1 << 20, 1, 1).unwrap());
        assert_eq!(load("heap").with_skew(flat).unwrap().skew(), Some(flat));
        assert_eq!((load("chase").with_skew(flat), load("zipf-mmap").with_length(4096)), (None, None));
        assert_eq!(load("zipf-read").with_length(4096).unwrap().length(), Some(4096));
        assert_eq!(load("zipf-read").with_length(5000), None);
    }

    #[test]
    fn the_first_touches_of_a_seed_never_change() {
        // Records name a load and a seed: a simulator must find the same touches in later versions.
        let sums: Vec<u64> = all(1 << 20, 256)
            .map(|load| {
                let mix = |sum: u64, touch: super::super::Touch| {
                    (sum ^ touch.offset
                        ^ u64::from(touch.region) << 60
                        ^ u64::from(touch.access == Access::Store) << 50)
                        .wrapping_mul(0x100_0000_01B3)
                };
                load.rounds().fold(0xCBF2_9CE4_8422_2325, mix)
            })
            .collect();
        let known: [u64; 10] = [
            2_288_425_842_164_215_845,
            16_016_359_524_185_474_853,
            10_908_371_316_767_125_541,
            15_144_597_388_826_015_525,
            935_918_151_382_202_149,
            935_918_151_382_202_149,
            8_620_179_237_766_603_213,
            16_528_310_703_378_217_765,
            1_802_344_723_419_666_213,
            7_216_242_236_689_429_717,
        ];
        assert_eq!(sums, known);
    }
}
