//! Sampling of one machine at intervals, for a recorder, at the lowest price: what changes every second is read every time, what costs
//! more or changes rarely less often. [`Session`](super::Session) instead reads the same sections each time, from files it keeps open.
//!
//! | sweep | what is read | price on a machine of 500 processes |
//! |---|---|---|
//! | [`Sampler::second`] | four files, as they are | a tenth of a millisecond |
//! | `Counters` | a dozen files that the kernel answers at once | under a millisecond |
//! | `Users` | also processes that have changed, groups, tmpfs | some milliseconds |
//! | `Settings` | also settings, other evictors and killers, huge pages, disks, shared memory | twice that |
//! | `Whole` | everything again, nothing taken from before | as a `ramline snapshot` without directories |

use ramline_kernel::process::boottime;
use ramline_snapshot::machine::Machine;
use ramline_snapshot::{Snapshot, Wanted};

use super::reader::Reader;
use super::{Walking, cgroups, groups, killers, machine, processes, read, shmem};
use crate::prelude::*;
use crate::processes::ProcessCache;

/// The extent of a sample; each includes what the ones before it read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sweep {
    /// Counters of the whole machine.
    Counters,
    /// Who holds memory.
    Users,
    /// How the machine is set.
    Settings,
    /// Everything, nothing taken from before.
    Whole,
}

const SECONDS: Wanted = Wanted { meminfo: true, vmstat: true, pressure_memory: true, swaps: true, ..Wanted::NOTHING };
const COUNTERS: Wanted = Wanted { zoneinfo: true, pressure_io: true, pressure_cpu: true, zram: true, ..SECONDS };
const USERS: Wanted = Wanted { buddyinfo: true, mounts: true, cgroups: true, ..COUNTERS };
const SETTINGS: Wanted = Wanted {
    settings: true,
    zswap: true,
    evictors: true,
    lru_gen: true,
    thp: true,
    hugepages: true,
    blocks: true,
    ..USERS
};
const WHOLE: Wanted = Wanted { configured: true, slab: true, ..SETTINGS };

/// Longest walk of all groups: of 50,000 a part is read, and the snapshot says that it is one.
const WALK: Duration = Duration::from_millis(500);

/// The files of a second.
const SECOND: [&str; 4] = ["/proc/meminfo", "/proc/vmstat", "/proc/pressure/memory", "/proc/swaps"];
/// Who holds shared memory is asked of every process, which takes longer than all else: only where there is more or less of it than before by this share of
/// RAM, the least that screens show in per cent.
const SHARED_CHANGED: u64 = 100;

/// A machine that is sampled at intervals.
#[derive(Debug)]
pub struct Sampler {
    root: Root,
    processes: ProcessCache,
    groups: groups::GroupCache,
    unchanged_groups: BTreeSet<String>,
    /// Shared memory when its holders were last asked for.
    shared: Option<Bytes>,
    machine: Option<Machine>,
}

impl Sampler {
    /// All that is ever read.
    pub const READS: Wanted = Wanted { processes: true, groups: true, shmem: true, killers: true, zfs: true, ..WHOLE };

    /// Nothing is read yet.
    #[must_use]
    pub fn new(root: &Root) -> Sampler {
        Sampler {
            root: root.clone(),
            processes: ProcessCache::default(),
            groups: groups::GroupCache::default(),
            unchanged_groups: BTreeSet::new(),
            shared: None,
            machine: None,
        }
    }

    /// The files of a second as the kernel gives them, by path; what is not there is left out.
    #[must_use]
    pub fn second(&self) -> BTreeMap<String, String> {
        let reader = Reader::new(&self.root);
        SECOND.iter().filter_map(|path| Some(((*path).to_owned(), reader.text(path).ok()?))).collect()
    }

    /// These files as a snapshot, at nanoseconds since boot and since 1970; `None` before the first sample.
    #[must_use]
    pub fn at_second(&self, files: &BTreeMap<String, String>, uptime: Nanos, unix_ns: u64) -> Option<Snapshot> {
        let mut machine = self.machine.clone()?;
        (machine.uptime, machine.taken_unix_ns) = (Some(uptime), Some(unix_ns));
        let reader = Reader::given(&self.root, files);
        Some(read(&reader, Snapshot::new(machine), SECONDS, Walking::Never))
    }

    /// The processes and groups that the last sample of them found unchanged; of these groups nothing is in its snapshot.
    #[must_use]
    pub const fn unchanged(&self) -> (&BTreeSet<u32>, &BTreeSet<String>) {
        (&self.processes.unchanged, &self.unchanged_groups)
    }

    /// One snapshot of what belongs to a sweep; other sections are unread. Groups that are [`Sampler::unchanged`] have no data in it: they are as in the one before.
    pub fn sample(&mut self, sweep: Sweep) -> Snapshot {
        let reader = Reader::until(&self.root, Instant::now() + WALK);
        if sweep == Sweep::Whole {
            self.machine = None;
            self.processes.forget();
            self.groups.forget();
            self.shared = None;
        }
        let known = self.machine.get_or_insert_with(|| machine::machine(&reader));
        known.uptime = Some(boottime());
        known.taken_unix_ns = machine::unix_ns();
        let wanted = match sweep {
            Sweep::Counters => COUNTERS,
            Sweep::Users => USERS,
            Sweep::Settings => SETTINGS,
            Sweep::Whole => WHOLE,
        };
        let machine = known.clone();
        let mut seen = read(&reader, Snapshot::new(machine.clone()), wanted, Walking::Never);
        if sweep >= Sweep::Users {
            seen.processes = processes::again(&reader, &mut self.processes);
            let hierarchy = cgroups::hierarchy_in(&reader, seen.mounts.data().map(Vec::as_slice));
            let (groups, unchanged) = groups::again(&reader, hierarchy.as_ref(), &machine, &mut self.groups);
            (seen.groups, self.unchanged_groups) = (groups, unchanged.into_iter().collect());
        }
        if sweep >= Sweep::Settings {
            let memory = seen.meminfo.data();
            let (now, ram) = (memory.and_then(|m| m.shmem), memory.and_then(|m| m.mem_total).unwrap_or_default());
            let is_same = |before: Bytes, now: Bytes| before.0.abs_diff(now.0) < ram.0 / SHARED_CHANGED;
            if !self.shared.zip(now).is_some_and(|(before, now)| is_same(before, now)) {
                seen.shmem = shmem::shmem(&reader);
                self.shared = now;
            }
            seen.killers = killers::killers(&reader, seen.processes.data());
        }
        seen
    }

    /// What the processors have done since boot, in ticks: the first line of `/proc/stat`.
    #[must_use]
    pub fn processors(&self) -> Option<Vec<u64>> {
        use std::io::Read;
        // The line of all processors is the first: behind it come those of each and all interrupts, which on a large machine are long.
        let mut buffer = [0; 512];
        let count = ramline_kernel::kernel_file::open(&self.root.path("/proc/stat")).ok()?.read(&mut buffer).ok()?;
        let text = std::str::from_utf8(buffer.get(..count)?).ok()?;
        let line = text.lines().next()?.strip_prefix("cpu ")?;
        line.split_ascii_whitespace().map(|word| word.parse().ok()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_of_counters_reads_no_settings_and_the_machine_is_known_from_the_first() {
        let mut sampler = Sampler::new(&Root::live());
        let whole = sampler.sample(Sweep::Whole);
        assert!(whole.settings.data().is_some() && whole.processes.data().is_some());
        let counters = sampler.sample(Sweep::Counters);
        assert!(counters.settings == Seen::Unread && counters.meminfo.data().is_some());
        assert!(counters.machine.uptime > whole.machine.uptime && counters.machine.kernel == whole.machine.kernel);
    }
}
