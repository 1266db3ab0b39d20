//! The ZFS cache.

use ramline_snapshot::Seen;
use ramline_snapshot::zfs::Arc;

use super::reader::Reader;

/// What OpenZFS tells of its cache; `None` where its module is not loaded, which is how most machines are.
pub fn zfs(reader: &Reader<'_>) -> Seen<Option<Arc>> {
    const FILE: &str = "/proc/spl/kstat/zfs/arcstats";
    match reader.section(FILE, |path, text| Arc::parse(path, text).map(Some)) {
        Seen::Absent { .. } => reader.timed(FILE, || None),
        seen => seen,
    }
}
