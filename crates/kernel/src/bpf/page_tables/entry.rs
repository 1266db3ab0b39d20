//! What the bits of a page table's entry say (x86-64).

/// Bits of an entry that are a physical address (52 bits of addresses, arch/x86/include/asm/pgtable_types.h).
pub(super) const PHYSICAL: u64 = 0x000f_ffff_ffff_f000;
/// `_PAGE_PRESENT`.
pub(super) const PRESENT: u64 = 1;
/// `_PAGE_ACCESSED`.
pub(super) const ACCESSED: u64 = 1 << 5;
/// `_PAGE_DIRTY`, and `_PAGE_SAVED_DIRTY` (Linux 6.6), where it is kept while an entry is write-protected.
pub(super) const DIRTY: u64 = 1 << 6 | 1 << 58;
/// `_PAGE_PSE` of the levels above the last: a huge page. In the last level the same bit chooses a cache mode.
pub(super) const HUGE: u64 = 1 << 7;
/// `_PAGE_PROTNONE`: present to the kernel though not to the processor, as NUMA balancing leaves entries to see who uses them.
pub(super) const PROT_NONE: u64 = 1 << 8;
/// An entry of the last level, or of a huge page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry(pub u64);

impl Entry {
    /// A page is mapped.
    #[must_use]
    pub const fn is_present(self) -> bool {
        self.0 & (PRESENT | PROT_NONE) != 0
    }

    /// It was used since the bit was cleared.
    #[must_use]
    pub const fn is_accessed(self) -> bool {
        self.is_present() && self.0 & ACCESSED != 0
    }

    /// It was written through this mapping at some time. In a private mapping of a file such a page is anonymous.
    #[must_use]
    pub const fn is_dirty(self) -> bool {
        self.0 & DIRTY != 0
    }

    /// The number of its page frame, in bits 12 to 51; of a huge page the lowest bits are others (PAT).
    #[must_use]
    pub const fn frame(self) -> u64 {
        (self.0 & PHYSICAL) >> 12
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_that_numa_balancing_took_from_the_processor_is_present_and_one_in_swap_is_not() {
        assert!(Entry(PRESENT | ACCESSED).is_accessed() && Entry(PROT_NONE | ACCESSED).is_accessed());
        assert!(!Entry(PRESENT).is_accessed());
        // A swap entry keeps bits 0 and 8 clear, whatever its offset sets.
        assert!(!Entry(0xffff_ffff_ffff_feff & !PRESENT).is_present());
        assert!(Entry(1 << 58 | PRESENT).is_dirty() && !Entry(PRESENT | ACCESSED).is_dirty());
    }
}
