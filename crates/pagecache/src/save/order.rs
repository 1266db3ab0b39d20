//! The order in which a hot set is read again: what serves readers first comes first.
//!
//! 1. Files that a process maps while the set is saved: programs, libraries, mapped databases. Whoever needs a page of them stops
//!    until it is there, page by page, without asking for more ahead.
//! 2. Then small before large, in steps of four: a miss costs its reader one wait for the device whatever the size of the file, so
//!    a byte of a small file saves the most waiting. Memory that runs out is then spent on the most files.
//! 3. Among equals by device and inode, which is about the order of the disk, so that a rotating one seeks little.
//!
//! Not by use: the kernel does not report which pages of a file are active without looking at each page frame of memory.

use ramline_gather::mappers;

use crate::prelude::*;

const fn key(entry: &Entry) -> FileKey {
    FileKey { device: entry.device, inode: entry.inode }
}

/// Sorts in that order.
pub fn sort(root: &Root, entries: &mut [Entry], page: u64) {
    let files: Vec<(FileKey, &Path)> = entries.iter().map(|entry| (key(entry), entry.path.as_path())).collect();
    let mapped: HashSet<FileKey> = mappers::for_files(root, &files).into_keys().collect();
    by(entries, page, &mapped);
}

fn by(entries: &mut [Entry], page: u64, mapped: &HashSet<FileKey>) {
    ramline_units::sort_by_key(entries, |entry| {
        let step = entry.pages(page).max(1).ilog2() / 2;
        (!mapped.contains(&key(entry)), step, entry.device, entry.inode)
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mapped_files_come_first_then_small_ones_and_neighbours_stay_together() {
        let entry = |inode, pages: u64| Entry {
            path: format!("/{inode}").into(),
            length: pages * 4096,
            mtime_ns: 0,
            inode,
            device: 1,
            parts: None,
        };
        let mut entries = vec![entry(1, 9000), entry(9, 1), entry(5, 3), entry(3, 2), entry(7, 50_000)];
        let mapped = HashSet::from([FileKey { device: 1, inode: 7 }]);
        by(&mut entries, 4096, &mapped);
        assert_eq!(entries.iter().map(|entry| entry.inode).collect::<Vec<_>>(), [7, 3, 5, 9, 1]);
    }
}
