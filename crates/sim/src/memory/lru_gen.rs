//! Pages on lists by generation: where one goes, and how it leaves.
//!
//! Stands for `lru_gen_add_folio`, `lru_gen_del_folio` and `lru_gen_update_size` (include/linux/mm_inline.h); read in 6.12 and 6.18. Left out: zones.

use super::Memory;
use crate::folio::Folio;
use crate::generations::{LEAST, MOST, place, place_in_flags, refs};
use crate::kernel::Mglru;
use crate::page::bit;
use crate::setting::{ANON, FILE};

/// A page comes to the head of its generation's list, or to the tail if it was `written`.
pub fn list(memory: &mut Memory, id: u32, mglru: Mglru, written: bool) {
    let flags = memory.pages.flags[id as usize];
    let generation = memory.generations.home(mglru, flags, written);
    let (kind, at) = (memory.pages.kind(id), place(generation));
    // Whether a page in use was read before counts no more, in the second form only.
    let reads = if mglru == Mglru::Mended && flags & bit::ACTIVE != 0 { refs::FLAGS } else { 0 };
    memory.pages.clear(id, bit::ACTIVE | reads);
    set_generation(memory, id, at);
    memory.generations.sizes[kind][at] += 1;
    put(memory, id, at, written);
}

/// A page leaves the lists.
pub fn unlist(memory: &mut Memory, id: u32) {
    let (kind, at) = (memory.pages.kind(id), place_in_flags(memory.pages.flags[id as usize]));
    memory.generations.sizes[kind][at] -= 1;
    take(memory, id);
}

/// A folio goes from the list it is on to another's head, or its tail; its first page is the one that is looked at first.
pub fn move_to(memory: &mut Memory, folio: Folio, at: usize, last: bool) {
    if !folio.is_large() {
        take(memory, folio.first);
        return put(memory, folio.first, at, last);
    }
    for n in 0..folio.pages {
        let id = if last { folio.first + folio.pages - 1 - n } else { folio.first + n };
        take(memory, id);
        put(memory, id, at, last);
    }
}

/// A folio is of another generation now (`lru_gen_update_size`); it stays where it is.
pub fn change(memory: &mut Memory, folio: Folio, to: usize) {
    let (kind, from) = (memory.pages.kind(folio.first), place_in_flags(memory.pages.flags[folio.first as usize]));
    debug_assert!(
        folio.ids().all(|id| place_in_flags(memory.pages.flags[id as usize]) == from),
        "{folio:?} is in parts"
    );
    let sizes = &mut memory.generations.sizes[kind];
    sizes[from] -= u64::from(folio.pages);
    sizes[to] += u64::from(folio.pages);
    folio.ids().for_each(|id| set_generation(memory, id, to));
}

fn set_generation(memory: &mut Memory, id: u32, at: usize) {
    let flags = &mut memory.pages.flags[id as usize];
    *flags = *flags & !bit::GENERATIONS | u32::try_from(at).unwrap_or(0) << bit::GENERATION;
}

#[inline]
fn put(memory: &mut Memory, id: u32, at: usize, last: bool) {
    let list = &mut memory.lists[memory.pages.kind(id)][at];
    if last {
        list.push_last(&mut memory.pages, id);
    } else {
        list.push(&mut memory.pages, id);
    }
}

#[inline]
fn take(memory: &mut Memory, id: u32) {
    let at = memory.pages.list_of(id);
    memory.lists[memory.pages.kind(id)][at].remove(&mut memory.pages, id);
}

/// Generations are in order, and their sizes are those of the pages on the lists.
///
/// # Errors
/// What is not.
pub fn check(memory: &Memory) -> Result<(), String> {
    let generations = &memory.generations;
    for kind in [ANON, FILE] {
        let count = generations.count(kind);
        if !(LEAST..=MOST).contains(&count) {
            return Err(format!("{count} generations of kind {kind}"));
        }
        let listed: u64 = memory.lists[kind].iter().map(|list| list.len).sum();
        if generations.sizes[kind].iter().sum::<u64>() != listed {
            return Err(format!("{:?} pages by generation, {listed} on lists", generations.sizes[kind]));
        }
    }
    let mut by = [[0; MOST as usize]; 2];
    let listed = memory.pages.flags.iter().filter(|flags| **flags & bit::LISTED != 0);
    listed.for_each(|flags| by[usize::from(flags & bit::FILE != 0)][place_in_flags(*flags)] += 1);
    if by == generations.sizes { Ok(()) } else { Err(format!("{by:?} pages by their bits, {:?}", generations.sizes)) }
}
