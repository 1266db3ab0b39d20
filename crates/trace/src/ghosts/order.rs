//! The order of evictions, in which a place and how many come after it are found in a few steps.

/// Which slots are taken, in the order of evictions, and how many from one on: a Fenwick tree.
#[derive(Debug, Default)]
pub(super) struct Order {
    tree: Vec<u32>,
    next: usize,
    taken: u64,
}

impl Order {
    pub(super) fn with_room(slots: usize) -> Order {
        Order { tree: vec![0; slots + 1], next: 0, taken: 0 }
    }

    pub(super) fn is_full(&self) -> bool {
        self.next + 1 >= self.tree.len()
    }

    pub(super) fn push(&mut self) -> usize {
        let slot = self.next;
        self.next += 1;
        self.taken += 1;
        self.change(slot, 1);
        slot
    }

    pub(super) fn remove(&mut self, slot: usize) {
        self.taken = self.taken.saturating_sub(1);
        self.change(slot, u32::MAX);
    }

    fn change(&mut self, slot: usize, by: u32) {
        let mut at = slot + 1;
        while let Some(sum) = self.tree.get_mut(at) {
            *sum = sum.wrapping_add(by);
            at += at & at.wrapping_neg();
        }
    }

    /// Slots taken from this one on, itself included.
    pub(super) fn from(&self, slot: usize) -> u64 {
        let (mut at, mut before) = (slot, 0_u64);
        while at > 0 {
            before += u64::from(self.tree.get(at).copied().unwrap_or(0));
            at &= at - 1;
        }
        self.taken.saturating_sub(before)
    }
}
