//! Who took pages out, why, and for what.

use std::collections::HashMap;

use ramline_snapshot::cache::Taken;

/// A file that lost pages, who took them out, why, for which file, and through which thread of the kernel; by their places in the lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Push {
    pub lost: usize,
    pub why: Taken,
    pub process: usize,
    pub of: Option<usize>,
    pub through: Option<usize>,
}

#[derive(Debug, Default)]
pub struct EvictionCounts {
    pub pushed: HashMap<Push, u64>,
    // What threads of the kernel took out of which file since the last sharing out.
    by_kernel: HashMap<(usize, usize), u64>,
    // Who added how much of which file, in this round and in the one before.
    adding: HashMap<(usize, usize), u64>,
    before: HashMap<(usize, usize), u64>,
}

/// What a thread of the kernel took out falls to at most so many.
const SHARERS: usize = 4;

impl EvictionCounts {
    fn add(&mut self, push: Push, pages: u64) {
        let sum = self.pushed.entry(push).or_default();
        *sum = sum.saturating_add(pages);
    }

    pub fn is_for(&mut self, process: usize, pending: &mut Vec<(usize, u64)>, of: Option<usize>) {
        for (lost, pages) in pending.drain(..) {
            self.add(Push { lost, why: Taken::Room, process, of, through: None }, pages);
        }
    }

    /// For no file that was recorded; because it is idle; or not wanted.
    pub fn for_nothing(&mut self, process: usize, lost: usize, why: Taken, pages: u64) {
        self.add(Push { lost, why, process, of: None, through: None }, pages);
    }

    pub fn added(&mut self, process: usize, file: usize, pages: u64) {
        *self.adding.entry((process, file)).or_default() += pages;
    }

    pub fn by_kernel(&mut self, thread: usize, lost: usize, pages: u64) {
        *self.by_kernel.entry((thread, lost)).or_default() += pages;
    }

    /// What threads of the kernel took out falls to those who added most meanwhile, by how much they added; to the thread itself
    /// when nobody added anything that was recorded.
    pub fn share_out(&mut self) {
        let adding = std::mem::take(&mut self.adding);
        if !self.by_kernel.is_empty() {
            for (pair, pages) in &adding {
                *self.before.entry(*pair).or_default() += pages;
            }
            let mut most: Vec<((usize, usize), u64)> = self.before.drain().collect();
            ramline_units::sort_by_key(&mut most, |(pair, pages)| (std::cmp::Reverse(*pages), *pair));
            most.truncate(SHARERS);
            let all: u64 = most.iter().map(|(_, pages)| pages).sum();
            for ((thread, lost), pages) in std::mem::take(&mut self.by_kernel) {
                let mut left = pages;
                for ((process, of), added) in most.iter().rev() {
                    // The one who added most is last, and takes what rounding left.
                    let is_most = most.first().is_some_and(|((first, file), _)| first == process && file == of);
                    let share = if is_most { left } else { share(pages, *added, all) };
                    left -= share;
                    let why = Taken::Room;
                    let push = Push { lost, why, process: *process, of: Some(*of), through: Some(thread) };
                    self.add(push, share);
                }
                if left > 0 {
                    self.for_nothing(thread, lost, Taken::Room, left);
                }
            }
        }
        self.before = adding;
    }
}

/// `pages * part / all`, of which the product alone may be too large.
fn share(pages: u64, part: u64, all: u64) -> u64 {
    u64::try_from(u128::from(pages) * u128::from(part) / u128::from(all.max(1))).unwrap_or(pages)
}
