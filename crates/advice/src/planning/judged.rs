//! The setting under which a load of the reader's own ran fastest in the lab, for a plan that rests on it instead of on costs.
//!
//! Costs and pages say what a swap-in takes, not which pages a load needs: a heap that just fits is slower with zram, since what zram keeps takes
//! the RAM of pages in use. Only settings of which every run ended count. Of those that cannot be told apart from the fastest and are within
//! [`LEVEL`] of it the first is taken, and what changes least stands first.
//!
//! Worked example: a JVM takes 2.04 s with zram, 1.32 s with a swap file: the plan has the file, and no zram.

use ramline_evidence::{Arm, ArmResult, FigureResult, SeriesTable, SwapKind, study};
use ramline_plan::Reason;

use super::line::{Draft, reason};
use crate::prelude::*;

/// Medians nearer than this to the best one are level with it, unless the runs are told apart.
const LEVEL: f64 = 1.03;
/// The figures a load is judged by, of the experiments that have settings of swap.
const TIMES: [&str; 2] = ["wall", "time per round"];
const SOURCE: &str = "lab run";

/// What was fastest.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The swap it had.
    pub(super) swap: SwapKind,
    /// The swappiness it was run with; `None` where it was left as it is.
    pub(super) swappiness: Option<u32>,
    /// Its time, and those of the others.
    pub(super) why: [Reason; 2],
}

impl Judged {
    /// From the runs of one load under several settings.
    ///
    /// # Errors
    /// Why they decide nothing.
    pub fn of(records: &[RunRecord]) -> Result<Judged, &'static str> {
        let table = SeriesTable::of(records).ok_or("it has no runs")?;
        if table.emulated {
            return Err("its processor was emulated: those seconds are no machine's");
        }
        let ways: Vec<Way<'_>> = table.arms.iter().filter_map(|arm| Way::of(arm, records)).collect();
        let mut ended: Vec<(&Way<'_>, &FigureResult)> =
            ways.iter().filter_map(|way| Some((way, way.time.filter(|_| way.ended())?))).collect();
        if ways.len() < 2 {
            return Err("it has fewer than two settings of swap");
        }
        let load = |way: &Way<'_>| (way.arm.fill.clone(), way.arm.settings.clone());
        if ways.windows(2).any(|pair| matches!(pair, [a, b] if load(a) != load(b))) {
            return Err("it is of more than one load: contents or read-ahead differ");
        }
        let median = |time: &FigureResult| time.measurement.median;
        let fastest = ended.iter().copied().min_by(|a, b| median(a.1).total_cmp(&median(b.1)));
        let (best, least) = fastest.ok_or("under no setting did every run end")?;
        let is_level = |time: &FigureResult| {
            let compared = study::compare_runs((&least.measurement, &least.values), (&time.measurement, &time.values));
            median(time) <= median(least) * LEVEL && !compared.is_claimed()
        };
        let (way, time) = ended.iter().copied().find(|(_, time)| is_level(time)).unwrap_or((best, least));
        let name = if table.experiment == "swap-command" { "your command" } else { &table.experiment };
        let per = if time.name == TIMES[0] { "" } else { " a round" };
        let seconds = |time: &FigureResult| format!("{}{per}", seconds(median(time)));
        let mut text = format!("{name} takes {} with {}", seconds(time), way.words());
        text += &match std::ptr::eq(way, best) {
            true => format!(", the fastest of {} settings ({} runs each)", ways.len(), way.result.n),
            false => format!("; {} is not measurably faster ({})", best.words(), seconds(least)),
        };
        ended.sort_by(|a, b| median(a.1).total_cmp(&median(b.1)));
        let others = ended.iter().filter(|(other, _)| !std::ptr::eq(*other, way) && !std::ptr::eq(*other, best));
        let mut rest: Vec<String> =
            others.map(|(other, time)| format!("{} {}", other.words(), seconds(time))).collect();
        rest.extend(ways.iter().filter(|way| !way.ended()).map(|way| format!("{} did not always end", way.words())));
        let others = if rest.is_empty() {
            "no other setting was tried".to_owned()
        } else {
            format!("others: {}", rest.join(", "))
        };
        let why = [reason(text, SOURCE), reason(others, SOURCE)];
        Ok(Judged { swap: way.arm.swap.clone(), swappiness: way.arm.swappiness, why })
    }

    /// A line that rests on it; what it was compared with stands where something is changed.
    pub(super) fn draft(&self, target: &str, old: Option<String>, changes: bool) -> Draft {
        let [first, others] = self.why.clone();
        Draft::of(target, old, first).also(changes.then_some(others))
    }

    /// The algorithm of the zram it ran fastest with, `None` inside where the kernel chose it; `None` where it was not zram.
    pub(super) fn zram(&self) -> Option<Option<&str>> {
        match &self.swap {
            SwapKind::Zram { algorithm } | SwapKind::ZramOverFile { algorithm } => Some(algorithm.as_deref()),
            _ => None,
        }
    }

    /// It ran fastest with swap on a disk.
    pub(super) fn is_on_disk(&self) -> bool {
        matches!(self.swap, SwapKind::File | SwapKind::ZramOverFile { .. } | SwapKind::Zswap)
    }
}

/// Two digits behind the point tell settings apart that one would make alike.
fn seconds(value: f64) -> String {
    if (0.1..10.0).contains(&value) { format!("{value:.2} s") } else { nanos_of(value * 1e9).to_string() }
}

/// One setting, its runs and their time.
struct Way<'a> {
    arm: &'a Arm,
    result: &'a ArmResult,
    time: Option<&'a FigureResult>,
}

impl<'a> Way<'a> {
    fn of(result: &'a ArmResult, records: &'a [RunRecord]) -> Option<Way<'a>> {
        let arm = &result.runs(records).next()?.arm;
        Some(Way { arm, result, time: TIMES.iter().find_map(|name| result.figure(name)) })
    }

    fn ended(&self) -> bool {
        matches!(self.result.verdicts.as_slice(), [(word, _)] if word == "completed")
    }

    fn words(&self) -> String {
        let swap = match &self.arm.swap {
            SwapKind::AsConfigured => "things as they are".to_owned(),
            SwapKind::None => "no swap".to_owned(),
            SwapKind::File => "a swap file".to_owned(),
            SwapKind::Zram { algorithm: None } => "zram".to_owned(),
            SwapKind::Zram { algorithm: Some(name) } => format!("zram ({name})"),
            SwapKind::ZramOverFile { .. } => "zram above a swap file".to_owned(),
            SwapKind::Zswap => "zswap".to_owned(),
        };
        self.arm.swappiness.map_or_else(|| swap.clone(), |value| format!("{swap} at swappiness {value}"))
    }
}
