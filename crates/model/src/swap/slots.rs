//! What the slots in use of a zram area are: the sum that no single file closes since Linux 6.12.
//!
//! `used = stored + the rest`. `used` is /proc/swaps; `stored` is what zram holds (mm_stat) less its header page. The rest is pages of
//! zeros, which swap notes without storing them (since 6.12), and pages that have a slot and are not in zram: in RAM only (swap
//! cache), in zswap, or slots that CPUs set aside (kernels up to 6.14). What the others can be at most, the zero-filled pages are at
//! least.
//!
//! Not a count of zero-filled pages; the kernel keeps none, only events (`swpout_zero`), which bound it from above.
//!
//! Worked example: 60.0 MiB used, 9.8 stored: 50.2 MiB besides; swap cache empty, 1 MiB that CPUs may hold: 49.2 to 50.2 MiB of zeros.

use ramline_snapshot::swaps::SwapArea;
use ramline_snapshot::zram::ZramDevice;

use crate::prelude::*;

/// Slots a CPU may set aside for its next swap-outs, and as many that it has not given back yet (SWAP_SLOTS_CACHE_SIZE).
const SET_ASIDE: u64 = 2 * 64;

/// The sum of one zram area. Gauges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Slots {
    /// Slots in use, as bytes of pages.
    pub used: Bytes,
    /// Of them, stored in zram, on its backing device included.
    pub stored: Bytes,
    /// `used` less `stored`.
    pub besides: Bytes,
    /// Of `besides`, pages of zeros: at least; `None` where this kernel stores them like others (before 6.12).
    pub zero_at_least: Option<Bytes>,
    /// Of `besides`, pages of zeros: at most.
    pub zero_at_most: Option<Bytes>,
    /// Pages of all areas that are in RAM as well (swap cache).
    pub also_in_ram: Bytes,
    /// Pages in zswap, which stands in front.
    pub in_zswap: Bytes,
    /// Slots that CPUs may have set aside: at most.
    pub set_aside: Bytes,
}

/// The sum of a device that is in use as swap; `None` without its statistics.
#[must_use]
pub fn for_device(area: &SwapArea, device: &ZramDevice, snapshot: &Snapshot) -> Option<Slots> {
    let page = snapshot.machine.page_size;
    let meminfo = snapshot.meminfo.data();
    let header = Bytes(page.0);
    let stored = device.mm.as_ref()?.orig_data_size.saturating_sub(header).min(area.used);
    let besides = area.used.saturating_sub(stored);
    let also_in_ram = meminfo.and_then(|m| m.swap_cached).unwrap_or_default();
    let in_zswap = meminfo.and_then(|m| m.zswapped).unwrap_or_default();
    let set_aside = Pages(snapshot.machine.cpus.saturating_mul(SET_ASIDE)).bytes(page);
    let events = snapshot.vmstat.data().and_then(|v| v.swpout_zero);
    let zero_at_most = events.map(|pages| besides.min(Pages(pages).bytes(page)));
    let others = also_in_ram + in_zswap + set_aside;
    Some(Slots {
        used: area.used,
        stored,
        besides,
        zero_at_least: zero_at_most.map(|most| besides.saturating_sub(others).min(most)),
        zero_at_most,
        also_in_ram,
        in_zswap,
        set_aside,
    })
}

impl Slots {
    /// More is in use than zram stores, by so much that it puzzles: below 1 MiB it is what CPUs set aside.
    #[must_use]
    pub fn is_more_than_stored(&self) -> bool {
        self.besides >= Bytes::from_mib(1)
    }

    /// The sum in a sentence without its full stop; the one wording of it.
    #[must_use]
    pub fn words(&self) -> String {
        let mut others = Vec::new();
        if self.also_in_ram.0 > 0 {
            others.push(format!("in RAM (swap cache, {} in all)", self.also_in_ram));
        }
        if self.in_zswap.0 > 0 {
            others.push(format!("in zswap ({})", self.in_zswap));
        }
        others.push(format!("set aside by CPUs (at most {})", self.set_aside));
        let others = others.join(", ");
        let besides = match (self.zero_at_least, self.zero_at_most) {
            _ if self.besides.0 == 0 => "nothing else".to_owned(),
            (Some(least), Some(most)) if most.0 > 0 && least == most => {
                format!("{most} pages of zeros, which need no memory")
            }
            (Some(least), Some(most)) if most.0 > 0 => {
                format!(
                    "{} besides: pages of zeros, which need no memory ({least} to {most}); the rest {others}",
                    self.besides
                )
            }
            _ => format!("{} {others}", self.besides),
        };
        format!("{} in use = {} stored in zram + {besides}", self.used, self.stored)
    }
}
