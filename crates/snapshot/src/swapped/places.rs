//! Which area of /proc/swaps has which number in page tables.
//!
//! The kernel lists areas in the order of their numbers and leaves out numbers that are not in use, so the numbers seen and the areas are in the same
//! order and either may have gaps. Of all assignments that keep the order, and in which no area has more pages or a higher slot than it can have,
//! the one whose counts are nearest to what is in use is taken.

use crate::prelude::*;
use crate::swaps::SwapArea;

/// What was seen under one number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Numbered {
    /// The number.
    pub number: u32,
    /// Distinct slots.
    pub slots: u64,
    /// Highest slot.
    pub highest: u64,
}

/// While page tables are read pages move: so many more than in use may be counted, one of so many.
const MOVED: u64 = 16;

/// The place in `areas` of each number, which ascend; `None` for one that fits none.
#[must_use]
pub fn places(seen: &[Numbered], areas: &[SwapArea], page: PageSize) -> Vec<Option<usize>> {
    // cost[i][j]: the least difference of the first i numbers among the first j areas; a number left without an area costs more than any difference.
    let alone: u64 = areas.iter().map(|area| area.used.0 / page.0.max(1)).fold(1, u64::saturating_add);
    let width = areas.len() + 1;
    let mut cost = vec![vec![0u64; width]; seen.len() + 1];
    let mut choice = vec![vec![Choice::Number; width]; seen.len() + 1];
    for i in 0..=seen.len() {
        for j in 0..width {
            let mut best = None;
            let mut offer = |value: u64, how: Choice| {
                if best.is_none_or(|(least, _)| value < least) {
                    best = Some((value, how));
                }
            };
            let number = i.checked_sub(1).and_then(|i| seen.get(i));
            let area = j.checked_sub(1).and_then(|j| areas.get(j));
            let off = number.zip(area).and_then(|(number, area)| difference(number, area, j - 1, page));
            if let Some(off) = off {
                offer(cost[i - 1][j - 1].saturating_add(off), Choice::Both);
            }
            if j > 0 {
                let used = areas.get(j - 1).map_or(0, |area| area.used.0 / page.0.max(1));
                offer(cost[i][j - 1].saturating_add(used), Choice::Area);
            }
            if i > 0 {
                offer(cost[i - 1][j].saturating_add(alone), Choice::Number);
            }
            if let Some((value, how)) = best {
                (cost[i][j], choice[i][j]) = (value, how);
            }
        }
    }
    let mut found = vec![None; seen.len()];
    let (mut i, mut j) = (seen.len(), areas.len());
    while i > 0 {
        match choice[i][j] {
            Choice::Both => {
                (i, j) = (i - 1, j - 1);
                found[i] = Some(j);
            }
            Choice::Area => j -= 1,
            Choice::Number => i -= 1,
        }
    }
    found
}

#[derive(Clone, Copy)]
enum Choice {
    Both,
    Area,
    Number,
}

/// How far the count is from what is in use; `None` where the number cannot be this area's.
fn difference(number: &Numbered, area: &SwapArea, at: usize, page: PageSize) -> Option<u64> {
    let (size, used) = (area.size.0 / page.0.max(1), area.used.0 / page.0.max(1));
    // Slot 0 is the header, which /proc/swaps does not count; an area stands behind all with lower numbers.
    let fits = number.highest <= size
        && number.slots <= used.saturating_add(used / MOVED).saturating_add(1024)
        && u64::from(number.number) >= u64::try_from(at).unwrap_or(u64::MAX);
    fits.then(|| used.abs_diff(number.slots))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(size: u64, used: u64) -> SwapArea {
        let bytes = |pages| Bytes(pages * 4096);
        SwapArea { path: String::new(), kind: String::new(), size: bytes(size), used: bytes(used), priority: 0 }
    }

    fn found(seen: &[(u32, u64, u64)], areas: &[(u64, u64)]) -> Vec<Option<usize>> {
        let seen: Vec<_> = seen
            .iter()
            .map(|(number, slots, highest)| Numbered { number: *number, slots: *slots, highest: *highest })
            .collect();
        let areas: Vec<_> = areas.iter().map(|(size, used)| area(*size, *used)).collect();
        places(&seen, &areas, PageSize(4096))
    }

    #[test]
    fn numbers_and_areas_are_in_the_same_order_and_either_has_gaps() {
        let two = [(100_000, 40_000), (50_000, 20_000)];
        assert_eq!(found(&[(0, 40_000, 90_000), (1, 20_000, 40_000)], &two), [Some(0), Some(1)]);
        assert_eq!(
            found(&[(0, 40_000, 90_000), (2, 20_000, 40_000)], &two),
            [Some(0), Some(1)],
            "number 1 was turned off"
        );
        assert_eq!(found(&[(1, 20_000, 40_000)], &two), [Some(1)], "the first has none of these pages");
        assert_eq!(
            found(&[(1, 39_000, 40_000)], &two),
            [Some(0)],
            "so many can only be the first's, whose number is 1"
        );
        assert_eq!(found(&[(1, 19_000, 90_000)], &two), [Some(0)], "the second has no such slot");
        assert_eq!(found(&[(0, 19_000, 900)], &two), [Some(0)], "number 0 has nothing before it");
    }

    #[test]
    fn a_number_that_fits_no_area_has_none() {
        assert_eq!(found(&[(0, 5_000, 900_000)], &[(100, 50)]), [None]);
        assert_eq!(found(&[(0, 1, 1)], &[]), [None]);
        assert_eq!(found(&[], &[(100, 50)]), []);
    }
}
