//! How much memory may be taken: what the machine and the limits on us can give, less a margin for everybody else.

use ramline_kernel::{Root, memory_room, memory_total};
use ramline_units::Bytes;

use crate::error::Result;

/// The margin of a machine with so much memory: with less to take than this no run begins and none goes on.
fn margin_of(mem_total: Bytes) -> Bytes {
    Bytes(mem_total.0 / 50).max(Bytes::from_mib(256))
}

/// The margin of this machine.
///
/// # Errors
/// Its memory is not known, so nobody can say how much must be left.
pub fn margin(root: &Root) -> Result<Bytes> {
    Ok(margin_of(memory_total(root)?))
}

/// What can be taken now and still leaves the margin: what a group without a limit of its own is limited to all the same.
///
/// # Errors
/// /proc cannot be read.
pub fn headroom(root: &Root) -> Result<Bytes> {
    Ok(memory_room(root)?.saturating_sub(margin(root)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_margin_grows_with_the_machine() {
        assert_eq!(margin_of(Bytes::from_gib(2)), Bytes::from_mib(256));
        assert_eq!(margin_of(Bytes::from_gib(100)), Bytes::from_gib(2));
    }
}
