//! Copies of this process, without another program: for measuring what a fork costs.
//!
//! For processes of one thread only: a copy of any other may not even allocate.

#![expect(unsafe_code, reason = "fork and _exit")]

use std::process::ExitStatus;

use rustix::process::{Signal, set_parent_process_death_signal};

use crate::prelude::*;
use crate::process::{Usage, wait_for};

/// A copy that does its work. Dropping it kills and reaps it.
#[derive(Debug)]
pub struct Fork {
    pid: u32,
    is_reaped: bool,
}

impl Fork {
    /// Forks; the copy does `work`, ends with status 0 where that is true, else 1, and dies with this process.
    ///
    /// # Errors
    /// The kernel refuses another process.
    pub fn start(work: impl FnOnce() -> bool) -> Result<Fork> {
        // SAFETY: this process has one thread (see above), so the copy may do what any process may.
        match unsafe { libc::fork() } {
            -1 => Err(KernelError::io("fork", "this process", std::io::Error::last_os_error())),
            0 => {
                set_parent_process_death_signal(Some(Signal::KILL)).ok();
                let status = i32::from(!work());
                // SAFETY: _exit runs no handlers of the process it is a copy of.
                unsafe { libc::_exit(status) }
            }
            pid => Ok(Fork { pid: pid.unsigned_abs(), is_reaped: false }),
        }
    }

    /// Waits until it has ended.
    ///
    /// # Errors
    /// It cannot be waited for.
    pub fn wait(mut self) -> Result<(ExitStatus, Usage)> {
        self.is_reaped = true;
        wait_for(self.pid)
    }
}

impl Drop for Fork {
    fn drop(&mut self) {
        if !self.is_reaped {
            crate::process::kill(self.pid).ok();
            wait_for(self.pid).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_does_its_work_on_its_own_memory_and_says_whether_it_could() {
        let mut value = 1;
        let copy = Fork::start(|| {
            value += 1;
            value == 2
        });
        let (status, _) = copy.unwrap().wait().unwrap();
        assert!(status.success());
        assert_eq!(value, 1);
        assert_eq!(Fork::start(|| false).unwrap().wait().unwrap().0.code(), Some(1));
    }
}
