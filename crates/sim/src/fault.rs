//! A touch through a mapping: found in the page tables, or a fault.
//!
//! Stands for `handle_pte_fault` (mm/memory.c); read in 6.18. Left out: stores to files (they count as loads).

pub(crate) mod anonymous;
mod shmem;
mod swap_in;

use ramline_trace::generate::Memory as Kind;

use crate::filemap;
use crate::load::word;
use crate::memcg::limit;
use crate::memory::Memory;
use crate::page::bit;

/// A touch that the page tables answer; whether it is one.
#[inline]
pub fn hit(memory: &mut Memory, touch: u32) -> bool {
    let Some(flags) = memory.pages.flags.get_mut((touch & word::PAGE) as usize) else { return false };
    let is_store = touch & word::ACCESS == word::STORE;
    let is_zeros = is_store && *flags & bit::ZEROS != 0;
    if *flags & (bit::MAPPED | bit::ZEROS) == 0 || is_zeros {
        return false;
    }
    *flags |= bit::YOUNG | if is_store { bit::DIRTY } else { 0 };
    memory.clock += memory.steps.hit;
    true
}

/// A touch that is a fault.
pub fn miss(memory: &mut Memory, touch: u32) {
    limit::tick(memory);
    memory.in_fault = true;
    let (id, is_store) = (touch & word::PAGE, touch & word::ACCESS == word::STORE);
    let extent = memory.regions[memory.pages.region(id)];
    match extent.memory {
        Kind::File => filemap::fault::fault(memory, extent, id),
        Kind::Anonymous => anonymous::fault(memory, id, is_store),
        Kind::Shared => shmem::fault(memory, extent, id, is_store),
    }
}
