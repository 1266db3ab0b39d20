use ramline_snapshot::Seen;
use ramline_snapshot::cgroup::{Cgroups, Group, Version};
use ramline_snapshot::machine::Machine;
use ramline_snapshot::meminfo::Meminfo;
use ramline_snapshot::zfs::Arc;
use ramline_units::Limit;

use super::*;

/// 1000 in all; 40 of 600 reclaimable slab and so on: every formula has another result.
const SAMPLE: &str = "MemTotal: 1000 kB\nMemFree: 100 kB\nMemAvailable: 650 kB\nBuffers: 20 kB\nCached: 580 kB\nSwapCached: 5 kB\n\
    SwapTotal: 200 kB\nSwapFree: 150 kB\nAnonPages: 120 kB\nShmem: 50 kB\nKReclaimable: 47 kB\nSlab: 70 kB\nSReclaimable: 40 kB\n\
    SUnreclaim: 30 kB\n";

fn seen(meminfo: &str) -> Snapshot {
    let mut seen = Snapshot::new(Machine::default());
    seen.meminfo = Seen::new(Meminfo::parse("m", meminfo).unwrap());
    seen
}

fn used(table: &SystemTable, id: &str) -> u64 {
    let row = table.rows.iter().find(|row| row.id == id).unwrap();
    row.used.as_ref().unwrap().bytes.0 / 1024
}

fn sum(differences: &[Difference]) -> i64 {
    differences.iter().map(|d| d.bytes.0).sum()
}

#[test]
fn each_tool_has_its_own_used() {
    let table = for_system(&seen(SAMPLE)).unwrap();
    for (id, kib) in [
        ("procps-4.0.1", 350),
        ("sar-12.7.8", 350),
        ("otel-available", 350),
        ("btop-1.3", 350),
        ("netdata", 303),
        ("htop-3.3-bar", 310),
        ("htop-3.3-text", 260),
        ("htop-3.1", 260),
        ("procps-3.3.10", 260),
        ("otel-legacy", 260),
        ("sar-11.7.4", 230),
        ("node-exporter-caches", 300),
        ("total-less-free", 900),
    ] {
        assert_eq!(used(&table, id), kib, "{id}");
    }
    let htop = table.rows.iter().find(|row| row.id == "htop-3.3-bar").unwrap();
    assert_eq!(htop.cache.as_ref().unwrap().bytes, Bytes::from_kib(570));
    assert_eq!(htop.swap_used.as_ref().unwrap().bytes, Bytes::from_kib(45));
}

#[test]
fn the_parts_of_a_difference_add_up_to_it_and_equal_formulas_have_none() {
    let table = for_system(&seen(SAMPLE)).unwrap();
    let rows: Vec<&Row> = table.rows.iter().filter(|row| row.used.is_some()).collect();
    for pair in rows.windows(2) {
        let value = |row: &Row| i64::try_from(row.used.as_ref().unwrap().bytes.0).unwrap();
        assert_eq!(sum(&pair[1].differs), value(pair[1]) - value(pair[0]), "{}", pair[1].id);
    }
    let row = |id: &str| rows.iter().find(|row| row.id == id).unwrap();
    assert!(row("sar-12.7.8").differs.is_empty());
    let slab = &row("sar-11.7.4").differs;
    assert_eq!((slab.len(), slab[0].bytes.0), (1, -30 * 1024));
    assert!(slab[0].what.contains("SUnreclaim"), "{slab:?}");
}

#[test]
fn the_spread_names_both_ends_and_what_lies_between() {
    let spread = for_system(&seen(SAMPLE)).unwrap().spread.unwrap();
    assert_eq!((spread.least_bytes, spread.most_bytes), (Bytes::from_kib(230), Bytes::from_kib(350)));
    assert!(spread.least.starts_with("sar") && spread.most.starts_with("free, top"), "{spread:?}");
    assert_eq!(spread.between[0].what, "tmpfs and shared memory, which Cached contains");
    assert_eq!(sum(&spread.between), 120 * 1024);
}

#[test]
fn the_zfs_cache_is_taken_off_by_those_who_know_it() {
    let mut seen = seen(SAMPLE);
    let kib = Bytes::from_kib;
    seen.zfs = Seen::new(Some(Arc { size: kib(90), min: kib(30), max: kib(200), evictable: None }));
    let table = for_system(&seen).unwrap();
    for (id, used_kib) in [("procps-4.0.1", 350), ("btop-1.3", 290), ("netdata", 243), ("htop-3.1", 200)] {
        assert_eq!(used(&table, id), used_kib, "{id}");
    }
    let btop = table.rows.iter().find(|row| row.id == "btop-1.3").unwrap();
    assert_eq!(btop.cache.as_ref().unwrap().bytes, kib(670), "all of the ZFS cache is in Cached");
    assert!(table.notes.iter().any(|note| note.contains("ZFS cache")), "{:?}", table.notes);
}

#[test]
fn without_memavailable_the_rows_that_need_it_say_so() {
    let table = for_system(&seen("MemTotal: 1000 kB\nMemFree: 100 kB\nBuffers: 1 kB\nCached: 2 kB\n")).unwrap();
    let row = |id: &str| table.rows.iter().find(|row| row.id == id).unwrap();
    assert_eq!(
        (row("procps-4.0.1").used.as_ref(), row("procps-4.0.1").missing.as_deref()),
        (None, Some("MemAvailable"))
    );
    assert_eq!(row("procps-3.3.10").missing.as_deref(), Some("SReclaimable"));
    assert_eq!(used(&table, "total-less-free"), 900);
    assert_eq!(for_system(&Snapshot::default()), None);
}

#[test]
fn a_sum_below_zero_is_what_the_tool_shows_instead() {
    // As in a container whose meminfo is made up by lxcfs.
    let table = for_system(&seen("MemTotal: 100 kB\nMemFree: 60 kB\nMemAvailable: 400 kB\nBuffers: 0 kB\nCached: 50 kB\nSReclaimable: 0 kB\nSlab: 0 kB\nShmem: 0 kB\n")).unwrap();
    let formula = |id: &str| table.rows.iter().find(|row| row.id == id).unwrap().used.clone().unwrap();
    assert_eq!(
        (formula("procps-4.0.1").bytes, formula("procps-3.3.10").bytes),
        (Bytes::from_kib(40), Bytes::from_kib(40))
    );
    assert_eq!(formula("procps-4.0.1").instead.as_deref(), Some("MemTotal - MemFree"));
    assert_eq!((formula("sar-12.7.8").bytes, formula("sar-12.7.8").instead.as_deref()), (Bytes::ZERO, Some("0")));
}

fn group(stat: &[(&str, u64)], current: Option<u64>) -> Group {
    let stat = stat.iter().map(|(name, mib)| ((*name).to_owned(), mib << 20)).collect();
    let current = current.map(Bytes::from_mib);
    Group { path: "/pod/a".into(), current, max: Some(Limit::At(Bytes::from_mib(256))), stat, ..Group::default() }
}

fn in_group(seen: &Snapshot, path: &str, id: &str) -> Option<u64> {
    let table = for_group(seen, path)?;
    Some(table.rows.iter().find(|row| row.id == id)?.used.as_ref()?.bytes.0 >> 20)
}

#[test]
fn container_tools_differ_by_the_cache_they_leave_out() {
    let stat = [("anon", 10), ("file", 70), ("inactive_file", 40)];
    let mut seen = seen(SAMPLE);
    let root = Group { path: "/".into(), ..group(&[("anon", 300), ("file", 500), ("inactive_file", 200)], None) };
    let own = Some(group(&stat, Some(90)));
    seen.cgroups = Seen::new(Cgroups { version: Version::V2, root, own, effective_max: Limit::Max, unseen: vec![] });
    for path in ["/pod/a", "pod/a/", "/sys/fs/cgroup/pod/a", "/sys/fs/cgroup/memory/pod/a"] {
        assert_eq!(in_group(&seen, path, "docker"), Some(50), "{path}");
    }
    assert_eq!(in_group(&seen, "/pod/a", "systemd-unit"), Some(90));
    assert_eq!(in_group(&seen, "/pod/a", "podman-5.6"), Some(50));
    assert_eq!(in_group(&seen, "/pod/a", "podman-anon"), Some(10));
    assert_eq!(in_group(&seen, "/pod/a", "docker-19.03"), None, "a row of version 1");
    let table = own_group(&seen).unwrap();
    let spread = table.spread.unwrap();
    assert_eq!((spread.least_bytes, spread.most_bytes), (Bytes::from_mib(10), Bytes::from_mib(90)));
    assert_eq!(sum(&spread.between), 80 << 20);
    assert_eq!(for_group(&seen, "/nowhere"), None);
    assert_eq!(for_group(&seen, "/"), None, "the root has no usage");
    let node = for_system(&seen).unwrap();
    assert_eq!(used(&node, "kubectl-node"), 600 << 10);
}

#[test]
fn version_1_counts_children_under_total_names() {
    let stat = [("cache", 5), ("inactive_file", 1), ("total_cache", 60), ("total_inactive_file", 30), ("total_rss", 7)];
    let mut seen = seen(SAMPLE);
    let own = Some(group(&stat, Some(80)));
    let root = Group { path: "/".into(), ..group(&[("total_inactive_file", 100)], Some(900)) };
    seen.cgroups = Seen::new(Cgroups { version: Version::V1, root, own, effective_max: Limit::Max, unseen: vec![] });
    assert_eq!(in_group(&seen, "/pod/a", "docker"), Some(50));
    assert_eq!(in_group(&seen, "/pod/a", "podman-usage"), Some(80));
    assert_eq!(in_group(&seen, "/pod/a", "docker-19.03"), Some(75));
    assert_eq!(used(&for_system(&seen).unwrap(), "kubectl-node"), 800 << 10);
}

#[test]
fn each_row_has_its_share_of_the_whole_and_of_the_largest_in_use() {
    let table = for_system(&seen(SAMPLE)).unwrap();
    let shares: Vec<Option<f64>> = shares_of_largest(&table.rows).collect();
    assert_eq!(shares.len(), table.rows.len());
    let of = |old: bool| table.rows.iter().zip(&shares).filter(move |(row, _)| row.old == old).filter_map(|(_, s)| *s);
    assert_eq!(of(false).reduce(f64::max), Some(1.0));
    assert!(of(true).any(|share| share > 1.0), "old versions counted the cache as used: {shares:?}");
    let spread = table.spread.as_ref().unwrap();
    let most = table.rows.iter().find(|row| row.share_of(spread.most_bytes) == Some(1.0));
    assert!(most.is_some() && table.rows[0].share_of(Bytes::ZERO).is_none(), "{most:?}");
}

#[test]
fn the_table_has_no_id_twice_and_every_row_says_where_it_was_read() {
    let all = || SYSTEM.iter().chain(recipes::GROUP);
    let ids: std::collections::BTreeSet<&str> = all().map(|r| r.id).collect();
    assert_eq!(ids.len(), all().count());
    for recipe in all() {
        assert!(!recipe.source.is_empty() && !recipe.why.is_empty() && !recipe.used.is_empty(), "{}", recipe.id);
        assert!(recipe.why.ends_with('.'), "{}", recipe.id);
    }
}

#[test]
fn a_difference_beyond_the_range_keeps_its_sign() {
    let table = for_system(&seen(&SAMPLE.replace("Cached: 580 kB", "Cached: 18446744073709551615 kB"))).unwrap();
    let differs = || table.rows.iter().flat_map(|row| &row.differs).map(|d| d.bytes);
    assert!(differs().any(|bytes| bytes == SignedBytes(i64::MIN)), "{:?}", differs().collect::<Vec<_>>());
}
