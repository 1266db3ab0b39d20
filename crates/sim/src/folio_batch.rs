//! Pages on their way to a list: each processor puts them there 31 at a time.
//!
//! Stands for `folio_add_lru`, `folio_activate` and `lru_add_drain_cpu` (mm/swap.c) with their `struct folio_batch`; read in 6.18. Left out: the
//! batches of other processors, but for pages whose write is done (`Memory::settle`).

/// Pages of a batch at most (`PAGEVEC_SIZE`): 15 before 6.10, 31 since.
pub const PAGES: usize = 31;

/// Folio batches of one processor.
#[derive(Debug, Clone, Copy)]
pub struct Batches {
    adding: [u32; PAGES],
    added: usize,
    activating: [u32; PAGES],
    activated: usize,
    /// Pages of others that were in the first batch already.
    others: usize,
    /// Pages of a batch of this kernel.
    size: usize,
}

impl Default for Batches {
    fn default() -> Batches {
        Batches { adding: [0; PAGES], added: 0, activating: [0; PAGES], activated: 0, others: 0, size: PAGES }
    }
}

impl Batches {
    /// Of the first batches, so many pages are another's.
    #[must_use]
    pub fn begun(others: u32, size: usize) -> Batches {
        let size = size.clamp(1, PAGES);
        Batches { others: (others as usize).min(size - 1), size, ..Batches::default() }
    }

    /// Pages that are in RAM and not yet on a list.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.added as u64
    }

    /// A page that is new in RAM; whether the batch is full.
    pub fn add(&mut self, id: u32) -> bool {
        self.adding[self.added] = id;
        self.added += 1;
        self.added + self.others == self.size
    }

    /// A page that becomes active; whether the batch is full.
    pub fn activate(&mut self, id: u32) -> bool {
        self.activating[self.activated] = id;
        self.activated += 1;
        self.activated == self.size
    }

    /// A page is in the batch of those that become active, which has a reference to it: reclaim cannot free it.
    #[must_use]
    pub fn holds(&self, id: u32) -> bool {
        self.activating[..self.activated].contains(&id)
    }

    /// The new pages, and how many: the batch is empty then.
    pub fn added(&mut self) -> ([u32; PAGES], usize) {
        self.others = 0;
        (self.adding, std::mem::take(&mut self.added))
    }

    /// Those that become active.
    pub fn activated(&mut self) -> ([u32; PAGES], usize) {
        (self.activating, std::mem::take(&mut self.activated))
    }
}
