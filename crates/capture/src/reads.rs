//! Reads and writes of files in an epoch, in their order.
//!
//! A page that is read again and again is kept twice: the kernel's lists know no more of it than that it was used once, or again.

use std::collections::HashMap;

use ramline_kernel::bpf::{FileRead, FileReads};
use ramline_trace::FileId;
use ramline_trace::touches::{Epoch, EpochAccess, MOST_RUNS, Run};

use crate::regions::{PAGE, Regions};

/// Pages of an epoch that are kept; of more it is said that some are missing.
const MOST: usize = 4 << 20;
/// How often a page is kept in an epoch.
const TIMES: u8 = 2;

/// Pages that were read or written one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stretch {
    region: u32,
    by: EpochAccess,
    run: Run,
}

/// What was read and written since the last epoch.
#[derive(Debug, Default)]
pub struct Reads {
    stretches: Vec<Stretch>,
    times: HashMap<(u32, u64), u8>,
    /// Some were lost.
    pub incomplete: bool,
    lost: u64,
}

impl Reads {
    /// Takes in what the kernel has noted by now.
    pub fn take(&mut self, from: &mut FileReads, regions: &mut Regions) {
        from.drain(|read| self.add(read, regions));
        let lost = from.lost().unwrap_or(0);
        self.incomplete |= lost > self.lost;
        self.lost = lost;
    }

    fn add(&mut self, read: FileRead, regions: &mut Regions) {
        let id = FileId { device: read.device, inode: read.inode };
        let end = read.first.saturating_add(read.count);
        let region = regions.read_file(id, end.saturating_mul(PAGE));
        let by = if read.written { EpochAccess::Written } else { EpochAccess::Read };
        for page in read.first..end {
            if self.times.len() >= MOST {
                self.incomplete = true;
                return;
            }
            let last = self.stretches.last_mut().filter(|last| last.region == region && last.by == by);
            // Small reads of one page, one after the other, are one use of it.
            if last.as_ref().is_some_and(|last| last.run.end() == page + 1) {
                continue;
            }
            let times = self.times.entry((region, page)).or_default();
            if *times >= TIMES {
                continue;
            }
            *times += 1;
            match last {
                Some(last) if last.run.end() == page => last.run.count += 1,
                _ => self.stretches.push(Stretch { region, by, run: Run { first: page, count: 1 } }),
            }
        }
    }

    /// All of them as records of an epoch that ends now; how many pages.
    pub fn epoch(&mut self, time_ns: u64) -> (Vec<Epoch>, u64) {
        let (mut out, mut pages): (Vec<Epoch>, u64) = (Vec::new(), 0);
        for Stretch { region, by, run } in self.stretches.drain(..) {
            pages += run.count;
            match out.last_mut() {
                // Runs of a record ascend, and do not touch each other.
                Some(last)
                    if (last.region, last.by) == (region, by)
                        && last.pages.len() < MOST_RUNS
                        && last.pages.last().is_some_and(|before| before.end() < run.first) =>
                {
                    last.pages.push(run);
                }
                _ => out.push(Epoch { time_ns, region, by, pages: vec![run] }),
            }
        }
        self.times.clear();
        (out, pages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_stay_in_order_and_a_page_is_kept_twice() {
        let (mut reads, mut regions) = (Reads::default(), Regions::default());
        let mut read = |first, count, written| {
            reads.add(FileRead { device: 1, inode: 2, first, count, written }, &mut regions);
        };
        for first in [9, 9, 9, 10, 3, 9, 9, 3] {
            read(first, 1, false);
        }
        read(40, 2, true);
        let (epochs, pages) = reads.epoch(7);
        let runs: Vec<_> = epochs
            .iter()
            .map(|one| (one.by, one.pages.iter().map(|run| (run.first, run.count)).collect::<Vec<_>>()))
            .collect();
        let read = EpochAccess::Read;
        let written = (EpochAccess::Written, vec![(40, 2)]);
        assert_eq!(runs, [(read, vec![(9, 2)]), (read, vec![(3, 1), (9, 1)]), (read, vec![(3, 1)]), written]);
        assert_eq!((pages, reads.epoch(8).1), (7, 0));
    }
}
