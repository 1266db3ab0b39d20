//! The figures of a recorded moment as one row, for tools that take tables.

use ramline_evidence::history::HistoryRow;

use crate::prelude::*;

/// A moment as a row.
#[must_use]
pub fn row(unix_ms: u64, seen: &Snapshot) -> HistoryRow {
    let mut row = HistoryRow {
        unix_ms,
        host: seen.machine.host.clone(),
        boot_id: seen.machine.boot_id.clone(),
        boot_ms: seen.machine.uptime.map(|up| up.0 / 1_000_000),
        ..HistoryRow::default()
    };
    let size = |bytes: Option<Bytes>| bytes.map(|bytes| bytes.0);
    if let Some(m) = seen.meminfo.data() {
        (row.mem_total, row.mem_free, row.mem_available) = (size(m.mem_total), size(m.mem_free), size(m.mem_available));
        (row.buffers, row.cached, row.anon) = (size(m.buffers), size(m.cached), size(m.anon_pages));
        (row.shmem, row.slab_reclaimable, row.slab_unreclaimable) =
            (size(m.shmem), size(m.s_reclaimable), size(m.s_unreclaim));
        (row.page_tables, row.kernel_stack) = (size(m.page_tables), size(m.kernel_stack));
        (row.dirty, row.writeback, row.committed) = (size(m.dirty), size(m.writeback), size(m.committed_as));
        (row.swap_total, row.swap_free, row.swap_cached) = (size(m.swap_total), size(m.swap_free), size(m.swap_cached));
    }
    if let Some(v) = seen.vmstat.data() {
        (row.pgpgin, row.pgpgout, row.pswpin, row.pswpout) = (v.pgpgin, v.pgpgout, v.pswpin, v.pswpout);
        (row.pgmajfault, row.allocstall, row.oom_kill) = (v.pgmajfault, v.allocstall(), v.oom_kill);
        (row.refault_file, row.refault_anon) = (v.refault_file(), v.workingset_refault_anon);
    }
    if let Some(pressure) = seen.pressure_memory.data() {
        row.waited_some_us = pressure.some.map(|stall| stall.total_us);
        row.waited_full_us = pressure.full.map(|stall| stall.total_us);
    }
    if let Some(zram) = seen.zram.data() {
        let sum = |of: fn(&ramline_snapshot::zram::ZramDevice) -> Option<Bytes>| {
            let known: Vec<Bytes> = zram.devices.iter().filter_map(of).collect();
            (!known.is_empty()).then(|| known.into_iter().sum::<Bytes>().0)
        };
        row.zram_stored = sum(|device| Some(device.mm.as_ref()?.orig_data_size));
        row.zram_used = sum(|device| Some(device.mm.as_ref()?.mem_used_total));
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_snapshot::Seen;

    #[test]
    fn a_row_has_what_was_seen_and_nothing_in_place_of_the_rest() {
        let meminfo = Seen::new(Meminfo::parse("m", "MemTotal: 8 kB\nMemFree: 3 kB\n").unwrap());
        let seen = Snapshot { meminfo, ..Snapshot::default() };
        let row = row(1000, &seen);
        assert_eq!((row.mem_total, row.mem_free, row.pswpin), (Some(8192), Some(3072), None));
        assert!(row.csv().starts_with("1000,,,,8192,3072,,"), "{}", row.csv());
        assert_eq!(row.csv().split(',').count(), HistoryRow::NAMES.len());
    }
}
