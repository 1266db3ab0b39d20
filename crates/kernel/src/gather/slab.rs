//! /proc/slabinfo.

use ramline_snapshot::Seen;
use ramline_snapshot::slab::Slab;

use super::reader::Reader;

pub fn slab(_reader: &Reader<'_>) -> Seen<Slab> {
    Seen::Unread
}
