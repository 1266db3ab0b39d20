//! Shadow entries of evicted pages, and what a refault decides: whether the page goes to the active list.
//!
//! Stands for `workingset_eviction`, `workingset_test_recent` and `workingset_refault` (mm/workingset.c); read in 6.18. Left out: shadows that
//! the kernel drops when they are too many. Those of MGLRU hold something else (`lru_gen`).

mod lru_gen;

use crate::folio::Folio;
use crate::lru_cost;
use crate::memory::{ANON, FILE, Memory};
use crate::page::{NONE, bit};

/// One bit of a shadow says whether the page was of the working set; the others are the age.
const AGES: u32 = u32::MAX >> 2;

/// A page is evicted: its shadow entry, and `nonresident_age` grows.
#[inline]
pub fn evicted(memory: &mut Memory, id: u32) {
    let shadow = match memory.setting.kernel.mglru() {
        Some(mglru) => lru_gen::evicted(memory, mglru, id),
        None => (memory.age & AGES) << 1 | u32::from(memory.pages.is(id, bit::WORKINGSET)),
    };
    memory.pages.leave(id, shadow);
    memory.pages.clear(id, bit::WORKINGSET | bit::REFERENCED | bit::ACTIVE | bit::REFS | bit::GENERATIONS);
    age_nonresident(memory, 1);
}

/// A folio goes: what is left is the same of all its pages.
pub fn all_evicted(memory: &mut Memory, folio: Folio) {
    let age = memory.age;
    for id in folio.ids() {
        memory.age = age;
        evicted(memory, id);
    }
    memory.age = age;
    age_nonresident(memory, folio.pages);
}

/// Advances the clock of refault distances by so many pages: `workingset_age_nonresident`.
pub fn age_nonresident(memory: &mut Memory, pages: u32) {
    memory.age = memory.age.wrapping_add(pages) & AGES;
}

/// A refault of a page with this shadow entry; it is not yet on a list.
#[inline]
pub fn refault(memory: &mut Memory, id: u32, shadow: u32) {
    if shadow == NONE {
        return;
    }
    refault_all(memory, Folio::alone(id), shadow);
}

/// A refault of a folio with the shadow entry of the last of its pages that had one; it is not yet on a list.
pub fn refault_all(memory: &mut Memory, folio: Folio, shadow: u32) {
    if shadow == NONE {
        return;
    }
    if let Some(mglru) = memory.setting.kernel.mglru() {
        return lru_gen::refault(memory, mglru, folio, shadow);
    }
    let (kind, pages) = (memory.pages.kind(folio.first), u64::from(folio.pages));
    memory.counts.refault[kind] += pages;
    let distance = u64::from(memory.age.wrapping_sub(shadow >> 1) & AGES);
    let [anon, file] = memory.statistics().size;
    let mut working_set = file[1];
    if kind == ANON {
        working_set += file[0];
    }
    if memory.can_swap() {
        working_set += anon[1] + if kind == FILE { anon[0] } else { 0 };
    }
    if distance > working_set {
        return;
    }
    folio.ids().for_each(|id| memory.pages.set(id, bit::ACTIVE));
    age_nonresident(memory, folio.pages);
    memory.counts.activated[kind] += pages;
    if shadow & 1 == 1 {
        folio.ids().for_each(|id| memory.pages.set(id, bit::WORKINGSET));
        lru_cost::note(memory, kind, pages, 0);
    }
}
