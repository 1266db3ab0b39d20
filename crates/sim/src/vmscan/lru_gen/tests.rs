//! Every operation on generations, against lists that do the same by search and know no remainders.

use std::collections::{BTreeMap, VecDeque};

use ramline_evidence::rng::SplitMix64;
use ramline_trace::generate::Memory as Kind;

use super::sort::IsolatedFolios;
use super::{aging, evict, shrink, sort};
use crate::chance::Chance;
use crate::folio::Folio;
use crate::generations::{Generations, LEAST, MOST, place, place_in_flags, refs, tables::TABLE, tables::Tables};
use crate::kernel::{BATCH, Kernel, Lists, Mglru, PRESETS};
use crate::load::Extent;
use crate::memory::{ANON, FILE, Memory, lru_gen::check, lru_gen::list, lru_gen::unlist, tests::group};
use crate::page::{Pages, bit};
use crate::readahead;
use crate::vmscan::shrink_list::{End, large};

const PAGES: u32 = 40;

/// Half of the pages are files', and none is mapped.
fn memory(mglru: Mglru) -> Memory {
    group(PAGES, kernel(mglru), Chance::default())
}

fn kernel(mglru: Mglru) -> Kernel {
    let kernel = PRESETS.into_iter().find(|kernel| kernel.generations == mglru).unwrap();
    Kernel { lists: Lists::Generations, ..kernel }
}

fn ids(taken: &IsolatedFolios) -> Vec<u32> {
    taken.folios.iter().flat_map(|folio| folio.ids()).collect()
}

/// The same, by search: the generation of each page, and the list of each generation, newest first.
#[derive(Default)]
struct Plain {
    generation: BTreeMap<u32, u32>,
    lists: BTreeMap<(usize, u32), VecDeque<u32>>,
    max: u32,
    min: [u32; 2],
}

impl Plain {
    fn list(&mut self, kind: usize, generation: u32) -> &mut VecDeque<u32> {
        self.lists.entry((kind, generation)).or_default()
    }

    fn take(&mut self, id: u32) {
        self.lists.values_mut().for_each(|list| list.retain(|one| *one != id));
    }

    fn put(&mut self, kind: usize, id: u32, generation: u32, last: bool) {
        self.take(id);
        let list = self.list(kind, generation);
        if last { list.push_back(id) } else { list.push_front(id) }
    }

    /// The oldest generation of a kind ends: what is left of it joins the next.
    fn end(&mut self, kind: usize) {
        let oldest = self.min[kind];
        while let Some(id) = self.list(kind, oldest).back().copied() {
            let generation = self.generation[&id].max(oldest + 1);
            self.generation.insert(id, generation);
            self.put(kind, id, generation, true);
        }
        self.min[kind] += 1;
    }
}

fn same(memory: &Memory, plain: &Plain, what: &str) {
    assert_eq!(check(memory), Ok(()), "{what}");
    assert_eq!((memory.generations.max, memory.generations.min), (plain.max, plain.min), "{what}");
    for kind in [ANON, FILE] {
        for generation in plain.min[kind]..=plain.max {
            let wanted = plain.lists.get(&(kind, generation)).cloned().unwrap_or_default();
            let mut found = Vec::new();
            let mut pages = memory.pages.clone();
            let mut list = memory.lists[kind][place(generation)].clone();
            while let Some(id) = list.pop(&mut pages) {
                found.push(id);
            }
            found.reverse();
            assert_eq!(found, Vec::from(wanted), "{what}: kind {kind}, generation {generation}");
        }
    }
}

fn against_search(mglru: Mglru, seed: u64) {
    let (mut memory, mut random) = (memory(mglru), SplitMix64::new(seed));
    let mut plain = Plain { max: LEAST + 1, ..Plain::default() };
    for step in 0..4000 {
        let id = u32::try_from(random.below(u64::from(2 * PAGES))).unwrap();
        let kind = memory.pages.kind(id);
        let is_listed = memory.pages.is(id, bit::LISTED);
        let what = format!("{mglru:?}, step {step}");
        match (random.below(8), is_listed) {
            (0 | 1, false) => {
                let (active, written) = (random.below(2) == 0, random.below(4) == 0);
                memory.pages.set(id, if active { bit::ACTIVE } else { 0 });
                let generation = memory.generations.home(mglru, memory.pages.flags[id as usize], written);
                list(&mut memory, id, mglru, written);
                plain.generation.insert(id, generation);
                plain.put(kind, id, generation, written);
            }
            (2, true) => {
                unlist(&mut memory, id);
                plain.take(id);
            }
            (3, true) => {
                let before = memory.pages.flags[id as usize];
                aging::promote(&mut memory, mglru, Folio::alone(id));
                if mglru.is_early() || before & (bit::REFERENCED | bit::WORKINGSET) != 0 {
                    plain.generation.insert(id, plain.max);
                }
            }
            (4, _) if random.below(4) == 0 => {
                aging::age(&mut memory, mglru, 60);
                for kind in [FILE, ANON] {
                    if plain.max - plain.min[kind] + 1 == MOST {
                        plain.end(kind);
                    }
                }
                plain.max += 1;
            }
            (5, _) => {
                let taken = ids(&sort::scan(&mut memory, mglru, kind, 3, 3));
                let oldest = plain.min[kind];
                let mut wanted = Vec::new();
                for _ in 0..3 {
                    if plain.max - oldest + 1 == LEAST {
                        break;
                    }
                    let Some(id) = plain.list(kind, oldest).back().copied() else { break };
                    let generation = plain.generation[&id];
                    if generation == oldest {
                        plain.take(id);
                        wanted.push(id);
                    } else {
                        plain.put(kind, id, generation, false);
                    }
                }
                assert_eq!(taken, wanted, "{what}");
            }
            (6, _) => {
                aging::end_empty(&mut memory, mglru, 60);
                // Which generations may end is a rule of its own; that those that did were empty is not.
                for kind in [ANON, FILE] {
                    while plain.min[kind] < memory.generations.min[kind] {
                        assert!(plain.list(kind, plain.min[kind]).is_empty(), "{what}");
                        plain.min[kind] += 1;
                    }
                }
            }
            _ => {}
        }
        same(&memory, &plain, &what);
    }
}

#[test]
fn generations_are_what_plain_lists_are() {
    for mglru in [Mglru::First, Mglru::Mended, Mglru::Reworked, Mglru::Rewritten] {
        (0..3).for_each(|seed| against_search(mglru, seed));
    }
}

#[test]
fn before_6_14_files_do_not_run_ahead_of_anonymous_memory() {
    let mut memory = memory(Mglru::First);
    // One old anonymous page, no file: only the generations of files are empty.
    memory.pages.set(0, bit::SWAP_CACHE);
    list(&mut memory, 0, Mglru::First, true);
    aging::end_empty(&mut memory, Mglru::First, 60);
    assert_eq!(memory.generations.min, [0, 0]);
    // Where nothing may be swapped they do.
    aging::end_empty(&mut memory, Mglru::First, 0);
    assert_eq!(memory.generations.min, [0, 2]);
}

#[test]
fn a_page_goes_where_its_bits_say() {
    let generations = Generations { max: 9, min: [6, 6], ..Generations::default() };
    let first = |flags, written| generations.home(Mglru::First, flags, written);
    assert_eq!(first(bit::ACTIVE, false), 9);
    // Anonymous memory that was not faulted in, and what is written.
    let written = bit::WRITEBACK | bit::SWAP_CACHE;
    assert_eq!([first(0, false), first(written | bit::READ_AHEAD, false), first(written, false)], [8, 8, 7]);
    assert_eq!([first(bit::FILE, false), first(bit::FILE, true)], [7, 6]);
    let later = |flags, written| generations.home(Mglru::Reworked, flags, written);
    assert_eq!([later(bit::ACTIVE, false), later(bit::ACTIVE | bit::WORKINGSET, false)], [8, 9]);
    assert_eq!([later(bit::FILE, false), later(bit::FILE | bit::WORKINGSET, false)], [6, 7]);
}

#[test]
fn pages_that_were_read_too_often_are_kept_and_others_go() {
    let mut memory = memory(Mglru::First);
    for id in PAGES..PAGES + 4 {
        let reads = id - PAGES;
        (0..reads).for_each(|_| {
            let flags = &mut memory.pages.flags[id as usize];
            *flags = refs::read(Mglru::First, *flags);
        });
        list(&mut memory, id, Mglru::First, true);
    }
    // Tier 0 goes: none and one read.
    let taken = sort::scan(&mut memory, Mglru::First, FILE, 0, sort::MOST);
    assert_eq!((ids(&taken), taken.pages, taken.scanned), (vec![PAGES + 1, PAGES], 2, 4));
    assert_eq!(memory.generations.control[FILE].protected, [0, 1, 1, 0]);
    assert_eq!(memory.generations.sizes[FILE], [0, 2, 0, 0]);
}

/// A file of two tables, all of it in RAM and mapped.
fn mapped(mglru: Mglru) -> Memory {
    let mut memory = memory(mglru);
    memory.regions = vec![Extent { first: 0, pages: 2 * TABLE, memory: Kind::File, mapped: true }];
    memory.pages = Pages::default();
    (0..2 * TABLE).for_each(|_| memory.pages.add(bit::FILE | bit::RESIDENT | bit::MAPPED, 4096));
    memory.generations.walk = Tables::new(2);
    (0..2 * TABLE).for_each(|id| list(&mut memory, id, mglru, true));
    memory
}

fn touch(memory: &mut Memory, ids: std::ops::Range<u32>) {
    ids.for_each(|id| memory.pages.set(id, bit::YOUNG));
    // Others had their turn since.
    memory.clock += 1 << 30;
}

fn young(memory: &Memory) -> Vec<u32> {
    (0..2 * TABLE).filter(|id| memory.pages.is(*id, bit::YOUNG)).collect()
}

#[test]
fn a_walk_reads_the_tables_of_which_an_eighth_was_in_use() {
    let mut memory = mapped(Mglru::Mended);
    touch(&mut memory, 0..64);
    touch(&mut memory, 512..575);
    // The first reads all, and what was in use is of the generation that was the youngest then.
    aging::age(&mut memory, Mglru::Mended, 60);
    assert_eq!((young(&memory), memory.generations.sizes[FILE]), (vec![], [0, 2 * 512 - 127, 0, 127]));
    // Of the second table 63 of 512 entries were.
    touch(&mut memory, 100..101);
    touch(&mut memory, 600..601);
    aging::age(&mut memory, Mglru::Mended, 60);
    assert_eq!(young(&memory), [600]);
    assert_eq!(check(&memory), Ok(()));
}

#[test]
fn tables_of_a_program_that_had_no_turn_are_not_read() {
    let mut memory = mapped(Mglru::Mended);
    aging::age(&mut memory, Mglru::Mended, 60);
    memory.pages.set(3, bit::YOUNG);
    aging::age(&mut memory, Mglru::Mended, 60);
    assert_eq!(young(&memory), [3]);
    // That walk made no filter, so that the next reads all.
    memory.wait_until(memory.clock + 1);
    aging::age(&mut memory, Mglru::Mended, 60);
    assert_eq!(young(&memory), [0; 0]);
}

#[test]
fn a_page_in_use_that_reclaim_finds_tells_of_its_neighbours_and_its_table() {
    let mut memory = mapped(Mglru::Mended);
    for _ in 0..2 {
        aging::age(&mut memory, Mglru::Mended, 60);
        touch(&mut memory, 900..908);
    }
    // 32 on each side are looked at, and eight of 64 are enough.
    touch(&mut memory, 867..868);
    memory.generations.walk.is_open = false;
    unlist(&mut memory, 900);
    assert_eq!(evict::references(&mut memory, Mglru::Mended, Folio::alone(900)), Some(End::Kept));
    assert_eq!(young(&memory), [867]);
    // Without a walk in this pass they go by the batch of pages that become active.
    assert_eq!(memory.generations.sizes[FILE].iter().sum::<u64>(), 2 * 512 - 1);
    memory.drain();
    let youngest = place(memory.generations.max);
    assert_eq!(memory.generations.sizes[FILE][youngest], 7);
    touch(&mut memory, 1000..1001);
    touch(&mut memory, 10..11);
    aging::age(&mut memory, Mglru::Mended, 60);
    assert_eq!(young(&memory), [10], "the first table is not worth it, the second is");
}

#[test]
fn in_6_1_few_neighbours_go_by_a_batch_and_keep_their_reads_and_15_go_at_once() {
    for n in [14, 15] {
        let mut memory = mapped(Mglru::First);
        (0..2).for_each(|_| aging::age(&mut memory, Mglru::First, 60));
        memory.generations.walk.is_open = false;
        touch(&mut memory, 900..901 + n);
        (901..901 + n).for_each(|id| memory.pages.set(id, bit::WORKINGSET));
        unlist(&mut memory, 900);
        assert_eq!(evict::references(&mut memory, Mglru::First, Folio::alone(900)), Some(End::Kept));
        let youngest = place(memory.generations.max);
        assert_eq!(memory.generations.sizes[FILE][youngest], if n < 15 { 0 } else { 15 });
        memory.drain();
        assert_eq!(memory.generations.sizes[FILE][youngest], u64::from(n));
        assert_eq!(memory.pages.is(901, bit::WORKINGSET), n < 15);
    }
}

#[test]
fn a_pass_from_6_3_to_7_1_looks_on_when_enough_is_free() {
    let of_a_batch = [(Mglru::First, 64), (Mglru::Mended, 192), (Mglru::Reworked, 192), (Mglru::Rewritten, 64)];
    // The newest looks on for a folio of more pages.
    let asked =
        of_a_batch.map(|(mglru, freed)| (mglru, BATCH, freed)).into_iter().chain([(Mglru::Rewritten, 128, 128)]);
    for (mglru, wanted, freed) in asked {
        let mut memory = group(256, kernel(mglru), Chance::default());
        for id in 0..256 {
            memory.pages.set(id, bit::RESIDENT | bit::SWAP_CACHE);
            assert!(memory.take_slot(id));
            list(&mut memory, id, mglru, true);
        }
        memory.charged += 256;
        assert_eq!(shrink::pass(&mut memory, mglru, 0, wanted), freed, "{mglru:?}");
        assert_eq!(memory.check(), Ok(()));
    }
}

#[test]
fn a_page_in_use_forgets_its_reads_in_6_12_alone() {
    for (mglru, kept) in [(Mglru::First, refs::FLAGS), (Mglru::Mended, 0), (Mglru::Reworked, refs::FLAGS)] {
        let mut memory = memory(mglru);
        memory.pages.set(0, bit::ACTIVE | refs::ALL);
        list(&mut memory, 0, mglru, false);
        assert_eq!(memory.pages.flags[0] & refs::ALL, kept | bit::WORKINGSET, "{mglru:?}");
    }
}

#[test]
fn an_eviction_that_finds_nothing_old_says_so() {
    for mglru in [Mglru::First, Mglru::Mended, Mglru::Reworked, Mglru::Rewritten] {
        let mut memory = memory(mglru);
        for id in PAGES..2 * PAGES {
            memory.pages.set(id, bit::ACTIVE | bit::WORKINGSET | bit::RESIDENT);
            list(&mut memory, id, mglru, false);
        }
        let done = evict::evict(&mut memory, mglru, 60, 64);
        let again = evict::evict(&mut memory, mglru, 60, 64);
        assert_eq!((done.freed, again.scanned, again.freed), (0, 0, 0), "{mglru:?}");
        assert_eq!(aging::need(&memory.generations, mglru, 60), aging::Need::Must, "{mglru:?}");
    }
}

#[test]
fn a_folio_is_kept_and_goes_as_one_and_what_is_said_of_one_page_is_said_of_all() {
    for mglru in [Mglru::Reworked, Mglru::Rewritten] {
        let mut memory = group(200, kernel(mglru), Chance::default());
        // 32 pages are read ahead in folios of four, which puts them into the oldest generation.
        readahead::submit_next_window(&mut memory, 1, 200, 32);
        memory.drain();
        // Page tables say it of a page of the first folio, and of two of the third, which is once.
        [202, 209, 210].iter().for_each(|id| memory.pages.set(*id, bit::MAPPED | bit::YOUNG));
        let IsolatedFolios { folios, pages, scanned, .. } = sort::scan(&mut memory, mglru, FILE, 3, 2);
        assert_eq!(
            (folios.as_slice(), pages, scanned),
            (&[200, 204].map(|id| Folio::containing(&memory.pages, id))[..], 8, 8)
        );
        let ends: Vec<End> = folios
            .iter()
            .map(|one| large(&mut memory, *one, |memory, folio| evict::references(memory, mglru, folio)))
            .collect();
        assert_eq!(ends, [End::Kept, End::Freed]);
        for id in (200..204).chain(208..212) {
            let [seen, again, young] =
                [bit::REFERENCED, bit::WORKINGSET, bit::YOUNG].map(|bits| memory.pages.is(id, bits));
            assert_eq!((seen, again, young), (true, false, false), "{mglru:?} {id}");
        }
        assert!(!(204..208).any(|id| memory.pages.is(id, bit::RESIDENT)));
        (200..204).for_each(|id| memory.list(id));
        aging::promote(&mut memory, mglru, folios[0]);
        let youngest = place(memory.generations.max);
        assert!(folios[0].ids().all(|id| place_in_flags(memory.pages.flags[id as usize]) == youngest));
        assert_eq!(memory.check(), Ok(()));
    }
}

#[test]
fn who_is_on_the_way_to_another_list_is_not_freed() {
    for mglru in [Mglru::First, Mglru::Mended, Mglru::Reworked, Mglru::Rewritten] {
        let mut memory = memory(mglru);
        for id in PAGES..PAGES + 4 {
            memory.pages.set(id, bit::RESIDENT);
            list(&mut memory, id, mglru, false);
        }
        memory.charged += 4;
        // A generation that is younger by two, so that the oldest may go.
        (0..2).for_each(|_| aging::age(&mut memory, mglru, 60));
        memory.activate(PAGES + 1);
        let done = evict::evict(&mut memory, mglru, 60, 64);
        let there = (PAGES..PAGES + 4).filter(|id| memory.pages.is(*id, bit::RESIDENT)).collect::<Vec<_>>();
        assert_eq!((done.freed, there), (3, vec![PAGES + 1]), "{mglru:?}");
    }
}
