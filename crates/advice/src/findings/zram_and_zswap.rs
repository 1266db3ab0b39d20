//! zswap in front of zram: pages are compressed twice, and what zram holds comes from zswap's rejects.
//!
//! zswap takes pages on their way to any swap area. With zram behind it, a page is compressed into zswap's pool in RAM;
//! when the pool is full it is decompressed, handed to zram, and compressed into RAM again. Either one alone does the work.

use crate::prelude::*;

pub(super) const RULE: Rule = Rule {
    id: "zram-and-zswap",
    looks_for: "zswap enabled in front of a zram swap area",
    explain: "zram-vs-zswap",
    check,
    cost_if_wrong: "pages in zswap's pool stay there until they are used; new ones go straight to zram, which has no write-back of cold pages by itself",
    tune: Tune::Lines(&[(ramline_plan::Topic::Zram, "zswap")]),
};

const SWITCH: &str = "/sys/module/zswap/parameters/enabled";

fn check(inputs: &Inputs<'_>) -> Option<Draft> {
    let snapshot = inputs.snapshot;
    let zswap = snapshot.zswap.data().filter(|zswap| zswap.enabled)?;
    let areas = look::areas(snapshot)?;
    let (zram, disks): (Vec<&SwapArea>, Vec<&SwapArea>) = areas.into_iter().partition(|area| area.zram().is_some());
    if zram.is_empty() {
        return None;
    }
    let names = list(&zram.iter().map(|area| area.path.clone()).collect::<Vec<String>>());
    let mut grounds = vec![evidence("zswap", zswap_words(zswap), SWITCH)];
    for area in &zram {
        grounds.put(&format!("zram swap area {}", area.path), look::area_words(area), "/proc/swaps");
    }
    let meminfo = snapshot.meminfo.data();
    let pool = meminfo.and_then(|m| m.zswap.zip(m.zswapped));
    if let Some((pool, stored)) = pool {
        grounds.put("in zswap's pool", format!("{stored} kept in {pool}"), "/proc/meminfo Zswapped, Zswap");
    }
    let effect = match pool {
        Some((pool, _)) if pool.0 > 0 => {
            format!("{pool} of RAM in a pool that has to be unpacked and packed again for zram")
        }
        _ => format!("every page that zswap turns away is compressed a second time for {names}"),
    };
    Some(Draft {
        title: format!("zswap and zram are both on: pages bound for {names} are compressed twice"),
        weight: Weight::Warning,
        effect,
        evidence: grounds,
        confidence: Confidence::High,
        already: vec![format!("compressed swap on {names}")],
        way: Way::Lines(if disks.is_empty() {
            "turns zswap off and leaves zram"
        } else {
            "turns zswap off and leaves zram; with a disk area behind, zswap alone (zram off) is the other good choice"
        }),
        ..Draft::default()
    })
}

fn zswap_words(zswap: &ramline_snapshot::zswap::Zswap) -> String {
    let compressor = zswap.compressor.as_deref().unwrap_or("an unknown compressor");
    match zswap.max_pool_percent {
        Some(percent) => format!("on, {compressor}, at most {percent} % of RAM"),
        None => format!("on, {compressor}"),
    }
}
