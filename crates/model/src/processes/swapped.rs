//! What swapped pages cost in RAM: nothing on a disk, their compressed size in zram.
//!
//! Estimate: a process's pages in a zram area cost what the pool costs a used slot on average (`mem_used_total` divided by
//! the area's used bytes: zero-filled pages hold a slot and no memory since 6.12, so the average counts them). Bounds: a page
//! costs between nothing (one repeated word) and a page (incompressible), and all owners together cost what the pool holds:
//! a process costs at most the pool, and at least the pool less a page for each page of the others.
//!
//! Worked example: a pool of 300 MiB holds 1000 MiB; a process has 800 MiB there. Estimate 240 MiB, at most 300, at least
//! 300 − 200 = 100.

use super::estimate::Part;
use super::row::Spread;
use crate::prelude::*;

/// One swap area as far as it costs RAM.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AreaCost {
    /// Its path.
    pub path: String,
    /// Used, uncompressed. Gauge.
    pub used: Bytes,
    /// RAM its pages take; zero on a disk.
    pub costs: Bytes,
}

/// Swap of all processes against the RAM it costs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SwapCosts {
    /// Areas in the order of /proc/swaps, which is that of the kernel's numbers while no earlier one was turned off.
    pub areas: Vec<AreaCost>,
    /// For at least one process it was read which area holds its pages (root).
    pub placed: bool,
}

impl SwapCosts {
    /// The costs, from the swap areas and the zram devices.
    #[must_use]
    pub fn from_snapshot(seen: &Snapshot) -> SwapCosts {
        let swaps = seen.swaps.data().map(Vec::as_slice).unwrap_or_default();
        let devices = seen.zram.data().map(|z| z.devices.as_slice()).unwrap_or_default();
        let costs = |path: &str| {
            let device = devices.iter().find(|d| path.strip_prefix("/dev/") == Some(d.name.as_str()))?;
            Some(device.mm.as_ref()?.mem_used_total)
        };
        let area = |path: &str, used| AreaCost { path: path.to_owned(), used, costs: costs(path).unwrap_or_default() };
        SwapCosts {
            areas: swaps.iter().map(|s| area(&s.path, s.used)).collect(),
            placed: seen.processes.data().is_some_and(|all| all.list.iter().any(|p| !p.swapped_to.is_empty())),
        }
    }

    /// What all areas hold, uncompressed.
    #[must_use]
    pub fn used(&self) -> Bytes {
        self.areas.iter().map(|a| a.used).sum()
    }

    /// What all areas cost.
    #[must_use]
    pub fn pool(&self) -> Bytes {
        self.areas.iter().map(|a| a.costs).sum()
    }

    /// The cost of one process's swapped pages; `None` where it has none or no area is known.
    #[must_use]
    pub fn for_process(&self, p: &Process) -> Option<Part> {
        let swap = p.swap.filter(|s| s.0 > 0)?;
        if self.areas.is_empty() {
            return None;
        }
        let placed: Bytes = p.swapped_to.iter().map(|s| s.bytes).sum();
        let known = p.swapped_to.iter().all(|s| usize::try_from(s.area).is_ok_and(|at| at < self.areas.len()));
        if placed.0 > 0 && known {
            let parts = p.swapped_to.iter().filter_map(|s| {
                let area = self.areas.get(usize::try_from(s.area).ok()?)?;
                Some(area.cost_of(s.bytes))
            });
            return Some(parts.fold(Part::default(), Part::plus));
        }
        // Not known where: on the cheapest or on the dearest area, most likely as the whole is.
        let used: f64 = self.areas.iter().map(|a| a.used.as_f64()).sum();
        let each = self.areas.iter().map(|a| a.cost_of(swap));
        let bound = each.fold((f64::INFINITY, 0.0f64), |(low, high), part| (low.min(part.low), high.max(part.high)));
        let mid = swap.as_f64() * self.pool().as_f64() / used.max(1.0);
        let (low, high) = (bound.0.min(bound.1), bound.1);
        Some(Part { low, mid: mid.clamp(low, high), high })
    }

    /// A sum of processes costs no more than all areas.
    #[must_use]
    pub fn close(&self, part: Part) -> Spread {
        let most = self.pool().as_f64();
        Part { low: part.low.min(most), mid: part.mid.min(most), high: part.high.min(most) }.spread()
    }
}

impl AreaCost {
    /// What so many bytes of it cost.
    fn cost_of(&self, bytes: Bytes) -> Part {
        let (mine, used, costs) = (bytes.as_f64(), self.used.as_f64(), self.costs.as_f64());
        let high = mine.min(costs);
        let low = (costs - (used - mine).max(0.0)).clamp(0.0, high);
        Part { low, mid: (mine * costs / used.max(1.0)).clamp(low, high), high }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: f64 = 1024.0 * 1024.0;

    fn area(path: &str, used: u64, costs: u64) -> AreaCost {
        AreaCost { path: path.into(), used: Bytes::from_mib(used), costs: Bytes::from_mib(costs) }
    }

    #[test]
    fn swapped_pages_cost_the_pools_average_within_what_the_others_leave() {
        let part = area("/dev/zram0", 1000, 300).cost_of(Bytes::from_mib(800));
        assert_eq!((part.low / MIB, part.mid / MIB, part.high / MIB), (100.0, 240.0, 300.0));
        let part = area("/dev/sda2", 1000, 0).cost_of(Bytes::from_mib(800));
        assert_eq!((part.low, part.mid, part.high), (0.0, 0.0, 0.0));
    }

    #[test]
    fn without_a_place_the_cost_is_bounded_by_the_cheapest_and_the_dearest_area() {
        let costs = SwapCosts { areas: vec![area("/dev/sda2", 1000, 0), area("/dev/zram0", 1000, 500)], placed: false };
        let p = Process { swap: Some(Bytes::from_mib(100)), ..Process::default() };
        let part = costs.for_process(&p).unwrap();
        assert_eq!((part.low / MIB, part.mid / MIB, part.high / MIB), (0.0, 25.0, 100.0));
        let place = ramline_snapshot::processes::SwappedTo { area: 1, bytes: Bytes::from_mib(100) };
        let part = costs.for_process(&Process { swapped_to: vec![place], ..p.clone() }).unwrap();
        assert_eq!((part.mid / MIB, part.high / MIB), (50.0, 100.0));
        assert_eq!((costs.used(), costs.pool()), (Bytes::from_mib(2000), Bytes::from_mib(500)));
        // An area of an unknown number: as if its place were not known.
        let place = ramline_snapshot::processes::SwappedTo { area: 9, bytes: Bytes::from_mib(100) };
        assert_eq!(costs.for_process(&Process { swapped_to: vec![place], ..p }).unwrap().mid / MIB, 25.0);
        assert_eq!(costs.for_process(&Process::default()), None);
    }
}
