//! What can be chosen of a group, and what is counted of it.

use crate::beside::{MakeBeside, StatReaders};
use crate::cost::Costs;
use crate::kernel::Kernel;

/// Anonymous memory among pairs of numbers by kind.
pub const ANON: usize = 0;
/// Files among pairs of numbers by kind.
pub const FILE: usize = 1;

/// Swap of a setting: what evicted pages go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SwapTo {
    /// No area is on.
    Nowhere,
    /// A disk, past which reads come in clusters.
    Disk,
    /// zram: compressed in RAM, at once, page by page.
    Zram,
}

/// When the statistics of the group, by which reclaim decides, are flushed.
#[derive(Debug, Clone)]
pub enum Flushes {
    /// At each change: they are exact.
    AtOnce,
    /// By the kernel's timer, with this number of nanoseconds from one to the next.
    Every(u64),
    /// By a reader of memory.stat.
    By(StatReaders),
}

/// A setting: what can be chosen.
#[derive(Debug, Clone)]
pub struct Setting {
    /// Pages the group may have, a zram's pool included.
    pub limit: u64,
    /// A thread beside the group that writes its limit. Without one the limit stays, and what a zram takes is never there.
    pub beside: Option<MakeBeside>,
    /// 0 to 200.
    pub swappiness: u64,
    /// The area.
    pub swap: SwapTo,
    /// Its slots.
    pub slots: u32,
    /// The largest read-ahead window of a file, in pages (`ra_pages`).
    pub read_ahead: u32,
    /// Slots of one read of the swap area.
    pub cluster: u32,
    /// The chance that nothing was read from swap since boot: the first read is then of a whole cluster.
    pub fresh: f64,
    /// Pages below the limit that are neither mapped nor on a list: what of the program cannot leave, its tables.
    pub base: u64,
    /// When the statistics are flushed by which reclaim decides.
    pub flushes: Flushes,
    /// What things take.
    pub costs: Costs,
    /// What the kernel does where kernels differ.
    pub kernel: Kernel,
}

impl Setting {
    /// A group with a limit of this number of pages, without swap: what a load does by itself.
    #[must_use]
    pub fn without_limit(limit: u64, kernel: Kernel) -> Setting {
        Setting {
            limit,
            beside: None,
            swappiness: 60,
            swap: SwapTo::Nowhere,
            slots: 0,
            read_ahead: 32,
            cluster: 8,
            fresh: 0.0,
            base: 0,
            flushes: Flushes::AtOnce,
            costs: Costs::default(),
            kernel,
        }
    }
}

/// Statistics that the kernel counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Touches.
    pub touches: u64,
    /// Faults without a read.
    pub minor: u64,
    /// Faults that read.
    pub major: u64,
    /// Refaults, by kind.
    pub refault: [u64; 2],
    /// Of these those that were activated.
    pub activated: [u64; 2],
    /// Pages read from swap.
    pub swap_in: u64,
    /// Pages written to swap.
    pub swap_out: u64,
    /// What reclaim cost, by kind, where the kernel goes by its statistics: pages scanned in vain, and 32 for each that was written or refaulted in the working set.
    pub cost: [u64; 2],
    /// Pages scanned, by kind.
    pub scanned: [u64; 2],
    /// Pages freed, by kind.
    pub stolen: [u64; 2],
    /// Pages of files read.
    pub read: u64,
    /// Pages read from disks, of files and of a swap area.
    pub fetched: u64,
    /// Pages written to a swap area on a disk.
    pub written: u64,
    /// Nanoseconds of waiting for disks.
    pub waited: u64,
    /// Of a recording: pages that left RAM in the epoch in which they were touched.
    pub early: u64,
}

impl Counts {
    /// What was counted since then.
    #[must_use]
    pub fn since(&self, then: &Counts) -> Counts {
        let of = |now: u64, then: u64| ramline_units::growth(then, now).unwrap_or(0);
        let both = |now: [u64; 2], then: [u64; 2]| [of(now[0], then[0]), of(now[1], then[1])];
        Counts {
            touches: of(self.touches, then.touches),
            minor: of(self.minor, then.minor),
            major: of(self.major, then.major),
            refault: both(self.refault, then.refault),
            activated: both(self.activated, then.activated),
            swap_in: of(self.swap_in, then.swap_in),
            swap_out: of(self.swap_out, then.swap_out),
            cost: both(self.cost, then.cost),
            scanned: both(self.scanned, then.scanned),
            stolen: both(self.stolen, then.stolen),
            read: of(self.read, then.read),
            fetched: of(self.fetched, then.fetched),
            written: of(self.written, then.written),
            waited: of(self.waited, then.waited),
            early: of(self.early, then.early),
        }
    }
}
