//! Pages beside each other, gathered as page tables hand them over.

use std::collections::BTreeMap;

use ramline_trace::touches::Run;

/// Runs of pages by region.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunsByRegion(BTreeMap<u32, Vec<Run>>);

impl RunsByRegion {
    /// Adds pages; what follows the last ones of the region makes no run of its own.
    pub fn add(&mut self, region: u32, first: u64, count: u64) {
        let runs = self.0.entry(region).or_default();
        match runs.last_mut() {
            Some(last) if last.end() == first => last.count += count,
            _ => runs.push(Run { first, count }),
        }
    }

    /// Takes in all of another one.
    pub fn merge(&mut self, other: RunsByRegion) {
        for (region, runs) in other.0 {
            self.0.entry(region).or_default().extend(runs);
        }
    }

    /// By region: ascending runs that are apart, each page once.
    pub fn sorted(self) -> impl Iterator<Item = (u32, Vec<Run>)> {
        self.0.into_iter().map(|(region, runs)| (region, united(runs)))
    }

    /// The same, each region's runs ascending and apart.
    pub fn ordered(self) -> RunsByRegion {
        RunsByRegion(self.sorted().collect())
    }

    /// The pages that are here and not in `other`; both have ascending runs.
    pub fn without(&self, other: &RunsByRegion) -> Vec<(u32, Run)> {
        let mut out = Vec::new();
        for (region, runs) in &self.0 {
            let others = other.0.get(region).map(Vec::as_slice).unwrap_or_default();
            out.extend(difference(runs, others).into_iter().map(|run| (*region, run)));
        }
        out
    }

    /// All runs, in the order of regions.
    pub fn all(&self) -> impl Iterator<Item = (u32, Run)> + '_ {
        self.0.iter().flat_map(|(region, runs)| runs.iter().map(|run| (*region, *run)))
    }
}

fn united(mut runs: Vec<Run>) -> Vec<Run> {
    runs.sort_unstable_by_key(|run| run.first);
    let mut out: Vec<Run> = Vec::with_capacity(runs.len());
    for run in runs {
        match out.last_mut() {
            Some(last) if run.first <= last.end() => last.count = run.end().max(last.end()) - last.first,
            _ => out.push(run),
        }
    }
    out
}

fn difference(runs: &[Run], others: &[Run]) -> Vec<Run> {
    let (mut out, mut at) = (Vec::new(), 0);
    for run in runs {
        let mut first = run.first;
        while others.get(at).is_some_and(|other| other.end() <= first) {
            at += 1;
        }
        for other in others.get(at..).unwrap_or_default().iter().take_while(|other| other.first < run.end()) {
            if other.first > first {
                out.push(Run { first, count: other.first - first });
            }
            first = first.max(other.end());
        }
        if first < run.end() {
            out.push(Run { first, count: run.end() - first });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from_pages(pages: &[u64]) -> RunsByRegion {
        let mut out = RunsByRegion::default();
        pages.iter().for_each(|page| out.add(0, *page, 1));
        out
    }

    #[test]
    fn what_is_left_is_what_stands_in_the_first_alone() {
        let all = [1, 2, 3, 5, 6, 9];
        for bits in 0..64u32 {
            let others: Vec<u64> =
                all.iter().enumerate().filter(|(n, _)| bits >> n & 1 == 1).map(|(_, page)| *page).collect();
            let left: Vec<u64> = all.iter().copied().filter(|page| !others.contains(page)).collect();
            let found: Vec<u64> = from_pages(&all)
                .without(&from_pages(&others))
                .iter()
                .flat_map(|(_, run)| run.first..run.end())
                .collect();
            assert_eq!(found, left, "without {others:?}");
        }
    }

    #[test]
    fn pages_of_two_processes_count_once() {
        let mut both = from_pages(&[4, 5, 9]);
        both.merge(from_pages(&[5, 6]));
        let (_, runs) = both.sorted().next().unwrap();
        assert_eq!(runs, [Run { first: 4, count: 3 }, Run { first: 9, count: 1 }]);
    }
}
