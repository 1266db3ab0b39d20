//! What came out of a series, before it is put into words: the difference that matters most, or that no pressure arose.
//!
//! The sentences are made in `view`. Worked example: of three settings the one whose time per round is furthest
//! from that of the first, claimed differences before others.

use crate::prelude::*;
use crate::series::{ArmResult, FigureResult, SeriesTable};
use crate::versus::{FIRST, SECOND};

/// One setting against the one it is compared with, in one figure.
#[derive(Debug, Clone, Copy)]
pub struct FigureDifference<'a> {
    /// What it is compared with: the first setting, or the same one of the first series.
    pub first: &'a ArmResult,
    /// The setting.
    pub other: &'a ArmResult,
    /// The figure of the first.
    pub of_first: &'a FigureResult,
    /// The figure of the other.
    pub of_other: &'a FigureResult,
    /// How they compare.
    pub versus: &'a Comparison,
}

impl FigureDifference<'_> {
    /// How many times the larger median is the smaller one; `None` where one of them is 0.
    #[must_use]
    pub fn factor(&self) -> Option<f64> {
        let ratio = self.versus.ratio_of_medians.filter(|ratio| *ratio > 0.0)?;
        Some(ratio.max(1.0 / ratio))
    }

    /// The other one has more of it.
    #[must_use]
    pub fn is_more(&self) -> bool {
        self.of_other.measurement.median > self.of_first.measurement.median
    }
}

impl SeriesTable {
    /// The difference to begin with. `lead` names the figures to look at, in order: of the first with a claimed difference the
    /// largest one, without any of the first figure that two settings have.
    #[must_use]
    pub fn main_difference(&self, lead: &[&str]) -> Option<FigureDifference<'_>> {
        let claimed = lead.iter().find_map(|name| largest(self.differences(name).filter(|d| d.of_other.claimed)));
        claimed.or_else(|| lead.iter().find_map(|name| largest(self.differences(name))))
    }

    fn differences<'a, 'b>(&'a self, name: &'b str) -> impl Iterator<Item = FigureDifference<'a>> + use<'a, 'b> {
        self.arms.iter().filter_map(move |other| {
            let of_other = other.figure(name)?;
            let versus = of_other.versus_first.as_ref()?;
            let first = self.reference(other, name)?;
            Some(FigureDifference { first, other, of_first: first.figure(name)?, of_other, versus })
        })
    }

    fn reference(&self, other: &ArmResult, name: &str) -> Option<&ArmResult> {
        let mut has = self.arms.iter().filter(|arm| arm.figure(name).is_some());
        if let Some((own, _)) = other.name.split_once(SECOND) {
            return has.find(|arm| arm.name.strip_prefix(own).is_some_and(|rest| rest.starts_with(FIRST)));
        }
        has.find(|arm| arm.emulated == other.emulated)
            .or_else(|| self.arms.iter().find(|arm| arm.figure(name).is_some()))
    }
}

fn largest<'a>(all: impl Iterator<Item = FigureDifference<'a>>) -> Option<FigureDifference<'a>> {
    let size = |difference: &FigureDifference<'_>| difference.factor().unwrap_or(f64::INFINITY);
    all.max_by(|a, b| size(a).total_cmp(&size(b)))
}

/// In a series that is to show what reclaim does, none of its runs was short of memory: nothing was evicted that came back, nothing
/// was swapped out, and the limit was never hit. The unit with which it would have been: data and code are 17 units (more with
/// ballast) where 15 fit, so a fifteenth of what the runs used at most and what was left then. `None` where there was pressure, or
/// where the records do not tell.
#[must_use]
pub fn no_pressure(records: &[RunRecord]) -> Option<Bytes> {
    let of_pressure =
        |run: &&RunRecord| run.workload.unit.0 > 0 && run.workload.data_units > 0 && !run.samples.is_empty();
    let runs: Vec<&RunRecord> = records.iter().filter(of_pressure).collect();
    let quiet = |run: &&RunRecord| {
        let reclaim = &run.reclaim;
        let counted = [reclaim.refault_file, reclaim.refault_anon, reclaim.swap_out, run.growth("group.limit_hits")];
        // Where the kernel does not count what comes back, nothing can be told.
        reclaim.refault_file.is_some() && counted.iter().flatten().all(|n| *n == 0)
    };
    if runs.is_empty() || runs.len() < records.len() || !runs.iter().all(quiet) {
        return None;
    }
    let left = |run: &&RunRecord| {
        let whole = |sample: &crate::Sample| sample.limit.0 == 0 || run.sandbox == "vm";
        let of = |sample: &crate::Sample| {
            if whole(sample) { sample.host.available } else { sample.limit.saturating_sub(sample.usage) }
        };
        run.samples.iter().map(of).min().unwrap_or_default()
    };
    let largest = runs.iter().map(|run| {
        let work = &run.workload;
        let units = u64::from(work.data_units) + u64::from(work.code_units) + u64::from(work.ballast_units);
        let room = Bytes(work.unit.0.saturating_mul(units)) + left(run);
        let fit = units.saturating_sub(2).max(1);
        let mib = Bytes::from_mib(1).0;
        Bytes((room.0 / fit).div_ceil(mib).saturating_mul(mib))
    });
    largest.max()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Arm, Better, Figure, Reclaim, Workload};
    use crate::sample::{HostPicture, Sample};

    fn series(values: &[(&str, f64)], runs: u32) -> SeriesTable {
        let run = |name: &str, value: f64, i: u32| RunRecord {
            arm: Arm::named(name, &[]),
            figures: vec![Figure::new("time", value + 0.001 * f64::from(i), "s", Better::Lower)],
            ..RunRecord::default()
        };
        let all: Vec<RunRecord> = (0..runs).flat_map(|i| values.iter().map(move |(n, v)| run(n, *v, i))).collect();
        SeriesTable::from_records(&all).unwrap()
    }

    #[test]
    fn the_largest_factor_leads_whichever_way_it_goes() {
        let table = series(&[("none", 9.0), ("swap", 3.0), ("zram", 1.0)], 7);
        let found = table.main_difference(&["no such figure", "time"]).unwrap();
        assert_eq!((found.first.name.as_str(), found.other.name.as_str(), found.is_more()), ("none", "zram", false));
        assert!((found.factor().unwrap() - 9.0).abs() < 0.1);
        assert!(series(&[("alone", 1.0)], 7).main_difference(&["time"]).is_none());
    }

    #[test]
    fn without_reclaim_nothing_is_shown_and_the_unit_that_would_is_told() {
        let mib = Bytes::from_mib;
        let workload =
            Workload { unit: mib(10), data_units: 14, code_units: 3, limit: mib(200), ..Workload::default() };
        let host = HostPicture { available: mib(40), ..HostPicture::default() };
        let samples = vec![Sample { host, limit: mib(200), usage: mib(180), ..Sample::default() }];
        let reclaim = Reclaim { refault_file: Some(0), swap_out: Some(0), ..Reclaim::default() };
        let run = RunRecord { workload, samples, reclaim, sandbox: "vm".into(), ..RunRecord::default() };
        // 170 MiB of data and code, and 40 that were left: 15 units of 14 MiB fit, 17 do not.
        assert_eq!(no_pressure(std::slice::from_ref(&run)), Some(mib(14)));
        let mut short = run.clone();
        short.reclaim.swap_out = Some(1);
        assert_eq!(no_pressure(&[run.clone(), short]), None);
        let unknown = RunRecord { reclaim: Reclaim::default(), ..run };
        assert_eq!(no_pressure(&[unknown]), None);
    }
}
