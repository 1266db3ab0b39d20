//! Stack distances: how many other pages were touched since a page was touched the last time. A memory of plain LRU holds the page exactly
//! where it is larger than that, so one pass gives the misses of every size.
//!
//! Each page stands, as one bit, at the time of its last touch. How many bits stand behind it is its distance: counted in its word, and
//! by a Fenwick tree over the words, which fits in a processor's cache for millions of pages. Where the times run out, the bits move together.

/// Times of a word.
const WORD: usize = 64;

/// Counts distances.
#[derive(Debug, Default)]
pub struct Distances {
    /// When each page was touched last.
    last: Vec<u32>,
    /// Which page was touched at each time.
    page_at: Vec<u32>,
    bits: Vec<u64>,
    /// Sums of bits of words, as a Fenwick tree.
    tree: Vec<u32>,
    now: usize,
    /// How often each distance was seen.
    seen: Vec<u64>,
    first: u64,
}

impl Distances {
    /// The next touch; new pages come in the order of their numbers.
    pub fn touch(&mut self, page: u32) {
        if self.now >= self.page_at.len() {
            self.move_together();
        }
        let held = page as usize;
        match self.last.get(held).map(|&time| time as usize) {
            Some(time) => {
                let behind = self.last.len() - self.up_to(time);
                if let Some(seen) = self.seen.get_mut(behind) {
                    *seen += 1;
                }
                self.flip(time, false);
            }
            None => {
                self.first += 1;
                self.last.push(0);
                self.seen.push(0);
            }
        }
        if let (Some(last), Ok(now)) = (self.last.get_mut(held), u32::try_from(self.now)) {
            *last = now;
        }
        if let Some(at) = self.page_at.get_mut(self.now) {
            *at = page;
        }
        self.flip(self.now, true);
        self.now += 1;
    }

    /// All touches.
    pub fn touches(&self) -> u64 {
        self.first + self.seen.iter().sum::<u64>()
    }

    /// Misses in a memory of so many pages.
    pub fn misses(&self, pages: u64) -> u64 {
        let from = usize::try_from(pages).unwrap_or(usize::MAX);
        self.first + self.seen.get(from..).unwrap_or_default().iter().sum::<u64>()
    }

    /// Bits at this time and before it.
    fn up_to(&self, time: usize) -> usize {
        let mut word = time / WORD;
        let mask = u64::MAX >> (WORD - 1 - time % WORD);
        let mut sum = self.bits.get(word).map_or(0, |bits| (bits & mask).count_ones());
        while word > 0 {
            sum += self.tree.get(word).copied().unwrap_or(0);
            word &= word - 1;
        }
        sum as usize
    }

    fn flip(&mut self, time: usize, on: bool) {
        let mut word = time / WORD;
        if let Some(bits) = self.bits.get_mut(word) {
            *bits ^= 1 << (time % WORD);
        }
        // The tree counts words from 1.
        word += 1;
        while let Some(sum) = self.tree.get_mut(word) {
            *sum = if on { *sum + 1 } else { *sum - 1 };
            word += word & word.wrapping_neg();
        }
    }

    /// Times from 0 on for the pages that are known, in their order, and as much room again.
    fn move_together(&mut self) {
        let order: Vec<u32> = (0..self.now)
            .filter(|&time| self.is_last(time))
            .filter_map(|time| self.page_at.get(time).copied())
            .collect();
        let room = (2 * order.len()).max(1 << 12).next_multiple_of(WORD);
        self.bits = vec![0; room / WORD];
        self.tree = vec![0; room / WORD + 1];
        self.now = order.len();
        for (time, &page) in order.iter().enumerate() {
            if let (Some(last), Ok(time)) = (self.last.get_mut(page as usize), u32::try_from(time)) {
                *last = time;
            }
            self.flip(time, true);
        }
        self.page_at = order;
        self.page_at.resize(room, 0);
    }

    fn is_last(&self, time: usize) -> bool {
        self.bits.get(time / WORD).is_some_and(|bits| bits >> (time % WORD) & 1 == 1)
    }
}
