//! How much memory is little on a machine of some size, by the kernel's own measure.

use crate::prelude::*;

/// What the kernel wants to have on the inactive lists of a machine of this size, so that a page in use is seen to be in use before it is reclaimed
/// (`inactive_is_low` of mm/vmscan.c: one part of `1 + sqrt(10 * GiB)`, half below 1 GiB). Where all that is left is less, reclaim takes pages in use.
///
/// Worked example: 16 GiB have 1 part in 13, 1.2 GiB; 256 GiB 1 part in 51, 5.0 GiB.
#[must_use]
pub const fn low_mark(ram: Bytes) -> Bytes {
    let gib = ram.0 >> 30;
    let ratio = if gib == 0 { 1 } else { gib.saturating_mul(10).isqrt() };
    Bytes(ram.0 / (1 + ratio))
}
