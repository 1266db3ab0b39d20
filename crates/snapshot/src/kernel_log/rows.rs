//! Single lines beside a report: tasks that are stuck, slab, allocations.

use super::fields::{clip, number_after, split_number};
use super::report::{Stuck, StuckKind};
use crate::prelude::*;

/// Rows of slab and of allocations that are kept.
pub(super) const ROWS: usize = 10;

/// `INFO: task NAME:PID blocked for more than 122 seconds.`, lockups, and a fault without a huge page.
pub(super) fn stuck(text: &str) -> Option<Stuck> {
    let text = text.trim();
    if let Some(rest) = text.strip_prefix("INFO: task ") {
        let (task, rest) = rest
            .split_once(" blocked for more than ")
            .or_else(|| rest.split_once(" blocked in I/O wait for more than "))?;
        let (name, pid) = task.rsplit_once(':')?;
        return Some(Stuck {
            kind: Some(StuckKind::Hung),
            name: Some(clip(name, 64)),
            pid: pid.parse().ok(),
            seconds: split_number(rest).map(|(seconds, _)| seconds),
            ..Stuck::default()
        });
    }
    if text.contains("soft lockup - CPU#") || text.contains("self-detected stall on CPU") {
        let task = text.rsplit_once('[').and_then(|(_, rest)| rest.strip_suffix(']')?.rsplit_once(':'));
        return Some(Stuck {
            kind: Some(StuckKind::Lockup),
            name: task.map(|(name, _)| clip(name, 64)),
            pid: task.and_then(|(_, pid)| pid.parse().ok()),
            seconds: number_after(text, "stuck for "),
            ..Stuck::default()
        });
    }
    let pid = text.strip_prefix("PID ").filter(|rest| rest.contains("killed due to inadequate hugepage pool"))?;
    let pid = split_number(pid).and_then(|(pid, _)| u32::try_from(pid).ok());
    Some(Stuck { kind: Some(StuckKind::NoHugePage), pid, ..Stuck::default() })
}

/// `xfs_iul_item   932KB   932KB`: the second is what it holds.
pub(super) fn slab(text: &str) -> Option<(String, Bytes)> {
    let mut words = text.split_whitespace().rev();
    let total = words.next()?.strip_suffix("KB")?.parse().ok()?;
    let _used: u64 = words.next()?.strip_suffix("KB")?.parse().ok()?;
    Some((clip(words.next()?, 64), Bytes::from_kib(total)))
}

/// `3176243200   247900 mm/slub.c:2264 func:alloc_slab_page`.
pub(super) fn allocation(text: &str) -> Option<(String, Bytes)> {
    let (bytes, rest) = split_number(text)?;
    let (_, place) = split_number(rest.trim_start())?;
    let place = place.trim();
    place.contains("func:").then(|| (clip(place, 120), Bytes(bytes)))
}

/// Adds a row, and keeps the largest.
pub(super) fn keep(list: &mut Vec<(String, Bytes)>, row: (String, Bytes)) {
    list.push(row);
    if list.len() > 4 * ROWS {
        ramline_units::sort_by_key(list, |row| std::cmp::Reverse(row.1));
        list.truncate(ROWS);
    }
}
