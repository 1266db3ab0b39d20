//! Resource limits of this process (getrlimit(2)), as far as asking is allowed: a container's filter may forbid it.

#![expect(unsafe_code, reason = "getrlimit, which rustix takes for infallible")]

use rustix::process::{Resource, Rlimit, setrlimit};

/// What is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limited {
    /// Descriptors.
    OpenFiles,
    /// Bytes that may be locked in memory.
    LockedMemory,
    /// Bytes of the main thread's stack.
    Stack,
    /// Bytes of addresses.
    Addresses,
}

/// A thread takes a stack and, where the C library gives it one of its own, 64 MiB of addresses to allocate from.
const OF_A_THREAD: u64 = 96 << 20;

/// As many threads of those that are wanted as fit into the addresses this process may have (`ulimit -v`); at least one.
#[must_use]
pub fn threads_within(wanted: usize) -> usize {
    let room = Limited::Addresses.now().map(|bytes| usize::try_from(bytes / OF_A_THREAD).unwrap_or(usize::MAX));
    room.map_or(wanted, |room| wanted.min(room).max(1))
}

impl Limited {
    fn resource(self) -> Resource {
        match self {
            Limited::OpenFiles => Resource::Nofile,
            Limited::LockedMemory => Resource::Memlock,
            Limited::Stack => Resource::Stack,
            Limited::Addresses => Resource::As,
        }
    }

    fn get(self) -> Option<libc::rlimit> {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: writes one rlimit, which is valid for the call.
        (unsafe { libc::getrlimit(self.resource() as libc::__rlimit_resource_t, &raw mut limit) } == 0).then_some(limit)
    }

    fn set(self, limit: libc::rlimit) -> bool {
        let bound = |bytes| Some(bytes).filter(|bytes| *bytes != libc::RLIM_INFINITY);
        setrlimit(self.resource(), Rlimit { current: bound(limit.rlim_cur), maximum: bound(limit.rlim_max) }).is_ok()
    }

    /// The limit in force; `None` where there is none, or it may not be asked for.
    #[must_use]
    pub fn now(self) -> Option<u64> {
        self.get().map(|limit| limit.rlim_cur).filter(|now| *now != libc::RLIM_INFINITY)
    }

    /// As far up as it goes without asking anybody.
    pub fn raise(self) {
        if let Some(limit) = self.get() {
            self.set(libc::rlimit { rlim_cur: limit.rlim_max, ..limit });
        }
    }

    /// Makes it `least` where it is less; false where it stays less.
    #[must_use]
    pub fn at_least(self, least: u64) -> bool {
        let Some(limit) = self.get().filter(|limit| limit.rlim_cur < least) else { return true };
        // Raising what is the most takes privilege.
        self.set(libc::rlimit { rlim_cur: least, rlim_max: limit.rlim_max.max(least) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_raised_to_its_most_and_asked_for() {
        Limited::OpenFiles.raise();
        assert!(Limited::OpenFiles.now().is_none_or(|now| now >= 64));
        assert!(Limited::Stack.at_least(4096));
    }
}
