//! Filling a [`Snapshot`]: from this machine, or from a captured tree.
//!
//! What it is: which files make which section. What it is not: a parser; texts go to
//! `ramline-snapshot`. Only the sections a command wants are read.

mod blocks;
mod capture;
mod cgroups;
mod configured;
mod dirs;
mod evictors;
mod groups;
mod hugepages;
mod killers;
mod machine;
mod meta;
mod mountinfo;
mod mounts;
mod processes;
mod reader;
mod shmem;
mod slab;
mod zfs;
mod zram;

use ramline_kernel::output::Tree;
use ramline_kernel::{Result, Root};
use ramline_snapshot::buddyinfo::Buddyinfo;
use ramline_snapshot::evictors::Evictors;
use ramline_snapshot::meminfo::Meminfo;
use ramline_snapshot::pressure::Pressure;
use ramline_snapshot::switches::{LruGen, Thp, ThpSize, bracketed};
use ramline_snapshot::sysctl::VmSettings;
use ramline_snapshot::vmstat::Vmstat;
use ramline_snapshot::zoneinfo::Zoneinfo;
use ramline_snapshot::zswap::Zswap;
use ramline_snapshot::{Seen, Snapshot, Wanted, swaps};

pub use capture::TOP;
pub use dirs::walk;
pub use meta::Meta;
pub use processes::Walking;
use reader::Reader;

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
    let mut out = Snapshot::new(machine::machine(reader));
    // The files of the ledger are read one right after the other: what moves in between is its drift.
    if want.meminfo {
        out.meminfo = reader.section("/proc/meminfo", Meminfo::parse);
    }
    if want.zoneinfo {
        out.zoneinfo = reader.section("/proc/zoneinfo", Zoneinfo::parse);
    }
    if want.vmstat {
        out.vmstat = reader.section("/proc/vmstat", Vmstat::parse);
    }
    if want.buddyinfo {
        out.buddyinfo = reader.section("/proc/buddyinfo", Buddyinfo::parse);
    }
    if want.pressure_memory {
        out.pressure_memory = reader.section("/proc/pressure/memory", Pressure::parse);
    }
    if want.pressure_io {
        out.pressure_io = reader.section("/proc/pressure/io", Pressure::parse);
    }
    if want.pressure_cpu {
        out.pressure_cpu = reader.section("/proc/pressure/cpu", Pressure::parse);
    }
    if want.swaps {
        out.swaps = reader.section("/proc/swaps", swaps::parse);
    }
    if want.mounts {
        out.mounts = mounts::mounts(reader);
    }
    if want.blocks {
        out.blocks = blocks::blocks(reader);
    }
    if want.zram {
        out.zram = reader.timed("/sys/block", || zram::zram(reader));
    }
    if want.zswap {
        out.zswap = directory(reader, "/sys/module/zswap/parameters", |files| Zswap::from_files(&files));
    }
    if want.cgroups {
        out.cgroups = cgroups::cgroups(reader);
    }
    if want.settings {
        out.settings = directory(reader, "/proc/sys/vm", settings);
    }
    if want.evictors {
        out.evictors = evictors::evictors(reader);
    }
    if want.lru_gen {
        out.lru_gen = reader.section("/sys/kernel/mm/lru_gen/enabled", |_, enabled| {
            let ttl = reader.text("/sys/kernel/mm/lru_gen/min_ttl_ms").ok();
            Ok(LruGen::from_texts(enabled, ttl.as_deref()))
        });
    }
    if want.thp {
        let dir = "/sys/kernel/mm/transparent_hugepage";
        out.thp = reader.section(&format!("{dir}/enabled"), |_, enabled| {
            let other = |name: &str| reader.text(&format!("{dir}/{name}")).ok().and_then(|t| bracketed(&t).0);
            let size = |name: &String| ThpSize::from_text(name, &reader.text(&format!("{dir}/{name}/enabled")).ok()?);
            let names = reader.names(dir);
            let mut sizes: Vec<ThpSize> =
                names.iter().filter(|n| n.starts_with("hugepages-")).filter_map(size).collect();
            ramline_units::sort_by_key(&mut sizes, |size| size.page);
            Ok(Thp {
                enabled: bracketed(enabled).0,
                defrag: other("defrag"),
                shmem_enabled: other("shmem_enabled"),
                page: reader.number(&format!("{dir}/hpage_pmd_size")).map(ramline_units::Bytes),
                max_ptes_none: reader.number(&format!("{dir}/khugepaged/max_ptes_none")),
                sizes,
            })
        });
    }
    if want.dirs {
        out.dirs = dirs::dirs(reader);
    }
    if want.processes {
        out.processes = processes::processes(reader, walking);
    }
    if want.groups {
        out.groups = groups::groups(reader);
    }
    if want.shmem {
        out.shmem = shmem::shmem(reader);
    }
    if want.slab {
        out.slab = slab::slab(reader, out.machine.page_size);
    }
    if want.hugepages {
        out.hugepages = hugepages::hugepages(reader);
    }
    if want.zfs {
        out.zfs = zfs::zfs(reader);
    }
    if want.configured {
        out.configured = configured::configured(reader);
    }
    if want.killers {
        out.killers = killers::killers(reader, out.processes.data());
    }
    out
}

type Files = std::collections::BTreeMap<String, String>;

/// A section made of all files of one directory: absent or denied as a whole, otherwise what could be read.
fn directory<T>(reader: &Reader<'_>, dir: &str, make: impl Fn(Files) -> T) -> Seen<T> {
    let names = match dir {
        "/proc/sys/vm" => VmSettings::KEYS.iter().map(|k| (*k).to_owned()).collect(),
        _ => reader.names(dir),
    };
    let mut refused = false;
    let mut files = Files::new();
    let seen = reader.timed(dir, || {
        for name in names {
            match reader.text(&format!("{dir}/{name}")) {
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
    for (key, text) in &files {
        out.put(key, text);
    }
    out
}
