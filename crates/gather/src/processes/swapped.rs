//! In which swap area the swapped pages of a process are (root only).
//!
//! `smaps` names the mappings that have pages in swap; for these alone `pagemap` is read, 8 bytes a page: bit 62 says
//! swapped, bits 0 to 4 are the number of the area, bits 5 to 54 the place in it (admin-guide/mm/pagemap.rst).
//! Without CAP_SYS_ADMIN the kernel shows number and place as 0; place 0 is the header of an area and never a page, which
//! distinguishes the two.

use std::ops::Range;

use ramline_kernel::pagemap::{Region, Scanner};
use ramline_snapshot::processes::SwappedTo;
use ramline_units::PageSize;

use super::plan::LARGEST_WALK;
use crate::prelude::*;
use crate::proc_dir::{NotRead, PidDir};

/// Numbers from here on are no areas but marks of the kernel (migration, poison, device memory): MAX_SWAPFILES is 32 less
/// up to nine such marks.
pub(crate) const AREAS: usize = 23;
const SWAPPED: u64 = 1 << 62;
const ENTRY: u64 = 8;

/// Looks up the areas of all swapped pages, largest processes first, for at most `budget`; `None` is without bound.
pub fn place_swapped(root: &Root, all: &mut Processes, budget: Option<Nanos>) {
    let Ok(proc) = ProcDir::open(root) else { return };
    let start = Instant::now();
    let mut order: Vec<usize> = (0..all.list.len()).filter(|at| all.list[*at].swap.is_some_and(|s| s.0 > 0)).collect();
    ramline_units::sort_by_key(&mut order, |at| std::cmp::Reverse(all.list[*at].swap));
    let (mut text, mut entries) = (Vec::new(), vec![0; 64 << 10]);
    for at in order {
        if budget.is_some_and(|budget| Nanos::from(start.elapsed()) >= budget || all.list[at].rss() > LARGEST_WALK) {
            continue;
        }
        // A mapping of a terabyte has two gigabytes of entries, however few of its pages are in swap.
        let late = || budget.is_some_and(|budget| Nanos::from(start.elapsed()) >= budget);
        let places = proc.process(all.list[at].pid).and_then(|dir| {
            let mut now = Process::default();
            let same =
                now.stat(dir.read("stat", &mut text)?).is_ok() && now.started_ticks == all.list[at].started_ticks;
            if same { read_places(&dir, &mut text, &mut entries, &late) } else { Err(NotRead::Vanished) }
        });
        match places {
            Ok(places) => all.list[at].swapped_to = places,
            // Whoever may not read one may read none.
            Err(NotRead::Denied) => return,
            Err(_) => {}
        }
    }
}

/// Where its pages are; unusable when time is up before all were seen.
fn read_places(
    dir: &PidDir,
    text: &mut Vec<u8>,
    entries: &mut [u8],
    late: &dyn Fn() -> bool,
) -> Result<Vec<SwappedTo>, NotRead> {
    let page = PageSize(ramline_kernel::process::page_size());
    let ranges = swapped_ranges(dir.read("smaps", text)?);
    let pagemap = dir.open("pagemap")?;
    let scanner = Scanner::new(&pagemap).ok();
    let mut pages = [0u64; AREAS];
    for range in ranges {
        let mut next = range.start;
        while next < range.end {
            // Where the kernel names them (6.7) only pages in swap are read, elsewhere every entry of the mapping.
            let found = scanner.as_ref().and_then(|scanner| scanner.swapped(next, range.end).ok());
            let (regions, end) = match found {
                Some((regions, end)) => (regions, end.max(next + 1)),
                None => (vec![Region { start: next, end: range.end, swapped: true }], range.end),
            };
            for region in regions {
                count_region(&pagemap, region, page, entries, &mut pages, late)?;
            }
            if late() {
                return Err(NotRead::Unusable);
            }
            next = end;
        }
    }
    let places = pages.iter().enumerate().filter(|(_, n)| **n > 0);
    let bytes = |n: u64| Bytes(n.saturating_mul(page.0));
    Ok(places.filter_map(|(area, n)| Some(SwappedTo { area: u32::try_from(area).ok()?, bytes: bytes(*n) })).collect())
}

/// Counts the entries of a range of addresses.
fn count_region(
    pagemap: &OwnedFd,
    region: Region,
    page: PageSize,
    entries: &mut [u8],
    pages: &mut [u64; AREAS],
    late: &dyn Fn() -> bool,
) -> Result<(), NotRead> {
    let (mut at, end) = (region.start / page.0 * ENTRY, region.end / page.0 * ENTRY);
    while at < end {
        let want = usize::try_from(end - at).unwrap_or(usize::MAX).min(entries.len());
        let got = rustix::io::pread(pagemap, &mut entries[..want], at)?;
        if got == 0 {
            break;
        }
        if !count(&entries[..got], pages) {
            return Err(NotRead::Denied);
        }
        if late() {
            return Err(NotRead::Unusable);
        }
        at += got as u64;
    }
    Ok(())
}

/// Adds swapped entries by area; false when the kernel has blanked them.
fn count(entries: &[u8], pages: &mut [u64; AREAS]) -> bool {
    for entry in entries.chunks_exact(8) {
        let entry = u64::from_ne_bytes(entry.try_into().unwrap_or_default());
        if entry & SWAPPED == 0 {
            continue;
        }
        if entry & !(SWAPPED | 0x1f) & ((1 << 55) - 1) == 0 {
            return false;
        }
        if let Some(area) = usize::try_from(entry & 0x1f).ok().and_then(|area| pages.get_mut(area)) {
            *area += 1;
        }
    }
    true
}

/// The address ranges of the mappings that have pages in swap.
pub(crate) fn swapped_ranges(smaps: &[u8]) -> Vec<Range<u64>> {
    let mut ranges = Vec::new();
    let mut here = None;
    for line in smaps.split(|b| *b == b'\n') {
        let text = String::from_utf8_lossy(line.get(..64).unwrap_or(line));
        if let Some(kib) = text.strip_prefix("Swap:") {
            let some = kib.split_whitespace().next().is_some_and(|n| n != "0");
            ranges.extend(here.take().filter(|_| some));
        } else if let Some(range) = range(&text) {
            here = Some(range);
        }
    }
    ranges
}

/// `7f00-8000 rw-p …`: the first line of a mapping; the others have a colon after their first word.
pub(crate) fn range(line: &str) -> Option<Range<u64>> {
    let (start, end) = line.split(' ').next()?.split_once('-')?;
    let hex = |digits| u64::from_str_radix(digits, 16).ok();
    Some(hex(start)?..hex(end)?).filter(|r| r.start < r.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_mappings_with_pages_in_swap_are_looked_at() {
        let smaps =
            b"1000-3000 rw-p 0 00:00 0\nRss: 4 kB\nSwap:   4 kB\nSwapPss: 4 kB\n5000-6000 r--p 0 08:01 9 /Swap: 4 kB\n\
                      Swap: 0 kB\nVmFlags: rd\n6000-9000 rw-p 0 00:00 0 [heap]\nSwap: 8 kB\n";
        assert_eq!(swapped_ranges(smaps), [0x1000..0x3000, 0x6000..0x9000]);
        assert!(swapped_ranges(b"Swap: 9 kB\n9000-1000 rw-p\nSwap: 4 kB\n\xff").is_empty());
    }

    #[test]
    fn swapped_entries_are_counted_by_area_and_blanked_ones_are_refused() {
        let entry = |area: u64, place: u64| (SWAPPED | place << 5 | area).to_ne_bytes();
        let present = (1u64 << 63 | 77).to_ne_bytes();
        let mut pages = [0; AREAS];
        let bytes = [entry(0, 9), entry(2, 1), entry(2, 70_000), present, [0; 8], entry(30, 5)].concat();
        assert!(count(&bytes, &mut pages));
        assert_eq!((pages[0], pages[1], pages[2]), (1, 0, 2));
        assert!(!count(&entry(0, 0), &mut pages));
    }
}
