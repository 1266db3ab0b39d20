//! The part of the program at reads of files that leaves out repeats: the same page once more right away, and what was reported twice in an epoch.
//!
//! Mapping, first and last page stand at -24, -32 and -40 of the program's stack.

use super::call::{MapKind, make_map};
use super::program::{Assembler, FRAME, Helper, R0, R1, R2, R3, R4, R6, R7, R8};
use crate::prelude::*;

/// Reads that are remembered, each at the place of its page: those of 256 MiB. Where two share a place, both are reported.
const REMEMBERED: i32 = 1 << 16;
// One of them: mapping, first and last page, and when: twice the epoch, and one more when it was reported a second time.
const REMEMBERED_SIZE: u32 = 32;
// The read before on this processor: mapping, last page, when, and the thread.
const BEFORE_SIZE: u32 = 32;

/// What was reported in this epoch, and the read before.
pub struct Repeats {
    /// Twice the number of the epoch.
    pub epoch: OwnedFd,
    pub remembered: OwnedFd,
    pub before: OwnedFd,
}

impl Repeats {
    pub fn new() -> Result<Repeats> {
        Ok(Repeats {
            epoch: make_map(MapKind::Array, 4, 8, 1)?,
            remembered: make_map(MapKind::Array, 4, REMEMBERED_SIZE, REMEMBERED.cast_unsigned())?,
            before: make_map(MapKind::PercpuArray, 4, BEFORE_SIZE, 1)?,
        })
    }

    /// Ends the program where nothing is new: mapping, first and last page stand at -24, -32 and -40 of the stack.
    pub fn end_if_known(&self, p: &mut Assembler) {
        // Register 8: when, in a record that is reported for the first time.
        p.only_value(R1, &self.epoch);
        p.load(R8, R1, 0);
        p.load(R6, FRAME, -24);
        p.load(R7, FRAME, -32);
        // One page, and the same as before, is still one use of it, as the kernel counts (mark_page_accessed in filemap_read).
        p.call(Helper::CurrentPidTgid);
        p.store(FRAME, -48, R0);
        p.store_value(FRAME, -8, 0);
        Repeats::look_up(p, &self.before);
        p.load(R2, FRAME, -40);
        p.load(R3, FRAME, -48);
        let many = p.jump_if_unequal(R7, R2);
        let others = [(0, R6), (8, R7), (16, R8), (24, R3)].map(|(at, new)| {
            p.load(R1, R0, at);
            p.jump_if_unequal(R1, new)
        });
        p.end();
        p.land(many);
        others.into_iter().for_each(|jump| p.land(jump));
        for (at, new) in [(0, R6), (8, R2), (16, R8), (24, R3)] {
            p.store(R0, at, new);
        }
        // The place of the page.
        p.copy(R1, R6);
        p.shift_right(R1, 6);
        p.add_register(R1, R7);
        p.and(R1, REMEMBERED - 1);
        p.store_half(FRAME, -8, R1);
        Repeats::look_up(p, &self.remembered);
        p.load(R3, FRAME, -40);
        let others = [(0, R6), (8, R7), (16, R3)].map(|(at, new)| {
            p.load(R1, R0, at);
            p.jump_if_unequal(R1, new)
        });
        p.load(R2, R0, 24);
        p.copy(R4, R8);
        p.add(R4, 1);
        p.end_if_equal(R2, R4);
        let is_first = p.jump_if_unequal(R2, R8);
        p.store(R0, 24, R4);
        let is_second = p.jump();
        others.into_iter().for_each(|jump| p.land(jump));
        p.land(is_first);
        for (at, new) in [(0, R6), (8, R7), (16, R3), (24, R8)] {
            p.store(R0, at, new);
        }
        p.land(is_second);
    }

    /// The value whose number stands at -8 of the stack.
    fn look_up(p: &mut Assembler, map: &OwnedFd) {
        p.map(R1, map);
        p.copy(R2, FRAME);
        p.add(R2, -8);
        p.call(Helper::MapLookup);
        p.end_if_zero(R0);
    }
}
