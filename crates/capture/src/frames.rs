//! Which page frames hold memory of processes: what fork(2) has left shared is one page, and not one for each process.
//!
//! A page is shared where two processes have the same frame at the same address. It belongs to the process that was looked at first, which is the older one, until one of them writes: then
//! that has a frame of its own. It is an approximation, read again in each epoch: a frame that was freed
//! and reused at the same address within an epoch counts as shared.

/// A page of memory: a region of the recording and the page in it.
type Page = (u32, u64);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct MappedFrame {
    // First, since page tables are read by address: what is added is sorted already.
    address: u64,
    frame: u64,
    process: u32,
    page: Page,
}

/// The frames of all processes that were looked at in an epoch.
#[derive(Debug, Default)]
pub struct Frames(Vec<MappedFrame>);

impl Frames {
    /// A new epoch.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// A process has these, by frame and address.
    pub fn add(&mut self, process: u32, found: impl Iterator<Item = (u64, u64, Page)>) {
        self.0.extend(found.map(|(frame, address, page)| MappedFrame { frame, address, process, page }));
        self.0.sort();
    }

    /// It has ended, or has other memory now.
    pub fn remove(&mut self, process: u32) {
        self.0.retain(|held| held.process != process);
    }

    /// The page that this frame at this address is to another process.
    pub fn in_another_process(&self, process: u32, frame: u64, address: u64) -> Option<Page> {
        let at = self.0.partition_point(|held| (held.address, held.frame) < (address, frame));
        let same = self.0.get(at..)?.iter().take_while(|held| (held.address, held.frame) == (address, frame));
        same.filter(|held| held.process != process).map(|held| held.page).next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_at_the_same_address_of_two_processes_is_one_page_until_its_first_one_ends() {
        let mut frames = Frames::default();
        frames.add(10, [(7, 4096, (0, 1)), (5, 8192, (0, 2))].into_iter());
        assert_eq!(frames.in_another_process(11, 7, 4096), Some((0, 1)));
        // Its own is no other's, and the same frame elsewhere is another page.
        assert_eq!([frames.in_another_process(10, 7, 4096), frames.in_another_process(11, 7, 8192)], [None, None]);
        frames.add(11, [(9, 4096, (1, 1))].into_iter());
        assert_eq!(frames.in_another_process(10, 9, 4096), Some((1, 1)));
        frames.remove(10);
        assert_eq!(frames.in_another_process(11, 7, 4096), None);
        frames.clear();
        assert_eq!(frames.in_another_process(10, 9, 4096), None);
    }
}
