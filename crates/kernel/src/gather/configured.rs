//! Settings that files configure.

use ramline_snapshot::Seen;
use ramline_snapshot::configured::Configured;

use super::reader::Reader;

pub fn configured(_reader: &Reader<'_>) -> Seen<Configured> {
    Seen::Unread
}
