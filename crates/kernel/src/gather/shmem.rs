//! Shared memory by kind.

use ramline_snapshot::Seen;
use ramline_snapshot::shmem::Shmem;

use super::reader::Reader;

pub fn shmem(_reader: &Reader<'_>) -> Seen<Shmem> {
    Seen::Unread
}
