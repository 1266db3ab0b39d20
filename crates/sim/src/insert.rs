//! A charged folio comes into RAM: its shadow entry is taken and judged, and it goes to its list.
//!
//! Stands for `filemap_add_folio` (mm/filemap.c), `shmem_add_to_page_cache` (mm/shmem.c) and `folio_add_lru` behind a read from swap; read in 6.12.

use crate::folio::{self, Folio};
use crate::memory::Memory;
use crate::page::{NONE, bit};
use crate::workingset;

/// A folio of a file that is charged, new in RAM.
pub fn insert_folio(memory: &mut Memory, folio: Folio, bits: u32) {
    folio::split(&mut memory.pages, folio);
    if !folio.is_large() {
        return insert(memory, folio.first, bits);
    }
    let mut left = NONE;
    for id in folio.ids() {
        let shadow = memory.pages.shadow(id);
        memory.pages.set(id, bit::RESIDENT | bits | if id > folio.first { bit::SAME_FOLIO } else { 0 });
        if shadow != NONE {
            left = shadow;
        }
    }
    workingset::refault_all(memory, folio, left);
    folio.ids().for_each(|id| memory.add(id));
    // A large one does not wait in a batch.
    memory.list_added();
}

/// A page that is charged, new in RAM.
pub fn insert(memory: &mut Memory, id: u32, bits: u32) {
    let shadow = memory.pages.shadow(id);
    memory.pages.set(id, bit::RESIDENT | bits);
    workingset::refault(memory, id, shadow);
    memory.add(id);
}
