//! The tree of memory control groups.

use ramline_snapshot::Seen;
use ramline_snapshot::groups::Groups;

use super::reader::Reader;

pub fn groups(_reader: &Reader<'_>) -> Seen<Groups> {
    Seen::Unread
}
