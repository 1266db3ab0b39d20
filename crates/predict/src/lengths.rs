//! What the pages of a load compress to.
//!
//! A zram's pool keeps pages of like lengths together, and what comes back leaves holes that only such pages fill: with the lengths of 64 pages for all of
//! them a pool of text took 2 to 3 % less than the kernel's, with that of each page as much (traced: heap of 56 MiB, lz4, 6.18).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ramline_sim::load::Compact;
use ramline_trace::touch::Memory;

use crate::error::Result;

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

/// What so many pages of some contents compress to with an algorithm, from a seed; 0 for one of zeros. Without an algorithm only that matters.
pub type Compress<'a> = &'a (dyn Fn(&str, Option<&str>, u64, u32) -> Result<Vec<u16>> + Sync);

/// What is compressed: contents, algorithm and seed.
type Asked = (String, Option<String>, u64);

/// Lengths, each found once.
pub struct Lengths<'a> {
    compress: Compress<'a>,
    pages: u32,
    /// The region of the program.
    program: Option<u32>,
    known: Mutex<HashMap<Asked, Arc<[u16]>>>,
}

impl<'a> Lengths<'a> {
    /// For pages of this load, none known yet.
    #[must_use]
    pub fn for_load(load: &Compact, compress: Compress<'a>) -> Lengths<'a> {
        let memory = load.regions.iter().filter(|region| region.memory != Memory::File);
        let pages = memory.map(|region| region.pages).max().unwrap_or(0);
        // The program comes behind all regions of the load.
        let has_own = load.program.is_some_and(|(program, _)| program.can_leave() > 0);
        let program = load.regions.len().checked_sub(1).filter(|_| has_own).and_then(|last| u32::try_from(last).ok());
        Lengths { compress, pages: pages.clamp(1, MOST), program, known: Mutex::default() }
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
        let load: Arc<[u16]> = (self.compress)(fill, algorithm, seed, self.pages)?.into();
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

#[cfg(test)]
mod tests {
    use ramline_sim::load::Program;
    use ramline_sim::pool::Pool;
    use ramline_trace::generate::Load;

    use super::*;

    /// Zeros, or pages that do not compress.
    fn simple(fill: &str, _: Option<&str>, _: u64, pages: u32) -> Result<Vec<u16>> {
        Ok(vec![if fill == "zeros" { 0 } else { WHOLE }; pages as usize])
    }

    #[test]
    fn pages_of_the_program_are_unlike_those_of_its_load_and_take_twice_as_many_of_a_pool_as_they_are() {
        let program = Program { idle: 84, report: &[0; 24], look: 0, every: 0, own: [0, 0] };
        let load = Compact::of(&Load::named("heap", 1 << 20, 1, 7).unwrap()).unwrap().with_program(program);
        let own = |fill, algorithm| {
            let found = Lengths::for_load(&load, &simple).find(fill, algorithm, 7).unwrap();
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

    #[test]
    fn each_page_of_memory_has_a_length_of_its_own_and_files_have_none() {
        let numbered = |_: &str, _: Option<&str>, _: u64, pages: u32| {
            Ok((0..pages).map(|page| u16::try_from(page).unwrap_or(0)).collect())
        };
        let found = |load: &str| {
            let load = Compact::of(&Load::named(load, 1 << 20, 1, 7).unwrap()).unwrap();
            Lengths::for_load(&load, &numbered).find("text", None, 7).unwrap()
        };
        let heap = found("heap");
        assert_eq!([heap.of(0, 0), heap.of(0, 255), heap.of(0, 256)], [0, 255, 0]);
        assert_eq!(found("zipf-read").load.len(), 1);
    }
}
