//! How files are warmed, and how far it is.

use std::time::Duration;

use ramline_units::Bytes;

/// What is to be read, and how.
#[derive(Clone, Copy, Default)]
pub struct WarmOptions<'a> {
    /// Only find out what is missing.
    pub dry: bool,
    /// Only this part of each file, as offset and length.
    pub range: Option<(u64, u64)>,
    /// At most so many bytes a second.
    pub rate: Option<Bytes>,
    /// So many readers at a time; found out by measuring when left out.
    pub depth: Option<u64>,
    /// Told now and then how far it is.
    pub progress: Option<&'a (dyn Fn(&Progress) + Sync)>,
}

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Read so far.
    pub done: Bytes,
    /// To be read.
    pub total: Bytes,
    /// Bytes a second, over the last moments.
    pub rate: Bytes,
    /// At that rate; `None` while nothing moves.
    pub left: Option<Duration>,
    /// Readers at a time.
    pub depth: u64,
}
