//! Which pages: evenly over all candidates, by rank, with a seed.
//!
//! What it is not: simple random sampling, which leaves gaps by chance. The ranks are cut into as many equal pieces as pages are wanted, and
//! each piece gives one at random.
//!
//! Worked example: 4 of 8 are one of 0 and 1, one of 2 and 3, one of 4 and 5, one of 6 and 7.

use ramline_evidence::rng::SplitMix64;

/// `wanted` of `all` ranks, ascending, no rank twice; all of them where no more are there.
pub fn evenly(all: u64, wanted: u64, random: &mut SplitMix64) -> Vec<u64> {
    let wanted = wanted.min(all);
    // Where piece `n` begins: n times all over wanted.
    let begin = |n: u64| u64::try_from(u128::from(n) * u128::from(all) / u128::from(wanted.max(1))).unwrap_or(all);
    (0..wanted).map(|n| begin(n) + random.below(begin(n + 1) - begin(n))).collect()
}

/// The ranks that fall to each owner, counted from its own first page; `sizes` are the pages of the owners.
pub fn split(ranks: &[u64], sizes: impl Iterator<Item = u64>) -> Vec<Vec<u64>> {
    let (mut left, mut before) = (ranks, 0u64);
    let mut out = Vec::new();
    for size in sizes {
        let end = before + size;
        let here = left.iter().take_while(|rank| **rank < end).count();
        out.push(left[..here].iter().map(|rank| rank - before).collect());
        left = &left[here..];
        before = end;
    }
    out
}

/// Keeps `wanted` of a list, evenly, in their order.
pub fn thin<T: Copy>(list: &[T], wanted: usize, random: &mut SplitMix64) -> Vec<T> {
    let wide = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
    let kept = evenly(wide(list.len()), wide(wanted), random);
    kept.iter().filter_map(|rank| list.get(usize::try_from(*rank).ok()?).copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_gives_one_and_the_same_seed_the_same() {
        let chosen = evenly(1_000_000, 1000, &mut SplitMix64::new(1));
        assert!(chosen.windows(2).all(|w| w[0] < w[1]) && chosen.len() == 1000);
        assert!(chosen.iter().zip(0u64..).all(|(rank, n)| rank / 1000 == n), "one in each piece");
        assert_eq!(chosen, evenly(1_000_000, 1000, &mut SplitMix64::new(1)));
        assert_eq!(evenly(3, 10, &mut SplitMix64::new(1)), [0, 1, 2]);
        assert!(evenly(0, 10, &mut SplitMix64::new(1)).is_empty());
    }

    #[test]
    fn ranks_go_to_their_owners() {
        assert_eq!(split(&[0, 4, 5, 9], [5, 0, 1, 10].into_iter()), [vec![0, 4], vec![], vec![0], vec![3]]);
    }

    #[test]
    fn a_list_is_thinned_evenly() {
        let thinned = thin(&(0..100).collect::<Vec<u32>>(), 10, &mut SplitMix64::new(7));
        assert!(thinned.iter().zip(0..).all(|(value, n)| value / 10 == n), "{thinned:?}");
    }
}
