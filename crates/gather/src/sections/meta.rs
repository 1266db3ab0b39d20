//! `meta.json` of a captured tree: what the files of /proc and /sys do not hold by themselves.

use ramline_kernel::input;
use ramline_snapshot::Snapshot;
use ramline_snapshot::dirs::DirUse;
use ramline_snapshot::machine::Machine;
use ramline_snapshot::mounts::{Capacity, Quota};
use ramline_snapshot::shmem::Shmem;
use ramline_snapshot::zram::ZramSupport;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::captured;
use crate::prelude::*;

/// What goes with a captured tree.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Meta {
    /// Page size, boot, circumstances, as they were.
    pub machine: Machine,
    /// `statfs` results by mount point.
    pub capacities: BTreeMap<String, Capacity>,
    /// Quotas by mount point.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub quotas: BTreeMap<String, Vec<Quota>>,
    /// Whether a zram device carried a swap header.
    pub formatted: BTreeMap<String, bool>,
    /// What the kernel offered of zram.
    pub zram_support: ZramSupport,
    /// Walked directories.
    pub dirs: Vec<DirUse>,
    /// Shared memory by kind.
    pub shmem: Option<Shmem>,
    /// Kernel threads of DAMON.
    pub kdamond_threads: Option<u64>,
    /// Programs by process id: links, which a tree does not hold.
    pub programs: BTreeMap<u32, String>,
    /// Names of the users who ran them.
    pub users: BTreeMap<u32, String>,
    /// Whether the processes were seen from inside a process namespace.
    pub nested: Option<bool>,
    /// Unit files were looked for; only those that speak of systemd-oomd are in the tree.
    pub units_seen: bool,
    /// Files the kernel refused to the user who captured.
    pub denied: Vec<String>,
}

impl Meta {
    /// The meta file of a tree; defaults where it is missing, and where it is garbage, which the machine then names.
    pub fn load(root: &Root) -> Meta {
        let bytes = match input::read("read", &root.path("/meta.json"), input::DOCUMENT) {
            Err(error) if error.is_absent() => return Meta { machine: captured::machine(root), ..Meta::default() },
            read => read.map_err(|error| error.cause.to_string()),
        };
        // By way of a value, as sections of a snapshot: one reader for both.
        let value = bytes.and_then(|bytes| serde_json::from_slice(&bytes).map_err(|e| e.to_string()));
        let meta = value.and_then(|value: Value| ramline_units::json::read(value).map_err(|e| e.to_string()));
        meta.unwrap_or_else(|why: String| {
            let reason = format!("{why}; page size, file system sizes and what was denied are not known");
            let unseen = Some(Unseen { garbage: true, ..Unseen::new("/meta.json", reason) });
            Meta { machine: Machine { unseen, ..Machine::default() }, ..Meta::default() }
        })
    }

    /// What goes with a tree of this snapshot.
    pub fn from_snapshot(snapshot: &Snapshot, denied: Vec<String>) -> Meta {
        let zram = snapshot.zram.data();
        let devices = zram.map(|z| z.devices.as_slice()).unwrap_or_default();
        let mounts = snapshot.mounts.data().map(Vec::as_slice).unwrap_or_default();
        let processes = snapshot.processes.data();
        let program = |p: &Process| {
            let programs = processes.map(|all| all.programs.as_slice()).unwrap_or_default();
            Some((p.pid, programs.get(usize::try_from(p.exe?).ok()?)?.clone()))
        };
        Meta {
            programs: processes.map(|all| all.list.iter().filter_map(program).collect()).unwrap_or_default(),
            users: processes.map(|all| all.users.clone()).unwrap_or_default(),
            nested: processes.and_then(|all| all.missed.nested),
            machine: snapshot.machine.clone(),
            capacities: mounts.iter().filter_map(|m| Some((m.at.clone(), m.capacity?))).collect(),
            quotas: mounts.iter().filter(|m| !m.quotas.is_empty()).map(|m| (m.at.clone(), m.quotas.clone())).collect(),
            formatted: devices.iter().filter_map(|d| Some((d.name.clone(), d.formatted?))).collect(),
            zram_support: zram.map(|z| z.support.clone()).unwrap_or_default(),
            dirs: snapshot.dirs.data().cloned().unwrap_or_default(),
            shmem: snapshot.shmem.data().cloned(),
            kdamond_threads: snapshot.evictors.data().and_then(|e| e.kdamond_threads),
            units_seen: snapshot
                .killers
                .data()
                .and_then(|k| k.oomd.as_ref())
                .is_some_and(|oomd| oomd.watched.is_some()),
            denied,
        }
    }
}
