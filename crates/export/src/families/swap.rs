//! Swap by area, its traffic, and what zram really holds.

use ramline_model::swap::Area;
use ramline_model::zram::{Device, Gain};
use ramline_snapshot::blocks::Reads;

use crate::family::{Family, Kind, Samples, Unit, Value, family};
use crate::reading::{MOST_OBJECTS, Reading};
use crate::spelled::{seconds, word};

const BYTES: (Kind, Unit) = (Kind::Gauge, Unit::Bytes);
const RATIO: (Kind, Unit) = (Kind::Gauge, Unit::Ratio);
const NUMBER: (Kind, Unit) = (Kind::Gauge, Unit::None);
const EVENTS: (Kind, Unit) = (Kind::Counter, Unit::None);
const SECONDS: (Kind, Unit) = (Kind::Counter, Unit::Seconds);

fn areas<V: Into<Value>>(seen: &Reading<'_>, out: &mut Samples, value: impl Fn(&Area) -> V) {
    for area in seen.swap.iter().flat_map(|swap| &swap.areas).take(MOST_OBJECTS) {
        out.with(&[("device", &area.path), ("kind", &word(&area.kind))], Some(value(area)));
    }
}

fn devices<V: Into<Value>>(seen: &Reading<'_>, out: &mut Samples, value: impl Fn(&Device) -> Option<V>) {
    for device in seen.zram.iter().flat_map(|zram| &zram.devices).take(MOST_OBJECTS) {
        out.with(&[("device", &device.name)], value(device));
    }
}

fn gains<V: Into<Value>>(seen: &Reading<'_>, out: &mut Samples, value: impl Fn(&Gain) -> Option<V>) {
    devices(seen, out, |device| device.gain.as_ref().and_then(&value));
}

/// Reads from the devices that hold swap areas.
fn reads<V: Into<Value>>(seen: &Reading<'_>, out: &mut Samples, value: impl Fn(Reads) -> V) {
    let Some(blocks) = seen.snapshot.blocks.data() else { return };
    for area in seen.swap.iter().flat_map(|swap| &swap.areas).take(MOST_OBJECTS) {
        let device = ramline_snapshot::blocks::behind_node(blocks, &area.path);
        let reads = device.and_then(|device| Some((device, device.reads?)));
        if let Some((device, reads)) = reads {
            out.with(&[("device", &device.name)], Some(value(reads)));
        }
    }
}

fn counter(seen: &Reading<'_>, key: &str) -> Option<u64> {
    seen.snapshot.vmstat.data()?.get(key)
}

pub const FAMILIES: &[Family] = &[
    family(
        "ramline_swap_size_bytes",
        BYTES,
        "swap-order",
        "Size of a swap area; of zram before compression.",
        |seen, out| {
            areas(seen, out, |area| area.size);
        },
    ),
    family(
        "ramline_swap_used_bytes",
        BYTES,
        "swap-in-use",
        "What lies in a swap area. Cold pages that lie there cost nothing: watch the traffic instead.",
        |seen, out| areas(seen, out, |area| area.used),
    ),
    family(
        "ramline_swap_priority",
        NUMBER,
        "swap-order",
        "Priority of a swap area: the highest is used first.",
        |seen, out| {
            areas(seen, out, |area| area.priority);
        },
    ),
    family("ramline_swap_in_pages", EVENTS, "swap-in-use", "Pages read from swap areas.", |seen, out| {
        out.one(counter(seen, "pswpin"));
    }),
    family("ramline_swap_out_pages", EVENTS, "swap-in-use", "Pages written to swap areas.", |seen, out| {
        out.one(counter(seen, "pswpout"));
    }),
    family("ramline_zswap_in_pages", EVENTS, "zram-vs-zswap", "Pages read from zswap.", |seen, out| {
        out.one(counter(seen, "zswpin"));
    }),
    family("ramline_zswap_out_pages", EVENTS, "zram-vs-zswap", "Pages compressed into zswap.", |seen, out| {
        out.one(counter(seen, "zswpout"));
    }),
    family(
        "ramline_swap_device_reads",
        EVENTS,
        "swap-order",
        "Read requests to the whole block device that a swap area lies on.",
        |seen, out| reads(seen, out, |reads| reads.count),
    ),
    family(
        "ramline_swap_device_read_seconds",
        SECONDS,
        "swap-order",
        "Time that those requests took, added up.",
        |seen, out| reads(seen, out, |reads| seconds(reads.took_ms.saturating_mul(1000))),
    ),
    family(
        "ramline_zram_disksize_bytes",
        BYTES,
        "zram-limit",
        "What a zram device may hold, before compression.",
        |seen, out| {
            devices(seen, out, |device| Some(device.disksize));
        },
    ),
    family("ramline_zram_stored_bytes", BYTES, "zram-ratio", "What it holds, before compression.", |seen, out| {
        gains(seen, out, |gain| Some(gain.stored));
    }),
    family(
        "ramline_zram_memory_bytes",
        BYTES,
        "zram-ratio",
        "RAM that it takes for that, the table of slots included.",
        |seen, out| gains(seen, out, |gain| Some(gain.mem_used + gain.slot_table)),
    ),
    family(
        "ramline_zram_net_gain_bytes",
        BYTES,
        "zram-ratio",
        "RAM that it gains; negative where it costs more than it saves.",
        |seen, out| gains(seen, out, |gain| Some(gain.net_saved)),
    ),
    family(
        "ramline_zram_compression_ratio",
        RATIO,
        "zram-ratio",
        "Size over compressed size of what is compressed in RAM; pages of one value and written-back ones, which zramctl counts, are left out.",
        |seen, out| gains(seen, out, |gain| gain.true_ratio.map(|ratio| ratio.0)),
    ),
    family(
        "ramline_zram_incompressible_ratio",
        RATIO,
        "zram-ratio",
        "Share of its pages that did not compress and are kept whole.",
        |seen, out| gains(seen, out, |gain| gain.incompressible),
    ),
    family(
        "ramline_zram_limit_used_ratio",
        RATIO,
        "zram-limit",
        "Share of mem_limit in use; at 1 writes fail. Missing without a limit.",
        |seen, out| gains(seen, out, |gain| gain.limit_use),
    ),
    family("ramline_zram_failed_writes", EVENTS, "zram-limit", "Writes that failed.", |seen, out| {
        devices(seen, out, |device| device.failed_writes);
    }),
];
