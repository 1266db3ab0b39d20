//! What the pages of a load compress to.
//!
//! A zram's pool keeps pages of like lengths together, and what comes back leaves holes that only such pages fill: with the lengths of 64 pages for all of
//! them a pool of text took 2 to 3 % less than the kernel's, with that of each page as much (traced: heap of 56 MiB, lz4, 6.18).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ramline_measure::pages::named;
use ramline_sandbox::fill::{Fill, Filler};
use ramline_sim::load::{Compact, Extent};
use ramline_trace::generate::Memory;

use crate::prelude::*;

/// Pages that are compressed to know what they take; those behind them are taken to be as these, again from the first.
const MOST: u32 = 16_384;
/// Of a page that does not compress.
const WHOLE: u16 = 4096;

/// What pages of the program itself compress to with an algorithm, and with others of its family: from the least to the most of 113 pages of code-plus-data's, in equal steps. Most
/// are relocated data. They lie in as many classes of lengths: 85 of them took 205 pages of a pool.
const OWN: [(&str, [u16; STEPS + 1]); 3] = [
    ("lz4", [63, 547, 1031, 1266, 1316, 1343, 1495, 1574, 1664, 1739, 1778, 1929, 2418, 2453, 2498, 2525, 3511]),
    ("lzo", [82, 483, 877, 1035, 1117, 1218, 1252, 1372, 1412, 1466, 1534, 1576, 1937, 1968, 2003, 2037, 3583]),
    ("zstd", [48, 398, 626, 719, 809, 877, 936, 972, 1001, 1049, 1105, 1204, 1420, 1527, 1571, 1665, 3451]),
];
const STEPS: usize = 16;
/// Pages that leave one after the other are unlike: each is so many further in that row, from its begin again behind its end.
const STRIDE: usize = 37;

/// What is compressed: contents, algorithm and seed.
type Asked = (String, Option<String>, u64);

/// Lengths, each found once.
#[derive(Debug, Default)]
pub struct Lengths {
    pages: u32,
    program: Option<Extent>,
    region: u32,
    known: Mutex<HashMap<Asked, Arc<[u16]>>>,
}

impl Lengths {
    /// For pages of this load, none known yet.
    #[must_use]
    pub fn of(load: &Compact) -> Lengths {
        let memory = load.regions.iter().filter(|region| region.memory != Memory::File);
        let pages = memory.map(|region| region.pages).max().unwrap_or(0);
        // It comes behind all regions of the load.
        let has_own = load.program.is_some_and(|(program, _)| program.can_leave() > 0);
        let program = load.regions.last().copied().filter(|_| has_own);
        let region = u32::try_from(load.regions.len()).unwrap_or(0).saturating_sub(1);
        Lengths { pages: pages.clamp(1, MOST), program, region, ..Lengths::default() }
    }

    /// What pages of a fill compress to; 0 for one of zeros. Without an algorithm only that matters.
    ///
    /// # Errors
    /// There is no such fill or algorithm.
    pub fn find(&self, fill: &str, algorithm: Option<&str>, seed: u64) -> Result<Found> {
        let asked = (fill.to_owned(), algorithm.map(str::to_owned), seed);
        // Who asks meanwhile waits: mostly for the same.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let family = |name: &str| algorithm.is_some_and(|algorithm| algorithm.starts_with(name));
        let own = OWN.iter().find(|(name, _)| family(name)).unwrap_or(&OWN[0]);
        let found = |load| Found { load, program: self.program.map(|extent| (self.region, extent.pages)), own: &own.1 };
        if let Some(load) = known.get(&asked) {
            return Ok(found(Arc::clone(load)));
        }
        let load: Arc<[u16]> = lengths(fill.parse()?, algorithm, seed, self.pages)?.into();
        known.insert(asked, Arc::clone(&load));
        Ok(found(load))
    }
}

/// What pages compress to with one algorithm: those of the load, and those of the program that touches it.
#[derive(Debug, Clone)]
pub struct Found {
    load: Arc<[u16]>,
    /// Its region, and how many pages it has.
    program: Option<(u32, u32)>,
    own: &'static [u16; STEPS + 1],
}

impl Found {
    /// That of one page of a region.
    #[must_use]
    pub fn of(&self, region: u32, page: u64) -> u16 {
        let page = usize::try_from(page).unwrap_or(0);
        match self.program.filter(|(own, _)| *own == region) {
            Some((_, pages)) => self.of_own(page, usize::try_from(pages).unwrap_or(1)),
            None => self.load.get(page % self.load.len().max(1)).copied().unwrap_or(WHOLE),
        }
    }

    /// That of one of so many pages of the program.
    fn of_own(&self, page: usize, pages: usize) -> u16 {
        let (place, last) = (page * STRIDE % pages.max(1) * STEPS, pages.saturating_sub(1).max(1));
        let step = (place / last).min(STEPS - 1);
        let [least, most] = [self.own[step], self.own[step + 1]].map(usize::from);
        let between = least + (most - least) * (place - step * last) / last;
        u16::try_from(between).unwrap_or(WHOLE)
    }
}

fn lengths(fill: Fill, algorithm: Option<&str>, seed: u64, pages: u32) -> Result<Vec<u16>> {
    let none = |why: String| LabError::usage(why, "ramline predict --settings zram:lz4:60");
    let mut codec = algorithm.map(named).transpose().map_err(none)?;
    let mut filler = Filler::new(fill, seed);
    let (mut page, mut out) = (vec![0_u8; WHOLE.into()], vec![0_u8; 2 * usize::from(WHOLE)]);
    let mut length = |number: u32| {
        filler.fill(number.into(), &mut page);
        if page.iter().all(|byte| *byte == 0) {
            return 0;
        }
        let compressed = codec.as_mut().and_then(|codec| codec.compress(&page, &mut out));
        compressed.and_then(|length| u16::try_from(length).ok()).unwrap_or(WHOLE).min(WHOLE)
    };
    Ok((0..pages).map(&mut length).collect())
}

#[cfg(test)]
pub mod tests {
    use std::os::unix::fs::FileExt;
    use std::process::Command;

    use ramline_sim::kernel::{Kernel, PRESETS};
    use ramline_sim::load::Program;
    use ramline_sim::pool::Pool;
    use ramline_testkit::{not_root, skip_if};
    use ramline_trace::generate::Load;

    use super::*;

    fn found(load: &str, fill: &str, algorithm: Option<&str>) -> Found {
        let load = Compact::of(&Load::named(load, 1 << 20, 1, 7).unwrap()).unwrap();
        Lengths::of(&load).find(fill, algorithm, 7).unwrap()
    }

    #[test]
    fn each_page_of_memory_has_a_length_of_its_own() {
        let text = found("heap", "text", Some("lz4"));
        assert!(text.load.len() == 256 && text.load.iter().any(|length| *length != text.load[0]), "{text:?}");
        assert_eq!((text.of(0, 255), text.of(0, 256)), (text.load[255], text.load[0]));
        let all = |fill, algorithm, length| found("heap", fill, algorithm).load.iter().all(|one| *one == length);
        assert!(all("zeros", Some("lz4"), 0) && all("random", Some("lz4"), WHOLE));
        // Without an algorithm it only matters whether it is zeros, and of files nothing.
        assert!(all("text", None, WHOLE));
        assert_eq!(found("zipf-read", "text", Some("lz4")).load.len(), 1);
    }

    #[test]
    fn pages_of_the_program_are_never_as_those_of_its_load() {
        let program = Program { idle: 84, report: &[0; 24], look: 0, every: 0, own: [0, 0] };
        let load = Compact::of(&Load::named("heap", 1 << 20, 1, 7).unwrap()).unwrap().with_program(program);
        let own = |algorithm| {
            let found = Lengths::of(&load).find("zeros", algorithm, 7).unwrap();
            assert_eq!(found.of(0, 0), 0);
            let mut own: Vec<u16> = (0..108).map(|page| found.of(1, page)).collect();
            own.sort_unstable();
            own.dedup();
            (own.len(), own.first().copied(), own.last().copied())
        };
        assert_eq!(own(Some("lz4")), (108, Some(63), Some(3511)));
        assert_eq!([own(None), own(Some("lz4hc"))], [own(Some("lz4")); 2]);
        assert_eq!(own(Some("lzo-rle")), own(Some("lzo")));
        assert_eq!(own(Some("zstd")).2, Some(3451));
    }

    /// A zram of this machine that goes when the test ends, however it ends.
    pub struct Scratch(pub zram::Device);

    impl Scratch {
        pub fn new(root: &Root) -> Scratch {
            Scratch(zram::hot_add(root).unwrap())
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            drop(self.0.reset());
            drop(self.0.hot_remove());
        }
    }

    #[test]
    fn a_pool_of_this_kernel_is_what_the_simulator_says_page_by_page() {
        let test = "a_pool_of_this_kernel_is_what_the_simulator_says_page_by_page";
        let root = Root::live();
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let kernel = Kernel::nearest(&release).unwrap_or(PRESETS[2]);
        if not_root(test) || skip_if(!zram::has_control(&root), test, "needs zram") {
            return;
        }
        const SLOTS: u32 = 1024;
        let device = Scratch::new(&root);
        device.0.set_algorithm("lz4").unwrap();
        device.0.set_disksize(Bytes(u64::from(SLOTS) * 4096)).unwrap();
        let node = std::fs::File::options().write(true).open(device.0.node()).unwrap();
        let mut filler = Filler::new(Fill::Text, 7);
        let Found { load: found, .. } =
            Lengths { pages: SLOTS, ..Lengths::default() }.find("text", Some("lz4"), 7).unwrap();
        let mut pool = Pool::new(kernel.zspage, kernel.quarters);
        let compressed = || device.0.mm_stat().unwrap().compr_data_size.0;
        let mut store = |pool: &mut Pool, slot: u32| {
            let mut page = [0; 4096];
            filler.fill(slot.into(), &mut page);
            let before = compressed();
            node.write_all_at(&page, u64::from(slot) * 4096).unwrap();
            node.sync_data().unwrap();
            let length = u16::try_from(compressed() - before).unwrap();
            pool.keep(slot, length);
            // The kernel's copy of a library may find another match than the library.
            assert!(
                length.abs_diff(found[slot as usize]) <= length / 8,
                "slot {slot}: {length}, {}",
                found[slot as usize]
            );
        };
        let discard = |slot: u32| {
            let offset = (u64::from(slot) * 4096).to_string();
            let done = Command::new("blkdiscard").args(["-o", &offset, "-l", "4096"]).arg(device.0.node()).status();
            assert!(done.unwrap().success());
        };
        let used = || device.0.mm_stat().unwrap().mem_used_total.0;
        (0..SLOTS / 2).for_each(|slot| store(&mut pool, slot));
        assert_eq!(used(), pool.bytes(), "filled");
        let mut random = SplitMix64::new(7);
        let (mut held, mut free): (Vec<u32>, Vec<u32>) = ((0..SLOTS / 2).collect(), (SLOTS / 2..SLOTS).collect());
        for step in 0..400 {
            let [from, to] = [held.len(), free.len()].map(|n| usize::try_from(random.below(n as u64)).unwrap());
            let (gone, come) = (held.swap_remove(from), free.swap_remove(to));
            discard(gone);
            pool.free(gone);
            store(&mut pool, come);
            held.push(come);
            free.push(gone);
            assert_eq!(used(), pool.bytes(), "step {step}");
        }
    }

    #[test]
    fn what_is_not_known_is_refused() {
        let lengths = Lengths { pages: 1, ..Lengths::default() };
        assert!(lengths.find("text", Some("gzip"), 7).is_err() && lengths.find("noise", None, 7).is_err());
    }
}
