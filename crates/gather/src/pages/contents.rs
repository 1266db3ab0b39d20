//! What is in a page of another process (`/proc/PID/mem`), into memory of the caller.

use std::os::fd::OwnedFd;

use ramline_kernel::Root;

use super::ranges::OfProcess;
use super::tables::same_process;
use crate::proc_dir::NotRead;

/// The memory of one process, open for reading.
pub struct Contents {
    file: OwnedFd,
}

impl Contents {
    /// Opens it.
    ///
    /// # Errors
    /// The process ended, or this user may not read it: of another user, or Yama allows no other process to look (ptrace_scope).
    pub fn open(root: &Root, of: &OfProcess) -> Result<Contents, NotRead> {
        Ok(Contents { file: same_process(root, of)?.open("mem")? })
    }

    /// Fills `page` from `address`; a page in swap is brought back by it.
    ///
    /// # Errors
    /// `Vanished` when the process ended or the range is gone.
    pub fn read(&self, address: u64, page: &mut [u8]) -> Result<(), NotRead> {
        match rustix::io::pread(&self.file, &mut *page, address) {
            Ok(read) if read == page.len() => Ok(()),
            // 0 when the address space is gone, EIO when the range is.
            Ok(_) => Err(NotRead::Vanished),
            Err(error) if error == rustix::io::Errno::IO => Err(NotRead::Vanished),
            Err(error) => Err(error.into()),
        }
    }
}
