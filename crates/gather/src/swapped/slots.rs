//! The slots of one process (`/proc/PID/pagemap`): bit 62 says swapped, bits 0 to 4 are the number of the area, 5 to 54 the slot in it.

use ramline_kernel::pagemap::Scanner;
use ramline_kernel::process::page_size;

use crate::prelude::*;
use crate::proc_dir::{NotRead, PidDir};
use crate::processes::{AREAS, LARGEST_WALK, range, swapped_ranges};

const SWAPPED: u64 = 1 << 62;
const ENTRY: u64 = 8;
/// Entries of one read.
const AT_ONCE: usize = 8192;

/// Why the slots of a process are not known.
#[derive(Debug, PartialEq, Eq)]
pub enum NotPlaced {
    /// The kernel shows number and slot as 0 (no CAP_SYS_ADMIN): slot 0 is the header of an area and never a page.
    Blanked,
    /// In the middle of it.
    TimeOver,
    NotRead(NotRead),
}

impl<E: Into<NotRead>> From<E> for NotPlaced {
    fn from(error: E) -> Self {
        NotPlaced::NotRead(error.into())
    }
}

/// Slots by number of the area, in the order of addresses.
pub type ByArea = BTreeMap<u32, Vec<u32>>;

/// Looks at the page tables of one process.
pub fn for_process(
    root: &Root,
    of: &Process,
    text: &mut Vec<u8>,
    over: &dyn Fn() -> bool,
) -> Result<ByArea, NotPlaced> {
    let proc = ProcDir::open(root).map_err(|_| NotPlaced::NotRead(NotRead::Absent))?;
    let dir = proc.process(of.pid)?;
    let mut now = Process::default();
    let same = now.stat(dir.read("stat", text)?).is_ok() && now.started_ticks == of.started_ticks;
    if !same {
        return Err(NotPlaced::NotRead(NotRead::Vanished));
    }
    let pagemap = dir.open("pagemap")?;
    let mut look =
        SlotReader { pagemap: &pagemap, page: page_size(), found: ByArea::new(), entries: vec![0; AT_ONCE * 8] };
    match Scanner::new(&pagemap) {
        // Kernels before 6.7 have no such call; a range without pages tells.
        Ok(scanner) if scanner.swapped(0, look.page).is_ok() => {
            for (start, end) in ranges(dir.read("maps", text)?) {
                look.scanned(&scanner, start, end, over)?;
            }
        }
        // That is a walk of the whole process inside one read.
        _ if of.rss() > LARGEST_WALK => return Err(NotPlaced::TimeOver),
        _ => {
            for range in walked(&dir, text)? {
                look.entries(range.start, range.end, over)?;
            }
        }
    }
    Ok(look.found)
}

/// Ranges with pages in swap, by a walk of the kernel's: as dear as the process is large.
fn walked(dir: &PidDir, text: &mut Vec<u8>) -> Result<Vec<std::ops::Range<u64>>, NotRead> {
    Ok(swapped_ranges(dir.read("smaps", text)?))
}

/// All ranges of addresses.
fn ranges(maps: &[u8]) -> Vec<(u64, u64)> {
    let lines = maps.split(|byte| *byte == b'\n');
    lines
        .filter_map(|line| range(&String::from_utf8_lossy(line.get(..64).unwrap_or(line))))
        .map(|r| (r.start, r.end))
        .collect()
}

struct SlotReader<'a> {
    pagemap: &'a OwnedFd,
    page: u64,
    found: ByArea,
    entries: Vec<u8>,
}

impl SlotReader<'_> {
    fn scanned(&mut self, scanner: &Scanner, start: u64, end: u64, over: &dyn Fn() -> bool) -> Result<(), NotPlaced> {
        let mut at = start;
        while at < end {
            if over() {
                return Err(NotPlaced::TimeOver);
            }
            // A range that went away, or the kernel's own (vsyscall), has none.
            let Ok((regions, walked)) = scanner.swapped(at, end) else { return Ok(()) };
            for region in regions {
                self.entries(region.start, region.end, over)?;
            }
            at = if walked > at { walked } else { end };
        }
        Ok(())
    }

    fn entries(&mut self, start: u64, end: u64, over: &dyn Fn() -> bool) -> Result<(), NotPlaced> {
        let (mut at, end) = (start / self.page * ENTRY, end / self.page * ENTRY);
        while at < end {
            if over() {
                return Err(NotPlaced::TimeOver);
            }
            let want = usize::try_from(end - at).unwrap_or(usize::MAX).min(self.entries.len());
            let got = rustix::io::pread(self.pagemap, &mut self.entries[..want], at)?;
            if got == 0 {
                break;
            }
            if !sort(&self.entries[..got], &mut self.found) {
                return Err(NotPlaced::Blanked);
            }
            at += got as u64;
        }
        Ok(())
    }
}

/// Adds the slots of swapped entries; false when the kernel has blanked them.
fn sort(entries: &[u8], found: &mut ByArea) -> bool {
    for entry in entries.chunks_exact(8) {
        let entry = u64::from_ne_bytes(entry.try_into().unwrap_or_default());
        if entry & SWAPPED == 0 {
            continue;
        }
        let (number, slot) = (entry & 0x1f, (entry & ((1 << 55) - 1)) >> 5);
        if number == 0 && slot == 0 {
            return false;
        }
        if let (true, Ok(number), Ok(slot)) = (number < AREAS as u64, u32::try_from(number), u32::try_from(slot)) {
            found.entry(number).or_default().push(slot);
        }
    }
    true
}

/// Which slots were seen.
#[derive(Debug, Default)]
pub struct Bitmap {
    words: Vec<u64>,
    count: u64,
    highest: u32,
}

impl Bitmap {
    /// True when it was not there yet.
    pub fn insert(&mut self, slot: u32) -> bool {
        let (word, bit) = ((slot / 64) as usize, 1u64 << (slot % 64));
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        let fresh = self.words[word] & bit == 0;
        self.words[word] |= bit;
        self.count += u64::from(fresh);
        self.highest = self.highest.max(slot);
        fresh
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    pub fn highest(&self) -> u64 {
        u64::from(self.highest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swapped_entries_are_sorted_by_area_and_blanked_ones_are_refused() {
        let entry = |area: u64, place: u64| (SWAPPED | place << 5 | area).to_ne_bytes();
        let present = (1u64 << 63 | 77).to_ne_bytes();
        let mut found = ByArea::new();
        let bytes = [entry(0, 9), entry(2, 1), entry(2, 70_000), present, [0; 8], entry(30, 5)].concat();
        assert!(sort(&bytes, &mut found));
        assert_eq!(found, ByArea::from([(0, vec![9]), (2, vec![1, 70_000])]));
        assert!(!sort(&entry(0, 0), &mut found));
    }

    #[test]
    fn a_slot_that_two_processes_have_is_new_once() {
        let mut map = Bitmap::default();
        assert!(map.insert(70_000) && map.insert(3) && !map.insert(70_000));
        assert_eq!((map.count(), map.highest()), (2, 70_000));
    }

    #[test]
    fn a_process_that_is_another_by_now_is_not_looked_at() {
        let gone = Process { pid: std::process::id(), started_ticks: 1, ..Process::default() };
        let found = for_process(&Root::live(), &gone, &mut Vec::new(), &|| false);
        assert_eq!(found, Err(NotPlaced::NotRead(NotRead::Vanished)));
    }
}
