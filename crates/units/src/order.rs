//! Stable sorting of lists that are short, or sorted once.
//!
//! It is one function for all types: places are sorted, and the elements then go to theirs. A sort of the standard library is 5 to
//! 10 KiB of machine code for each type and each comparison, and about a hundred lists are sorted.

use std::cmp::Ordering;

/// Sorts by a key, which is made once for each element.
pub fn sort_by_key<T, K: Ord>(list: &mut [T], key: impl FnMut(&T) -> K) {
    let keys: Vec<K> = list.iter().map(key).collect();
    swaps(keys.len(), &|a, b| keys[a].cmp(&keys[b])).into_iter().for_each(|(a, b)| list.swap(a, b));
}

/// Sorts by a comparison.
pub fn sort_by<T>(list: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    swaps(list.len(), &|a, b| compare(&list[a], &list[b])).into_iter().for_each(|(a, b)| list.swap(a, b));
}

/// The exchanges that put a list in order.
fn swaps(length: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<(usize, usize)> {
    let mut order: Vec<usize> = (0..length).collect();
    order.sort_by(|a, b| compare(*a, *b));
    let mut place = vec![0; length];
    order.iter().enumerate().for_each(|(to, from)| place[*from] = to);
    let mut out = Vec::new();
    for at in 0..length {
        while place[at] != at {
            let to = place[at];
            out.push((at, to));
            place.swap(at, to);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equals_stay_in_their_order_and_every_permutation_is_sorted() {
        let mut seed = 7u64;
        for length in 0..40 {
            let mut random = || {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                seed >> 60
            };
            let list: Vec<(u64, usize)> = (0..length).map(|at| (random(), at)).collect();
            let (mut by_key, mut by, mut expected) = (list.clone(), list.clone(), list);
            expected.sort_by_key(|(key, _)| *key);
            sort_by_key(&mut by_key, |(key, _)| *key);
            sort_by(&mut by, |a, b| a.0.cmp(&b.0));
            assert_eq!((&by_key, &by), (&expected, &expected));
        }
    }
}
