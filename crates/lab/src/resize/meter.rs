//! What a group misses and how much time that costs it, read again and again.
//!
//! Misses are counted by the programs of [`ramline_kernel::bpf`]; where the kernel has none for us, its own refaults are taken, which leave out pages whose
//! eviction it has forgotten. Time lost is the group's own pressure (version 2), else the machine's, which counts only while the group misses something. Without
//! PSI it is misses and swap-ins, each as long as a read took the disk meanwhile; a swap-in from zram as long as a page of our own takes out and in.
//!
//! Worked example: 300 misses in a second and 30 ms that the disk took for 300 reads are 3 % of the time lost.

use std::collections::BTreeSet;

use ramline_evidence::{TimeLostBy, TrialSample};
use ramline_gather::requests;
use ramline_kernel::bpf::{PageCacheChange, PageCacheWatch};
use ramline_kernel::cgroup::{Existing, ids_below};
use ramline_kernel::place::whole_disk;
use ramline_kernel::stalls::some_us;
use ramline_snapshot::blocks::Reads;
use ramline_trace::FileId;
use ramline_trace::ghosts::Ghosts;

use super::swap_cost::out_and_in_ns;
use crate::prelude::*;

/// Nothing is asked of distances here.
const FEW_GHOSTS: usize = 2;
/// Fewer reads have no mean that means anything: their sum is given in whole milliseconds.
const FEWEST_READS: u64 = 10;
/// A zram device counts in ticks of the timer, of 10 ms at most (CONFIG_HZ=100): its mean is that of all reads and one tick, so that
/// reads faster than a tick are not taken for free.
const TICK_MS: u64 = 10;

/// Counters at one moment.
#[derive(Debug, Clone, Copy)]
pub struct Reading {
    at: Instant,
    misses: u64,
    stat: GroupStat,
    files: Reads,
    swap: Reads,
    /// Of the machine, where the kernel has none of the group.
    machine_us: Option<u64>,
}

impl Reading {
    /// Processes that were killed in it for want of memory.
    pub const fn kills(&self) -> Option<u64> {
        self.stat.oom_kills
    }

    /// Its counters.
    pub const fn stat(&self) -> &GroupStat {
        &self.stat
    }

    /// When.
    pub const fn at(&self) -> Instant {
        self.at
    }
}

/// The meter of one group.
#[derive(Debug)]
pub struct Meter<'a> {
    root: &'a Root,
    group: Existing,
    watch: Option<PageCacheWatch>,
    ghosts: Ghosts,
    devices: BTreeSet<u32>,
    disks: BTreeSet<String>,
    all_disks: Vec<String>,
    swap_disks: Vec<String>,
    /// Swap is of zram devices alone.
    by_ticks: bool,
    /// Then what one swap-in costs.
    swap_ns: Option<f64>,
    begun: Instant,
    first: Option<Reading>,
}

impl<'a> Meter<'a> {
    /// Begins.
    pub fn start(root: &'a Root, group: &Existing) -> Result<Meter<'a>> {
        let watch = ids_below(group.dir()).and_then(|ids| PageCacheWatch::start(root, &ids)).ok();
        let is_device = |path: &Path| path.starts_with("/dev");
        let areas = swap::areas(root)?;
        let named = |path: &Path| path.file_name()?.to_str().map(str::to_owned);
        let swap_disks = areas.iter().filter_map(|area| {
            let path = Path::new(&area.path);
            let name = named(path).filter(|name| is_device(path) && requests::reads(root, name).is_some());
            name.or_else(|| requests::disk_of(root, path))
        });
        let swap_disks: Vec<String> = swap_disks.collect();
        let by_ticks = !swap_disks.is_empty() && swap_disks.iter().all(|disk| disk.starts_with("zram"));
        Ok(Meter {
            root,
            group: group.clone(),
            watch,
            ghosts: Ghosts::at_most(FEW_GHOSTS),
            devices: BTreeSet::new(),
            disks: BTreeSet::new(),
            all_disks: disks(root),
            by_ticks,
            swap_ns: if by_ticks { out_and_in_ns() } else { None },
            swap_disks,
            begun: Instant::now(),
            first: None,
        })
    }

    /// Takes in what happened since.
    pub fn drain(&mut self) {
        let (ghosts, devices) = (&mut self.ghosts, &mut self.devices);
        let Some(watch) = &mut self.watch else { return };
        let known = devices.len();
        watch.drain(|event| {
            if event.what == PageCacheChange::Added {
                let file = FileId { device: event.device, inode: event.inode };
                ghosts.added(event.at, event.task, file, event.index, event.pages);
                devices.insert(event.device);
            }
        });
        if devices.len() != known {
            let named = devices.iter().filter_map(|dev| whole_disk(self.root, (dev >> 20, dev & 0x000f_ffff)));
            self.disks = named.collect();
        }
    }

    /// The counters now. Fails when the group is gone.
    pub fn read(&mut self) -> Result<Reading> {
        self.drain();
        let stat = self.group.stat()?;
        let misses = match &self.watch {
            Some(_) => self.ghosts.curve(Nanos(0), Bytes(1)).misses,
            None => stat.refault_file.unwrap_or(0) + stat.pgmajfault.unwrap_or(0),
        };
        let sum = |disks: &mut dyn Iterator<Item = &String>| {
            disks.filter_map(|disk| requests::reads(self.root, disk)).fold(Reads::default(), |sum, reads| Reads {
                count: sum.count + reads.count,
                took_ms: sum.took_ms + reads.took_ms,
            })
        };
        let files = if self.disks.is_empty() { sum(&mut self.all_disks.iter()) } else { sum(&mut self.disks.iter()) };
        let swap = sum(&mut self.swap_disks.iter());
        let machine_us = if stat.psi_some_us.is_none() { some_us(self.root) } else { None };
        let reading = Reading { at: Instant::now(), misses, stat, files, swap, machine_us };
        self.first.get_or_insert(reading);
        Ok(reading)
    }

    /// Who says how much time is lost.
    pub const fn time_lost_by(reading: &Reading) -> TimeLostBy {
        if reading.stat.psi_some_us.is_some() {
            TimeLostBy::GroupPressure
        } else if reading.machine_us.is_some() {
            TimeLostBy::MachinePressure
        } else {
            TimeLostBy::Misses
        }
    }

    /// What happened between two readings.
    pub fn between(&self, before: &Reading, after: &Reading) -> TrialSample {
        let seconds = after.at.duration_since(before.at).as_secs_f64().max(1e-3);
        let grown = |a: Option<u64>, b: Option<u64>| ramline_units::growth(a?, b?);
        let swap_ins = grown(before.stat.refault_anon, after.stat.refault_anon);
        let misses = ramline_units::growth(before.misses, after.misses).unwrap_or(0);
        let pressure = grown(before.stat.psi_some_us, after.stat.psi_some_us);
        let pressure = pressure.or_else(|| grown(before.machine_us, after.machine_us));
        let lost_ns = match pressure {
            Some(waited) => Some(waited as f64 * 1e3),
            None => {
                let files = self.cost(misses, before.files, after.files, |reading| reading.files);
                let swap_ins = swap_ins.unwrap_or(0);
                let swap = if self.by_ticks {
                    let by_device = || Reads { took_ms: after.swap.took_ms + TICK_MS, ..after.swap }.mean_ns();
                    let mean = self.swap_ns.or_else(by_device);
                    if swap_ins == 0 { Some(0.0) } else { mean.map(|mean| swap_ins as f64 * mean) }
                } else {
                    self.cost(swap_ins, before.swap, after.swap, |reading| reading.swap)
                };
                files.zip(swap).map(|(files, swap)| files + swap)
            }
        };
        TrialSample {
            at: Nanos::from(after.at.duration_since(self.begun)),
            size: after.stat.current.unwrap_or_default(),
            limit: None,
            misses: (misses + swap_ins.unwrap_or(0)) as f64 / seconds,
            swap_ins: swap_ins.map(|count| count as f64 / seconds),
            lost: lost_ns.map(|ns| ns / 1e9 / seconds),
        }
    }

    /// So many reads, each as long as those of the disk took meanwhile, or since the trial began where those were few. `None` where none is counted.
    fn cost(&self, reads: u64, before: Reads, after: Reads, pick: impl Fn(&Reading) -> Reads) -> Option<f64> {
        if reads == 0 {
            return Some(0.0);
        }
        let since = |before: Reads| {
            let count = ramline_units::growth(before.count, after.count)?;
            let took_ms = ramline_units::growth(before.took_ms, after.took_ms)?;
            Some(Reads { count, took_ms }).filter(|reads| reads.count >= FEWEST_READS)
        };
        let took = since(before).or_else(|| since(pick(self.first.as_ref()?)));
        // Fewer than ten in all: what the disk took since it is there.
        let mean = took.or(Some(after)).and_then(Reads::mean_ns)?;
        Some(reads as f64 * mean)
    }
}

/// Whole disks whose reads are counted; of those made in RAM, none.
fn disks(root: &Root) -> Vec<String> {
    let snapshot = gather(root, Wanted { blocks: true, ..Wanted::NOTHING });
    let blocks = snapshot.blocks.data().map(Vec::as_slice).unwrap_or_default();
    let is_disk = |name: &str| !["zram", "ram", "loop"].iter().any(|kind| name.starts_with(kind));
    blocks.iter().filter(|block| is_disk(&block.name)).map(|block| block.name.clone()).collect()
}
