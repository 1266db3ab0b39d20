//! What stands out among groups: waiting, growth, pages that come back, a limit that is near.
//!
//! Not advice. Which group is worth a sentence, and by how much, is said here; the sentence is the screen's.
//!
//! Worked example: of three groups that grow by 8, 1 and 4 MiB a second the first is named first.

use super::{GroupMemory, PartId};
use crate::prelude::*;

/// Growth below a page a second, either way, is none.
const LEAST_GROWTH: f64 = 4096.0;
/// A share of time below this prints as nothing, in percent.
const LEAST_WAIT: f64 = 0.01;
/// A group is at its limit from this share of it on.
const NEAR: f64 = 0.95;

/// What of a group reclaim could not take, by why. They may overlap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stays {
    /// Kept by the protection in force. Gauge.
    pub protected: Bytes,
    /// Anonymous and shared memory that a swappiness of 0 keeps out of swap. Gauge.
    pub kept_from_swap: Bytes,
    /// Anonymous and shared memory without swap to go to. Gauge.
    pub without_swap: Bytes,
    /// Locked. Gauge.
    pub locked: Bytes,
    /// Kernel memory; at the top, which does not count it, none. Gauge.
    pub kernel: Bytes,
    /// Together they are more than what stays.
    pub overlap: bool,
}

impl GroupMemory {
    /// Percent of the last 10 s in which some task of it waited for memory; `None` where none did.
    #[must_use]
    pub fn waited(&self) -> Option<f64> {
        self.pressure.as_ref()?.some.map(|some| some.avg10).filter(|percent| *percent >= LEAST_WAIT)
    }

    /// Growth in bytes a second over the window; `None` where it is next to none.
    #[must_use]
    pub fn grew(&self) -> Option<f64> {
        self.rates?.growth.filter(|growth| growth.abs() >= LEAST_GROWTH)
    }

    /// Pages a second, of files and anonymous ones, that came back after they were evicted; `None` where none did.
    #[must_use]
    pub fn came_back(&self) -> Option<f64> {
        let rates = self.rates?;
        let pages = rates.refaults_file.unwrap_or(0.0) + rates.refaults_anon.unwrap_or(0.0);
        Some(pages).filter(|pages| *pages > 0.0)
    }

    /// It uses more than 95 % of its own limit.
    #[must_use]
    pub fn is_near_limit(&self) -> bool {
        let limit = self.bound.max.and_then(Limit::bytes);
        self.current.zip(limit).and_then(|(current, limit)| current.share_of(limit)).is_some_and(|share| share > NEAR)
    }

    /// Why what stays cannot be taken.
    #[must_use]
    pub fn stays(&self) -> Stays {
        let taken = &self.reclaim;
        let swappable = if taken.swap_forbidden { Bytes::ZERO } else { taken.swappable };
        let counts_kernel = self.depth > 0 || self.summed;
        let mut stays = Stays {
            protected: taken.protected,
            kept_from_swap: taken.swappable.saturating_sub(swappable),
            without_swap: swappable.saturating_sub(taken.swap_room.unwrap_or_default()),
            locked: self.within.unevictable.unwrap_or_default(),
            kernel: match counts_kernel {
                true => self.kernel().saturating_sub(taken.slab.unwrap_or_default()),
                false => Bytes::ZERO,
            },
            overlap: false,
        };
        let reasons = [stays.protected, stays.kept_from_swap, stays.without_swap, stays.locked, stays.kernel];
        let several = reasons.iter().filter(|bytes| bytes.0 > 0).count() > 1;
        stays.overlap = several && reasons.into_iter().sum::<Bytes>() > taken.stays;
        stays
    }

    /// The first line of the page cache that has pages.
    #[must_use]
    pub fn first_of_cache(&self) -> Option<PartId> {
        let cache = [PartId::FileActive, PartId::FileInactive, PartId::FileOther];
        cache.into_iter().find(|id| self.part(*id).is_some_and(|b| b.0 > 0))
    }
}

/// Groups below the top for which `pick` finds something, the largest first.
pub fn most<T: PartialOrd>(groups: &[GroupMemory], pick: impl Fn(&GroupMemory) -> Option<T>) -> Vec<(&GroupMemory, T)> {
    let mut out: Vec<(&GroupMemory, T)> =
        groups.iter().filter(|group| group.depth > 0).filter_map(|group| Some((group, pick(group)?))).collect();
    ramline_units::sort_by(&mut out, |a, b| b.1.partial_cmp(&a.1).unwrap_or(std::cmp::Ordering::Equal));
    out
}
