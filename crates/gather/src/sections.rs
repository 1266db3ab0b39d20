//! Filling a [`Snapshot`]: from this machine, or from a captured tree.
//!
//! Which files make which section; texts are parsed by `ramline-snapshot`. Only the sections a command wants are read.

mod blocks;
mod capture;
mod captured;
mod cgroups;
mod configured;
mod containers;
mod dirs;
mod evictors;
mod foreign;
mod groups;
mod hugepages;
mod killers;
mod limited;
mod machine;
mod meta;
mod mounts;
mod nodes;
mod not_read;
mod open;
mod parts;
mod processes;
mod reader;
mod sampler;
mod session;
mod set_up;
mod shmem;
mod tightest;
mod zram;

use ramline_kernel::Result;
use ramline_kernel::output::Tree;
use ramline_snapshot::buddyinfo::Buddyinfo;
use ramline_snapshot::evictors::Evictors;
use ramline_snapshot::pressure::Pressure;
use ramline_snapshot::slab::Slab;
use ramline_snapshot::switches::{LruGen, Thp, ThpSize, bracketed};
use ramline_snapshot::sysctl::VmSettings;
use ramline_snapshot::vmstat::Vmstat;
use ramline_snapshot::zfs::Arc;
use ramline_snapshot::zoneinfo::Zoneinfo;
use ramline_snapshot::zswap::Zswap;
use ramline_snapshot::{Origin, Snapshot, Wanted, swaps};

pub use capture::TOP;
pub use meta::Meta;
pub use parts::{LateSections, gather_until};
pub use processes::Walking;
use reader::Reader;
pub use sampler::{Sampler, Sweep};
pub use session::Session;
pub use set_up::set_up;

use crate::prelude::*;

/// Reads the wanted sections. Never fails: what cannot be seen says so in its section.
#[must_use]
pub fn gather(root: &Root, want: Wanted) -> Snapshot {
    gather_walking(root, want, Walking::Never)
}

/// The same, with walks of page tables where `processes` are wanted.
#[must_use]
pub fn gather_walking(root: &Root, want: Wanted, walking: Walking) -> Snapshot {
    fill(&Reader::new(root), want, walking)
}

/// Who else evicts pages here, and nothing else: not even what machine it is.
#[must_use]
pub fn evictors(root: &Root) -> Seen<Evictors> {
    evictors::evictors(&Reader::new(root))
}

/// Reads everything and writes the texts as a tree (made with [`TOP`]), with `meta.json` for what /proc does not hold.
///
/// # Errors
/// It cannot be written; then nothing of it is left.
pub fn capture(root: &Root, tree: Tree) -> Result<Snapshot> {
    let reader = Reader::recording(root);
    let snapshot = fill(&reader, Wanted::ALL, Walking::Never);
    capture::write_tree(&reader, &snapshot, tree)?;
    Ok(snapshot)
}

fn fill(reader: &Reader<'_>, want: Wanted, walking: Walking) -> Snapshot {
    read(reader, Snapshot::new(machine::machine(reader)), want, walking)
}

/// Reads sections into an empty snapshot of a machine.
fn read(reader: &Reader<'_>, mut out: Snapshot, want: Wanted, walking: Walking) -> Snapshot {
    // The files of the ledger are read one right after the other: what moves in between is its drift.
    out.meminfo = wanted(want.meminfo, || reader.section("/proc/meminfo", Meminfo::parse));
    out.zoneinfo = wanted(want.zoneinfo, || reader.section("/proc/zoneinfo", Zoneinfo::parse));
    out.vmstat = wanted(want.vmstat, || reader.section("/proc/vmstat", Vmstat::parse));
    out.buddyinfo = wanted(want.buddyinfo, || reader.section("/proc/buddyinfo", Buddyinfo::parse));
    let pressure = |of: &str| reader.section(&format!("/proc/pressure/{of}"), Pressure::parse);
    out.pressure_memory = wanted(want.pressure_memory, || pressure("memory"));
    out.pressure_io = wanted(want.pressure_io, || pressure("io"));
    out.pressure_cpu = wanted(want.pressure_cpu, || pressure("cpu"));
    out.swaps = wanted(want.swaps, || reader.section("/proc/swaps", swaps::parse));
    out.mounts = wanted(want.mounts, || mounts::mounts(reader));
    out.blocks = wanted(want.blocks, || blocks::blocks(reader));
    out.zram = wanted(want.zram, || reader.timed(|| zram::zram(reader)));
    out.zswap = wanted(want.zswap, || {
        let dir = "/sys/module/zswap/parameters";
        directory(reader, dir, reader.names(dir), |files| Zswap::from_files(&files))
    });
    // Found once for all sections of groups: among 20,000 mounts it takes longer than what is read of it.
    let of_groups = want.cgroups || want.groups || want.limited;
    let mounts = || out.mounts.data().map(Vec::as_slice);
    let hierarchy = of_groups.then(|| cgroups::hierarchy_in(reader, mounts())).flatten();
    out.cgroups = wanted(want.cgroups, || cgroups::cgroups(reader, hierarchy.as_ref()));
    let keys = || VmSettings::KEYS.iter().map(|key| (*key).to_owned()).collect();
    out.settings = wanted(want.settings, || directory(reader, "/proc/sys/vm", keys(), settings));
    out.evictors = wanted(want.evictors, || evictors::evictors(reader));
    out.lru_gen = wanted(want.lru_gen, || {
        reader.section("/sys/kernel/mm/lru_gen/enabled", |_, enabled| {
            let ttl = reader.text("/sys/kernel/mm/lru_gen/min_ttl_ms").ok();
            Ok(LruGen::from_texts(enabled, ttl.as_deref()))
        })
    });
    out.thp = wanted(want.thp, || thp(reader));
    out.dirs = wanted(want.dirs, || dirs::dirs(reader));
    out.processes = wanted(want.processes, || processes::processes(reader, walking));
    out.groups = wanted(want.groups, || groups::groups(reader, hierarchy.as_ref(), &out.machine));
    let limited = || limited::limited(reader, hierarchy.as_ref());
    out.limited = wanted(want.limited && !want.groups, limited);
    out.shmem = wanted(want.shmem, || shmem::shmem(reader));
    let page = out.machine.page_size;
    let slab = || reader.section("/proc/slabinfo", |from, text| Slab::parse(from, text, page));
    // Not cheap on a large machine; where much of RAM is in it, the first question is in which cache.
    let most = |m: &Meminfo| Some(m.s_unreclaim?.max(m.s_reclaimable?).0 >= m.mem_total?.0 / 10);
    let much = out.meminfo.data().and_then(most).unwrap_or(false);
    out.slab = wanted(want.slab || much, slab);
    out.hugepages = wanted(want.hugepages, || hugepages::hugepages(reader, out.meminfo.data()));
    // The ZFS cache is a line of the ledger, and a part of what is available.
    out.zfs = wanted(want.zfs || want.meminfo, || zfs(reader));
    out.configured = wanted(want.configured, || configured::configured(reader));
    out.killers = wanted(want.killers, || killers::killers(reader, out.processes.data()));
    out.containers = wanted(want.containers, || containers::containers(reader));
    foreign::keep_one_machine(&mut out);
    out
}

fn wanted<T>(wanted: bool, read: impl FnOnce() -> Seen<T>) -> Seen<T> {
    if wanted { read() } else { Seen::Unread }
}

/// Transparent huge pages.
fn thp(reader: &Reader<'_>) -> Seen<Thp> {
    let dir = "/sys/kernel/mm/transparent_hugepage";
    reader.section(&format!("{dir}/enabled"), |_, enabled| {
        let other = |name: &str| reader.text(format!("{dir}/{name}")).ok().and_then(|t| bracketed(&t).0);
        let size = |name: &String| ThpSize::from_text(name, &reader.text(format!("{dir}/{name}/enabled")).ok()?);
        let names = reader.names(dir);
        let mut sizes: Vec<ThpSize> = names.iter().filter(|n| n.starts_with("hugepages-")).filter_map(size).collect();
        ramline_units::sort_by_key(&mut sizes, |size| size.page);
        Ok(Thp {
            enabled: bracketed(enabled).0,
            defrag: other("defrag"),
            shmem_enabled: other("shmem_enabled"),
            page: reader.number(&format!("{dir}/hpage_pmd_size")).map(ramline_units::Bytes),
            max_ptes_none: reader.number(&format!("{dir}/khugepaged/max_ptes_none")),
            sizes,
        })
    })
}

/// What OpenZFS says of its cache; `None` where its module is not loaded, which is how most machines are.
fn zfs(reader: &Reader<'_>) -> Seen<Option<Arc>> {
    match reader.section("/proc/spl/kstat/zfs/arcstats", |from, text| Arc::parse(from.path(), text).map(Some)) {
        Seen::Absent { .. } => reader.timed(|| None),
        seen => seen,
    }
}

type Files = std::collections::BTreeMap<String, String>;

/// A section made of all files of one directory: absent or denied as a whole, otherwise what could be read.
fn directory<T>(reader: &Reader<'_>, dir: &str, names: Vec<String>, make: impl Fn(Files) -> T) -> Seen<T> {
    let mut refused = false;
    let mut files = Files::new();
    let seen = reader.timed(|| {
        for name in names {
            match reader.text(format!("{dir}/{name}")) {
                Ok(text) => drop(files.insert(name, text)),
                Err(reader::NotRead::Denied) => refused = true,
                Err(_) => {}
            }
        }
        make(files.clone())
    });
    match (files.is_empty(), refused) {
        (false, _) => seen,
        (true, true) => Seen::Denied { path: dir.to_owned() },
        (true, false) => Seen::Absent { path: dir.to_owned() },
    }
}

fn settings(files: Files) -> VmSettings {
    let mut out = VmSettings::default();
    files.iter().for_each(|(key, text)| out.put(key, text));
    out
}
