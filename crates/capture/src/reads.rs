//! Reads and writes of files in an epoch, in their order.
//!
//! A page that is read again and again is kept twice: the kernel's lists know no more of it than that it was used once, or again. A read of many pages is reported again
//! and again while it goes on; what was said the first time is enough.

use std::collections::HashMap;

use ramline_kernel::KernelError;
use ramline_kernel::bpf::{FileRead, FileReads};
use ramline_trace::FileId;
use ramline_trace::touches::{Epoch, EpochAccess, MOST_PAGES, MOST_RUNS, Run};

use crate::recorded::FilesSeen;
use crate::regions::{PAGE, Regions};

/// Pages of an epoch that are kept; of more it is said that some are missing.
const MOST: usize = 1 << 20;
/// How often a page is kept in an epoch.
const TIMES: u8 = 2;
/// Threads of which the last read is remembered.
const THREADS: usize = 1 << 16;

/// Pages that were read or written one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stretch {
    file: FileId,
    by: EpochAccess,
    run: Run,
}

/// An open sequential read: its file, where it was, and the last page that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct OpenRead {
    file: FileId,
    first: u64,
    last: u64,
}

/// Reads and writes of files as the kernel reports them, where it does.
#[derive(Debug)]
pub struct FileLog {
    watch: Result<FileReads, KernelError>,
    reads: Reads,
}

impl FileLog {
    /// With what the kernel reports, or why it does not.
    pub fn new(watch: Result<FileReads, KernelError>) -> FileLog {
        FileLog { watch, reads: Reads::default() }
    }

    /// Something is reported.
    pub const fn is_on(&self) -> bool {
        self.watch.is_ok()
    }

    /// What is reported.
    pub fn sees(&self) -> FilesSeen {
        match &self.watch {
            Ok(watch) if watch.sees_writes() => FilesSeen::All,
            Ok(_) => FilesSeen::Reads,
            Err(error) => FilesSeen::Unseen(error.to_string()),
        }
    }

    /// Follows one more process.
    pub fn follow(&mut self, pid: u32) {
        if self.watch.as_ref().is_ok_and(|watch| watch.follow(pid).is_err()) {
            self.reads.incomplete = true;
        }
    }

    /// Takes in what was reported since.
    pub fn take(&mut self) {
        if let Ok(watch) = &mut self.watch {
            self.reads.take(watch);
        }
    }

    /// Ends an epoch: its records, how many pages they have, and whether some are missing. What was reported in it is news in the next.
    pub fn epoch(&mut self, time_ns: u64, regions: &mut Regions) -> (Vec<Epoch>, u64, bool) {
        let (records, pages) = self.reads.epoch(time_ns, regions);
        self.next();
        (records, pages, std::mem::take(&mut self.reads.incomplete))
    }

    /// Forgets what was reported so far: it is of no epoch.
    pub fn forget(&mut self) {
        self.take();
        self.reads.forget();
        self.next();
    }

    fn next(&mut self) {
        if self.watch.as_mut().is_ok_and(|watch| watch.next_epoch().is_err()) {
            self.reads.incomplete = true;
        }
    }
}

/// What was read and written since the last epoch.
#[derive(Debug, Default)]
struct Reads {
    stretches: Vec<Stretch>,
    times: HashMap<(FileId, u64), u8>,
    going: HashMap<u32, OpenRead>,
    /// Some were lost.
    incomplete: bool,
    lost: u64,
}

impl Reads {
    /// Takes in what the kernel has noted by now.
    fn take(&mut self, from: &mut FileReads) {
        from.drain(|read| self.add(read));
        let lost = from.lost().unwrap_or(0);
        self.incomplete |= lost > self.lost;
        self.lost = lost;
    }

    fn add(&mut self, read: FileRead) {
        let file = FileId { device: read.device, inode: read.inode };
        let end = read.first.saturating_add(read.count);
        if end > MOST_PAGES {
            self.incomplete = true;
            return;
        }
        if !read.written && self.goes_on(file, &read) {
            return;
        }
        // The last stretch is of this call alone.
        let mut is_own = false;
        for page in read.first..end {
            if self.times.len() >= MOST {
                self.incomplete = true;
                return;
            }
            let is_alike = |last: &&mut Stretch| last.file == file && (last.by == EpochAccess::Written) == read.written;
            let last = self.stretches.last_mut().filter(is_alike);
            // Small reads of one page, one after the other, are one use of it.
            if last.as_ref().is_some_and(|last| last.run.end() == page + 1) {
                continue;
            }
            let times = self.times.entry((file, page)).or_default();
            if *times >= TIMES {
                continue;
            }
            *times += 1;
            match last {
                Some(last) if last.run.end() == page => {
                    last.run.count += 1;
                    // Sequential reads: such a stretch is kept as pages, without the calls.
                    if !is_own && !read.written {
                        last.by = EpochAccess::Read;
                    }
                }
                _ => {
                    let by = if read.written { EpochAccess::Written } else { EpochAccess::ReadCall };
                    self.stretches.push(Stretch { file, by, run: Run { first: page, count: 1 } });
                    is_own = true;
                }
            }
        }
    }

    /// It is the rest of a read that was seen.
    fn goes_on(&mut self, file: FileId, read: &FileRead) -> bool {
        let (thread, last) = read.by;
        let now = OpenRead { file, first: read.first, last };
        if self.going.len() >= THREADS {
            self.going.clear();
        }
        let before = self.going.insert(thread, now);
        before.is_some_and(|before| before.file == file && before.last == last && before.first < read.first)
    }

    /// All of them as records of an epoch that ends now, each file a region of the recording; how many pages.
    fn epoch(&mut self, time_ns: u64, regions: &mut Regions) -> (Vec<Epoch>, u64) {
        let mut ends: HashMap<FileId, u64> = HashMap::new();
        for Stretch { file, run, .. } in &self.stretches {
            let end = ends.entry(*file).or_default();
            *end = run.end().max(*end);
        }
        let (mut out, mut pages): (Vec<Epoch>, u64) = (Vec::new(), 0);
        for Stretch { file, by, run } in self.stretches.drain(..) {
            let end = ends.get(&file).copied().unwrap_or_default();
            let Some(region) = regions.read_file(file, end.saturating_mul(PAGE)) else {
                self.incomplete = true;
                continue;
            };
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
        // With the memory that a busy epoch took.
        self.times = HashMap::new();
        (out, pages)
    }

    /// Forgets all of them: they are of no epoch.
    fn forget(&mut self) {
        self.stretches.clear();
        self.times.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(first: u64, count: u64, by: (u32, u64), written: bool) -> FileRead {
        FileRead { device: 1, inode: 2, first, count, written, by }
    }

    fn epoch(reads: &mut Reads) -> Vec<(EpochAccess, Vec<(u64, u64)>)> {
        let (epochs, _) = reads.epoch(7, &mut Regions::default());
        let runs = |one: &Epoch| one.pages.iter().map(|run| (run.first, run.count)).collect();
        epochs.iter().map(|one| (one.by, runs(one))).collect()
    }

    #[test]
    fn reads_stay_in_order_and_a_page_is_kept_twice() {
        let mut reads = Reads::default();
        for first in [9, 9, 9, 10, 3, 9, 9, 3, 9] {
            reads.add(read(first, 1, (5, first), false));
        }
        reads.add(read(40, 2, (5, 0), true));
        let (by, call) = (EpochAccess::Read, EpochAccess::ReadCall);
        let written = (EpochAccess::Written, vec![(40, 2)]);
        assert_eq!(
            epoch(&mut reads),
            [(by, vec![(9, 2)]), (call, vec![(3, 1), (9, 1)]), (call, vec![(3, 1)]), written]
        );
        assert_eq!(epoch(&mut reads), []);
    }

    #[test]
    fn a_call_stands_alone_unless_the_next_one_goes_on_behind_it() {
        let mut reads = Reads::default();
        for (first, count) in [(8, 2), (40, 2), (20, 2), (22, 2)] {
            reads.add(read(first, count, (5, first + count - 1), false));
        }
        let (by, call) = (EpochAccess::Read, EpochAccess::ReadCall);
        assert_eq!(epoch(&mut reads), [(call, vec![(8, 2), (40, 2)]), (by, vec![(20, 4)])]);
    }

    #[test]
    fn a_read_of_many_pages_is_one_though_it_is_reported_batch_by_batch() {
        let mut reads = Reads::default();
        for first in [0, 31, 62, 93] {
            reads.add(read(first, 100 - first, (5, 99), false));
        }
        // Another thread, the same again, and a read that is beyond what a recording holds.
        reads.add(read(62, 38, (6, 99), false));
        reads.add(read(0, 100, (5, 99), false));
        let by = EpochAccess::ReadCall;
        assert_eq!(epoch(&mut reads), [(by, vec![(0, 100)]), (by, vec![(62, 38)]), (by, vec![(0, 62)])]);
        reads.add(read(1 << 40, 1, (5, 1 << 40), false));
        assert!(reads.incomplete && epoch(&mut reads).is_empty());
    }
}
