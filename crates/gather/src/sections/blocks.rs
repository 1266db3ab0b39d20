//! `/sys/block`: queue settings of whole devices and the numbers of their partitions.

use ramline_snapshot::blocks::{BlockDevice, Partition, Reads};
use ramline_snapshot::switches::bracketed;

use super::reader::Reader;
use crate::prelude::*;

pub fn blocks(reader: &Reader<'_>) -> Seen<Vec<BlockDevice>> {
    let names = reader.names("/sys/block");
    if names.is_empty() {
        return Seen::Absent { path: "/sys/block".to_owned() };
    }
    reader.timed(|| names.iter().filter_map(|name| block(reader, name)).collect())
}

/// One device; `None` for a loop device without a file behind it, and for the old RAM disks.
fn block(reader: &Reader<'_>, name: &str) -> Option<BlockDevice> {
    let dir = format!("/sys/block/{name}");
    let size = Bytes(reader.number(&format!("{dir}/size")).unwrap_or(0).saturating_mul(512));
    let idle_loop = name.starts_with("loop") && size == Bytes::ZERO;
    if idle_loop || name.starts_with("ram") {
        return None;
    }
    let partitions = reader.names(&dir).into_iter().filter(|n| n.starts_with(name)).filter_map(|part| {
        let dev = reader.word(&format!("{dir}/{part}/dev"))?;
        Some(Partition { name: part, dev })
    });
    Some(BlockDevice {
        name: name.to_owned(),
        dev: reader.word(&format!("{dir}/dev")).unwrap_or_default(),
        size,
        rotational: reader.number(&format!("{dir}/queue/rotational")).map(|n| n == 1),
        read_ahead: reader.number(&format!("{dir}/queue/read_ahead_kb")).map(Bytes::from_kib),
        scheduler: reader.word(&format!("{dir}/queue/scheduler")).and_then(|t| bracketed(&t).0),
        logical_block: reader.number(&format!("{dir}/queue/logical_block_size")).map(Bytes),
        slaves: reader.names(&format!("{dir}/slaves")),
        backing_file: reader.word(&format!("{dir}/loop/backing_file")),
        partitions: partitions.collect(),
        reads: reader.text(format!("{dir}/stat")).ok().and_then(|text| Reads::parse(&text)),
    })
}
