//! Where the pages with certain ranks are (`/proc/PID/pagemap`, Documentation/admin-guide/mm/pagemap.rst).

use std::os::fd::OwnedFd;

use ramline_kernel::pagemap::{Region, Scanner};
use ramline_kernel::{Root, process};
use ramline_snapshot::processes::Process;

use super::ranges::{OfProcess, Span};
use crate::proc_dir::{NotRead, PidDir, ProcDir};

const PRESENT: u64 = 1 << 63;
const SWAPPED: u64 = 1 << 62;
/// Of a file or of shared memory.
const FILE: u64 = 1 << 61;
/// Mapped here alone.
const EXCLUSIVE: u64 = 1 << 56;
const PFN: u64 = (1 << 55) - 1;
/// Bytes of an entry, and entries read at once.
const ENTRY: u64 = 8;
const AT_ONCE: u64 = 8192;

/// Ranks, from 0 and ascending, of pages wanted of one process: in the order of addresses, those in RAM and in swap apart.
#[derive(Debug, Clone, Copy)]
pub struct Ranks<'a> {
    /// Of anonymous pages in RAM.
    pub present: &'a [u64],
    /// Of pages in swap.
    pub swapped: &'a [u64],
}

/// One page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Located {
    /// Where it begins.
    pub address: u64,
    /// It is in swap: reading it brings it back.
    pub swapped: bool,
    /// Nothing else maps it; never true of the kernel's one page of zeros.
    pub exclusive: bool,
    /// Which page of RAM; only root is told.
    pub frame: Option<u64>,
}

/// Finds the pages with these ranks, as far as they are still there; `over` ends it early.
///
/// # Errors
/// The process ended, or is not for this user.
pub fn locate(
    root: &Root,
    of: &OfProcess,
    wanted: &Ranks<'_>,
    over: &dyn Fn() -> bool,
) -> Result<Vec<Located>, NotRead> {
    let dir = same_process(root, of)?;
    let pagemap = dir.open("pagemap")?;
    let page = process::page_size();
    let mut scan =
        Scan { present: WantedRanks::new(wanted.present), swapped: WantedRanks::new(wanted.swapped), out: Vec::new() };
    for span in &of.spans {
        // What the list of ranges counts there is passed over without a look where nothing in it is wanted.
        if scan.present.is_past(span.present) && scan.swapped.is_past(span.swapped) {
            scan.present.skip(span.present);
            scan.swapped.skip(span.swapped);
            continue;
        }
        if over() {
            break;
        }
        let after = (scan.present.after(span.present), scan.swapped.after(span.swapped));
        scan.span(&pagemap, span, page, over)?;
        // Pages come and go: the ranks of the next range begin where the list of ranges says.
        (scan.present.rank, scan.swapped.rank) = after;
        scan.present.forget_before();
        scan.swapped.forget_before();
    }
    Ok(scan.out)
}

/// Opens the directory of a process, if it is still the same one.
pub(super) fn same_process(root: &Root, of: &OfProcess) -> Result<PidDir, NotRead> {
    let dir = ProcDir::open(root).map_err(|_| NotRead::Absent)?.process(of.pid)?;
    let mut now = Process::default();
    let same = now.stat(dir.read("stat", &mut Vec::new())?).is_ok() && now.started_ticks == of.started_ticks;
    if same { Ok(dir) } else { Err(NotRead::Vanished) }
}

/// Ranks still wanted, and the rank of the next page.
struct WantedRanks<'a> {
    left: &'a [u64],
    rank: u64,
}

impl<'a> WantedRanks<'a> {
    fn new(ranks: &'a [u64]) -> Self {
        WantedRanks { left: ranks, rank: 0 }
    }

    /// None of the next `pages` is wanted.
    fn is_past(&self, pages: u64) -> bool {
        self.left.first().is_none_or(|first| *first >= self.after(pages))
    }

    fn after(&self, pages: u64) -> u64 {
        self.rank.saturating_add(pages)
    }

    fn skip(&mut self, pages: u64) {
        self.rank = self.after(pages);
    }

    /// Ranks that were not found.
    fn forget_before(&mut self) {
        self.left = &self.left[self.left.iter().take_while(|rank| **rank < self.rank).count()..];
    }

    /// One page more; true when it is wanted.
    fn next(&mut self) -> bool {
        let hit = self.left.first() == Some(&self.rank);
        self.left = if hit { &self.left[1..] } else { self.left };
        self.rank += 1;
        hit
    }
}

struct Scan<'a> {
    present: WantedRanks<'a>,
    swapped: WantedRanks<'a>,
    out: Vec<Located>,
}

impl Scan<'_> {
    fn span(&mut self, pagemap: &OwnedFd, span: &Span, page: u64, over: &dyn Fn() -> bool) -> Result<(), NotRead> {
        let ends = (self.present.after(span.present), self.swapped.after(span.swapped));
        match Scanner::new(pagemap) {
            // Kernels before 6.7 have no such call, and the first one says so.
            Ok(scanner) if scanner.regions(span.start, span.start + page).is_ok() => {
                self.regions(&scanner, pagemap, span, page, ends, over)
            }
            _ => self.entries(pagemap, span, page, ends, over),
        }
    }

    /// By regions: holes cost nothing.
    fn regions(
        &mut self,
        scanner: &Scanner,
        pagemap: &OwnedFd,
        span: &Span,
        page: u64,
        ends: (u64, u64),
        over: &dyn Fn() -> bool,
    ) -> Result<(), NotRead> {
        let mut at = span.start;
        while at < span.end && !over() && self.wants_more(ends) {
            let (found, walked) = scanner.regions(at, span.end).map_err(|_| NotRead::Unusable)?;
            for region in &found {
                self.region(region, page, ends, |address| {
                    let mut entry = [0; 8];
                    rustix::io::pread(pagemap, &mut entry, address / page * ENTRY).ok().filter(|read| *read == 8)?;
                    Some(u64::from_ne_bytes(entry))
                });
            }
            // What does not go on has ended.
            at = if walked > at { walked } else { span.end };
        }
        Ok(())
    }

    /// The wanted pages of a region; `entry` reads what pagemap has of one.
    fn region(&mut self, region: &Region, page: u64, ends: (u64, u64), entry: impl Fn(u64) -> Option<u64>) {
        let (wanted, end) = if region.swapped { (&mut self.swapped, ends.1) } else { (&mut self.present, ends.0) };
        let first = wanted.rank;
        let behind = (first + (region.end - region.start) / page).min(end.max(first));
        while let Some(rank) = wanted.left.first().copied().filter(|rank| *rank < behind) {
            wanted.left = &wanted.left[1..];
            if let Some(back) = rank.checked_sub(first) {
                let address = region.start + back * page;
                // It may have gone, or come, since.
                if let Some(entry) = entry(address).filter(|entry| entry & (PRESENT | SWAPPED) != 0) {
                    let swapped = entry & PRESENT == 0;
                    let frame = Some(entry & PFN).filter(|frame| *frame > 0 && !swapped);
                    self.out.push(Located { address, swapped, exclusive: entry & EXCLUSIVE != 0, frame });
                }
            }
        }
        wanted.rank = behind;
    }

    fn wants_more(&self, ends: (u64, u64)) -> bool {
        let more = |wanted: &WantedRanks<'_>, end| wanted.left.first().is_some_and(|first| *first < end);
        more(&self.present, ends.0) || more(&self.swapped, ends.1)
    }

    /// By every entry of the range.
    fn entries(
        &mut self,
        pagemap: &OwnedFd,
        span: &Span,
        page: u64,
        ends: (u64, u64),
        over: &dyn Fn() -> bool,
    ) -> Result<(), NotRead> {
        let (mut at, end) = (span.start / page, span.end / page);
        let mut buffer = vec![0u8; usize::try_from(AT_ONCE.min(end - at) * ENTRY).unwrap_or(0)];
        while at < end && !over() {
            if !self.wants_more(ends) {
                return Ok(());
            }
            let length = usize::try_from(AT_ONCE.min(end - at) * ENTRY).unwrap_or(0);
            let read = rustix::io::pread(pagemap, &mut buffer[..length], at * ENTRY)?;
            if read < 8 {
                return Ok(());
            }
            for entry in buffer[..read].chunks_exact(8).map(|e| u64::from_ne_bytes(e.try_into().unwrap_or_default())) {
                self.entry(entry, at * page, ends);
                at += 1;
            }
        }
        Ok(())
    }

    fn entry(&mut self, entry: u64, address: u64, ends: (u64, u64)) {
        if entry & FILE != 0 {
            return;
        }
        let (wanted, end, swapped) = match (entry & PRESENT != 0, entry & SWAPPED != 0) {
            (true, _) => (&mut self.present, ends.0, false),
            (false, true) => (&mut self.swapped, ends.1, true),
            (false, false) => return,
        };
        if wanted.rank < end && wanted.next() {
            let frame = Some(entry & PFN).filter(|frame| *frame > 0 && !swapped);
            self.out.push(Located { address, swapped, exclusive: entry & EXCLUSIVE != 0, frame });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan<'a>(present: &'a [u64], swapped: &'a [u64]) -> Scan<'a> {
        Scan { present: WantedRanks::new(present), swapped: WantedRanks::new(swapped), out: Vec::new() }
    }

    #[test]
    fn pages_are_found_by_their_rank_and_those_of_files_do_not_count() {
        let mut scan = scan(&[1, 3], &[0]);
        let entries =
            [PRESENT | 5, PRESENT | FILE | 6, 0, PRESENT | EXCLUSIVE | 7, SWAPPED | 99, PRESENT | 8, PRESENT | 9];
        for (address, entry) in (0..).step_by(4096).zip(entries) {
            scan.entry(entry, address, (4, 1));
        }
        let found: Vec<_> = scan.out.iter().map(|l| (l.address / 4096, l.swapped, l.exclusive, l.frame)).collect();
        assert_eq!(found, [(3, false, true, Some(7)), (4, true, false, None), (6, false, false, Some(9))]);
    }

    #[test]
    fn regions_give_the_same_pages_as_entries() {
        let mut scan = scan(&[1, 3], &[0]);
        let region = |start: u64, end: u64, swapped| Region { start: start * 4096, end: end * 4096, swapped };
        let entry =
            |address: u64| Some(if address == 4 * 4096 { SWAPPED | 99 } else { PRESENT | (address / 4096 + 4) });
        for region in [region(0, 1, false), region(3, 4, false), region(4, 5, true), region(5, 7, false)] {
            scan.region(&region, 4096, (4, 1), entry);
        }
        let found: Vec<_> = scan.out.iter().map(|l| (l.address / 4096, l.swapped, l.frame)).collect();
        assert_eq!(found, [(3, false, Some(7)), (4, true, None), (6, false, Some(10))]);
    }

    #[test]
    fn ranges_without_a_wanted_page_are_passed_over() {
        let mut wanted = WantedRanks::new(&[100]);
        assert!(wanted.is_past(100) && !wanted.is_past(101));
        wanted.skip(100);
        assert!(!wanted.is_past(1));
        wanted.rank = 101;
        wanted.forget_before();
        assert!(wanted.is_past(u64::MAX));
    }
}
