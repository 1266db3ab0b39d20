//! Memory for what must not leave this process: locked, in no core dump, not inherited by a child, zeroed when it goes.
//!
//! What it is not: a defence against root, who may read any memory. Zeroing happens on success, error and panic, and after a signal that
//! [`crate::signals`] has taken; after SIGKILL the kernel clears the pages before it gives them to anybody.
//!
//! ```
//! use ramline_kernel::arena::Arena;
//! use ramline_units::Bytes;
//! let mut arena = Arena::new(Bytes::from_kib(16))?;
//! arena.bytes_mut()[..6].copy_from_slice(b"secret");
//! assert_eq!(&arena.bytes()[..6], b"secret");
//! # Ok::<(), ramline_kernel::KernelError>(())
//! ```

#![expect(unsafe_code, reason = "mallopt")]

use ramline_units::Bytes;

use crate::Root;
use crate::error::{KernelError, Result};
use crate::limits::Limited;
use crate::map::{Advice, Map, Sharing};
use crate::write::write_knob;

/// Bytes that stay here.
#[derive(Debug)]
pub struct Arena {
    map: Map,
}

impl Arena {
    /// `size` bytes, all zeros, rounded up to pages.
    ///
    /// # Errors
    /// ENOMEM where they cannot be mapped, or not be locked (RLIMIT_MEMLOCK; [`most`] says how much can).
    pub fn new(size: Bytes) -> Result<Arena> {
        let page = crate::process::page_size();
        let mut map = Map::anonymous(Bytes(size.0.div_ceil(page).saturating_mul(page)), Sharing::Private)?;
        // Before anything can be in it.
        map.advise(Advice::NoHugePages)?;
        map.advise(Advice::DontDump)?;
        map.advise(Advice::DontFork)?;
        map.lock().map_err(|error| error.or_hint("ulimit -l unlimited"))?;
        Ok(Arena { map })
    }

    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.map.as_slice()
    }

    /// Its bytes, to fill.
    #[must_use]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // An anonymous mapping is always writable.
        self.map.as_mut_slice().unwrap_or_default()
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        self.map.wipe();
    }
}

/// How much this process may lock; `None` is without bound.
#[must_use]
pub fn most() -> Option<Bytes> {
    // CAP_IPC_LOCK, which root has, goes beyond the limit.
    let probe = Map::anonymous(Bytes(crate::process::page_size()), Sharing::Private).ok()?;
    let limit = Limited::LockedMemory.now()?;
    let unbound = crate::process::uid() == 0 && probe.lock().is_ok();
    (!unbound).then_some(Bytes(limit))
}

/// Keeps the whole process out of core dumps and from debuggers of the same user, and its memory, as far as it may be locked, out of swap:
/// for what libraries keep in buffers of their own. A dump that root takes from a debugger has no anonymous memory, as coredump_filter says.
///
/// # Errors
/// When the kernel refuses the first; memory that may not be locked, and a kernel without that filter, is no error.
pub fn seclude(root: &Root) -> Result<()> {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    // First: once it is not dumpable the file belongs to root.
    write_knob(&root.path("/proc/self/coredump_filter"), "0").ok();
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .map_err(|error| KernelError::io("keep out of core dumps", "this process", error.into()))?;
    if most().is_none() {
        use rustix::mm::{MlockAllFlags, mlockall};
        // Only what is touched: stacks are reserved in megabytes.
        let later = MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT;
        mlockall(later).ok();
    }
    Ok(())
}

/// From now on memory that is given back to the C library's allocator is overwritten, all but the smallest pieces (glibc; others do nothing).
pub fn overwrite_freed() {
    #[cfg(target_env = "gnu")]
    // SAFETY: mallopt only sets a byte in the allocator's own state.
    unsafe {
        libc::mallopt(libc::M_PERTURB, 0x5a);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arena_is_locked_kept_out_of_dumps_and_of_children() {
        let arena = Arena::new(Bytes::from_kib(64)).unwrap();
        let start = format!("{:x}-", arena.bytes().as_ptr().addr());
        let smaps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mut lines = smaps.lines().skip_while(|line| !line.starts_with(&start));
        let flags = lines.find(|line| line.starts_with("VmFlags:")).unwrap();
        for flag in [" lo", " dd", " dc", " nh"] {
            assert!(flags.contains(flag), "{flag} in {flags}");
        }
    }
}
