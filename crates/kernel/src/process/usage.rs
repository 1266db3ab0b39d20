//! What a child, or this process, has used.

#![expect(unsafe_code, reason = "wait4 and getrusage")]

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};

use ramline_units::{Nanos, growth};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::prelude::*;

/// What a child has used, from wait4(2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// CPU time in user mode.
    pub user: Nanos,
    /// CPU time in the kernel.
    pub system: Nanos,
    /// Faults that needed I/O.
    pub majflt: u64,
    /// Faults that did not.
    pub minflt: u64,
    /// The most it ever had resident.
    pub max_rss: Bytes,
    /// What it had read from disks; what others had read for it is not among it. 0 on a kernel without I/O accounting.
    pub read: Bytes,
    /// What it had sent to disks itself; what the kernel wrote back later is not among it.
    pub written: Bytes,
}

impl Usage {
    /// CPU time, user and kernel.
    #[must_use]
    pub const fn cpu(&self) -> Nanos {
        Nanos(self.user.0.saturating_add(self.system.0))
    }

    /// What was used since `before`; the most that was resident stays that of the whole life.
    ///
    /// # Errors
    /// A counter went back, which those of one process do not.
    pub fn since(&self, before: &Usage) -> Result<Usage> {
        let grown = || {
            Some(Usage {
                user: growth(before.user, self.user)?,
                system: growth(before.system, self.system)?,
                majflt: growth(before.majflt, self.majflt)?,
                minflt: growth(before.minflt, self.minflt)?,
                max_rss: self.max_rss,
                read: growth(before.read, self.read)?,
                written: growth(before.written, self.written)?,
            })
        };
        grown().ok_or_else(|| KernelError::unsupported("compare", "the usage of a process", "counters that only grow"))
    }
}

/// Waits for a child to end and returns its status and usage. The child must not be waited for again.
///
/// # Errors
/// When it is not our child.
pub fn wait_with_usage(child: &Child) -> Result<(ExitStatus, Usage)> {
    wait_for(child.id())
}

/// The same of a child that is known by its number.
pub(crate) fn wait_for(pid: u32) -> Result<(ExitStatus, Usage)> {
    let ended = wait4(pid, 0)?.ok_or(rustix::io::Errno::CHILD);
    ended.map_err(|error| KernelError::io("wait for", format!("process {pid}"), error.into()))
}

/// The same, but returns `None` at once while the child is still running.
///
/// # Errors
/// When it is not our child.
pub fn poll_with_usage(child: &Child) -> Result<Option<(ExitStatus, Usage)>> {
    wait4(child.id(), libc::WNOHANG)
}

/// Waits up to `limit`; `None` when the child is still running then, or a signal of ours came. The end is noticed at once where
/// the kernel has handles on processes (Linux 5.3), else within a millisecond.
///
/// # Errors
/// When it is not our child.
pub fn wait_at_most(child: &Child, limit: Duration) -> Result<Option<(ExitStatus, Usage)>> {
    let begin = Instant::now();
    if let Some(handle) = super::pidfd(child.id()) {
        // An error is a signal that came: then the caller looks at its flag.
        poll(&mut [PollFd::new(&handle, PollFlags::IN)], Timespec::try_from(limit).ok().as_ref()).ok();
        return poll_with_usage(child);
    }
    loop {
        let ended = poll_with_usage(child)?;
        if ended.is_some() || begin.elapsed() >= limit || crate::signals::interrupted() {
            return Ok(ended);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn wait4(pid: u32, options: libc::c_int) -> Result<Option<(ExitStatus, Usage)>> {
    let id = libc::pid_t::try_from(pid).unwrap_or(libc::pid_t::MAX);
    let mut status = 0;
    loop {
        // SAFETY: status and usage are valid for writing; a zeroed rusage is valid.
        let (got, usage) = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            (libc::wait4(id, &raw mut status, options, &raw mut usage), usage)
        };
        match got {
            -1 => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted || crate::signals::interrupted() {
                    return Err(error).tried("wait for", format!("process {pid}"));
                }
            }
            0 => return Ok(None),
            _ => return Ok(Some((ExitStatus::from_raw(status), usage_of(&usage)))),
        }
    }
}

fn usage_of(usage: &libc::rusage) -> Usage {
    let count = |value: libc::c_long| u64::try_from(value).unwrap_or_default();
    let nanos = |time: libc::timeval| {
        Nanos(count(time.tv_sec).saturating_mul(1_000_000_000).saturating_add(count(time.tv_usec).saturating_mul(1000)))
    };
    Usage {
        user: nanos(usage.ru_utime),
        system: nanos(usage.ru_stime),
        majflt: count(usage.ru_majflt),
        minflt: count(usage.ru_minflt),
        max_rss: Bytes::from_kib(count(usage.ru_maxrss)),
        // Blocks of 512 bytes, whatever the disk has.
        read: Bytes(count(usage.ru_inblock).saturating_mul(512)),
        written: Bytes(count(usage.ru_oublock).saturating_mul(512)),
    }
}

/// What this process has used so far.
///
/// # Errors
/// Never in practice.
pub fn own_usage() -> Result<Usage> {
    rusage(libc::RUSAGE_SELF).map(|usage| usage_of(&usage)).tried("read the usage of", "this process")
}

/// How often the scheduler took the CPU from this thread to give it to another. Counter; 0 where the kernel does not count.
#[must_use]
pub fn preemptions() -> u64 {
    rusage(libc::RUSAGE_THREAD).map_or(0, |usage| u64::try_from(usage.ru_nivcsw).unwrap_or_default())
}

fn rusage(of: libc::c_int) -> io::Result<libc::rusage> {
    // SAFETY: a zeroed rusage is valid and filled by the call.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        check(libc::getrusage(of, &raw mut usage))?;
        Ok(usage)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_before_is_taken_off_and_a_counter_that_went_back_is_an_error() {
        let none = Usage { majflt: 0, ..own_usage().unwrap() };
        let more = Usage { majflt: 3, user: Nanos(none.user.0 + 7), ..none };
        let since = more.since(&none).unwrap();
        assert_eq!((since.majflt, since.user, since.system, since.cpu()), (3, Nanos(7), Nanos(0), Nanos(7)));
        assert!(none.since(&more).is_err());
    }
}
