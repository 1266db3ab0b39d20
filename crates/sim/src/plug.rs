//! Plugged writes: a task collects them, to submit few and long requests to the disk.
//!
//! Stands for `blk_start_plug`, `blk_add_rq_to_plug` (block/blk-core.c, block/blk-mq.c); read in 6.1 and 6.18. While it is open nothing that reclaim
//! writes is on its way, so none of it becomes free: reclaim writes on until the plug is full, or until the task waits for a disk. A cluster that is read
//! from swap opens one for all that is charged for it. Left out: requests to several disks.

/// Requests that a plug holds (`BLK_MAX_REQUEST_COUNT`).
const MOST: u32 = 32;
/// Pages of a request that is long enough to hand all over as the next begins (`BLK_PLUG_FLUSH_SIZE`).
const LONG: u32 = 32;
/// Pages of one request, and of several that a virtio disk takes at once: a ring of 256 has room for them. Others take 128 to 320.
pub const LONGEST: u32 = 254;

/// The plug of the task.
#[derive(Debug, Default)]
pub struct Plug {
    depth: u32,
    requests: u32,
    /// Pages of the first request, and of the last.
    first: u32,
    last: u32,
    /// The slot that would make the last request longer, and whether it is a write.
    next: (u32, bool),
    writes: Vec<u32>,
    /// How many of these each request has.
    lengths: Vec<u32>,
}

impl Plug {
    /// One more that is opened; only the first of them counts.
    pub fn open(&mut self) {
        self.depth += 1;
    }

    /// One is closed; whether all is handed over.
    pub fn close(&mut self) -> bool {
        self.depth -= 1;
        self.depth == 0
    }

    /// Requests are plugged.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.depth > 0
    }

    /// What is there is handed over before this slot comes to it, if it begins a request: there are enough, or the `oldest` is long; in 6.1 the newest.
    #[must_use]
    pub fn is_full(&self, slot: u32, is_write: bool, oldest: bool) -> bool {
        let looked_at = if oldest { self.first } else { self.last };
        !self.continues(slot, is_write) && (self.requests >= MOST || looked_at >= LONG)
    }

    /// A page that is written.
    pub fn write(&mut self, id: u32, slot: u32) {
        self.writes.push(id);
        if self.add(slot, true) {
            self.lengths.push(1);
        } else if let Some(length) = self.lengths.last_mut() {
            *length += 1;
        }
    }

    /// A page that is read.
    pub fn read(&mut self, slot: u32) {
        self.add(slot, false);
    }

    fn continues(&self, slot: u32, is_write: bool) -> bool {
        self.requests > 0 && self.next == (slot, is_write) && self.last < LONGEST
    }

    /// Whether a request begins with it.
    fn add(&mut self, slot: u32, is_write: bool) -> bool {
        let begins = !self.continues(slot, is_write);
        if begins {
            self.requests += 1;
            self.last = 1;
        } else {
            self.last += 1;
        }
        if self.requests == 1 {
            self.first = self.last;
        }
        self.next = (slot + 1, is_write);
        begins
    }

    /// Gives away the pages that are written, as many requests together as the disk takes at once; none stays plugged.
    /// Mostly there are none, and it is asked at each wait.
    #[inline]
    pub fn take(&mut self, together: impl FnMut(&[u32])) {
        if self.requests > 0 {
            self.take_all(together);
        }
    }

    fn take_all(&mut self, mut together: impl FnMut(&[u32])) {
        (self.requests, self.first, self.last) = (0, 0, 0);
        let (mut begin, mut end) = (0, 0);
        for length in self.lengths.drain(..).map(|length| length as usize) {
            if end + length - begin > LONGEST as usize {
                together(&self.writes[begin..end]);
                begin = end;
            }
            end += length;
        }
        if end > begin {
            together(&self.writes[begin..end]);
        }
        self.writes.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pages that are written from one slot on before the plug is full.
    fn held(mut plug: Plug, from: u32, oldest: bool) -> usize {
        plug.open();
        (from..).find(|slot| {
            let full = plug.is_full(*slot, true, oldest);
            plug.write(*slot, *slot);
            full
        });
        let mut held = 0;
        plug.take(|pages| held += pages.len());
        held - 1
    }

    fn behind_a_read() -> Plug {
        let mut plug = Plug::default();
        plug.read(7);
        plug
    }

    #[test]
    fn a_plug_is_full_behind_a_long_request_or_many() {
        let longest = LONGEST as usize;
        assert_eq!(held(Plug::default(), 100, true), longest);
        assert_eq!(held(Plug::default(), 100, false), longest);
        // The oldest is short, and stays so.
        assert_eq!(held(behind_a_read(), 100, true), 31 * longest);
        assert_eq!(held(behind_a_read(), 100, false), longest);
    }

    #[test]
    fn a_read_and_a_write_are_two_requests_and_slots_in_a_row_are_one() {
        let mut plug = behind_a_read();
        plug.read(8);
        plug.write(1, 9);
        assert_eq!((plug.requests, plug.first, plug.last), (2, 2, 1));
        plug.write(2, 10);
        plug.write(3, 20);
        let mut taken = Vec::new();
        plug.take(|pages| taken.push(pages.to_vec()));
        assert_eq!((taken, plug.requests), (vec![vec![1, 2, 3]], 0));
    }

    #[test]
    fn the_disk_takes_so_many_requests_together_as_make_a_long_one() {
        let mut plug = Plug::default();
        let slots = (0..200).chain(300..350).chain(400..410).chain(500..800);
        slots.enumerate().for_each(|(id, slot)| plug.write(u32::try_from(id).unwrap(), slot));
        let mut taken = Vec::new();
        plug.take(|pages| taken.push(pages.len()));
        assert_eq!(taken, [250, 10, 254, 46]);
    }

    #[test]
    fn only_the_first_of_several_counts() {
        let mut plug = Plug::default();
        plug.open();
        plug.open();
        assert!(!plug.close() && plug.is_open());
        assert!(plug.close() && !plug.is_open());
    }
}
