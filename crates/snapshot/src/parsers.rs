//! All parsers of kernel files in one table, for fuzzing and for tests that no text makes one panic.

use crate::cgroup::{self, Group, Version};
use crate::prelude::*;
use crate::{
    buddyinfo, configured, killers, meminfo, mounts, pressure, shmem, slab, swaps, switches, vmstat, zfs, zoneinfo,
    zram,
};

/// A file's name below the root, and its parser with the result thrown away.
pub type Parser = (&'static str, fn(&str));

/// Every parser.
pub const PARSERS: &[Parser] = &[
    ("proc/meminfo", |t| drop(meminfo::Meminfo::parse("f", t))),
    ("proc/vmstat", |t| drop(vmstat::Vmstat::parse("f", t))),
    ("proc/zoneinfo", |t| drop(zoneinfo::Zoneinfo::parse("f", t))),
    ("proc/buddyinfo", |t| drop(buddyinfo::Buddyinfo::parse("f", t))),
    ("proc/pressure/memory", |t| drop(pressure::Pressure::parse("f", t))),
    ("proc/1/maps", |t| drop(crate::maps::Parser::all("f", t.as_bytes()))),
    ("proc/1/smaps", |t| drop(crate::maps::Parser::all("f", t.as_bytes()))),
    ("proc/1/status", |t| drop(crate::maps::Totals::parse("f", t))),
    ("proc/swaps", |t| drop(swaps::parse("f", t))),
    ("proc/self/mountinfo", |t| drop(mounts::parse("f", t))),
    ("proc/sysvipc/shm", |t| drop(shmem::sysvipc("f", t, Some(0)))),
    ("proc/1/fdinfo/0", |t| drop(shmem::drm_fdinfo(t))),
    ("proc/slabinfo", |t| drop(slab::Slab::parse("f", t, PageSize(4096)))),
    ("etc/sysctl.conf", |t| configured::Configured::default().read("f", t)),
    ("proc/1/cmdline", |t| drop(killers::Earlyoom::from_cmdline("f", t))),
    ("etc/systemd/oomd.conf", |t| {
        killers::Oomd::default().read("f", t);
        drop(killers::Watched::from_texts("u", [t]));
    }),
    ("sys/block/zram0/mm_stat", |t| drop(zram::MmStat::parse("f", t))),
    ("sys/block/zram0/bd_stat", |t| drop(zram::BdStat::parse("f", t))),
    ("sys/block/zram0/io_stat", |t| drop(zram::IoStat::parse("f", t))),
    ("proc/spl/kstat/zfs/arcstats", |t| drop(zfs::Arc::parse("f", t))),
    ("sys/kernel/mm/lru_gen/enabled", |t| drop(switches::LruGen::from_texts(t, Some(t)))),
    ("sys/kernel/mm/transparent_hugepage/enabled", |t| drop(switches::bracketed(t))),
    ("sys/fs/cgroup/memory.stat", |t| drop(cgroup::flat("f", t))),
    ("sys/fs/cgroup/memory.max", |t| drop(cgroup::limit("f", t))),
    ("sys/fs/cgroup", |t| {
        let v1 = ["limit_in_bytes", "usage_in_bytes", "memsw.limit_in_bytes"];
        let names = ["max", "current", "stat"].into_iter().chain(v1);
        let files: BTreeMap<String, String> = names.map(|n| (format!("memory.{n}"), t.to_owned())).collect();
        for version in [Version::V1, Version::V2] {
            drop(Group::from_files(version, "/", &files, &mut Vec::new()));
        }
    }),
];
