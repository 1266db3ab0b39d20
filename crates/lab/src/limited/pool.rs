//! Keeping limit + pool constant in an arm with zram, and in one with zswap where its pool is charged to no group.
//!
//! A zram pool is not charged to any memory cgroup, nor is that of zswap in version 1, so the group would own its limit and
//! the pool as well. A
//! thread of the observer lowers the limit as the pool grows and raises it again. Where data does not compress, reclaim
//! into zram gains nothing: lowering the limit by a page makes the pool grow by a page. So the workload is held until the
//! sum is right again, as an allocation on a whole machine waits for reclaim; the time held counts.
//! What it is not: exact. The pool is looked at every millisecond; what was missed is recorded.

use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

use crate::prelude::*;
use ramline_evidence::PoolBalance;
use ramline_model::settings::{Reach, reach};
use ramline_snapshot::swaps::SwapArea;

/// Time between looks at the pool.
const POOL_EVERY: Duration = Duration::from_millis(1);
/// How long it may take to stop.
const STOPPED_WITHIN: Duration = Duration::from_secs(5);
/// The limit follows once the pool has moved by nominal / this (0.1 %), and is lowered by at most that much at a time: in
/// cgroup v1 the old limit stays in force until the group has been brought below the new one, so a large step would leave
/// the workload the memory of the pool for as long as that takes.
const STEP: u64 = 1000;

/// Compressed pages that no group is charged for.
pub enum Pool {
    /// Of one device.
    Zram(zram::Device),
    /// The machine's one pool; nothing else uses it, or the plan would have been refused.
    Zswap(Root),
    /// What the machine's own compressed swap takes beyond what it took before: others may use it as well, on a quiet machine little.
    Host { zram: Vec<zram::Device>, zswap: Option<Root>, before: Bytes },
}

impl Pool {
    fn used(&self) -> ramline_kernel::Result<Bytes> {
        match self {
            Pool::Zram(device) => Ok(device.mm_stat()?.mem_used_total),
            Pool::Zswap(root) => zswap::pool(root),
            Pool::Host { zram, zswap, before } => Ok(held(zram, zswap.as_ref())?.saturating_sub(*before)),
        }
    }

    /// The pool of the machine as it is configured, as far as no group is charged for it; `None` where there is none.
    ///
    /// # Errors
    /// /proc/swaps or a device in it cannot be read.
    pub fn for_host(root: &Root, version: Version) -> ramline_kernel::Result<Option<Pool>> {
        let areas = swap::areas(root)?;
        let zram: Vec<_> =
            areas.iter().filter_map(SwapArea::zram_number).map(|id| zram::Device::open(root, id)).collect();
        // The pool of zswap has a line of its own since 5.19 only; without a swap area nothing gets into it.
        let charged = reach(Knob::Zswap, knobs::place(version)) == Reach::PerGroup;
        let zswap =
            (!charged && !areas.is_empty() && zswap::is_on(root) && zswap::pool(root).is_ok()).then(|| root.clone());
        if zram.is_empty() && zswap.is_none() {
            return Ok(None);
        }
        let before = held(&zram, zswap.as_ref())?;
        Ok(Some(Pool::Host { zram, zswap, before }))
    }
}

fn held(zram: &[zram::Device], zswap: Option<&Root>) -> ramline_kernel::Result<Bytes> {
    let mut sum = zswap.map_or(Ok(Bytes::ZERO), zswap::pool)?;
    for device in zram {
        sum += device.mm_stat()?.mem_used_total;
    }
    Ok(sum)
}

/// A thread that follows one pool.
pub struct PoolKeeper {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<PoolBalance>>,
}

/// What the thread and its owner share.
#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    lost: AtomicBool,
    limit: AtomicU64,
    pool: AtomicU64,
    worker: AtomicU64,
}

impl PoolKeeper {
    /// Starts following; `hold` is the file by which the workload is held, where it can be: a command that is not ours cannot.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn start(group: Group, pool: Pool, nominal: Bytes, hold: Option<&Path>) -> Result<PoolKeeper> {
        let open =
            |hold| OpenOptions::new().write(true).open(hold).map_err(|error| LabError::file("open", hold, error));
        let brake = hold.map(open).transpose()?;
        let follower = Follower {
            group,
            pool,
            brake,
            limit: nominal,
            held_since: None,
            balance: PoolBalance { nominal, sum_max: nominal, sum_min: nominal, ..PoolBalance::default() },
        };
        follower.set_brake(0);
        let shared = Arc::new(Shared { limit: AtomicU64::new(nominal.0), ..Shared::default() });
        let of_thread = Arc::clone(&shared);
        let thread = ramline_kernel::worker::spawn("pool", move || follower.follow(&of_thread));
        Ok(PoolKeeper { shared, thread: Some(thread) })
    }

    /// Limit and pool as last seen.
    #[must_use]
    pub fn now(&self) -> (Bytes, Bytes) {
        (Bytes(self.shared.limit.load(Ordering::Relaxed)), Bytes(self.shared.pool.load(Ordering::Relaxed)))
    }

    /// Memory of the worker itself, which is added to every limit that is written from now on.
    pub fn add(&self, worker: Bytes) {
        self.shared.worker.store(worker.0, Ordering::Relaxed);
    }

    /// True once the pool could not be read any more: from then on the sum is not kept.
    #[must_use]
    pub fn lost(&self) -> bool {
        self.shared.lost.load(Ordering::Relaxed)
    }

    /// Tells it to stop, without waiting: it may be inside a write of the limit that ends only when the group is killed.
    pub fn ask_to_stop(&self) {
        self.shared.stop.store(true, Ordering::Relaxed);
    }

    /// Stops following, and returns once that is so: before the workload ends and its pool vanishes. False when it does
    /// not within 5 s: then it is inside a write of the limit that only the death of the workload ends.
    #[must_use]
    pub fn stop(&self) -> bool {
        self.ask_to_stop();
        let begin = Instant::now();
        while self.thread.as_ref().is_some_and(|thread| !thread.is_finished()) {
            if begin.elapsed() > STOPPED_WITHIN {
                return false;
            }
            std::thread::sleep(POOL_EVERY);
        }
        true
    }

    /// Stops following and tells how well it went; `None` if the thread died.
    #[must_use]
    pub fn finish(mut self) -> Option<PoolBalance> {
        self.ask_to_stop();
        self.thread.take()?.join().ok()
    }
}

impl Drop for PoolKeeper {
    fn drop(&mut self) {
        self.ask_to_stop();
        // The group is removed next: nobody may write to its files any more.
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

struct Follower {
    group: Group,
    pool: Pool,
    brake: Option<File>,
    limit: Bytes,
    held_since: Option<Nanos>,
    balance: PoolBalance,
}

impl Follower {
    fn follow(mut self, shared: &Shared) -> PoolBalance {
        let nominal = self.balance.nominal;
        let step = Bytes(nominal.0 / STEP);
        let begin = process::monotonic();
        // Nanoseconds times bytes do not fit into 64 bits.
        let (mut area, mut last) = (0u128, begin);
        while !shared.stop.load(Ordering::Relaxed) {
            let Ok(pool) = self.pool.used() else {
                shared.lost.store(true, Ordering::Relaxed);
                break;
            };
            let sum = self.limit + pool;
            let now = process::monotonic();
            area += u128::from(sum.0) * u128::from(now.0.saturating_sub(last.0));
            last = now;
            self.balance.pool_max = self.balance.pool_max.max(pool);
            self.balance.sum_max = self.balance.sum_max.max(sum);
            self.balance.sum_min = self.balance.sum_min.min(sum);
            self.hold_or_release(sum, step, now);
            let wanted = nominal.saturating_sub(pool);
            let moved = wanted.0.abs_diff(self.limit.0) >= step.0.max(1);
            if moved {
                self.move_limit(
                    wanted.max(self.limit.saturating_sub(step)),
                    Bytes(shared.worker.load(Ordering::Relaxed)),
                );
            }
            shared.limit.store(self.limit.0, Ordering::Relaxed);
            shared.pool.store(pool.0, Ordering::Relaxed);
            if !moved {
                std::thread::sleep(POOL_EVERY);
            }
        }
        let time = u128::from(last.0.saturating_sub(begin.0));
        self.balance.sum_mean = area.checked_div(time).and_then(|mean| u64::try_from(mean).ok()).map_or(nominal, Bytes);
        self.release(process::monotonic());
        self.balance
    }

    fn move_limit(&mut self, next: Bytes, worker: Bytes) {
        match self.group.set_memory_limit(Limit::At(next + worker)) {
            Ok(_) => self.limit = next,
            Err(_) => self.balance.refused += 1,
        }
    }

    fn hold_or_release(&mut self, sum: Bytes, step: Bytes, now: Nanos) {
        // Held for as long as the limit must be lowered: the write waits for reclaim, and a workload that goes on meanwhile
        // would make the pool grow by more than that frees.
        if sum < self.balance.nominal + step {
            self.release(now);
        } else if self.held_since.is_none() && self.brake.is_some() {
            self.set_brake(1);
            self.held_since = Some(now);
        }
    }

    fn release(&mut self, now: Nanos) {
        if let Some(since) = self.held_since.take() {
            self.set_brake(0);
            self.balance.held.0 += now.0.saturating_sub(since.0);
        }
    }

    fn set_brake(&self, value: u8) {
        // A brake that cannot be set shows as a deviation; one that cannot be released is ended by the watchdog.
        drop(self.brake.as_ref().map(|brake| brake.write_all_at(&[value], 0)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pool_of_the_machine_s_own_zram_counts_from_what_it_held_before() {
        let tree = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = tree.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let root = Root::new(tree.path());
        let swaps =
            "Filename Type Size Used Priority\n/dev/zram1 partition 1024 0 100\n/dev/sda2 partition 1024 0 -2\n";
        write("proc/swaps", swaps);
        write("sys/block/zram1/mm_stat", "8192 100 4096 0 4096 0 0 0 0\n");
        let pool = Pool::for_host(&root, Version::V1).unwrap().unwrap();
        assert_eq!(pool.used().unwrap(), Bytes::ZERO);
        write("sys/block/zram1/mm_stat", "81920 1000 40960 0 40960 0 0 0 0\n");
        assert_eq!(pool.used().unwrap(), Bytes(36_864));
        write("sys/module/zswap/parameters/enabled", "Y\n");
        write("proc/meminfo", "Zswap: 4 kB\n");
        let with = Pool::for_host(&root, Version::V1).unwrap().unwrap();
        write("proc/meminfo", "Zswap: 8 kB\n");
        assert_eq!(with.used().unwrap(), Bytes(4096), "version 1 charges zswap to nobody");
        write("proc/swaps", "Filename Type Size Used Priority\n/dev/sda2 partition 1024 0 -2\n");
        assert!(Pool::for_host(&root, Version::V2).unwrap().is_none(), "version 2 charges zswap to the group");
    }

    #[test]
    fn a_pool_that_cannot_be_read_is_said_to_be_lost_and_lets_the_workload_go() {
        let tree = tempfile::tempdir().unwrap();
        let dir = tree.path().join("ramline-1-0");
        std::fs::create_dir(&dir).unwrap();
        std::fs::write(dir.join("memory.limit_in_bytes"), "1\n").unwrap();
        let hold = tree.path().join("hold");
        std::fs::write(&hold, [1]).unwrap();
        let device = zram::Device::open(&Root::new(tree.path()), 7);
        let keeper =
            PoolKeeper::start(Group::open(&dir).unwrap(), Pool::Zram(device), Bytes::from_mib(64), Some(&hold))
                .unwrap();
        while !keeper.lost() {
            std::thread::sleep(POOL_EVERY);
        }
        assert!(keeper.stop());
        assert_eq!(std::fs::read(&hold).unwrap(), [0]);
        assert_eq!(keeper.finish().unwrap().sum_max, Bytes::from_mib(64));
    }
}
