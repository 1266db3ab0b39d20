//! The setting under which a load of the reader's own ran fastest in the lab, for a plan that rests on it instead of on costs.
//!
//! Costs and pages say what a swap-in takes, not which pages a load needs: a heap that just fits is slower with zram, since what zram keeps takes
//! the RAM of pages in use. Only settings of which every run ended count, and things stay as they are unless another one is measurably faster. Of one swap
//! with several values of swappiness that are within [`LEVEL`] of each other the first is taken, which is the value in force.
//!
//! Worked example: a JVM takes 2.04 s with zram, 1.32 s with a swap file, and is killed without: the plan has the file, and no zram.

use ramline_evidence::{Arm, ArmResult, FigureResult, SeriesTable, SwapKind, study};
use ramline_model::settings::{self, Knob};
use ramline_plan::Reason;

use super::line::{Draft, reason};
use crate::prelude::*;

/// The figures a load is judged by, of the experiments that have settings of swap.
const TIMES: [&str; 2] = ["wall", "time per round"];
/// Medians nearer than this are alike, unless one is measurably faster.
const LEVEL: f64 = 1.03;
/// Medians nearer than this are worth more runs before one is chosen.
const NEAR: f64 = 1.15;
/// What a run says of the algorithm the kernel chose.
const VERIFIED: &str = "zram algorithm";

/// What was fastest.
#[derive(Debug, Clone, PartialEq)]
pub struct ByLoad {
    swap: SwapKind,
    /// The swappiness it was run with; `None` where it was left as it is.
    pub(super) swappiness: Option<u32>,
    /// Its time, and those of the others.
    pub(super) why: [Reason; 2],
    /// On how much RAM, with which kernel.
    machine: (String, Bytes),
}

impl ByLoad {
    /// The decision from the runs of one load under several settings.
    ///
    /// # Errors
    /// Why they decide nothing.
    pub fn from_records(records: &[RunRecord]) -> Result<ByLoad, String> {
        let table = SeriesTable::from_records(records).ok_or("it has no runs")?;
        if table.emulated {
            return Err("its processor was emulated: those seconds are no machine's".to_owned());
        }
        if table.no_pressure.is_some() {
            return Err("no run of it was short of memory".to_owned());
        }
        let all: Vec<Contender<'_>> =
            table.arms.iter().filter_map(|arm| Contender::from_result(arm, records)).collect();
        let timed = all.iter().any(|one| one.time.is_some());
        let differ = all
            .windows(2)
            .any(|pair| matches!(pair, [a, b] if (&a.arm.swap, a.arm.swappiness) != (&b.arm.swap, b.arm.swappiness)));
        if !differ || (!timed && all.iter().any(Contender::ended)) {
            return Err("it is no series of two or more swap settings".to_owned());
        }
        let load = |one: &Contender<'_>| (one.arm.fill.clone(), one.arm.settings.clone());
        if all.windows(2).any(|pair| matches!(pair, [a, b] if load(a) != load(b))) {
            return Err("it is of more than one load: contents or read-ahead differ".to_owned());
        }
        let in_order: Vec<(&Contender<'_>, &FigureResult)> =
            all.iter().filter_map(|one| Some((one, one.time.filter(|_| one.ended())?))).collect();
        let mut ended = in_order.clone();
        let median = |time: &FigureResult| time.measurement.median;
        ramline_units::sort_by(&mut ended, |a, b| median(a.1).total_cmp(&median(b.1)));
        let (best, least) = *ended
            .first()
            .ok_or("under every setting a run was killed or did not end: the limit is too small for this load")?;
        let is_apart = |time: &FigureResult| {
            study::compare_runs((&least.measurement, &least.values), (&time.measurement, &time.values)).is_claimed()
        };
        let as_it_is = in_order.iter().find(|(one, time)| one.changes_nothing() && !is_apart(time));
        // The value in force is tried first: another one of the same swap is not taken for chance.
        let alike = in_order.iter().find(|(one, time)| {
            one.arm.swap == best.arm.swap && median(time) <= median(least) * LEVEL && !is_apart(time)
        });
        let (chosen, time) = as_it_is.or(alike).copied().unwrap_or((best, least));
        let name = if table.experiment == "swap-command" { "your command" } else { &table.experiment };
        let per = if time.name == TIMES[0] { "" } else { " a round" };
        let seconds = |time: &FigureResult| format!("{}{per}", seconds(median(time)));
        let mut text = format!("{name} takes {} with {}", seconds(time), chosen.words());
        text += &match std::ptr::eq(chosen, best) {
            true => format!(", the fastest of {} settings ({})", all.len(), runs_of(&all, chosen)),
            false => format!("; the fastest is not measurably faster: {}, {}", best.words(), seconds(least)),
        };
        let others = ended.iter().filter(|(other, _)| !std::ptr::eq(*other, chosen));
        let mut rest: Vec<String> =
            others.map(|(other, time)| format!("{} {}", other.words(), seconds(time))).collect();
        rest.extend(all.iter().filter(|one| !one.ended()).map(|one| format!("{} did not always end", one.words())));
        let machine =
            table.machine.as_ref().map(|machine| (machine.kernel.clone(), machine.mem_total)).unwrap_or_default();
        let source = format!("lab run {} ({}, {} of RAM)", table.experiment, machine.0, machine.1);
        let why = [reason(text, source.clone()), reason(format!("others: {}", rest.join(", ")), source)];
        Ok(ByLoad { swap: chosen.swap(records), swappiness: chosen.arm.swappiness, why, machine })
    }

    /// Whether this machine can become what was fastest, by a plan.
    ///
    /// # Errors
    /// Why not.
    pub fn fits(&self, snapshot: &Snapshot) -> Result<(), String> {
        let areas = look::areas(snapshot).unwrap_or_default();
        let on = areas.iter().find_map(|area| look::zram_of(snapshot, area));
        let cannot = |why: &str| Err(format!("{}, but {why}", self.why[0].text));
        if self.swappiness.is_some_and(|value| settings::parse(Knob::Swappiness, &value.to_string()).is_none()) {
            return cannot("the kernel takes no such swappiness");
        }
        let zswap = snapshot.zswap.data().is_some_and(|zswap| zswap.enabled) && !areas.is_empty();
        match (&self.swap, on) {
            (SwapKind::AsConfigured, _) => Ok(()),
            (SwapKind::Zswap | SwapKind::ZramOverFile { .. }, _) => cannot("no plan sets that up"),
            (SwapKind::None, _) if !areas.is_empty() => {
                cannot("swap is on here, which other programs use: no plan takes it off")
            }
            (SwapKind::File, Some(_)) => cannot("zram is on here, and no plan takes it off"),
            (SwapKind::File | SwapKind::Zram { .. }, _) if zswap => {
                cannot("zswap is on here, and was off in those runs")
            }
            (SwapKind::Zram { algorithm: Some(name) }, Some(device)) if device.algorithm.as_ref() != Some(name) => {
                cannot("zram is on here with another algorithm, and a device in use is not changed")
            }
            (SwapKind::Zram { algorithm: Some(name) }, None) if !is_here(snapshot, name) => {
                cannot("this kernel's zram does not have it")
            }
            _ => Ok(()),
        }
    }

    /// What of this machine is otherwise than of the one it was run on.
    #[must_use]
    pub fn differs_from(&self, snapshot: &Snapshot) -> Option<String> {
        let (kernel, ram) = (&self.machine.0, self.machine.1);
        let other_ram = snapshot
            .mem_total()
            .is_some_and(|here| here.as_f64() < ram.as_f64() * 0.9 || here.as_f64() > ram.as_f64() * 1.1);
        let other = snapshot.machine.kernel != *kernel || other_ram;
        other.then(|| format!("those runs were made on another machine or kernel: {kernel}, {ram} of RAM"))
    }

    /// A line that rests on it; what it was compared with stands where something is changed.
    pub(super) fn draft(&self, target: &str, old: Option<String>, changes: bool) -> Draft {
        let [first, others] = self.why.clone();
        Draft::new(target, old, first).also(changes.then_some(others))
    }

    /// The algorithm of the zram it ran fastest with, `None` inside where it is not known; `None` where it was not zram.
    pub(super) fn zram(&self) -> Option<Option<&str>> {
        match &self.swap {
            SwapKind::Zram { algorithm } => Some(algorithm.as_deref()),
            _ => None,
        }
    }

    /// It ran fastest with swap on a disk.
    pub(super) fn is_on_disk(&self) -> bool {
        self.swap == SwapKind::File
    }
}

/// Settings so near the fastest that some runs do not tell them apart, the fastest among them; none where it stands alone.
#[must_use]
pub fn nearly_fastest(records: &[RunRecord]) -> Vec<String> {
    let Some(table) = SeriesTable::from_records(records) else { return Vec::new() };
    let all = table.arms.iter().filter_map(|arm| Contender::from_result(arm, records)).filter(Contender::ended);
    let timed: Vec<_> = all.filter_map(|one| Some((one.arm.name.clone(), one.time?))).collect();
    let median = |time: &FigureResult| time.measurement.median;
    let Some((_, least)) = timed.iter().min_by(|a, b| median(a.1).total_cmp(&median(b.1))) else { return Vec::new() };
    let is_apart = |time: &FigureResult| {
        study::compare_runs((&least.measurement, &least.values), (&time.measurement, &time.values)).is_claimed()
    };
    let near = timed.iter().filter(|(_, time)| median(time) <= median(least) * NEAR && !is_apart(time));
    let names: Vec<String> = near.map(|(name, _)| name.clone()).collect();
    if names.len() > 1 { names } else { Vec::new() }
}

/// Whether the zram of this kernel has the algorithm. Where no device says, only a name that some kernel has: a file from outside gives no other word to a
/// rule or a unit.
fn is_here(snapshot: &Snapshot, name: &str) -> bool {
    let devices = snapshot.zram.data().map(|zram| zram.devices.as_slice()).unwrap_or_default();
    match devices.iter().find(|device| !device.algorithms.is_empty()) {
        Some(device) => device.algorithms.iter().any(|own| own == name),
        None => KNOWN_ALGORITHMS.contains(&name),
    }
}

/// What any kernel may have.
pub(super) const KNOWN_ALGORITHMS: [&str; 7] = ["lzo", "lzo-rle", "lz4", "lz4hc", "zstd", "deflate", "842"];

/// `7 runs each`, `14 runs, of some others 7`.
fn runs_of(all: &[Contender<'_>], chosen: &Contender<'_>) -> String {
    let (own, least) = (chosen.result.n, all.iter().map(|one| one.result.n).min().unwrap_or_default());
    if least == own { format!("{own} runs each") } else { format!("{own} runs, of some others {least}") }
}

/// Two digits behind the point tell settings apart that one would make alike.
fn seconds(value: f64) -> String {
    if (0.1..10.0).contains(&value) { format!("{value:.2} s") } else { nanos_of(value * 1e9).to_string() }
}

/// One setting, its runs and their time.
struct Contender<'a> {
    arm: &'a Arm,
    result: &'a ArmResult,
    time: Option<&'a FigureResult>,
}

impl<'a> Contender<'a> {
    fn from_result(result: &'a ArmResult, records: &'a [RunRecord]) -> Option<Contender<'a>> {
        let arm = &result.runs(records).next()?.arm;
        Some(Contender { arm, result, time: TIMES.iter().find_map(|name| result.figure(name)) })
    }

    fn ended(&self) -> bool {
        matches!(self.result.verdicts.as_slice(), [(word, _)] if word == "completed")
    }

    fn changes_nothing(&self) -> bool {
        self.arm.swap == SwapKind::AsConfigured && self.arm.swappiness.is_none()
    }

    /// With the algorithm that a run had where the kernel chose it.
    fn swap(&self, records: &[RunRecord]) -> SwapKind {
        let seen = || self.result.runs(records).find_map(|run| run.verified.get(VERIFIED).cloned());
        match &self.arm.swap {
            SwapKind::Zram { algorithm: None } => SwapKind::Zram { algorithm: seen() },
            other => other.clone(),
        }
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
