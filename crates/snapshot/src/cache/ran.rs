//! What `cache run` saw of a command.

use ramline_units::{Bytes, Deserialize, JsonSchema, Nanos, Serialize};

/// What kept the command's page cache apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Apart {
    /// A memory control group that we made and removed.
    #[default]
    Group,
    /// A scope of the user's systemd.
    Scope,
}

/// What `cache run` saw of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Ran {
    /// The command; any bytes, so it is escaped where it is shown.
    pub command: Vec<String>,
    /// What kept its page cache apart.
    pub apart: Apart,
    /// Limit on all its memory at the beginning.
    pub limit: Bytes,
    /// The limit was raised as its own memory grew, up to this; `None` for a limit that was chosen and stayed.
    pub raised_to: Option<Bytes>,
    /// Exit status; `None` when a signal ended it.
    pub status: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Processes of it that the kernel killed because the limit left no memory.
    pub oom_kills: u64,
    /// Time from start to end.
    pub wall: Nanos,
    /// Read from disks, by it and the children it waited for. Counter.
    pub read: Bytes,
    /// Written to disks by itself; what the kernel writes later is not in it. Counter.
    pub written: Bytes,
    /// The most memory it ever had, page cache included. Peak; `None` where the kernel does not tell.
    pub peak: Option<Bytes>,
    /// Page cache that it had brought in and that was there at its end. Gauge.
    pub cached: Option<Bytes>,
    /// Of it, what is left now. Gauge.
    pub left: Option<Bytes>,
    /// Leaving it was asked for.
    pub kept: bool,
    /// Processes it left running; they were ended.
    pub ended: u64,
}
