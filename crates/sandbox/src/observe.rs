//! Looking at a run from outside: the picture every 100 ms, and the counters before and after.
//!
//! What it is not: inside the sandbox; what looking costs is not charged to the group. But one look changes the result:
//! reading memory.stat makes the kernel bring the group's statistics up to date, which reclaim then decides on; left alone
//! it works on numbers up to 2 s old. So that is a setting of the run (`fresh_statistics`), and the samples are made of
//! what can be read without it: the process, the group's usage, and the counters of the machine.

use ramline_evidence::{FreeGauges, HostPicture, Lru, Reclaim};
use ramline_kernel::cgroup::GroupStat;
use ramline_kernel::write::read_knob;
use ramline_snapshot::meminfo::Meminfo;
use ramline_snapshot::pressure::Pressure;
use ramline_snapshot::switches::LruGen;
use ramline_snapshot::vmstat::Vmstat;
use ramline_snapshot::{Seen, Snapshot};
use ramline_units::growth;

use crate::prelude::*;

/// Time between samples.
pub const SAMPLE_EVERY: Duration = Duration::from_millis(100);
/// One who looks at one run.
#[derive(Debug)]
pub struct Observer<'a> {
    root: &'a Root,
    group: Option<&'a Group>,
    shared: bool,
    begin: Nanos,
    refaults: [Option<u64>; 2],
    swap_used: Bytes,
    stalled: Option<u64>,
}

impl<'a> Observer<'a> {
    /// Begins now. `shared` tells whether the workload's data is shmem. Without a group the whole machine is the sandbox.
    #[must_use]
    pub fn new(root: &'a Root, group: Option<&'a Group>, shared: bool) -> Observer<'a> {
        let seen = look(root);
        let (refaults, swap_used) = (refaults(&seen), host(&seen).swap_used);
        let stalled = stalled(group, &seen);
        Observer { root, group, shared, begin: process::monotonic(), refaults, swap_used, stalled }
    }

    /// The picture now. `known` has what the workload last reported of itself, and limit and pool as in force.
    #[must_use]
    pub fn sample(&self, pid: u32, known: Sample) -> Sample {
        let now = process::monotonic();
        let seen = look(self.root);
        let host = host(&seen);
        let process = process::stat(self.root, pid).ok();
        let memory = process::memory(self.root, pid).ok();
        let (rss, rss_shared) = memory.map(|memory| (memory.rss, memory.shared)).unwrap_or_default();
        // Of shared data and code together only the sum is known from outside; the code cannot be more than there is.
        let anon = rss.saturating_sub(rss_shared);
        let usage = self.usage(&seen).unwrap_or_default();
        let ([files_then, anon_then], [files, anon_pages]) = (self.refaults, refaults(&seen));
        Sample {
            at: now.saturating_sub(self.begin),
            usage,
            anon,
            file: usage.saturating_sub(anon),
            shmem: if self.shared { rss_shared } else { Bytes::ZERO },
            swap: host.swap_used.saturating_sub(self.swap_used),
            state: process.as_ref().map(|stat| stat.state),
            rss,
            rss_shared,
            major_faults: process.and_then(|stat| stat.major_faults).unwrap_or(known.major_faults),
            refault_file: grown(files_then, files),
            refault_anon: grown(anon_then, anon_pages),
            psi_full_us: grown(self.stalled, stalled(self.group, &seen)),
            psi_full_avg10: seen.pressure_memory.data().and_then(|psi| psi.full.as_ref()).map(|full| full.avg10),
            host,
            ..known
        }
    }

    /// The group's charge, without touching its statistics. Of a machine, what is not free.
    fn usage(&self, seen: &Snapshot) -> Option<Bytes> {
        let Some(group) = self.group else {
            let meminfo = seen.meminfo.data()?;
            return Some(meminfo.mem_total?.saturating_sub(meminfo.mem_free?));
        };
        charged(group)
    }
}

/// What a group is charged for, from its page counter: exact but for up to 64 pages a processor.
#[must_use]
pub fn charged(group: &Group) -> Option<Bytes> {
    let file = match group.version() {
        Version::V1 => "memory.usage_in_bytes",
        Version::V2 => "memory.current",
    };
    read_knob(&group.dir().join(file))?.parse().ok().map(Bytes)
}

/// The total of `full` (microseconds): of the group where the kernel keeps it, which needs no statistics brought up to date, else of
/// the machine.
fn stalled(group: Option<&Group>, seen: &Snapshot) -> Option<u64> {
    let own = group
        .and_then(|group| Pressure::parse("memory.pressure", &read_knob(&group.dir().join("memory.pressure"))?).ok());
    own.as_ref().or(seen.pressure_memory.data())?.full.as_ref().map(|full| full.total_us)
}

fn look(root: &Root) -> Snapshot {
    gather(root, Wanted { meminfo: true, vmstat: true, pressure_memory: true, ..Wanted::NOTHING })
}

/// The machine, as it is recorded.
#[must_use]
pub fn machine(root: &Root) -> RunMachine {
    let seen = gather(root, Wanted { meminfo: true, lru_gen: true, ..Wanted::NOTHING });
    RunMachine {
        mem_total: seen.mem_total().unwrap_or_default(),
        lru: page_lists(&seen.lru_gen),
        cpus: u32::try_from(seen.machine.cpus).unwrap_or_default(),
        boot_id: seen.machine.boot_id.unwrap_or_default(),
        kernel: seen.machine.kernel,
        page_size: process::page_size(),
        ramline: env!("CARGO_PKG_VERSION").to_owned(),
        ..RunMachine::default()
    }
}

/// A kernel without the directory of the multi-generational LRU has the classic lists.
fn page_lists(seen: &Seen<LruGen>) -> Option<Lru> {
    match seen {
        Seen::Seen { data, .. } => Some(if data.is_on() { Lru::Mglru } else { Lru::Classic }),
        Seen::Absent { .. } => Some(Lru::Classic),
        _ => None,
    }
}

/// What `free` computes its columns from, of the whole machine.
#[must_use]
pub fn free_gauges(root: &Root) -> FreeGauges {
    let seen = gather(root, Wanted { meminfo: true, ..Wanted::NOTHING });
    seen.meminfo.data().map(gauges_of).unwrap_or_default()
}

/// The same from what was read already.
#[must_use]
pub fn gauges_of(m: &Meminfo) -> FreeGauges {
    let of = |value: Option<Bytes>| value.unwrap_or_default();
    FreeGauges {
        total: of(m.mem_total),
        free: of(m.mem_free),
        buffers: of(m.buffers),
        cached: of(m.cached),
        reclaimable: of(m.s_reclaimable),
        shmem: of(m.shmem),
        available: m.mem_available,
        swap_total: of(m.swap_total),
        swap_used: of(m.swap_total).saturating_sub(of(m.swap_free)),
    }
}

fn grown(then: Option<u64>, now: Option<u64>) -> Option<u64> {
    growth(then?, now?)
}

/// Of files and of anonymous pages, on the whole machine.
fn refaults(seen: &Snapshot) -> [Option<u64>; 2] {
    let count = |of: fn(&Vmstat) -> Option<u64>| seen.vmstat.data().and_then(of);
    [count(Vmstat::refault_file), count(|vmstat| vmstat.workingset_refault_anon)]
}

fn host(seen: &Snapshot) -> HostPicture {
    let FreeGauges { free, buffers, cached, reclaimable, available, swap_used, .. } =
        seen.meminfo.data().map(gauges_of).unwrap_or_default();
    let buff_cache = buffers + cached + reclaimable;
    HostPicture { free, buff_cache, available: available.unwrap_or_default(), swap_used }
}

/// Counters by name: `group.…` of the group, `vm.…` of the whole machine.
#[must_use]
pub fn counters(root: &Root, group: &GroupStat) -> BTreeMap<String, u64> {
    let bytes = |value: Option<Bytes>| value.map(|bytes| bytes.0);
    let mut out: BTreeMap<String, u64> = [
        ("current_bytes", bytes(group.current)),
        ("peak_bytes", bytes(group.peak)),
        ("anon_bytes", bytes(group.anon)),
        ("file_bytes", bytes(group.file)),
        ("shmem_bytes", bytes(group.shmem)),
        ("mapped_file_bytes", bytes(group.mapped_file)),
        ("kernel_bytes", bytes(group.kernel)),
        ("swap_bytes", bytes(group.swap)),
        ("pgfault", group.pgfault),
        ("pgmajfault", group.pgmajfault),
        ("refault_file", group.refault_file),
        ("refault_anon", group.refault_anon),
        ("pgscan", group.pgscan),
        ("pgsteal", group.pgsteal),
        ("pswpin", group.pswpin),
        ("pswpout", group.pswpout),
        ("oom_kills", group.oom_kills),
        ("limit_hits", group.limit_hits),
        ("psi_some_us", group.psi_some_us),
        ("psi_full_us", group.psi_full_us),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((format!("group.{name}"), value?)))
    .collect();
    let seen = gather(root, Wanted { vmstat: true, pressure_memory: true, ..Wanted::NOTHING });
    let fields = seen.vmstat.data().and_then(|vmstat| ramline_units::json::tree(vmstat).ok());
    let fields = fields.as_ref().and_then(serde_json::Value::as_object).into_iter().flatten();
    out.extend(fields.filter_map(|(name, value)| Some((format!("vm.{name}"), value.as_u64()?))));
    if let Some(full) = seen.pressure_memory.data().and_then(|psi| psi.full.as_ref()) {
        out.insert("vm.psi_full_us".to_owned(), full.total_us);
    }
    out
}

/// What lies between a reader and the disks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layers {
    /// Files are read through a loop device.
    pub loop_device: bool,
    /// Swap-ins come from a disk; `None` where some do and some come from zram.
    pub swap_on_disk: Option<bool>,
    /// Size of a page that is swapped in.
    pub page_size: u64,
}

impl Layers {
    /// Read from disks in a run; `None` where that cannot be told.
    ///
    /// vm.pgpgin counts KiB of every read request at every layer: what goes through a loop device is counted there and again
    /// at the disk below; a swap-in is counted once, that from zram as well.
    #[must_use]
    pub fn read(self, record: &RunRecord) -> Option<Bytes> {
        // Without swap no page comes from it.
        let pages = record.growth("group.pswpin").or_else(|| record.growth("vm.pswpin")).unwrap_or(0);
        let swapped = Bytes(pages.saturating_mul(self.page_size));
        let files = Bytes::from_kib(record.growth("vm.pgpgin")?).saturating_sub(swapped);
        let files = if self.loop_device { Bytes(files.0 / 2) } else { files };
        match self.swap_on_disk {
            Some(true) => Some(files + swapped),
            Some(false) => Some(files),
            None => (pages == 0).then_some(files),
        }
    }
}

/// What reclaim did in a run. Swap and scan counts are those of the machine where the group
/// has none (cgroup v1, or v2 before 6.11); the machine is required to be quiet.
#[must_use]
pub fn reclaim(record: &RunRecord, major_faults: u64) -> Reclaim {
    let delta = |name: &str| record.growth(name);
    let either = |group: &str, machine: &str| delta(group).or_else(|| delta(machine));
    Reclaim {
        major_faults,
        refault_file: delta("group.refault_file"),
        refault_anon: delta("group.refault_anon"),
        swap_in: either("group.pswpin", "vm.pswpin"),
        swap_out: either("group.pswpout", "vm.pswpout"),
        swap_in_zero: delta("vm.swpin_zero"),
        swap_out_zero: delta("vm.swpout_zero"),
        read_bytes: None,
        scanned_anon: delta("vm.pgscan_anon"),
        stolen_anon: delta("vm.pgsteal_anon"),
        scanned_file: delta("vm.pgscan_file"),
        stolen_file: delta("vm.pgsteal_file"),
        psi_full_us: either("group.psi_full_us", "vm.psi_full_us"),
    }
}

/// Processes that the kernel killed outside the sandbox: the record says so.
pub fn note_killed_bystanders(record: &mut RunRecord) {
    let Some((all, own)) = record.growth("vm.oom_kill").zip(record.growth("group.oom_kills")) else { return };
    let others = all.saturating_sub(own);
    if others > 0 {
        record.notes.push(format!("bystanders: {others} processes outside the sandbox were killed by the kernel"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(before: &[(&str, u64)], after: &[(&str, u64)]) -> RunRecord {
        RunRecord { before: table(before), after: table(after), ..RunRecord::default() }
    }

    fn table(pairs: &[(&str, u64)]) -> BTreeMap<String, u64> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
    }

    #[test]
    fn a_kernel_without_the_multi_generational_lru_has_the_classic_lists_and_what_is_not_readable_is_unknown() {
        let on = |text: &str| page_lists(&Seen::new(LruGen::from_texts(text, None)));
        assert_eq!((on("0x0007"), on("0x0000")), (Some(Lru::Mglru), Some(Lru::Classic)));
        let path = || "/sys/kernel/mm/lru_gen/enabled".to_owned();
        assert_eq!(page_lists(&Seen::Absent { path: path() }), Some(Lru::Classic));
        assert_eq!(page_lists(&Seen::Denied { path: path() }), None);
    }

    #[test]
    fn the_groups_own_counters_are_preferred_and_absent_ones_stay_unknown() {
        let mut record = run(
            &[("vm.pswpin", 100), ("vm.pgpgin", 0), ("group.refault_file", 5)],
            &[("vm.pswpin", 110), ("vm.pgpgin", 840), ("group.refault_file", 7)],
        );
        let reclaimed = reclaim(&record, 3);
        assert_eq!((reclaimed.swap_in, reclaimed.refault_file, reclaimed.refault_anon), (Some(10), Some(2), None));
        // 40 KiB of swap-ins, and 800 KiB counted twice.
        let read = |loop_device, swap_on_disk| {
            Layers { loop_device, swap_on_disk, page_size: 4096 }.read(&record).map(|bytes| bytes.0 / 1024)
        };
        assert_eq!(read(true, Some(true)), Some(440));
        assert_eq!(read(true, Some(false)), Some(400), "pages from zram were read from no disk");
        assert_eq!(read(false, Some(true)), Some(840), "nothing is counted twice without a loop device");
        assert_eq!(read(true, None), None);
        record.after.insert("group.pswpin".to_owned(), 9);
        assert_eq!(reclaim(&record, 3).swap_in, Some(10), "no value before: not the group's");
    }

    #[test]
    fn a_counter_that_went_backwards_is_unknown() {
        let reclaimed = reclaim(&run(&[("vm.pswpin", 9)], &[("vm.pswpin", 3)]), 0);
        assert_eq!(reclaimed.swap_in, None);
    }

    #[test]
    fn killed_bystanders_are_noted_and_never_guessed_from_one_counter() {
        let noted = |own: &[(&str, u64)], after: &[(&str, u64)]| {
            let mut record = run(&[&[("vm.oom_kill", 4)], own].concat(), after);
            note_killed_bystanders(&mut record);
            record.notes.len()
        };
        assert_eq!(noted(&[("group.oom_kills", 0)], &[("vm.oom_kill", 6), ("group.oom_kills", 1)]), 1);
        assert_eq!(noted(&[("group.oom_kills", 0)], &[("vm.oom_kill", 5), ("group.oom_kills", 1)]), 0);
        assert_eq!(noted(&[], &[("vm.oom_kill", 6)]), 0, "they may have been the sandbox's own");
    }
}
