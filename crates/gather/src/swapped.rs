//! Whose pages are in swap: the slots of each process by area, and zram's own list of slots (root).
//!
//! What it is not: contents; no page is read and none comes back. Shared memory in swap has no entry in page tables: it belongs to files. What is not
//! looked at within the time is counted.
//!
//! ```no_run
//! use ramline_gather::{gather, swapped};
//! use ramline_kernel::Root;
//! use ramline_snapshot::Wanted;
//! let root = Root::live();
//! let seen = gather(&root, Wanted { processes: true, swaps: true, ..Wanted::NOTHING });
//! let found = swapped::look(&root, &seen, &|| false, &mut |_| {});
//! println!("{} processes", found.seen.owners.len());
//! ```

mod blocks;
mod slots;

use ramline_snapshot::Snapshot;
use ramline_snapshot::swapped::{AreaSlots, Numbered, Owner, Place, Swapped, places};
use ramline_snapshot::swaps::SwapArea;
use ramline_units::{PageSize, Pages};

use crate::prelude::*;
use crate::proc_dir::NotRead;
use slots::Bitmap;

/// Swapped pages, and which slots they are in.
#[derive(Debug, Clone, Default)]
pub struct SwappedSlots {
    /// As plain data.
    pub seen: Swapped,
    /// Slots by owner and by its places, ascending in the order of addresses; empty beyond [`MOST_SLOTS`].
    pub slots: Vec<Vec<Vec<u32>>>,
}

/// So many slots are remembered, 4 bytes each: 64 GiB of swapped pages.
pub const MOST_SLOTS: usize = 16 << 20;

/// Looks up the pages of all processes that have any in swap, largest first, until `over`; `tell` hears what goes on.
pub fn look(root: &Root, seen: &Snapshot, over: &dyn Fn() -> bool, tell: &mut dyn FnMut(&str)) -> SwappedSlots {
    let begin = Instant::now();
    let mut found = SwappedSlots::default();
    let list = seen.processes.data().map(|all| all.list.as_slice()).unwrap_or_default();
    let mut order: Vec<&Process> = list.iter().filter(|p| p.swap.is_some_and(|swap| swap.0 > 0)).collect();
    ramline_units::sort_by_key(&mut order, |p| std::cmp::Reverse(p.swap));
    let mut maps: BTreeMap<u32, Bitmap> = BTreeMap::new();
    let (mut remembered, mut text) = (0, Vec::new());
    for (at, process) in order.iter().enumerate() {
        let swap = process.swap.unwrap_or_default();
        if over() {
            found.seen.left_out += 1;
            found.seen.left_out_bytes += swap;
            continue;
        }
        tell(&format!("whose pages are in swap: process {} of {}, {}", at + 1, order.len(), process.name));
        match slots::for_process(root, process, &mut text, over) {
            Ok(slots) => {
                let owner = Owner {
                    pid: process.pid,
                    places: slots.iter().map(|(number, slots)| place(*number, slots, &mut maps)).collect(),
                };
                found.seen.owners.push(owner);
                let count: usize = slots.values().map(Vec::len).sum();
                let keep = remembered + count <= MOST_SLOTS;
                remembered += if keep { count } else { 0 };
                found.slots.push(if keep { slots.into_values().collect() } else { vec![Vec::new(); slots.len()] });
            }
            Err(slots::NotPlaced::Blanked) => {
                found.seen.denied += 1;
                found.seen.denied_bytes += swap;
            }
            Err(slots::NotPlaced::TimeOver) => {
                found.seen.left_out += 1;
                found.seen.left_out_bytes += swap;
            }
            Err(slots::NotPlaced::NotRead(NotRead::Denied)) => {
                found.seen.denied += 1;
                found.seen.denied_bytes += swap;
            }
            // It ended meanwhile, and its pages with it.
            Err(slots::NotPlaced::NotRead(_)) => {}
        }
    }
    let swaps = seen.swaps.data().map(Vec::as_slice).unwrap_or_default();
    areas(&mut found, &maps, swaps, seen.machine.page_size);
    states(root, &mut found, swaps, seen.machine.page_size, over, tell);
    found.seen.took = begin.elapsed().into();
    found
}

fn place(number: u32, slots: &[u32], maps: &mut BTreeMap<u32, Bitmap>) -> Place {
    let map = maps.entry(number).or_default();
    let shared = slots.iter().filter(|slot| !map.insert(**slot)).count();
    Place { number, pages: Pages(wide(slots.len())), shared: Pages(wide(shared)), ..Place::default() }
}

/// Which area each number is.
fn areas(found: &mut SwappedSlots, maps: &BTreeMap<u32, Bitmap>, swaps: &[SwapArea], page: PageSize) {
    let seen: Vec<Numbered> = maps
        .iter()
        .map(|(number, map)| Numbered { number: *number, slots: map.count(), highest: map.highest() })
        .collect();
    let found_at = places(&seen, swaps, page);
    found.seen.areas = seen
        .iter()
        .zip(found_at)
        .map(|(seen, at)| AreaSlots {
            number: seen.number,
            path: at.and_then(|at| swaps.get(at)).map(|area| area.path.clone()),
            slots: Pages(seen.slots),
            ..AreaSlots::default()
        })
        .collect();
    // A zram area in which no process has pages, shared memory alone, has ages all the same.
    for area in swaps.iter().filter(|area| area.used.0 > 0 && area.zram_number().is_some()) {
        if !found.seen.areas.iter().any(|known| known.path.as_ref() == Some(&area.path)) {
            let unseen = AreaSlots { number: u32::MAX, path: Some(area.path.clone()), ..AreaSlots::default() };
            found.seen.areas.push(unseen);
        }
    }
}

/// What zram says of its slots, for each device and for each owner.
fn states(
    root: &Root,
    found: &mut SwappedSlots,
    swaps: &[SwapArea],
    page: PageSize,
    over: &dyn Fn() -> bool,
    tell: &mut dyn FnMut(&str),
) {
    for area in &mut found.seen.areas {
        let of = swaps.iter().find(|swap| Some(&swap.path) == area.path.as_ref());
        let Some((device, swap)) = of.and_then(|swap| Some((swap.zram_number()?, swap))) else { continue };
        tell(&format!("what zram{device} says of its pages"));
        match blocks::read(root, device, swap.size.0 / page.0.max(1), over) {
            Ok(states) => {
                area.state = Some(states.all());
                for (owner, slots) in found.seen.owners.iter_mut().zip(&found.slots) {
                    for (place, slots) in owner.places.iter_mut().zip(slots) {
                        if place.number == area.number && wide(slots.len()) == place.pages.0 {
                            place.state = Some(states.for_slots(slots));
                        }
                    }
                }
            }
            Err(why) => area.without_state = Some(why),
        }
    }
}

fn wide(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}
