//! The limit of a group that follows what a zram takes: where it is, and when it is looked at next.

use crate::load::PAGE;

/// The thread that does so.
#[derive(Debug, Clone, Copy)]
pub struct Keeper {
    /// The limit in bytes, as last written.
    pub limit: u64,
    /// When it looks next; never where the limit does not follow.
    pub next: u64,
    /// So often the limit was lowered.
    pub lowered: u64,
    /// For so long the load was held.
    pub held: u64,
}

impl Keeper {
    /// One that follows, or none.
    #[must_use]
    pub fn new(follows: bool, limit: u64) -> Keeper {
        Keeper { limit: limit * PAGE, next: if follows { 0 } else { u64::MAX }, lowered: 0, held: 0 }
    }

    /// It is time to look.
    #[inline]
    #[must_use]
    pub fn is_due(&self, clock: u64) -> bool {
        clock >= self.next
    }

    /// The limit in pages, where there is a keeper.
    #[must_use]
    pub fn pages(&self) -> Option<u64> {
        (self.next < u64::MAX).then_some(self.limit / PAGE)
    }
}
