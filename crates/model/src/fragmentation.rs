//! Free blocks by order, and whether a failing large allocation fails for want of memory or of room.
//!
//! The fragmentation index and what the kernel does about it (facts of `mm/vmstat.c` and
//! `mm/compaction.c`). Not a score of the whole zone.
//!
//! For a request of `r = 2^order` pages with no free block that large, `p` pages free in `b` blocks:
//! `index = 1000 − (1000 + 1000·p/r) / b`, in thousandths, divisions rounding down. Near 0 there is too little
//! memory (reclaim helps), near 1000 it is in too small pieces (compaction helps). The kernel compacts when the
//! index is *above* `extfrag_threshold` (500), and asks only for orders above 3.
//!
//! Worked example: 1,000 single free pages, request of 16: 1000 − (1000 + 62500)/1000 = 937: fragmentation.

use crate::prelude::*;

/// Orders up to this one are served by reclaim without asking the index (`PAGE_ALLOC_COSTLY_ORDER`).
pub const COSTLY_ORDER: u32 = 3;

/// The state of one order in one zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Index {
    /// A block large enough is free: the allocation would succeed.
    Suitable,
    /// No block is free at all.
    NoFreeBlock,
    /// Thousandths: 0 lack of memory, 1000 fragmentation.
    Thousandths(i64),
}

/// What the kernel does for an allocation of this order that fails at first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Remedy {
    /// Nothing is needed.
    None,
    /// It moves pages together.
    Compact,
    /// It reclaims pages.
    Reclaim,
}

/// One order of one zone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Order {
    /// Blocks of 2^order pages.
    pub order: u32,
    /// Free blocks of exactly this size. Gauge.
    pub free_blocks: u64,
    /// Fragmentation index for a request of this size.
    pub index: Index,
    /// What the kernel would do; `None` where the threshold is not known.
    pub remedy: Option<Remedy>,
}

/// The index for a request of 2^order pages; `free[i]` counts free blocks of 2^i pages.
#[must_use]
pub fn index(free: &[u64], order: u32) -> Index {
    let size = |order: usize| 1u128.checked_shl(u32::try_from(order).unwrap_or(u32::MAX)).unwrap_or(0);
    let blocks: u128 = free.iter().copied().map(u128::from).sum();
    if blocks == 0 {
        return Index::NoFreeBlock;
    }
    let wanted = usize::try_from(order).unwrap_or(usize::MAX);
    if free.iter().skip(wanted).any(|n| *n > 0) {
        return Index::Suitable;
    }
    let pages = free
        .iter()
        .enumerate()
        .fold(0u128, |sum, (order, n)| sum.saturating_add(u128::from(*n).saturating_mul(size(order))));
    // A request beyond every representable size behaves as one for which no page counts.
    let per_request = pages.saturating_mul(1000).checked_div(size(wanted)).unwrap_or(0);
    let lack = per_request.saturating_add(1000) / blocks;
    Index::Thousandths(i64::try_from(lack).map_or(i64::MIN, |lack| 1000_i64.saturating_sub(lack)))
}

/// What the kernel does at this index: it compacts only above the threshold, and reclaims otherwise.
#[must_use]
pub fn remedy(index: Index, order: u32, threshold: i64) -> Remedy {
    match index {
        Index::Suitable => Remedy::None,
        Index::NoFreeBlock => Remedy::Reclaim,
        Index::Thousandths(_) if order <= COSTLY_ORDER => Remedy::Compact,
        Index::Thousandths(n) if n > threshold => Remedy::Compact,
        Index::Thousandths(_) => Remedy::Reclaim,
    }
}

/// Blocks of more than 2^64 pages are in no memory: a longer list is no list of orders.
const ORDERS: usize = 65;

/// Every order of a zone.
#[must_use]
pub fn orders(free: &[u64], threshold: Option<i64>) -> Vec<Order> {
    let free = free.get(..ORDERS).unwrap_or(free);
    (0u32..)
        .zip(free)
        .map(|(order, n)| {
            let index = index(free, order);
            Order { order, free_blocks: *n, index, remedy: threshold.map(|t| remedy(index, order, t)) }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_single_pages_are_fragmentation_and_few_are_lack_of_memory() {
        assert_eq!(index(&[1000, 0, 0, 0, 0], 4), Index::Thousandths(937));
        // 1000 - (1000 + 1000*3/16)/3 = 1000 - 1187/3 = 1000 - 395
        assert_eq!(index(&[3, 0, 0, 0, 0], 4), Index::Thousandths(605));
        // one page: 1000 - (1000 + 62)/1 = -62
        assert_eq!(index(&[1, 0, 0, 0, 0], 4), Index::Thousandths(-62));
        // 5 + 2*2 + 1*4 = 13 pages in 8 blocks, request of 8: 1000 - (1000 + 1625)/8 = 1000 - 328
        assert_eq!(index(&[5, 2, 1, 0], 3), Index::Thousandths(672));
    }

    #[test]
    fn a_block_that_is_large_enough_needs_no_index() {
        assert_eq!(index(&[0, 0, 1], 2), Index::Suitable);
        assert_eq!(index(&[0, 0, 1], 1), Index::Suitable);
        assert_eq!(index(&[0, 1, 0], 2), Index::Thousandths(1000 - 1500));
        assert_eq!(index(&[0, 0, 0], 0), Index::NoFreeBlock);
        assert_eq!(index(&[], 3), Index::NoFreeBlock);
        assert_eq!(index(&[2], 200), Index::Thousandths(500));
    }

    #[test]
    fn the_kernel_compacts_above_the_threshold_and_not_at_it() {
        assert_eq!(remedy(Index::Thousandths(501), 4, 500), Remedy::Compact);
        assert_eq!(remedy(Index::Thousandths(500), 4, 500), Remedy::Reclaim);
        assert_eq!(remedy(Index::Thousandths(100), 3, 500), Remedy::Compact);
        assert_eq!(remedy(Index::Suitable, 9, 500), Remedy::None);
        assert_eq!(remedy(Index::NoFreeBlock, 9, 500), Remedy::Reclaim);
    }

    #[test]
    fn each_order_is_listed_with_its_remedy() {
        let seen = orders(&[1000, 0, 0, 0, 0], Some(500));
        assert_eq!(seen.len(), 5);
        assert_eq!((seen[0].free_blocks, seen[0].index, seen[0].remedy), (1000, Index::Suitable, Some(Remedy::None)));
        assert_eq!((seen[4].order, seen[4].index), (4, Index::Thousandths(937)));
        assert_eq!(seen[4].remedy, Some(Remedy::Compact));
        assert_eq!(orders(&[1], None)[0].remedy, None);
    }

    #[test]
    fn impossible_counts_are_as_far_from_fragmentation_as_can_be_said() {
        let mut free = vec![u64::MAX; 100];
        let seen = orders(&free, Some(500));
        assert_eq!((seen.len(), seen[64].index), (65, Index::Suitable));
        free.truncate(64);
        // 2^64 - 1 blocks of each order for a request larger than all: the pages alone are 2^128.
        assert!(matches!(index(&free, 70), Index::Thousandths(n) if n <= 1000));
    }
}
