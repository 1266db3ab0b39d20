//! Where a file's pages are: in RAM or in swap.
//!
//! cachestat(2) counts, for a file of shared memory, the pages in the cache and the entries that lead to swap ("evicted");
//! together they are what `st_blocks` says is allocated. Checked on 6.12 and 6.18 by tests/shmem/run.

use ramline_kernel::process::page_size;
use ramline_kernel::residency;
use ramline_snapshot::shmem::{Amount, Method};
use rustix::fs::{MemfdFlags, memfd_create};

use crate::prelude::*;

pub struct Asker {
    pub method: Method,
    /// The kernel's internal tmpfs, where memfd, segments and shared anonymous memory are: found by a file of our own.
    pub internal_dev: Option<u64>,
    page: u64,
    now: Duration,
}

impl Asker {
    /// `now` is the wall clock since 1970.
    pub fn new(now: Duration) -> Asker {
        let own = memfd_create("ramline", MemfdFlags::CLOEXEC).ok();
        let internal_dev = own.as_ref().and_then(|fd| rustix::fs::fstat(fd).ok()).map(|stat| stat.st_dev);
        let swap = rustix::system::sysinfo();
        let method = if swap.freeswap == swap.totalswap {
            Method::NoSwapUsed
        } else {
            match own.map(File::from).and_then(|file| residency::count(&file, Path::new("memfd")).ok()) {
                Some(seen) if seen.method == residency::Method::Cachestat => Method::Cachestat,
                Some(_) => Method::Mincore,
                None => Method::Unknown,
            }
        };
        Asker { method, internal_dev, page: page_size(), now }
    }

    /// `allocated` bytes of one file, by place; `open` is called only when it has to be asked.
    pub fn amount(&self, allocated: Bytes, open: impl FnOnce() -> Option<OwnedFd>) -> Amount {
        let none = Amount { count: 1, ..Amount::default() };
        match self.method {
            _ if allocated.0 == 0 => none,
            Method::NoSwapUsed => Amount { resident: allocated, ..none },
            Method::Unknown => Amount { either: allocated, ..none },
            Method::Cachestat | Method::Mincore => {
                let seen = open().and_then(|fd| residency::count(&File::from(fd), Path::new("file")).ok());
                let Some(seen) = seen else { return Amount { either: allocated, ..none } };
                let bytes = |pages: u64| Bytes(pages.saturating_mul(self.page));
                let resident = bytes(seen.cached);
                let swapped = seen.evicted.map_or(allocated.saturating_sub(resident), bytes);
                Amount { resident, swapped, either: allocated.saturating_sub(resident + swapped), ..none }
            }
        }
    }

    /// Time since the later of two moments, in seconds since 1970.
    pub fn age(&self, read: i64, written: i64) -> Nanos {
        let touched = u64::try_from(read.max(written)).unwrap_or(0);
        Nanos(self.now.as_secs().saturating_sub(touched).saturating_mul(1_000_000_000))
    }
}

/// `major:minor`, as in mountinfo.
pub fn dev_text(dev: u64) -> String {
    format!("{}:{}", rustix::fs::major(dev), rustix::fs::minor(dev))
}

/// Seconds of a time stamp, whatever its width here.
pub fn seconds(time: impl TryInto<i64>) -> i64 {
    time.try_into().unwrap_or(0)
}
