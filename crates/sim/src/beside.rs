//! What acts on a group from outside by the clock, as a thread that moves its limit.

use std::fmt::Debug;

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

/// Makes it, for a group that may have so many pages.
pub type MakeBeside = fn(u64) -> Box<dyn Beside>;
