//! What acts on a group from outside by the clock: a thread that moves its limit, a reader of its statistics.

use std::fmt::Debug;
use std::sync::Arc;

use ramline_evidence::rng::SplitMix64;

/// The group, as a thread beside it sees it.
pub trait LimitedGroup {
    /// Nanoseconds since the start.
    fn clock(&self) -> u64;
    /// Bytes that a zram's pool takes.
    fn pool_bytes(&self) -> u64;
    /// Pages charged.
    fn charged(&self) -> u64;
    /// The limit in force, in bytes.
    fn limit(&self) -> u64;
    /// It is out of memory.
    fn is_killed(&self) -> bool;
    /// Writes the limit in bytes, at that time or as soon as the clock is there. Returns how long the reclaim of what is above it took.
    fn write_limit(&mut self, limit: u64, at: u64) -> u64;
    /// The task of the load sleeps until then.
    fn sleep_until(&mut self, time: u64);
}

/// A thread beside the group. The simulator runs it as soon as its time has come, between two touches.
pub trait Beside: Debug {
    /// Acts on the group as of its clock; returns when it acts next.
    fn act(&mut self, group: &mut dyn LimitedGroup) -> u64;
}

/// Makes it, for a group with a limit of this number of pages.
pub type MakeBeside = fn(u64) -> Box<dyn Beside>;

/// A reader of the group's memory.stat, which flushes its statistics (`mem_cgroup_flush_stats`). Its reads are asked for one after the other.
pub trait StatReader: Debug {
    /// Its first read, in nanoseconds from the start.
    fn first(&self) -> u64;
    /// It read at this time, as the simulator's clock has it, and should have at `due`; when it reads next.
    fn next(&mut self, due: u64, clock: u64, random: &mut SplitMix64) -> u64;
    /// Its last read before the rounds of a load is behind this part of the touches that fill memory; 0 if there is none. `None`: it reads by the clock.
    fn last_in_fill(&self) -> Option<f64>;
    /// The rounds begin at this time; when it reads first in them. `None`: it reads on by the clock.
    fn first_in_rounds(&self, begin: u64) -> Option<u64>;
}

/// Makes a reader of a run, by two draws from 0 to below 1.
pub trait MakeStatReader: Debug + Send + Sync {
    /// The reader.
    fn stat_reader(&self, draws: [f64; 2]) -> Box<dyn StatReader>;
}

/// Shared by the runs of a setting.
pub type StatReaders = Arc<dyn MakeStatReader>;
