//! The last moments of a machine that is watched: what is available, what waits, what refaults and what moves to and from swap.
//!
//! One [`Moment`] is a function of a window; [`Moments`] keeps the last of them, for curves. What it is not: a judgement, which is
//! [`pressure`](crate::pressure)'s, and a record.
//!
//! Worked example: of a window of 1 s in which pswpin grew by 256 pages of 4 KiB, `swapped_in` is 1 MiB a second.

use std::collections::VecDeque;

use crate::prelude::*;
use crate::{available, pressure, swap};

/// Moments that are kept: four minutes at one a second, twice what a curve draws on a wide terminal.
pub const KEPT: usize = 240;

/// What happened in one window; `None` where it was not seen.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Moment {
    /// Share of RAM that is available, 0 to 1.
    pub available: Option<f64>,
    /// Share of the time in which some task stood still for memory, 0 to 1.
    pub stalled: Option<f64>,
    /// Pages of files and programs that were needed again after they were evicted, in bytes a second.
    pub refaults: Option<Bytes>,
    /// Swapped in, in bytes a second.
    pub swapped_in: Option<Bytes>,
    /// Swapped out, in bytes a second.
    pub swapped_out: Option<Bytes>,
    /// Looked at by reclaim, in bytes a second.
    pub scanned: Option<Bytes>,
}

/// So many bytes a second are not much: what a disk of 100 MB/s does in a hundredth of the time. A curve of what moves is as high at least.
pub const NOT_MUCH: f64 = 1_048_576.0;

/// From this share of the time on some task stood still for memory noticeably.
pub const STALLED: f64 = pressure::STALL_PERCENT / 100.0;

impl Moment {
    /// Some task stood still for memory noticeably.
    #[must_use]
    pub fn waits(&self) -> bool {
        self.stalled.is_some_and(|share| share >= STALLED)
    }

    /// From a window.
    #[must_use]
    pub fn new(window: &Window<'_>) -> Self {
        let (seen, page) = (window.after, window.after.machine.page_size);
        let pressure = pressure::from_snapshot(seen, Some(*window));
        let flow = swap::from_snapshot(seen, Some(*window)).and_then(|state| state.flow);
        let bytes = |pages: f64| swap::per_second(pages, page);
        let rates = pressure.rates;
        let refaults = rates.and_then(|rates| match (rates.refault_file, rates.refault_anon) {
            (None, None) => None,
            (file, anon) => Some(bytes(file.unwrap_or_default() + anon.unwrap_or_default())),
        });
        Moment {
            available: available::bytes(seen).zip(seen.mem_total()).and_then(|(some, all)| some.share_of(all)),
            stalled: pressure.memory.and_then(|psi| psi.some_percent).map(|percent| percent / 100.0),
            refaults,
            swapped_in: flow.and_then(|flow| flow.in_per_s),
            swapped_out: flow.and_then(|flow| flow.out_per_s),
            scanned: rates.and_then(|rates| rates.scanned).map(bytes),
        }
    }
}

/// The last moments, the latest last.
#[derive(Debug, Clone, Default)]
pub struct Moments(VecDeque<Moment>);

impl Moments {
    /// Adds one; the oldest goes.
    pub fn push(&mut self, moment: Moment) {
        if self.0.len() == KEPT {
            self.0.pop_front();
        }
        self.0.push_back(moment);
    }

    /// The latest.
    #[must_use]
    pub fn last(&self) -> Option<Moment> {
        self.0.back().copied()
    }

    /// One value of each, oldest first.
    #[must_use]
    pub fn shares(&self, value: impl Fn(&Moment) -> Option<f64>) -> Vec<Option<f64>> {
        self.0.iter().map(value).collect()
    }

    /// The same of sizes, as numbers.
    #[must_use]
    pub fn sizes(&self, value: impl Fn(&Moment) -> Option<Bytes>) -> Vec<Option<f64>> {
        self.shares(|moment| value(moment).map(Bytes::as_f64))
    }

    /// The largest of a size.
    #[must_use]
    pub fn largest(&self, value: impl Fn(&Moment) -> Option<Bytes>) -> Option<Bytes> {
        self.0.iter().filter_map(value).max()
    }

    /// The largest of a share.
    #[must_use]
    pub fn largest_share(&self, value: impl Fn(&Moment) -> Option<f64>) -> Option<f64> {
        self.0.iter().filter_map(value).reduce(f64::max)
    }
}

#[cfg(test)]
mod tests {
    use ramline_snapshot::machine::Machine;
    use ramline_snapshot::swaps::SwapArea;
    use ramline_snapshot::vmstat::Vmstat;
    use ramline_snapshot::{Seen, Snapshot};

    use super::*;

    fn at(seconds: u64, vmstat: Vmstat) -> Snapshot {
        let machine = Machine {
            boot_id: Some("boot".into()),
            uptime: Some(Nanos(seconds * 1_000_000_000)),
            page_size: PageSize(4096),
            ..Machine::default()
        };
        let mut seen = Snapshot::new(machine);
        seen.vmstat = Seen::new(vmstat);
        seen.swaps = Seen::new(vec![SwapArea::parse("/dev/zram0 partition 1024 0 100").unwrap()]);
        seen
    }

    #[test]
    fn a_moment_is_what_grew_in_its_window_and_what_was_not_seen_is_none() {
        let before = at(10, Vmstat { pswpin: Some(0), workingset_refault_file: Some(100), ..Vmstat::default() });
        let after = at(12, Vmstat { pswpin: Some(512), workingset_refault_file: Some(300), ..Vmstat::default() });
        let moment = Moment::new(&Window::new(&before, &after).unwrap());
        assert_eq!(moment.swapped_in, Some(Bytes::from_mib(1)));
        assert_eq!(moment.refaults, Some(Bytes(100 * 4096)));
        assert_eq!((moment.swapped_out, moment.stalled, moment.available), (None, None, None));
    }

    #[test]
    fn only_the_last_moments_are_kept() {
        let mut moments = Moments::default();
        for n in 0..KEPT + 5 {
            moments.push(Moment { swapped_in: Some(Bytes(n as u64)), ..Moment::default() });
        }
        let sizes = moments.sizes(|moment| moment.swapped_in);
        assert_eq!((sizes.len(), sizes[0], moments.largest(|m| m.swapped_in)), (KEPT, Some(5.0), Some(Bytes(244))));
    }
}
