//! What acts on a group from outside by the clock, as a thread that moves its limit.

use std::fmt::Debug;

use crate::memory::Memory;

/// A thread beside the group. The simulator runs it as soon as its time has come, between two touches.
pub trait Beside: Debug {
    /// Acts on the group, as of [`Memory::clock`], which it may move on; returns when it acts next.
    fn act(&mut self, memory: &mut Memory) -> u64;
}

/// Makes it, for a group that may have so many pages.
pub type MakeBeside = fn(u64) -> Box<dyn Beside>;

/// What happens by the clock, also while nothing is reclaimed: the thread beside the group acts, and statistics are summed up.
#[inline]
pub fn tick(memory: &mut Memory) {
    if memory.clock >= memory.acts_at {
        act(memory);
    }
    memory.sum_up();
}

fn act(memory: &mut Memory) {
    if let Some(mut beside) = memory.beside.take() {
        memory.acts_at = beside.act(memory);
        memory.beside = Some(beside);
    }
}
