//! Whose pages compress how: lengths by process and by control group.

use std::collections::BTreeMap;

use ramline_evidence::pages::{Lengths, OwnerLengths, OwnerPages};

use super::sample::{Sample, wide};

/// Processes in a profile at most; the rest is in the totals.
const MOST: usize = 24;

/// Lengths by owner while algorithms are measured.
pub struct Owners(Vec<OwnerPages>);

impl Owners {
    pub fn from_sample(sample: &Sample) -> Owners {
        Owners(sample.owners.clone())
    }

    /// Adds an algorithm; `length_of` is the compressed length of a page, `None` for one of a repeated word.
    pub fn add(&mut self, sample: &Sample, algorithm: &str, length_of: impl Fn(usize) -> Option<u64>) {
        let page = wide(sample.page_bytes());
        let mut by_owner: BTreeMap<usize, Lengths> = BTreeMap::new();
        for (index, owner) in sample.owner_of.iter().enumerate() {
            let lengths = by_owner.entry(*owner).or_insert_with(|| Lengths::new(page));
            length_of(index).into_iter().for_each(|length| lengths.add(length));
        }
        for (owner, lengths) in by_owner {
            if let Some(owner) = self.0.get_mut(owner) {
                owner.lengths.push(OwnerLengths { algorithm: algorithm.to_owned(), lengths });
            }
        }
    }

    /// Processes and groups, those with most pages first.
    pub fn finish(self, sample: &Sample) -> (Vec<OwnerPages>, Vec<OwnerPages>) {
        let mut groups: BTreeMap<String, OwnerPages> = BTreeMap::new();
        for (owner, group) in self.0.iter().zip(&sample.groups) {
            let Some(name) = group else { continue };
            let into = groups
                .entry(name.clone())
                .or_insert_with(|| OwnerPages { name: name.clone(), ..OwnerPages::default() });
            into.present += owner.present;
            into.swapped += owner.swapped;
            into.sampled += owner.sampled;
            into.same_filled += owner.same_filled;
            owner.lengths.iter().for_each(|more| merge(&mut into.lengths, more));
        }
        (largest(self.0), largest(groups.into_values().collect()))
    }
}

fn merge(into: &mut Vec<OwnerLengths>, more: &OwnerLengths) {
    match into.iter_mut().find(|known| known.algorithm == more.algorithm) {
        Some(known) => known.lengths.merge(&more.lengths),
        None => into.push(more.clone()),
    }
}

fn largest(mut owners: Vec<OwnerPages>) -> Vec<OwnerPages> {
    owners.retain(|owner| owner.sampled > 0);
    ramline_units::sort_by_key(&mut owners, |owner| std::cmp::Reverse((owner.present + owner.swapped, owner.pid)));
    owners.truncate(MOST);
    owners
}
