//! Which region of the recording an address belongs to: files by device and inode, anonymous memory by its addresses.
//!
//! A stretch of addresses is a region from the first time something anonymous is seen there, for as long as the process has this memory: mappings that are split,
//! joined or made again at the same addresses stay in it. What grows at its end makes it longer; what begins below is a region of its own.

use std::collections::HashMap;
use std::ops::Range;

use ramline_trace::FileId;
use ramline_trace::touches::{Backing, Change, MOST_REGIONS, Region};

use crate::frames::Frames;
use crate::mappings::{Mapped, Mapping};

/// Bytes of a page, and of what page tables count in.
pub const PAGE: u64 = 4096;

/// The longest name of a file that the format holds (PATH_MAX); in /proc/PID/maps some bytes of a name take four.
const LONGEST_NAME: usize = 4096;

/// What is new in a recording, in the order in which it is to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// A region: the next number.
    Region(Region),
    /// A change of a region.
    Change(u32, Change),
}

/// All regions so far.
#[derive(Debug, Default)]
pub struct Regions {
    count: u32,
    files: HashMap<FileId, (u32, u64)>,
    /// What was not written yet.
    pub news: Vec<News>,
    /// Memory of processes, to find what they share.
    pub frames: Frames,
}

impl Regions {
    fn add(&mut self, region: Region) -> u32 {
        self.news.push(News::Region(region));
        self.count += 1;
        self.count - 1
    }

    /// The region of a file that is read or written, up to this byte; what is mapped of it is the same region. `None` where a recording holds no more.
    pub fn read_file(&mut self, id: FileId, end: u64) -> Option<u32> {
        if let Some(region) = self.known_file(&id, end) {
            return Some(region);
        }
        // The other half is for memory and for what is mapped.
        if self.count >= MOST_REGIONS / 2 {
            return None;
        }
        let backing = Backing::File { id, name: None };
        let region = self.add(Region { backing, bytes: end, executable: false });
        self.files.insert(id, (region, end));
        Some(region)
    }

    fn known_file(&mut self, id: &FileId, end: u64) -> Option<u32> {
        let (region, bytes) = self.files.get_mut(id)?;
        if end > *bytes {
            *bytes = end;
            self.news.push(News::Change(*region, Change::Grow(end)));
        }
        Some(*region)
    }

    fn file(&mut self, mapping: &Mapping, id: FileId, name: &str, shmem: bool, end: u64) -> u32 {
        if let Some(region) = self.known_file(&id, end) {
            return region;
        }
        let backing = if shmem {
            Backing::Shared
        } else {
            Backing::File { id, name: Some(name.to_owned()).filter(|name| (1..=LONGEST_NAME).contains(&name.len())) }
        };
        let region = self.add(Region { backing, bytes: end, executable: mapping.executable });
        self.files.insert(id, (region, end));
        region
    }
}

/// Where the pages of a mapping belong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FilePlace {
    /// The region of the file.
    pub region: u32,
    /// The page of the file at the mapping's first address.
    pub first: u64,
    /// Written pages are anonymous.
    pub private: bool,
}

/// A stretch of addresses with anonymous memory.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stretch {
    range: Range<u64>,
    region: u32,
}

/// The anonymous regions of one process.
#[derive(Debug, Default)]
pub struct Addresses {
    /// Ascending, apart.
    stretches: Vec<Stretch>,
}

impl Addresses {
    /// The file of a mapping; none where it is anonymous, which makes its addresses known.
    pub fn place(&mut self, mapping: &Mapping, all: &mut Regions) -> Option<FilePlace> {
        match &mapping.what {
            Mapped::Anonymous => {
                self.cover(mapping.range.clone(), all);
                None
            }
            Mapped::File { id, name, offset, private, shmem } => {
                let end = offset.saturating_add(mapping.range.end - mapping.range.start);
                let region = all.file(mapping, *id, name, *shmem, end);
                Some(FilePlace { region, first: offset / PAGE, private: *private })
            }
        }
    }

    /// Makes all of `range` belong to a region.
    pub fn cover(&mut self, range: Range<u64>, all: &mut Regions) {
        let mut at = self.stretches.partition_point(|stretch| stretch.range.end < range.start);
        let mut next = range.start;
        while next < range.end {
            match self.stretches.get(at).map(|stretch| stretch.range.clone()) {
                // It ends where this begins, or before this ends: it grows up to the one behind it.
                Some(known) if known.start <= next && known.end < range.end && known.end >= next => {
                    let bound = self.stretches.get(at + 1).map_or(u64::MAX, |stretch| stretch.range.start);
                    let end = range.end.min(bound);
                    if let Some(stretch) = self.stretches.get_mut(at).filter(|_| end > known.end) {
                        stretch.range.end = end;
                        all.news.push(News::Change(stretch.region, Change::Grow(end - known.start)));
                    }
                    next = end;
                    at += 1;
                }
                Some(known) if known.start <= next && known.end >= range.end => return,
                known => {
                    let end = known.map_or(range.end, |known| known.start.min(range.end));
                    let region = all.add(Region::anonymous(end - next));
                    self.stretches.insert(at, Stretch { range: next..end, region });
                    next = end;
                    at += 1;
                }
            }
        }
    }

    /// Region and page of an anonymous address that was covered.
    pub fn page(&self, address: u64) -> Option<(u32, u64)> {
        let at = self.stretches.partition_point(|stretch| stretch.range.end <= address);
        let stretch = self.stretches.get(at).filter(|stretch| stretch.range.start <= address)?;
        Some((stretch.region, (address - stretch.range.start) / PAGE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heap_that_grows_stays_one_region_and_what_is_below_it_is_another() {
        let (mut all, mut own) = (Regions::default(), Addresses::default());
        own.cover(0x10_0000..0x12_0000, &mut all);
        own.cover(0x10_0000..0x14_0000, &mut all);
        own.cover(0x0f_0000..0x14_0000, &mut all);
        assert_eq!(own.page(0x13_f000), Some((0, 0x3f)));
        assert_eq!(own.page(0x0f_1000), Some((1, 1)));
        assert_eq!((own.page(0x14_0000), own.page(0x0e_f000)), (None, None));
        let grown = News::Change(0, Change::Grow(0x4_0000));
        assert_eq!(
            all.news,
            [News::Region(Region::anonymous(0x2_0000)), grown, News::Region(Region::anonymous(0x1_0000))]
        );
    }

    #[test]
    fn what_is_covered_by_chance_has_one_region_for_each_page_and_keeps_it() {
        let (mut all, mut own, mut known) = (Regions::default(), Addresses::default(), HashMap::new());
        let mut random = 7u64;
        for _ in 0..2000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (start, pages) = ((random >> 33) % 500, 1 + (random >> 50) % 9);
            own.cover(start * PAGE..(start + pages) * PAGE, &mut all);
            for page in start..start + pages {
                let found = own.page(page * PAGE).unwrap();
                assert_eq!(*known.entry(page).or_insert(found), found, "page {page}");
            }
        }
        let distinct: std::collections::HashSet<_> = known.values().collect();
        assert_eq!(distinct.len(), known.len());
    }
}
