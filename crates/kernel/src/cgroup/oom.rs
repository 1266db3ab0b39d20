//! Whether a group of version 1 ran out of memory at its limit, also for a moment: the kernel counts it up in an eventfd.
//!
//! `under_oom` of memory.oom_control is seen only while it lasts. Version 2 has counters instead (memory.events).

use std::os::fd::AsRawFd;

use rustix::event::{EventfdFlags, eventfd};

use crate::prelude::*;
use crate::write::write_knob;

const CONTROL: &str = "cgroup.event_control";
const OOM: &str = "memory.oom_control";

/// A watch on one group; it ends when this is dropped.
#[derive(Debug)]
pub struct OomNotices {
    count: OwnedFd,
    _control: File,
}

impl OomNotices {
    /// Begins. `None` where the kernel has no such notices (version 2, PREEMPT_RT).
    pub(super) fn start(dir: &Path) -> Option<OomNotices> {
        let control = File::open(dir.join(OOM)).ok()?;
        let count = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).ok()?;
        let words = format!("{} {}", count.as_raw_fd(), control.as_raw_fd());
        write_knob(&dir.join(CONTROL), &words).ok()?;
        Some(OomNotices { count, _control: control })
    }

    /// How often it ran out since the last call.
    #[must_use]
    pub fn since(&self) -> u64 {
        let mut number = [0; 8];
        // Nothing to read is EAGAIN.
        if rustix::io::read(&self.count, &mut number) == Ok(8) { u64::from_ne_bytes(number) } else { 0 }
    }
}
