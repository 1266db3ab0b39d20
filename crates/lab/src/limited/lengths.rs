//! What the pages of a load compress to.
//!
//! A zram's pool keeps pages of like lengths together, and what comes back leaves holes that only such pages fill: with the lengths of 64 pages for all of
//! them a pool of text took 2 to 3 % less than the kernel's, with that of each page as much (traced: heap of 56 MiB, lz4, 6.18).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ramline_measure::pages::named;
use ramline_sandbox::fill::{Fill, Filler};
use ramline_sim::load::Compact;
use ramline_trace::generate::Memory;

use crate::prelude::*;

/// Pages that are compressed to know what they take; those behind them are taken to be as these, again from the first.
const MOST: u32 = 16_384;
/// Of a page that does not compress.
const WHOLE: u16 = 4096;

/// What 112 pages of the program itself, that of code-plus-data, compress to with lz4 (28 November 2026, memory of the process by liblz4); most are relocated data. They lie in
/// many size classes of a pool, each with a zspage of its own. Their order is not the program's, but one in which the first 85 take 206 pages of a pool: 85 that had left took 205 (mm_stat).
#[rustfmt::skip]
const OWN: [u16; 112] = [
    1515, 2412, 551, 1502, 2410, 447, 1495, 2396, 397, 1471, 2325, 319, 1450, 2011, 212, 1445,
    1922, 71, 1442, 1893, 63, 1432, 1872, 3509, 1425, 1827, 3146, 1366, 1814, 2673, 1345, 1787,
    2585, 1338, 1787, 2563, 1337, 1782, 2544, 1329, 1767, 2533, 1328, 1763, 2524, 1317, 1757, 2519,
    1315, 1750, 2518, 1314, 1748, 2513, 1312, 1740, 2512, 1299, 1737, 2510, 1296, 1713, 2505, 1289,
    1711, 2498, 1273, 1695, 2496, 1271, 1686, 2477, 1269, 1683, 2466, 1229, 1662, 2464, 1220, 1654,
    2463, 1173, 1624, 2460, 1163, 1610, 2454, 1119, 1607, 2453, 1073, 1596, 2452, 1049, 1582, 2444,
    1026, 1577, 2440, 966, 1571, 2433, 944, 1559, 2432, 910, 1524, 2420, 849, 1522, 2417, 645,
];
/// With others they take so many of a hundred parts of that on average (liblzo2, and libzstd of level 3); of algorithms of none of these families it is not known.
const FAMILIES: [(&str, u32); 2] = [("lzo", 84), ("zstd", 64)];

/// What is compressed: contents, algorithm and seed.
type Asked = (String, Option<String>, u64);

/// Lengths, each found once.
#[derive(Debug, Default)]
pub struct Lengths {
    pages: u32,
    /// The region of the program.
    program: Option<u32>,
    known: Mutex<HashMap<Asked, Arc<[u16]>>>,
}

impl Lengths {
    /// For pages of this load, none known yet.
    #[must_use]
    pub fn of(load: &Compact) -> Lengths {
        let memory = load.regions.iter().filter(|region| region.memory != Memory::File);
        let pages = memory.map(|region| region.pages).max().unwrap_or(0);
        // The program comes behind all regions of the load.
        let has_own = load.program.is_some_and(|(program, _)| program.can_leave() > 0);
        let program = load.regions.len().checked_sub(1).filter(|_| has_own).and_then(|last| u32::try_from(last).ok());
        Lengths { pages: pages.clamp(1, MOST), program, ..Lengths::default() }
    }

    /// What pages of a fill compress to; 0 for one of zeros. Without an algorithm only that matters.
    ///
    /// # Errors
    /// There is no such fill or algorithm.
    pub fn find(&self, fill: &str, algorithm: Option<&str>, seed: u64) -> Result<Found> {
        let asked = (fill.to_owned(), algorithm.map(str::to_owned), seed);
        // Who asks meanwhile waits: mostly for the same.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let is_of = |family: &str| algorithm.is_some_and(|algorithm| algorithm.starts_with(family));
        let parts = FAMILIES.iter().find(|(family, _)| is_of(family)).map_or(100, |(_, parts)| *parts);
        let found = |load| Found { load, program: self.program, parts };
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
    /// Its region.
    program: Option<u32>,
    /// Of a hundred parts of what lz4 makes of its pages.
    parts: u32,
}

impl Found {
    /// That of one page of a region.
    #[must_use]
    pub fn of(&self, region: u32, page: u64) -> u16 {
        let page = usize::try_from(page).unwrap_or(0);
        let one_of = |all: &[u16]| all.get(page % all.len().max(1)).copied().unwrap_or(WHOLE);
        match self.program == Some(region) {
            true => u16::try_from(u32::from(one_of(&OWN)) * self.parts / 100).unwrap_or(WHOLE),
            false => one_of(&self.load),
        }
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
    fn pages_of_the_program_are_unlike_those_of_its_load_and_take_twice_as_many_of_a_pool_as_they_are() {
        let program = Program { idle: 84, report: &[0; 24], look: 0, every: 0, own: [0, 0] };
        let load = Compact::of(&Load::named("heap", 1 << 20, 1, 7).unwrap()).unwrap().with_program(program);
        let own = |fill, algorithm| {
            let found = Lengths::of(&load).find(fill, algorithm, 7).unwrap();
            let lengths: Vec<u16> = (0..108).map(|page| found.of(1, page)).collect();
            (found.of(0, 0), lengths)
        };
        let (zeros, lengths) = own("zeros", Some("lz4"));
        assert_eq!((zeros, own("random", Some("lz4"))), (0, (WHOLE, lengths.clone())));
        assert_eq!([own("zeros", None).1, own("zeros", Some("lz4hc")).1], [lengths.clone(), lengths.clone()]);
        let sum = |algorithm| own("text", Some(algorithm)).1.into_iter().map(u64::from).sum::<u64>() * 100;
        assert_eq!(["lzo-rle", "zstd"].map(|name| sum(name).div_ceil(sum("lz4") / 100)), [84, 64]);
        let mut pool = Pool::new(8, false);
        lengths.iter().zip(0..85).for_each(|(length, slot)| pool.keep(slot, *length));
        assert_eq!(pool.bytes() / 4096, 206);
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
