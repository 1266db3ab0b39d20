//! What is left on the machine, and whether that is little.

use super::LITTLE;
use crate::available::Available;
use crate::prelude::*;

/// What is left on the machine.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    /// Without swapping.
    pub available: Bytes,
    /// Of it, what the ZFS cache gives back.
    pub arc: Bytes,
    /// Free in swap areas; `None` where it was not seen.
    pub swap: Option<Bytes>,
}

impl Room {
    /// From what is available and what swap has free.
    #[must_use]
    pub const fn of(available: Available, swap: Option<Bytes>) -> Room {
        Room { available: available.bytes, arc: available.arc, swap }
    }

    /// Less than this share of RAM, and little in bytes.
    pub(super) fn is_below(self, share: f64, ram: Bytes) -> bool {
        let Some(left) = self.swap.map(|swap| self.available + swap) else { return false };
        left < LITTLE && left.share_of(ram).is_some_and(|left| left < share)
    }
}
