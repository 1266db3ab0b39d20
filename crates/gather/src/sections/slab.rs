//! /proc/slabinfo.

use ramline_snapshot::Seen;
use ramline_snapshot::slab::Slab;
use ramline_units::PageSize;

use super::reader::Reader;

pub fn slab(reader: &Reader<'_>, page: PageSize) -> Seen<Slab> {
    reader.section("/proc/slabinfo", |path, text| Slab::parse(path, text, page))
}
