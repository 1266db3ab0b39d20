//! Costs of owners, on sums made by hand.

use ramline_snapshot::Seen;
use ramline_snapshot::swapped::{AreaSlots, BlockState, Owner, Place, Sampled, Swapped};
use ramline_snapshot::swaps::SwapArea;
use ramline_snapshot::zram::{MmStat, Zram, ZramDevice};

use super::*;

const MIB: u64 = 1 << 20;

fn area(path: &str, size: u64, used: u64, priority: i32) -> SwapArea {
    SwapArea {
        path: path.into(),
        kind: "partition".into(),
        size: Bytes::from_mib(size),
        used: Bytes::from_mib(used),
        priority,
    }
}

/// zram0 with 1000 MiB in 600 MiB of RAM, of which 400 are incompressible pages; a disk below with 50.
fn machine(size: u64) -> Snapshot {
    let mut seen = Snapshot::default();
    seen.machine.page_size = PageSize(4096);
    seen.swaps = Seen::new(vec![area("/dev/zram0", size, 1000, 100), area("/dev/sda2", 2000, 50, -2)]);
    let mm = MmStat {
        orig_data_size: Bytes::from_mib(1000),
        compr_data_size: Bytes::from_mib(580),
        mem_used_total: Bytes::from_mib(600),
        huge_pages: Some(Pages(400 * 256)),
        ..MmStat::default()
    };
    let device = ZramDevice { name: "zram0".into(), initialised: true, mm: Some(mm), ..ZramDevice::default() };
    seen.zram = Seen::new(Zram { devices: vec![device], ..Zram::default() });
    let process = |pid, swap| Process {
        pid,
        name: format!("p{pid}"),
        swap: Some(Bytes::from_mib(swap)),
        group: Some(0),
        ..Process::default()
    };
    seen.processes = Seen::new(Processes {
        list: vec![process(7, 850), process(8, 200)],
        groups: vec!["/g".into()],
        ..Processes::default()
    });
    seen
}

fn place(number: u32, mib: u64) -> Place {
    Place { number, pages: Pages(mib * 256), ..Place::default() }
}

/// Process 7 has 800 MiB in zram and 50 on the disk, process 8 has 200 in zram.
fn swapped() -> Swapped {
    let slots = |number: u32, path: &str, mib: u64| AreaSlots {
        number,
        path: Some(path.into()),
        slots: Pages(mib * 256),
        ..AreaSlots::default()
    };
    Swapped {
        owners: vec![
            Owner { pid: 7, places: vec![place(0, 800), place(1, 50)] },
            Owner { pid: 8, places: vec![place(0, 200)] },
        ],
        areas: vec![slots(0, "/dev/zram0", 1000), slots(1, "/dev/sda2", 50)],
        ..Swapped::default()
    }
}

fn mib(spread: Spread) -> [u64; 3] {
    [spread.low, spread.value, spread.high].map(|bytes| bytes.0 / MIB)
}

fn owner(owners: &SwapOwners, pid: u32) -> &SwapOwner {
    owners.processes.iter().find(|p| p.pid == Some(pid)).unwrap()
}

#[test]
fn without_more_a_process_costs_the_average_within_what_the_pool_allows() {
    let owners = SwapOwners::from_swapped(&machine(1000), &swapped());
    let seven = owner(&owners, 7);
    // At most all 400 huge ones and all 200 of the rest; at least what 200 pages of the other cannot be: 600 - 200.
    assert_eq!((mib(seven.costs.unwrap()), seven.by), ([400, 480, 600], CostBy::Average));
    assert_eq!(
        (seven.swapped, seven.areas[1].by, seven.areas[1].costs),
        (Bytes::from_mib(850), CostBy::Disk, Spread::default())
    );
    assert_eq!(mib(owner(&owners, 8).costs.unwrap()), [0, 120, 200]);
    assert_eq!(mib(owners.groups[0].costs.unwrap())[1], 600);
    assert!(owners.is_in_several_areas());
}

#[test]
fn a_sample_tells_an_owner_of_random_pages_from_one_of_text() {
    let mut swapped = swapped();
    // Half of 7's are huge, the others take 1024 bytes; 8's take 1024 each, and the pool a little more than that for all of them.
    let sample = |pages: u64, huge: u64| Sampled {
        pages,
        huge,
        stored: 980.0 * (pages - huge) as f64,
        taken: 1024.0 * (pages - huge) as f64,
        ..Sampled::default()
    };
    swapped.owners[0].places[0].sample = Some(sample(1000, 500));
    swapped.owners[1].places[0].sample = Some(sample(1000, 0));
    let owners = SwapOwners::from_swapped(&machine(1000), &swapped);
    let (seven, eight) = (owner(&owners, 7), owner(&owners, 8));
    // Of 180 MiB of payload the classes make 188, and the pool takes 200: 1.063 times 1024 bytes a page.
    assert_eq!((mib(seven.costs.unwrap())[1], seven.areas[0].by), (506, CostBy::Sample));
    assert_eq!((mib(eight.costs.unwrap())[1], seven.areas[0].incompressible), (53, Some(Bytes::from_mib(400))));
    let costs = eight.costs.unwrap();
    assert!(costs.error() < Bytes::from_mib(2) && costs.error().0 > 0, "{costs:?}");
}

#[test]
fn with_zrams_own_list_only_compressed_pages_are_averaged() {
    let mut swapped = swapped();
    let state = |slots: u64, huge: u64, same: u64| BlockState {
        slots: Pages(slots * 256),
        huge: Pages(huge * 256),
        same: Pages(same * 256),
        ages: [0, 0, 0, 256, 0, 0],
        ..BlockState::default()
    };
    swapped.areas[0].state = Some(state(1000, 400, 0));
    swapped.owners[0].places[0].state = Some(state(800, 400, 0));
    swapped.owners[1].places[0].state = Some(state(200, 0, 0));
    let owners = SwapOwners::from_swapped(&machine(1000), &swapped);
    // 400 huge, and 400 of 600 compressed pages of 200 MiB; at least what the 200 others cannot take.
    assert_eq!(mib(owner(&owners, 7).costs.unwrap()), [400, 533, 600]);
    assert_eq!(owner(&owners, 7).areas[0].by, CostBy::List);
    assert_eq!(owners.areas[0].cold, Some(Bytes::from_mib(1)));
    assert_eq!(
        owners.areas[0].warmer_on_disk,
        Some(Bytes::from_mib(50)),
        "the device is full and the disk has later pages"
    );
    assert_eq!(SwapOwners::from_swapped(&machine(2000), &swapped).areas[0].warmer_on_disk, None, "it has room left");
}

#[test]
fn what_several_processes_share_is_counted_once_in_their_group() {
    let mut swapped = swapped();
    swapped.owners[1].places[0].shared = Pages(100 * 256);
    let owners = SwapOwners::from_swapped(&machine(1000), &swapped);
    assert_eq!((owner(&owners, 8).swapped, owners.groups[0].swapped), (Bytes::from_mib(200), Bytes::from_mib(950)));
    assert_eq!((owners.groups[0].processes, owners.areas[0].rest), (2, Bytes::ZERO));
}

#[test]
fn a_process_that_was_not_looked_at_has_the_bounds_of_all_areas() {
    let owners = SwapOwners::from_swapped(
        &machine(1000),
        &Swapped { denied: 2, denied_bytes: Bytes::from_mib(1050), ..Swapped::default() },
    );
    let eight = owner(&owners, 8);
    assert_eq!((eight.by, eight.swapped, eight.areas.len()), (CostBy::Unplaced, Bytes::from_mib(200), 0));
    assert_eq!((mib(eight.costs.unwrap()), owners.not_looked_at), ([0, 114, 200], Bytes::from_mib(1050)));
}

#[test]
fn pages_below_a_zram_area_have_spilled_when_it_is_full() {
    let full = spill(&machine(1000)).unwrap();
    assert_eq!((full.full, full.bytes, full.to), (true, Bytes::from_mib(50), vec!["/dev/sda2".to_owned()]));
    assert!(!spill(&machine(2000)).unwrap().full);
    let mut above = machine(1000);
    above.swaps = Seen::new(vec![area("/dev/zram0", 1000, 1000, 100), area("/dev/sda2", 2000, 50, 200)]);
    assert_eq!(spill(&above), None, "what comes first has not spilled");
}
