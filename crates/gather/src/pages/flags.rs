//! Which pages the kernel would reclaim next (`/proc/kpageflags`, root only).

use std::os::fd::OwnedFd;

use ramline_kernel::Root;
use rustix::fs::{Mode, OFlags};

/// include/uapi/linux/kernel-page-flags.h.
const REFERENCED: u64 = 1 << 2;
const ACTIVE: u64 = 1 << 6;
const UNEVICTABLE: u64 = 1 << 18;
const ZERO_PAGE: u64 = 1 << 24;

/// Flags of all pages of RAM.
pub struct Flags {
    file: OwnedFd,
}

/// What the flags say of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Warmth {
    /// On the inactive list and not referenced since it came there: reclaimed before the others.
    Cold,
    /// Active or referenced.
    Warm,
    /// Never swapped: locked, or the kernel's one page of zeros.
    Never,
}

impl Flags {
    /// Opens them; `None` where they are not for this user, or not built in.
    #[must_use]
    pub fn open(root: &Root) -> Option<Flags> {
        let path = root.path("/proc/kpageflags");
        rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok().map(|file| Flags { file })
    }

    /// The warmth of one page; `None` where there is none with this number.
    #[must_use]
    pub fn warmth(&self, frame: u64) -> Option<Warmth> {
        let mut entry = [0; 8];
        let read = rustix::io::pread(&self.file, &mut entry, frame.checked_mul(8)?).ok()?;
        (read == entry.len()).then(|| warmth(u64::from_ne_bytes(entry)))
    }
}

fn warmth(flags: u64) -> Warmth {
    match flags {
        flags if flags & (UNEVICTABLE | ZERO_PAGE) != 0 => Warmth::Never,
        flags if flags & (ACTIVE | REFERENCED) != 0 => Warmth::Warm,
        _ => Warmth::Cold,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_cold_when_it_is_neither_active_nor_referenced() {
        assert_eq!(warmth(1 << 12 | 1 << 5), Warmth::Cold);
        assert_eq!(
            [warmth(ACTIVE), warmth(REFERENCED), warmth(ACTIVE | UNEVICTABLE), warmth(ZERO_PAGE)],
            [Warmth::Warm, Warmth::Warm, Warmth::Never, Warmth::Never]
        );
    }
}
