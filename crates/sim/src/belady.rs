//! The fewest pages that must be read again, whatever the kernel does.
//!
//! Belady's rule (1966): of the pages in RAM, that one goes whose next touch is last of all. No rule that brings pages when they are touched, or
//! before, brings fewer. So the distance from a forecast to this bound is what any tuning could gain at best, and the rest is the size of the RAM.
//!
//! Anonymous memory that is written for the first time comes from nowhere, and a page of zeros that is only read takes no RAM: neither counts.

use std::collections::BinaryHeap;

use ramline_trace::generate::Memory as Kind;

use crate::chance;
use crate::load::{Compact, word};
use crate::setting::Setting;

/// No touch after this one.
const NEVER: u32 = u32::MAX;

/// Pages that must be read, from files and from swap, for this number of pages in RAM; over the fill and all rounds.
#[must_use]
pub fn reads(load: &Compact, room: u64) -> u64 {
    let (touched, new) = sequence(load);
    let pages = load.pages() as usize;
    let mut next = vec![NEVER; touched.len()];
    let mut later = vec![NEVER; pages];
    let mut at = u32::try_from(touched.len()).unwrap_or(NEVER);
    for (page, next) in touched.iter().zip(&mut next).rev() {
        at -= 1;
        *next = std::mem::replace(&mut later[*page as usize], at);
    }
    // Of each page in RAM its next touch; what the heap has of it beside that is over.
    let mut held: Vec<Option<u32>> = vec![None; pages];
    let mut last_first = BinaryHeap::new();
    let (mut count, mut misses) = (0, 0);
    for (page, next) in touched.into_iter().zip(next) {
        if held[page as usize].is_none() {
            misses += 1;
            if count == room.max(1) {
                while let Some((at, one)) = last_first.pop() {
                    if held[one as usize] == Some(at) {
                        held[one as usize] = None;
                        break;
                    }
                }
            } else {
                count += 1;
            }
        }
        held[page as usize] = Some(next);
        last_first.push((next, page));
    }
    misses - new
}

/// Pages a round that any rule must read from files and from swap in this setting: what no tuning can save. More RAM for the load than it has there
/// at best, so it is a bound; a zram's pool counts as nothing.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts of a run")]
pub fn least(load: &Compact, setting: &Setting) -> f64 {
    let room = setting.limit.saturating_sub(chance::least_base(load));
    reads(load, room) as f64 / load.round_count().max(1.0)
}

/// The pages in the order they are touched, and how many of them come from nowhere.
fn sequence(load: &Compact) -> (Vec<u32>, u64) {
    let mut exists = vec![false; load.pages() as usize];
    let (mut touched, mut new) = (Vec::with_capacity(load.fill.len() + load.rounds.len()), 0);
    let mut one = |id: u32, is_store: bool, touched: &mut Vec<u32>| {
        let kind = load.region_of(id).map_or(Kind::File, |region| region.memory);
        let exists = &mut exists[id as usize];
        if kind == Kind::Anonymous && !*exists && !is_store {
            return;
        }
        new += u64::from(kind != Kind::File && !*exists);
        *exists = true;
        touched.push(id);
    };
    load.each(|id, access| one(id, access == word::STORE, &mut touched));
    (touched, new)
}

#[cfg(test)]
mod tests {
    use ramline_trace::generate::{Access, Memory, Region, Touch};

    use super::*;

    fn reads_of(memory: Memory, access: Access, pages: &[u64], room: u64) -> u64 {
        let touches = pages.iter().map(|page| Touch { region: 0, access, offset: page * 4096 });
        let load = Compact::new(&[Region { memory, bytes: 16 * 4096 }], [].into_iter(), touches, 1).unwrap();
        reads(&load, room)
    }

    #[test]
    fn what_goes_is_touched_last_of_all() {
        // Three pages in turn and room for two: the first two turns read three, after that every other touch is a hit.
        let turns = [0, 1, 2, 0, 1, 2, 0, 1, 2];
        assert_eq!(reads_of(Memory::File, Access::Load, &turns, 2), 6);
        assert_eq!(reads_of(Memory::File, Access::Load, &turns, 3), 3);
        assert_eq!(reads_of(Memory::File, Access::Load, &turns, 1), 9);
    }

    #[test]
    fn memory_that_is_written_for_the_first_time_is_not_read() {
        assert_eq!(reads_of(Memory::Anonymous, Access::Store, &[0, 1, 2, 0], 3), 0);
        assert_eq!(reads_of(Memory::Anonymous, Access::Store, &[0, 1, 2, 0], 1), 1);
        assert_eq!(reads_of(Memory::Anonymous, Access::Load, &[0, 1, 2, 0], 1), 0);
    }
}
