//! Memory that no process owns: named by its form, and healthy machines with much kernel memory stay silent.
#![expect(clippy::unwrap_used, reason = "tests")]

use ramline_advice::{Finding, Weight, headline};
use ramline_model::verdict::Status;
use ramline_snapshot::Seen;
use ramline_snapshot::slab::{Cache, Slab};
use ramline_snapshot::zfs::Arc;
use ramline_units::Bytes;

use crate::cases::Case;

const ID: &str = "memory-without-owner";

/// 23.5 GiB, 23.0 of them available; `taken` MiB go from free memory to what `put` says.
fn with(taken: u64, put: impl FnOnce(&mut ramline_snapshot::meminfo::Meminfo, Bytes)) -> Case {
    let mut case = Case::tree("healthy/linux-6.18-cgroup-v1");
    let Seen::Seen { data, .. } = &mut case.now.meminfo else { panic!("no meminfo") };
    let bytes = Bytes::from_mib(taken);
    for left in [&mut data.mem_free, &mut data.mem_available] {
        *left = left.map(|left| left.checked_sub(bytes).unwrap());
    }
    put(data, bytes);
    case
}

fn slab(taken: u64) -> Case {
    with(taken, |meminfo, bytes| meminfo.s_unreclaim = meminfo.s_unreclaim.map(|slab| slab + bytes))
}

fn caches(list: &[(&str, u64)]) -> Slab {
    let cache = |(name, mib): &(&str, u64)| Cache {
        name: (*name).to_owned(),
        held: Bytes::from_mib(*mib),
        in_use: Bytes::from_mib(*mib),
    };
    Slab { caches: list.iter().map(cache).collect() }
}

fn found(case: &Case) -> Finding {
    case.finding(ID).unwrap()
}

#[test]
fn a_slab_leak_is_named_by_its_cache_and_more_ram_is_not_the_advice() {
    let mut leak = slab(16_000);
    leak.now.slab = Seen::new(caches(&[("kmalloc-64", 15_900), ("ext4_inode_cache", 40), ("filp", 20)]));
    let of_root = found(&leak);
    assert!(of_root.title.starts_with("Kernel objects take 15.7 GiB"), "{}", of_root.title);
    assert!(of_root.effect.contains("more RAM or swap only delays the end"), "{}", of_root.effect);
    assert!(of_root.effect.contains("does not tell which"), "the name says nothing of the driver: {}", of_root.effect);
    assert_eq!(of_root.weight, Weight::Warning, "more than what is available");
    let line = leak.inputs(|inputs| headline(inputs).unwrap());
    assert_eq!(line.status, Status::Warning);
    assert!(line.text.starts_with("Warning: Kernel objects take 15.7 GiB"), "{}", line.text);
    assert!(leak.findings().iter().all(|finding| finding.id != "nothing-to-change"));
    leak.now.slab = Seen::Denied { path: "/proc/slabinfo".into() };
    leak.now.machine.root = false;
    let of_user = found(&leak);
    assert!(of_user.effect.contains("sudo ramline checkup"), "{}", of_user.effect);
    assert_eq!(found(&slab(3_000)).weight, Weight::Note, "20 GiB are still available");
    assert!(slab(2_300).finding(ID).is_none());
}

#[test]
fn driver_pages_are_said_to_be_in_no_counter_and_the_driver_to_be_unknown() {
    let driver = found(&with(16_000, |_, _| {}));
    assert!(driver.title.contains("are in no counter: pages of a driver"), "{}", driver.title);
    assert!(driver.effect.contains("which driver is not known"), "{}", driver.effect);
    let cma = found(&with(16_000, |meminfo, _| {
        (meminfo.cma_total, meminfo.cma_free) = (Some(Bytes::from_gib(2)), Some(Bytes::from_gib(1)));
    }));
    assert!(cma.effect.contains("Up to 1.0 GiB may be contiguous memory (CMA)"), "{}", cma.effect);
    // A kernel whose counters were not all seen says nothing of what no counter has.
    let blind = with(16_000, |meminfo, _| meminfo.hugetlb = None);
    let older = with(16_000, |meminfo, _| meminfo.percpu = None);
    assert!(older.finding(ID).is_some());
    let mut lists = blind.clone();
    lists.now.zoneinfo = Seen::Absent { path: "/proc/zoneinfo".into() };
    assert!(lists.finding(ID).is_none());
}

#[test]
fn graphics_memory_and_a_balloon_have_their_own_names() {
    let graphics = found(&with(16_700, |meminfo, bytes| meminfo.gpu_active = Some(bytes)));
    assert_eq!(graphics.title, "Graphics memory takes 16.3 GiB, 69 % of RAM");
    let balloon = found(&Case::tree("findings/memory-without-owner/fires"));
    assert_eq!(balloon.title, "The hypervisor (VMware) has taken 11.4 GiB of RAM, 49 %, by its balloon");
    let game = found(&with(6_000, |meminfo, bytes| meminfo.gpu_active = Some(bytes)));
    assert_eq!(game.weight, Weight::Note, "17 GiB are still available");
}

#[test]
fn a_file_server_a_database_and_a_zfs_host_own_what_they_have() {
    let files = with(18_000, |meminfo, bytes| {
        meminfo.s_reclaimable = meminfo.s_reclaimable.map(|slab| slab + bytes);
        meminfo.k_reclaimable = meminfo.k_reclaimable.map(|slab| slab + bytes);
    });
    let tables = with(4_000, |meminfo, bytes| meminfo.page_tables = meminfo.page_tables.map(|tables| tables + bytes));
    let pool = with(18_000, |meminfo, bytes| meminfo.hugetlb = Some(bytes));
    let mut zfs = with(18_000, |_, _| {});
    zfs.now.zfs = Seen::new(Some(Arc {
        size: Bytes::from_mib(17_900),
        min: Bytes::from_gib(1),
        max: Bytes::from_gib(20),
        evictable: None,
    }));
    for (name, case) in [("files", files), ("page tables", tables), ("huge pages", pool), ("zfs", zfs)] {
        assert!(case.finding(ID).is_none(), "{name}: {:?}", case.finding(ID).map(|f| f.title));
    }
}

/// All details of the first line.
fn details(case: &Case) -> Vec<String> {
    case.inputs(|inputs| headline(inputs).unwrap().details)
}

#[test]
fn names_and_inodes_of_files_are_named_where_they_are_a_tenth_of_ram_and_are_no_trouble() {
    let put = |taken: u64| {
        with(taken, |meminfo, bytes| {
            meminfo.mem_available = meminfo.mem_available.map(|left| left + bytes);
            meminfo.s_reclaimable = meminfo.s_reclaimable.map(|slab| slab + bytes);
            meminfo.k_reclaimable = meminfo.k_reclaimable.map(|slab| slab + bytes);
        })
    };
    let mut many = put(9_000);
    many.now.slab =
        Seen::new(caches(&[("dentry", 5_000), ("kmalloc-64", 4_500), ("xfs_inode", 3_000), ("buffer_head", 20)]));
    let line = many.inputs(|inputs| headline(inputs).unwrap());
    assert_eq!(line.status, Status::Ok, "{}", line.text);
    let said = details(&many);
    assert!(
        said.iter()
            .any(|detail| detail.contains("is reclaimable slab (dentry 4.9 GiB, xfs_inode 2.9 GiB): names and inodes")),
        "{said:?}"
    );
    many.now.slab = Seen::Denied { path: "/proc/slabinfo".into() };
    assert!(details(&many).iter().any(|detail| detail.contains("is reclaimable slab: names")), "an ordinary user");
    assert!(!details(&put(500)).iter().any(|detail| detail.contains("slab")), "a fiftieth");
}

#[test]
fn a_machine_that_its_hypervisor_made_smaller_says_by_how_much() {
    let mut kvm = with(0, |_, _| {});
    kvm.now.machine.hypervisor = Some("QEMU".to_owned());
    kvm.now.machine.balloon_deflates_on_oom = Some(false);
    let balloon = |case: &mut Case, gib| {
        let Seen::Seen { data, .. } = &mut case.now.meminfo else { panic!("no meminfo") };
        data.balloon = Some(Bytes::from_gib(gib));
    };
    balloon(&mut kvm, 16);
    let said = details(&kvm);
    assert!(
        said.iter().any(|detail| detail.starts_with("The hypervisor's balloon has taken 16.0 GiB of 39.")),
        "{said:?}"
    );
    assert!(kvm.finding(ID).is_none(), "it is not in MemTotal, and so it lacks to no one here");
    balloon(&mut kvm, 1);
    assert!(!details(&kvm).iter().any(|detail| detail.contains("balloon")), "a fortieth");
    // Hyper-V: its driver takes what it gives back off MemTotal too.
    kvm.now.machine.balloon_deflates_on_oom = None;
    kvm.now.machine.hypervisor = Some("Microsoft Corporation".to_owned());
    balloon(&mut kvm, 16);
    assert!(
        kvm.finding(ID).is_none() && details(&kvm).iter().any(|detail| detail.contains("balloon has taken 16.0 GiB"))
    );
}

#[test]
fn a_large_machine_close_to_its_end_is_said_to_be_low_without_alarm() {
    // 23.5 GiB: the kernel wants one part in 16 on its inactive lists, 1.5 GiB.
    let left = |mib: u64, swap: u64| {
        let mut case = with(0, |_, _| {});
        let Seen::Seen { data, .. } = &mut case.now.meminfo else { panic!("no meminfo") };
        let taken = data.mem_available.unwrap().saturating_sub(Bytes::from_mib(mib));
        data.mem_available = Some(Bytes::from_mib(mib));
        data.mem_free = data.mem_free.map(|free| free.saturating_sub(taken));
        data.active_anon = data.active_anon.map(|anon| anon + taken);
        (data.swap_total, data.swap_free) = (Some(Bytes::from_mib(swap)), Some(Bytes::from_mib(swap)));
        case.inputs(|inputs| headline(inputs).unwrap())
    };
    let low = left(622, 0);
    assert_eq!(low.text, "Memory is low: 622.0 MiB of 23.5 GiB available, and no swap is free.");
    assert_eq!(low.status, Status::Note);
    assert!(left(2_000, 0).text.starts_with("Memory is fine"), "{}", left(2_000, 0).text);
    assert!(left(622, 4_096).text.starts_with("Memory is fine"), "swap takes what is idle");
    assert_eq!(left(200, 0).status, Status::Warning, "the next program ends in a kill");
}
