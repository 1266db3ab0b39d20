//! The snapshot: independent sections, and the one JSON document that carries them.

use ramline_units::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::machine::Machine;
use crate::prelude::*;
use crate::{
    Seen, blocks, buddyinfo, cgroup, configured, containers, dirs, evictors, groups, hugepages, killers, meminfo,
    mounts, pressure, processes, shmem, slab, swaps, switches, sysctl, vmstat, zfs, zoneinfo, zram, zswap,
};

/// Version of the JSON document.
pub const SCHEMA_VERSION: u64 = 1;

macro_rules! sections {
    ($($(#[$doc:meta])* $field:ident : $ty:ty),* $(,)?) => {
        /// One machine at one moment, as far as it was asked and allowed to be seen.
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        pub struct Snapshot {
            /// Version of this document.
            pub schema_version: u64,
            /// Page size, boot, circumstances.
            pub machine: Machine,
            $($(#[$doc])* pub $field: Seen<$ty>,)*
            /// Sections that the document it was read from does not have: an older version wrote it.
            #[serde(skip)]
            pub lacking: Vec<&'static str>,
        }

        /// Which sections a command needs; it reads only those.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct Wanted { $(#[doc = concat!("`", stringify!($field), "`")] pub $field: bool,)* }

        impl Wanted {
            /// No section.
            pub const NOTHING: Wanted = Wanted { $($field: false,)* };
            /// Every section.
            pub const ALL: Wanted = Wanted { $($field: true,)* };

            /// The sections in both.
            #[must_use]
            pub const fn and(self, other: Wanted) -> Wanted {
                Wanted { $($field: self.$field && other.$field,)* }
            }

            /// Their names.
            #[must_use]
            pub fn names(self) -> Vec<&'static str> {
                let mut names = Vec::new();
                $(if self.$field { names.push(stringify!($field)); })*
                names
            }
        }

        impl Snapshot {
            /// Names of all sections, in order.
            pub const SECTIONS: &'static [&'static str] = &[$(stringify!($field)),*];

            /// What was asked for and not seen, by section name: sections, and single files of a section.
            #[must_use]
            pub fn unseen(&self) -> Vec<(&'static str, Unseen)> {
                let mut out = Vec::new();
                $(out.extend(self.$field.unseen().map(|why| (stringify!($field), why)));)*
                $(out.extend(self.$field.skipped().map(|why| (stringify!($field), why.clone())));)*
                out.extend(self.lacking.iter().map(|section| (*section, Unseen::new(*section, "not in this file"))));
                out.extend(self.unseen_files().map(|(section, why)| (section, why.clone())));
                out
            }

            /// Gives the JSON text of each section that was read, and of what is no section, by name: together they are the document. When and how
            /// long a section was read is left out.
            ///
            /// # Errors
            /// A section has no JSON form.
            pub fn each_section_json(&mut self, mut each: impl FnMut(&'static str, String)) -> Result<(), serde_json::Error> {
                each("schema_version", serde_json::to_string(&self.schema_version)?);
                each("machine", serde_json::to_string(&self.machine)?);
                $(if !matches!(self.$field, Seen::Unread) {
                    self.$field.forget_clock();
                    each(stringify!($field), serde_json::to_string(&self.$field)?);
                })*
                Ok(())
            }

            /// Takes these sections from another one.
            pub fn take(&mut self, from: Snapshot, these: Wanted) {
                $(if these.$field { self.$field = from.$field; })*
            }

            /// True when a file is there and makes no sense: the exit status tells.
            #[must_use]
            pub fn is_malformed(&self) -> bool {
                false $(|| self.$field.is_malformed())* || self.unseen_files().any(|(_, why)| why.garbage)
            }

            /// Shows the path and the quoted text of every section that was not seen.
            pub(crate) fn each_unseen(&mut self, mut show: impl FnMut(&mut String, Option<&mut String>)) {
                $(match &mut self.$field {
                    Seen::Denied { path } | Seen::Absent { path } => show(path, None),
                    Seen::Malformed(m) => show(&mut m.path, Some(&mut m.text)),
                    Seen::Foreign { path, why } => show(path, Some(why)),
                    Seen::Seen { skipped: Some(why), .. } => show(&mut why.path, Some(&mut why.reason)),
                    Seen::Seen { .. } | Seen::Unread => {}
                })*
            }

            fn fill(&mut self, document: &mut Map<String, Value>) {
                $(match document.remove(stringify!($field)) {
                    Some(value) => self.$field = section(stringify!($field), value),
                    None => self.lacking.push(stringify!($field)),
                })*
            }
        }
    };
}

sections! {
    /// `/proc/meminfo`.
    meminfo: meminfo::Meminfo,
    /// `/proc/vmstat`.
    vmstat: vmstat::Vmstat,
    /// `/proc/zoneinfo`.
    zoneinfo: zoneinfo::Zoneinfo,
    /// `/proc/buddyinfo`.
    buddyinfo: buddyinfo::Buddyinfo,
    /// `/proc/pressure/memory`.
    pressure_memory: pressure::Pressure,
    /// `/proc/pressure/io`.
    pressure_io: pressure::Pressure,
    /// `/proc/pressure/cpu`.
    pressure_cpu: pressure::Pressure,
    /// `/proc/swaps`.
    swaps: Vec<swaps::SwapArea>,
    /// `/proc/self/mountinfo` and `statfs`.
    mounts: Vec<mounts::Mount>,
    /// `/sys/block`.
    blocks: Vec<blocks::BlockDevice>,
    /// zram devices and support.
    zram: zram::Zram,
    /// zswap's parameters.
    zswap: zswap::Zswap,
    /// Memory control groups: the root and our own.
    cgroups: cgroup::Cgroups,
    /// `/proc/sys/vm`.
    settings: sysctl::VmSettings,
    /// DAMON and its kin.
    evictors: evictors::Evictors,
    /// `/sys/kernel/mm/lru_gen`.
    lru_gen: switches::LruGen,
    /// `/sys/kernel/mm/transparent_hugepage`.
    thp: switches::Thp,
    /// /tmp and the directories like it, walked.
    dirs: Vec<dirs::DirUse>,
    /// `/proc/PID`: what each process holds.
    processes: processes::Processes,
    /// Every memory control group.
    groups: groups::Groups,
    /// The groups that have met a limit of theirs, with those above them; not read where all groups are.
    limited: groups::Groups,
    /// Shared memory by kind.
    shmem: shmem::Shmem,
    /// `/proc/slabinfo` (root).
    slab: slab::Slab,
    /// Pools of huge pages.
    hugepages: Vec<hugepages::HugePool>,
    /// The ZFS cache; `None` without ZFS.
    zfs: Option<zfs::Arc>,
    /// Settings that files configure.
    configured: configured::Configured,
    /// earlyoom and systemd-oomd.
    killers: killers::Killers,
    /// Containers by name.
    containers: containers::Containers,
}

/// A snapshot file that cannot be used at all.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Not JSON, or cut off.
    #[error("{path} is not a ramline snapshot: {cause}; try: ramline snapshot > FILE")]
    NotJson {
        /// The file.
        path: String,
        /// What the JSON reader said.
        cause: String,
    },
    /// Written by a later version.
    #[error("{path} has schema version {found}, this ramline reads up to {SCHEMA_VERSION}; try a newer ramline")]
    TooNew {
        /// The file.
        path: String,
        /// Its version.
        found: u64,
    },
}

impl Snapshot {
    /// An empty snapshot of the current version.
    #[must_use]
    pub fn new(machine: Machine) -> Self {
        Snapshot { schema_version: SCHEMA_VERSION, machine, ..Snapshot::default() }
    }

    /// Not every control group was looked at, for its time was up.
    #[must_use]
    pub fn is_cut_in_groups(&self) -> bool {
        [&self.groups, &self.limited].iter().any(|groups| groups.data().is_some_and(|groups| !groups.complete))
    }

    /// Reads the JSON document. A section that does not fit is malformed by itself; the others work. One that is not there was not read:
    /// that the machine has no such thing would be a fact.
    ///
    /// # Errors
    /// The document is no JSON object with a `schema_version` this version knows.
    pub fn from_json(path: &str, text: &str) -> Result<Self, LoadError> {
        let not = |cause: String| LoadError::NotJson { path: path.to_owned(), cause };
        let value: Value = serde_json::from_str(text).map_err(|e| not(e.to_string()))?;
        let Value::Object(document) = value else { return Err(not("it is not a JSON object".into())) };
        Snapshot::from_document(path, document)
    }

    /// The same of a document that is read already.
    ///
    /// # Errors
    /// As [`Snapshot::from_json`].
    pub fn from_document(path: &str, mut document: Map<String, Value>) -> Result<Self, LoadError> {
        let not = |cause: String| LoadError::NotJson { path: path.to_owned(), cause };
        let version = document.get("schema_version").and_then(Value::as_u64);
        let found = version.ok_or_else(|| not("it has no schema_version".into()))?;
        if found > SCHEMA_VERSION {
            return Err(LoadError::TooNew { path: path.to_owned(), found });
        }
        let machine = document.remove("machine").map(ramline_units::json::read).transpose();
        let machine = machine.map_err(|e| not(format!("machine: {e}")))?.unwrap_or_default();
        let mut snapshot = Snapshot::new(machine);
        snapshot.fill(&mut document);
        Ok(snapshot)
    }

    /// Files that could not be used inside sections that otherwise work. `groups` has its own count of them.
    fn unseen_files(&self) -> impl Iterator<Item = (&'static str, &Unseen)> {
        let lists = [
            ("machine", Some(self.machine.unseen.as_slice())),
            ("zram", self.zram.data().map(|s| s.unseen.as_slice())),
            ("cgroups", self.cgroups.data().map(|s| s.unseen.as_slice())),
            ("evictors", self.evictors.data().map(|s| s.unseen.as_slice())),
            ("configured", self.configured.data().map(|s| s.unseen.as_slice())),
            ("killers", self.killers.data().and_then(|s| s.oomd.as_ref()).map(|s| s.unseen.as_slice())),
        ];
        lists.into_iter().flat_map(|(section, list)| list.unwrap_or_default().iter().map(move |why| (section, why)))
    }

    /// RAM the kernel manages.
    #[must_use]
    pub fn mem_total(&self) -> Option<Bytes> {
        self.meminfo.data()?.mem_total
    }
}

fn section<T: DeserializeOwned>(name: &str, value: Value) -> Seen<T> {
    Seen::from_value(value).unwrap_or_else(|e| Seen::Malformed(Malformed::whole(name, &e.to_string())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{meminfo::Meminfo, processes::Processes, zoneinfo::Zoneinfo};

    fn sample() -> Snapshot {
        let mut snapshot = Snapshot::new(Machine::default());
        let meminfo = Meminfo::parse("m", "MemTotal: 8 kB\nNew: 3 kB\n").unwrap();
        snapshot.meminfo = Seen::new(meminfo);
        let zones = "Node 0, zone Normal\n  per-node stats\n nr_x 1\n  pages free 3\n";
        snapshot.zoneinfo = Seen::new(Zoneinfo::parse("z", zones).unwrap());
        let users = [(0, "root".to_owned())].into();
        snapshot.processes = Seen::new(Processes { users, ..Processes::default() });
        snapshot.vmstat = Seen::Denied { path: "/proc/vmstat".into() };
        snapshot
    }

    #[test]
    fn a_snapshot_survives_the_way_through_json() {
        let snapshot = sample();
        let text = serde_json::to_string(&snapshot).unwrap();
        assert_eq!(Snapshot::from_json("f", &text).unwrap(), snapshot);
    }

    #[test]
    fn a_garbage_section_is_malformed_alone_and_a_missing_one_was_not_read() {
        let mut value = serde_json::to_value(sample()).unwrap();
        value["meminfo"] = serde_json::json!({"state": "seen", "data": 7});
        value.as_object_mut().unwrap().remove("swaps");
        let snapshot = Snapshot::from_json("f", &value.to_string()).unwrap();
        assert!(snapshot.is_malformed());
        assert_eq!(snapshot.swaps, Seen::Unread, "not a fact about the machine");
        assert!(snapshot.unseen().iter().any(|(name, why)| *name == "swaps" && why.reason == "not in this file"));
        assert_eq!(snapshot.vmstat, sample().vmstat);
        assert_eq!(snapshot.unseen().len(), 3);
    }

    #[test]
    fn a_document_without_a_machine_is_one_of_an_unknown_machine() {
        let seen = Snapshot::from_json("f", r#"{"schema_version":1}"#).unwrap();
        assert_eq!(seen.machine, Machine::default());
    }

    #[test]
    fn a_cut_off_file_and_a_future_version_are_refused_with_the_way_out() {
        let text = serde_json::to_string(&sample()).unwrap();
        assert!(Snapshot::from_json("f", &text[..text.len() / 2]).unwrap_err().to_string().contains("try:"));
        assert!(Snapshot::from_json("f", "[]").is_err());
        let future = text.replacen("\"schema_version\":1", "\"schema_version\":99", 1);
        assert!(matches!(Snapshot::from_json("f", &future), Err(LoadError::TooNew { found: 99, .. })));
    }
}
