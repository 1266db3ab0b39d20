//! Which pages of a file are present in the page tables of the processes read (`/proc/PID/pagemap`), each page once.
//!
//! What it is for: a user learns nothing of the page cache of files that are not theirs, but everything of their own
//! page tables; and two ranges or processes may map the same page, which sums count twice. Since Linux 4.2 an entry's bit 61
//! distinguishes a page of a file or of shared memory from an anonymous one (Documentation/admin-guide/mm/pagemap.rst).

use std::os::unix::fs::FileExt;

use ramline_snapshot::maps::{Mapping, Maps, Source};

use super::clock::Clock;
use crate::prelude::*;

const PRESENT: u64 = 1 << 63;
const FILE: u64 = 1 << 61;
/// Entries read at once: 64 KiB.
const AT_ONCE: u64 = 8192;
/// Pages a piece of the map stands for.
const PIECE: u64 = 32768;

/// Pages seen, by file, code or all, and piece of the file: as large as what is there, whatever the offsets.
#[derive(Default)]
struct SeenPages(HashMap<(u32, bool, u64), Vec<u64>>);

impl SeenPages {
    fn set(&mut self, file: u32, code: bool, page: u64) {
        let words = usize::try_from(PIECE / 64).unwrap_or(512);
        let piece = self.0.entry((file, code, page / PIECE)).or_insert_with(|| vec![0; words]);
        let bit = page % PIECE;
        if let Some(word) = usize::try_from(bit / 64).ok().and_then(|w| piece.get_mut(w)) {
            *word |= 1 << (bit % 64);
        }
    }
}

/// Fills in what is present of the wanted files; what time does not suffice for stays unknown.
pub fn present(root: &Root, out: &mut Maps, wanted: &HashSet<u32>, clock: &Clock) {
    if wanted.is_empty() {
        return;
    }
    let mut seen = SeenPages::default();
    let mut reached: HashSet<u32> = HashSet::new();
    for process in &out.processes {
        let of_interest = |m: &&Mapping| m.file.is_some_and(|f| wanted.contains(&f));
        let mut ranges = process.mappings.iter().filter(of_interest).peekable();
        if ranges.peek().is_none() || clock.is_over() {
            continue;
        }
        let Ok(map) = File::open(root.path(format!("/proc/{}/pagemap", process.pid))) else { continue };
        for mapping in ranges {
            let Some(file) = mapping.file else { continue };
            if one(&map, mapping, file, out.page, &mut seen, clock) {
                reached.insert(file);
            }
        }
    }
    let counts = counts(&seen);
    for index in reached {
        let Some(file) = usize::try_from(index).ok().and_then(|i| out.files.get_mut(i)) else { continue };
        let of = |code| Bytes(counts.get(&(index, code)).copied().unwrap_or(0).saturating_mul(out.page));
        file.residency.present = Some(of(false));
        file.residency.present_code = Some(of(true));
        if file.residency.source == Source::Unknown {
            file.residency.source = Source::PageTables;
        }
    }
}

fn counts(seen: &SeenPages) -> HashMap<(u32, bool), u64> {
    let mut out = HashMap::new();
    for ((file, code, _), piece) in &seen.0 {
        let ones: u64 = piece.iter().map(|word| u64::from(word.count_ones())).sum();
        *out.entry((*file, *code)).or_default() += ones;
    }
    out
}

/// True when all of the range was read.
fn one(map: &File, mapping: &Mapping, file: u32, page: u64, seen: &mut SeenPages, clock: &Clock) -> bool {
    let (first, all) = (mapping.start / page, mapping.size().0 / page);
    let offset = mapping.offset / page;
    let mut buffer = vec![0u8; usize::try_from(AT_ONCE.min(all) * 8).unwrap_or(0)];
    let mut done = 0;
    while done < all {
        if clock.is_over() {
            return false;
        }
        let length = usize::try_from(AT_ONCE.min(all - done) * 8).unwrap_or(0);
        let Ok(read) = map.read_at(&mut buffer[..length], (first + done) * 8) else { return false };
        if read < 8 {
            return false;
        }
        let entries = buffer[..read].chunks_exact(8);
        for entry in entries.clone().map(|e| u64::from_ne_bytes(e.try_into().unwrap_or_default())) {
            if entry & PRESENT != 0 && entry & FILE != 0 {
                seen.set(file, false, offset.saturating_add(done));
                if mapping.execute {
                    seen.set(file, true, offset.saturating_add(done));
                }
            }
            done += 1;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_counts_once_and_far_offsets_cost_little() {
        let mut seen = SeenPages::default();
        for page in [0, 0, 63, 64, PIECE, u64::MAX / 4096] {
            seen.set(7, false, page);
        }
        seen.set(7, true, 64);
        assert_eq!(counts(&seen), HashMap::from([((7, false), 5), ((7, true), 1)]));
        assert_eq!(seen.0.len(), 4);
    }
}
