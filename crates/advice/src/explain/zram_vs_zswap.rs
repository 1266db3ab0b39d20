//! `zram-vs-zswap`: which of the two, or both.

use ramline_units::Ratio;

use crate::prelude::*;

pub(super) const TOPIC: Topic = Topic {
    id: "zram-vs-zswap",
    area: Area::Compressed,
    question: "zswap, zram, or both?",
    wants: Wanted { zswap: true, ..LIGHT },
    answer,
    mechanism: &[
        "zswap sits in front of every swap area: it compresses pages into a pool in RAM and writes the coldest on to the area behind. It needs an area on disk, with a slot for every page it keeps.",
        "zram is an area itself: nothing behind it is needed, and nothing leaves it by age. When it is full of old pages, the newer, warmer ones go to the disk area.",
        "With both, a page is compressed for zswap, unpacked when its pool is full, and compressed again for zram: work without gain.",
        "With a disk area whose use is acceptable, zswap keeps the warm pages in RAM. Without one, or to spare the flash, zram.",
    ],
    myth: "zram and zswap stack nicely: they do the same job one behind the other.",
    to_do: "With a disk area whose use is acceptable, zswap; without one, zram. Never both.",
    next: "ramline show swap",
};

fn answer(inputs: &Inputs<'_>, out: &mut Explanation) -> String {
    let zswap = inputs.snapshot.zswap.data();
    let meminfo = inputs.snapshot.meminfo.data();
    let areas = look::areas(inputs.snapshot).unwrap_or_default();
    let words = zswap.map(|z| {
        let compressor = z.compressor.as_deref().unwrap_or("compressor not reported");
        format!("{}, {compressor}", if z.enabled { "on" } else { "off" })
    });
    out.add("zswap", words, "/sys/module/zswap/parameters/enabled, compressor");
    let value = zswap.and_then(|z| z.max_pool_percent).map(|p| format!("{p} % of RAM"));
    out.add("its pool, at most", value, "/sys/module/zswap/parameters/max_pool_percent");
    let value = zswap.and_then(|z| z.shrinker).map(|on| if on { "yes" } else { "no" });
    out.add("writes cold pages back under pressure", value, "/sys/module/zswap/parameters/shrinker_enabled");
    let pool = meminfo.and_then(|m| m.zswap.zip(m.zswapped)).filter(|(_, stored)| stored.0 > 0);
    let words = pool.map(|(pool, stored)| {
        format!("{stored} in {pool}{}", Ratio::from_sizes(stored, pool).map(|r| format!(" ({r})")).unwrap_or_default())
    });
    out.add("kept by zswap", words, "/proc/meminfo Zswapped, Zswap");
    for area in &areas {
        let kind = if area.zram().is_some() { "zram" } else { "disk" };
        out.put(&format!("{kind} area {}", area.path), format!("{} of {} used", area.used, area.size), "/proc/swaps");
    }
    let zram = areas.iter().any(|area| area.zram().is_some());
    if zram && zswap.is_some_and(|z| z.enabled) {
        out.to_do = "Switch zswap off: echo N > /sys/module/zswap/parameters/enabled.".into();
    }
    match (zswap.map(|z| z.enabled), zram) {
        (None, false) => unseen(inputs, "zswap"),
        (Some(true), true) => {
            "zram and zswap are both on here: pages are compressed twice. One of them is enough.".into()
        }
        (Some(true), false) if areas.is_empty() => {
            "zswap is on but has no swap area behind it: it does nothing.".into()
        }
        (Some(true), false) => {
            "zswap is on, in front of the disk area. Pages are compressed in RAM first, cold ones written to the disk."
                .into()
        }
        (_, true) => "zram is in use and zswap is not: one compressed area, as it should be.".into(),
        (Some(false), false) => "Neither zram nor zswap is in use here.".into(),
    }
}
