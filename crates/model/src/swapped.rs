//! Who owns the pages in swap, and what they cost in RAM: by process, by control group, by area.
//!
//! On a disk they cost nothing. In zram it depends on what is known of a process's slots, best first:
//! - zram's own list (`block_state`): incompressible pages cost a page, same-filled and written-back ones nothing, each other page the pool's
//!   average of what remains;
//! - a sample of the slots, read and compressed again (`--sample`): the mean of the sample times the pages, corrected by what the
//!   pool takes beyond the allocator's classes;
//! - the average of the pool, zero-filled pages included.
//!
//! Bounds: from the list or the average they hold whatever the pages are; of a sample they are two standard errors and 3 % of
//! what is compressed, for the algorithm's version. Shared memory is no process's: what no process has is the rest.
//!
//! Worked example, average: a pool of 300 MiB without incompressible pages holds 1000 MiB, a process has 800 of them: 240 MiB, at most 300, at
//! least 300 less a page for each page of the others, 100.

mod cost;
mod spill;

use std::collections::HashSet;

use ramline_snapshot::swapped::{AreaSlots, BlockState, Owner, Place, Swapped};

use crate::prelude::*;
use crate::processes::Spread;
use crate::processes::swapped::SwapCosts;
use cost::Pool;
pub use spill::{Spill, spill};

/// How the cost of pages is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CostBy {
    /// They lie on a disk.
    #[default]
    Disk,
    /// zram's list of slots, and a sample of those that are compressed.
    ListAndSample,
    /// zram's list of slots.
    List,
    /// A sample that was read and compressed again.
    Sample,
    /// The average of the pool.
    Average,
    /// In which area they lie is not known: the average of all.
    Unplaced,
}

/// Pages of one owner in one area. Gauges.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct OwnedIn {
    /// Device or file.
    pub path: String,
    /// Pages of it there, uncompressed.
    pub swapped: Bytes,
    /// What they cost in RAM.
    pub costs: Spread,
    /// How that is known.
    pub by: CostBy,
    /// Of `swapped`, incompressible; `None` where neither a list nor a sample says.
    pub incompressible: Option<Bytes>,
    /// Of `swapped`, not touched for at least an hour; `None` where zram keeps no times.
    pub cold: Option<Bytes>,
}

/// One owner. Gauges.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SwapOwner {
    /// Name of the process, or path of the control group; any bytes of the machine's.
    pub name: String,
    /// The process; `None` where it is a group.
    pub pid: Option<u32>,
    /// Its memory control group, where it is a process.
    pub group: Option<String>,
    /// Processes with swapped pages.
    pub processes: u64,
    /// In swap, uncompressed; in a group, what several processes share is counted once.
    pub swapped: Bytes,
    /// What that costs in RAM; `None` where it is not known.
    pub costs: Option<Spread>,
    /// How that is known: the weakest of its areas.
    pub by: CostBy,
    /// By area; empty where it is not known where they lie.
    pub areas: Vec<OwnedIn>,
}

/// One area. Gauges.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct OwnedArea {
    /// Device or file.
    pub path: String,
    /// In use, uncompressed.
    pub used: Bytes,
    /// Of it, pages of the processes below, each once.
    pub owned: Bytes,
    /// The rest: shared memory, pages that are in RAM as well, and those of processes not looked at.
    pub rest: Bytes,
    /// It is a zram device.
    pub is_zram: bool,
    /// RAM the area takes; zero on a disk.
    pub costs: Bytes,
    /// How costs in it are known, at best; `None` where no process has pages there.
    pub by: Option<CostBy>,
    /// What zram says of all its slots.
    pub state: Option<BlockState>,
    /// Of its pages, not touched for at least an hour.
    pub cold: Option<Bytes>,
    /// Of its pages, marked idle and not touched since; `None` where none was marked.
    pub idle: Option<Bytes>,
    /// Why zram's list of slots was not read.
    pub without_state: Option<String>,
    /// Why no sample was taken.
    pub without_sample: Option<String>,
    /// Later pages went to a slower area, because this one is full, while cold ones stay here: so much lies there.
    pub warmer_on_disk: Option<Bytes>,
}

/// Who owns the pages in swap.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SwapOwners {
    /// Processes, those with the largest cost first.
    pub processes: Vec<SwapOwner>,
    /// Control groups, in the same order.
    pub groups: Vec<SwapOwner>,
    /// Areas, in the order of /proc/swaps.
    pub areas: Vec<OwnedArea>,
    /// Shared memory in swap that was found (tmpfs files, segments); `None` where it was not looked for. Gauge.
    pub shared_memory: Option<Bytes>,
    /// Pages in swap of processes whose page tables could not be looked at, for lack of rights or time. Gauge.
    pub not_looked_at: Bytes,
    /// Of these, for lack of time.
    pub left_out: Bytes,
    /// How long it took.
    pub took: Nanos,
}

impl SwapOwners {
    /// The owners of what was seen in swap.
    #[must_use]
    pub fn from_swapped(seen: &Snapshot, swapped: &Swapped) -> SwapOwners {
        let swaps = seen.swaps.data().map(Vec::as_slice).unwrap_or_default();
        let pools: Vec<Option<Pool>> =
            swapped.areas.iter().map(|area| Pool::from_area(area, seen, &swapped.owners)).collect();
        let costs = SwapCosts::from_snapshot(seen);
        let all = seen.processes.data();
        let list = all.map(|all| all.list.as_slice()).unwrap_or_default();
        let placed: HashMap<u32, &Owner> = swapped.owners.iter().map(|owner| (owner.pid, owner)).collect();
        let group = |p: &Process| all?.groups.get(usize::try_from(p.group?).ok()?).cloned();
        let mut processes: Vec<SwapOwner> = Vec::new();
        let mut groups: BTreeMap<String, SwapOwner> = BTreeMap::new();
        for p in list.iter().filter(|p| p.swap.is_some_and(|swap| swap.0 > 0)) {
            let areas: Vec<(OwnedIn, &Place)> = placed
                .get(&p.pid)
                .map(|owner| {
                    owner.places.iter().filter_map(|at| Some((owned(at, &swapped.areas, &pools, seen)?, at))).collect()
                })
                .unwrap_or_default();
            let mut one = SwapOwner {
                name: p.name.clone(),
                pid: Some(p.pid),
                group: group(p),
                processes: 1,
                ..SwapOwner::default()
            };
            if areas.is_empty() {
                one.swapped = p.swap.unwrap_or_default();
                one.costs = costs.for_process(p).map(|part| costs.close(part));
                one.by = CostBy::Unplaced;
            } else {
                areas.iter().for_each(|(area, _)| one.add(area));
                one.swapped = one.areas.iter().map(|area| area.swapped).sum();
            }
            if let Some(path) = &one.group {
                let whole = groups
                    .entry(path.clone())
                    .or_insert_with(|| SwapOwner { name: path.clone(), ..SwapOwner::default() });
                whole.take(&one, &areas);
            }
            processes.push(one);
        }
        let mut groups: Vec<SwapOwner> = groups.into_values().collect();
        for owners in [&mut processes, &mut groups] {
            let cost = |owner: &SwapOwner| owner.costs.map_or(Bytes::ZERO, |costs| costs.value);
            ramline_units::sort_by_key(owners, |owner| std::cmp::Reverse((cost(owner), owner.swapped)));
        }
        SwapOwners {
            areas: swaps.iter().map(|area| area_slots(area, swapped, &pools, seen)).collect(),
            shared_memory: crate::shmem::from_snapshot(seen).map(|split| split.swapped),
            not_looked_at: swapped.denied_bytes + swapped.left_out_bytes,
            left_out: swapped.left_out_bytes,
            took: swapped.took,
            processes,
            groups,
        }
    }

    /// Whether processes have pages in more than one area, so that a table needs a column for it.
    #[must_use]
    pub fn is_in_several_areas(&self) -> bool {
        let paths: HashSet<&str> =
            self.processes.iter().flat_map(|p| p.areas.iter().map(|a| a.path.as_str())).collect();
        paths.len() > 1
    }

    /// In swap of processes this user may not look at; `None` where there is none.
    #[must_use]
    pub fn denied(&self) -> Option<Bytes> {
        Some(self.not_looked_at.saturating_sub(self.left_out)).filter(|bytes| bytes.0 > 0)
    }

    /// Those that have pages in zram, with these alone, and the areas that are zram; `None` where none is.
    #[must_use]
    pub fn in_zram(mut self) -> Option<SwapOwners> {
        self.areas.retain(|area| area.is_zram);
        let paths: HashSet<&str> = self.areas.iter().map(|area| area.path.as_str()).collect();
        for owners in [&mut self.processes, &mut self.groups] {
            for owner in owners.iter_mut().filter(|owner| !owner.areas.is_empty()) {
                owner.areas.retain(|area| paths.contains(area.path.as_str()));
                owner.swapped = owner.areas.iter().map(|area| area.swapped).sum();
            }
            owners.retain(|owner| owner.swapped.0 > 0);
        }
        (!self.areas.is_empty()).then_some(self)
    }
}

impl SwapOwner {
    /// Of its pages in all areas, incompressible; `None` where that is known of none.
    #[must_use]
    pub fn incompressible(&self) -> Option<Bytes> {
        self.known(|area| area.incompressible)
    }

    /// Of its pages in all areas, not touched for an hour; `None` where that is known of none.
    #[must_use]
    pub fn cold(&self) -> Option<Bytes> {
        self.known(|area| area.cold)
    }

    fn known(&self, of: fn(&OwnedIn) -> Option<Bytes>) -> Option<Bytes> {
        self.areas.iter().any(|area| of(area).is_some()).then(|| self.areas.iter().filter_map(of).sum())
    }

    fn add(&mut self, area: &OwnedIn) {
        self.by = self.by.max(area.by);
        self.costs = Some(plus(self.costs.unwrap_or_default(), area.costs));
        match self.areas.iter_mut().find(|known| known.path == area.path) {
            Some(known) => {
                known.swapped += area.swapped;
                known.costs = plus(known.costs, area.costs);
                known.by = known.by.max(area.by);
                known.incompressible = known.incompressible.zip(area.incompressible).map(|(a, b)| a + b);
                known.cold = known.cold.zip(area.cold).map(|(a, b)| a + b);
            }
            None => self.areas.push(area.clone()),
        }
    }

    /// A process more, without the pages that another one before it has too.
    fn take(&mut self, one: &SwapOwner, areas: &[(OwnedIn, &Place)]) {
        self.processes += 1;
        if areas.is_empty() {
            self.swapped += one.swapped;
            self.by = CostBy::Unplaced;
            self.costs = Some(plus(self.costs.unwrap_or_default(), one.costs.unwrap_or_default()));
        }
        for (area, place) in areas {
            let own = place.pages.0.saturating_sub(place.shared.0);
            let part = |bytes: Bytes| bytes.scale(own, place.pages.0).unwrap_or(bytes);
            let Spread { low, value, high } = area.costs;
            let costs = Spread { low: part(low), value: part(value), high: part(high) };
            let incompressible = area.incompressible.map(part);
            let area = OwnedIn {
                swapped: part(area.swapped),
                costs,
                incompressible,
                cold: area.cold.map(part),
                ..area.clone()
            };
            self.swapped += area.swapped;
            self.add(&area);
        }
    }
}

fn plus(a: Spread, b: Spread) -> Spread {
    Spread { low: a.low + b.low, value: a.value + b.value, high: a.high + b.high }
}

/// Pages of one process in one area; `None` where no area fits.
fn owned(place: &Place, areas: &[AreaSlots], pools: &[Option<Pool>], seen: &Snapshot) -> Option<OwnedIn> {
    let at = areas.iter().position(|area| area.number == place.number)?;
    let path = areas.get(at)?.path.clone()?;
    let page = seen.machine.page_size;
    let (costs, by) = match pools.get(at)?.as_ref() {
        Some(pool) => pool.cost(place),
        None => (Spread::default(), CostBy::Disk),
    };
    let sampled = place.sample.filter(|sample| sample.pages > 0);
    let huge = place.state.map(|state| state.huge).or_else(|| {
        let sample = sampled?;
        Some(Pages(place.pages.bytes(PageSize(1)).scale(sample.huge, sample.pages)?.0))
    });
    Some(OwnedIn {
        path,
        swapped: place.pages.bytes(page),
        costs,
        by,
        incompressible: huge.map(|pages| pages.bytes(page)),
        cold: place.state.filter(BlockState::has_ages).map(|state| state.cold().bytes(page)),
    })
}

fn area_slots(
    area: &ramline_snapshot::swaps::SwapArea,
    swapped: &Swapped,
    pools: &[Option<Pool>],
    seen: &Snapshot,
) -> OwnedArea {
    let page = seen.machine.page_size;
    let at = swapped.areas.iter().position(|known| known.path.as_ref() == Some(&area.path));
    let known = at.and_then(|at| swapped.areas.get(at));
    let pool = at.and_then(|at| pools.get(at)?.as_ref());
    let owned = known.map_or(Bytes::ZERO, |known| known.slots.bytes(page)).min(area.used);
    let places = swapped
        .owners
        .iter()
        .flat_map(|owner| &owner.places)
        .filter(|place| Some(place.number) == known.map(|k| k.number));
    let state = known.and_then(|known| known.state);
    let cold = state.filter(BlockState::has_ages).map(|state| state.cold().bytes(page));
    let spilled = spill(seen).filter(|spill| spill.full && spill.from.contains(&area.path));
    OwnedArea {
        path: area.path.clone(),
        used: area.used,
        owned,
        rest: area.used.saturating_sub(owned),
        is_zram: crate::swap::device_of(area, seen).is_some(),
        costs: crate::swap::device_of(area, seen)
            .and_then(|device| Some(device.mm.as_ref()?.mem_used_total))
            .unwrap_or_default(),
        by: places.map(|place| pool.map_or(CostBy::Disk, |pool| pool.cost(place).1)).min(),
        state,
        cold,
        idle: state.filter(|state| state.idle.0 > 0).map(|state| state.idle.bytes(page)),
        without_state: known.and_then(|known| known.without_state.clone()),
        without_sample: known.and_then(|known| known.without_sample.clone()),
        warmer_on_disk: spilled.filter(|_| cold.is_some_and(|cold| cold.0 > 0)).map(|spill| spill.bytes),
    }
}

#[cfg(test)]
mod tests;
