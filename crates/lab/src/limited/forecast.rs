//! A load in a limited group foretold: the same touches through the simulator, and what the lab measured beside it.
//!
//! What it is not: for every setting. What the simulator has not is left out and named.

use ramline_evidence::{TierReport, Verdict as Ended, Workload};
use ramline_kernel::{own_room, worker};
/// How often a setting is simulated, if not told otherwise.
pub use ramline_predict::forecast::RUNS;
use ramline_predict::forecast::{Figures, Forecast, Foretold, Seen, Simulated, Verdict};
use ramline_predict::pace::{self, PaceBy, Timed};
use ramline_predict::workers::{Each, Workers};
use ramline_sim::cost::{Disk, Pace, Spread};
use ramline_sim::footprint::Footprint;
use ramline_sim::kernel::Kernel;
use ramline_sim::load::{Compact, Program};
use ramline_sim::memory::{Setting, Sums, SwapTo};
use ramline_sim::rivals::{self, Simpler};
use ramline_trace::generate::Load;

use ramline_sandbox::progress::Progress;

use super::basis::{Basis, FIRST_LOOK};
use super::lengths::{Found, Lengths};
use super::plan::SwapSizes;
use super::{known, profile};
use crate::prelude::*;
use ramline_sandbox::observe::SAMPLE_EVERY;

/// The kernel's own time between two sums, where the lab does not look at the group (`--stale-statistics`).
const STALE: Duration = Duration::from_secs(2);
/// Why a group may be out of memory that has swap.
const KILLED: &str = "killed in a part of the runs, though it has swap: this kernel sees too late that no page is left on the inactive list, since it goes \
                      by sizes up to 2 s old";
/// Where the kernel would choose, most kernels have this one.
const ALGORITHM: &str = "lzo-rle";
/// Slots that one read from a disk brings: vm.page-cluster is 3.
const CLUSTER: u32 = 8;
/// The chance that nothing was read from swap since boot, where no record says it.
const FRESH: f64 = 0.5;
/// A read of a file in the lab goes through a loop device: rounds with many of them waited 31 µs for each, and 10 for each read from swap. (It takes 28 to 43 µs longer
/// than its disk, traced from `block_rq_issue` to `block_rq_complete` of both; a part of it goes by while the task gives up its processor.)
const LOOP: f64 = 21e3;
/// A fill of fewer touches says nothing about a processor.
const FILLED: usize = 256;

/// What is foretold: a load under several settings.
#[derive(Clone)]
pub struct Question<'a> {
    /// The experiment.
    pub name: &'a str,
    /// What is touched.
    pub load: Load,
    /// The settings, each with what the lab would record of it.
    pub arms: Vec<(Arm, Workload)>,
    /// Sizes of the swap of those that have one.
    pub swap: SwapSizes,
    /// The program that touches the load, with its own pages.
    pub program: Program,
    /// Its nanoseconds from one touch to the next, beside the touches.
    pub between: f64,
    /// How many times each setting is simulated.
    pub runs: u32,
    /// The machine is a virtual one: what its disk takes is not known by measuring it once.
    pub is_virtual: bool,
}

impl Question<'_> {
    /// The same load in other amounts of RAM as well; each setting's name then says in which.
    #[must_use]
    pub fn with_limits(mut self, others: Vec<Self>) -> Self {
        if others.is_empty() {
            return self;
        }
        self.arms.extend(others.into_iter().flat_map(|other| other.arms));
        self.arms.iter_mut().for_each(|(arm, workload)| arm.name = format!("{} at {}", arm.name, workload.limit));
        self
    }
}

/// Foretells all settings, so many at once as there are processors.
///
/// # Errors
/// The load is too large to be simulated.
pub fn forecast(
    question: &Question<'_>,
    kernels: &[Kernel],
    tiers: Option<&TierReport>,
    progress: &mut dyn Progress,
) -> Result<Forecast> {
    let at_once = at_once(question, cores().min(question.arms.len() * kernels.len()))?;
    let touches = decoded(question)?;
    let lengths = Lengths::of(&touches);
    let basis = (Basis::assumed(question, tiers, &lengths), ("", None));
    foretold(question, kernels, &touches, basis, (false, at_once), progress)
}

/// Foretells what a series measured, setting by setting, with what was measured beside it. Of the series only that is used which says how its machine
/// and program were ([`known`]), which no other day's measurement does.
///
/// # Errors
/// The load is too large to be simulated.
pub fn against(
    question: &Question<'_>,
    kernel: Kernel,
    tiers: Option<&TierReport>,
    records: &[RunRecord],
    progress: &mut dyn Progress,
) -> Result<Forecast> {
    let own = known::own(records).unwrap_or(question.program.own);
    let question = &Question { program: Program { own, ..question.program }, ..question.clone() };
    // A search for paces has a run on each processor.
    let at_once = at_once(question, cores())?;
    let workers = Workers { count: cores(), each: WORKERS };
    let touches = decoded(question)?;
    let arms = &question.arms;
    let [of_work, of_rounds] =
        [known::worked, known::took].map(|times| known::spread(arms, records, |arm| times(arm, records)));
    // How long an emulated machine took says how busy the one below it was.
    let of_rounds = if known::is_emulated(records) { 1.0 } else { of_rounds };
    let timed = |(arm, workload): &(Arm, Workload), basis: Basis<'_>| {
        let of = (arm.clone(), workload.clone(), kernel);
        let Some((mut setting, lengths)) = prepared(&of, question.swap, basis)? else { return Ok(None) };
        // Both differ as they will in the forecast, if the disk's pace is found.
        let processor = basis.spread_beside_a_disk(setting.costs.spread.processor);
        setting.costs.spread = Spread { device: of_rounds, processor, ..setting.costs.spread };
        let length = |region: u32, page: u64| lengths.of(region, page);
        let draws = (workload.seed, question.runs);
        Ok::<_, LabError>(Some(Timed::new(&touches, setting, workload.timeout.0, draws, length, workers)))
    };
    let found = |by: PaceBy, basis: Basis<'_>, of: Option<(&(Arm, Workload), &[f64])>, spread: f64| {
        let Some((setting, took)) = of else { return Ok(None) };
        let times = timed(setting, basis)?.and_then(|timed| timed.pace(by, took, spread));
        Ok::<_, LabError>(times.map(|times| Pace { times, spread }))
    };
    let (layer, lengths) = (if known::is_plain(records) { 0.0 } else { LOOP }, Lengths::of(&touches));
    let first_look = known::first_look(records, ns(SAMPLE_EVERY)).unwrap_or(FIRST_LOOK);
    let basis = Basis { layer, follows: true, first_look, records, ..Basis::assumed(question, tiers, &lengths) };
    let by_round = if known::is_emulated(records) { PaceBy::EmulatedRound } else { PaceBy::Round };
    let rounds = known::rounds(&question.arms, records);
    let round = rounds.as_ref().map(|(setting, took)| (*setting, took.as_slice()));
    let worked = round.and_then(|(setting, _)| Some((setting, known::worked(&setting.0, records)?)));
    progress.step("finding the paces of disk and processor");
    let by_work = worked.as_ref().map(|(setting, took)| (*setting, took.as_slice()));
    let of_work = known::of_processor(of_work, round.map(|(setting, _)| &setting.0), arms);
    let mut basis = Basis { processor: found(PaceBy::Work, basis, by_work, of_work)?, by_work: true, ..basis };
    if basis.processor.is_none() {
        let filled = known::filled(&question.arms, records).filter(|_| touches.fill.len() >= FILLED);
        let filled = filled.as_ref().map(|(setting, took)| (*setting, took.as_slice()));
        // A fill with swap on a disk waits for its writes, so something is known of the disk first.
        let writes = filled.is_some_and(|((arm, _), _)| arm.swap == SwapKind::File);
        let disk = if writes { found(by_round, basis, round, of_rounds)?.map(Disk::of_both) } else { None };
        // Fills of other settings wait for swap.
        let spread = filled.map_or(1.0, |(_, took)| pace::spread(took));
        let processor = found(PaceBy::Fill, Basis { disk, ..basis }, filled, spread)?;
        basis = Basis { processor, by_work: false, ..basis };
    }
    let disk = found(by_round, basis, round, of_rounds)?.map(Disk::of_both);
    let long = round.and_then(|(setting, _)| known::long(&question.arms, records, setting));
    let long = long.as_ref().map(|(setting, took)| (*setting, took.as_slice())).filter(|_| by_round == PaceBy::Round);
    let parted = match (disk, round, long) {
        (Some(both), Some((short, short_took)), Some((long, long_took))) => {
            match (timed(short, basis)?, timed(long, basis)?) {
                (Some(short), Some(long)) => pace::parted([&short, &long], [short_took, long_took], both),
                _ => None,
            }
        }
        _ => None,
    };
    let reference = round.map_or("", |((arm, _), _)| arm.name.as_str());
    let by_long = parted.and(long).map(|((arm, _), _)| arm.name.as_str());
    let basis = Basis { disk: parted.or(disk), ..basis };
    let mut out = foretold(question, &[kernel], &touches, (basis, (reference, by_long)), (true, at_once), progress)?;
    out.calibrated = true;
    beside(&mut out, records);
    Ok(out)
}

const WORKERS: Each<'static> = &|count, what| worker::side_by_side("simulation", count, what);

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// How many runs, of those that could be, fit into memory at the same time: what they take is known before anything is taken.
///
/// # Errors
/// Not one does; it says up to which size one would.
fn at_once(question: &Question<'_>, wanted: usize) -> Result<usize> {
    let has_swap = question.arms.iter().any(|(arm, _)| arm.swap != SwapKind::None);
    let needs = Footprint::of(&question.load, if has_swap { question.swap.area.0 } else { 0 });
    // Others take memory meanwhile, and what is left is an estimate: an eighth stays.
    let part = |bytes: Bytes| Bytes(bytes.0 / 8 * 7);
    let room = part(own_room(&Root::live())?);
    let fits = |runs: usize| needs.at_once(runs as u64) <= room.0;
    if let Some(runs) = (1..=wanted.max(1)).rev().find(|runs| fits(*runs)) {
        return Ok(runs);
    }
    // All of it grows with the size of the load.
    let (least, size) = (needs.at_once(1), question.load.size());
    let most =
        u64::try_from(u128::from(size) * u128::from(part(room).0) / u128::from(least.max(1))).unwrap_or(u64::MAX);
    let (option, parts) = match question.load {
        Load::CodePlusData(load) => ("unit", u64::from(load.code + load.data)),
        _ => ("size", 1),
    };
    let whole = (most / parts) >> 20;
    let text = format!(
        "memory: {} needed to simulate a load of {}, {room} can be taken; --{option} {whole}MiB fits",
        Bytes(least),
        Bytes(size)
    );
    Err(LabError::refused(vec![text], format!("ramline predict {} --{option} {}MiB", question.name, whole.max(1))))
}

/// The load, once for all settings: none of them changes what is touched.
fn decoded(question: &Question<'_>) -> Result<Compact> {
    let large = || {
        let way_out = format!("ramline predict {}", question.name);
        LabError::usage("a load of more than 2 TiB is not simulated yet".to_owned(), way_out)
    };
    Ok(Compact::of(&question.load).ok_or_else(large)?.with_program(question.program))
}

fn foretold(
    question: &Question<'_>,
    kernels: &[Kernel],
    touches: &Compact,
    (basis, (reference, long)): (Basis<'_>, (&str, Option<&str>)),
    (compared, threads): (bool, usize),
    progress: &mut dyn Progress,
) -> Result<Forecast> {
    let Question { name, arms, swap, runs, .. } = question;
    let arms: Vec<(Arm, Workload, Kernel)> = arms.iter().flat_map(|arm| with_each(arm, kernels)).collect();
    let limit = arms.first().map(|(_, workload, _)| workload.limit).unwrap_or_default();
    let mut out = Forecast { experiment: (*name).to_owned(), limit, ..Forecast::default() };
    let mut left_out = Vec::new();
    // A thread for each setting.
    for (done, batch) in arms.chunks(threads).enumerate() {
        progress.step(&format!("predicting {} of {}", done * threads + batch.len(), arms.len()));
        let all = Workers { count: threads, each: WORKERS }
            .map(batch.len(), |at| one(touches, &batch[at], (*swap, *runs), basis, compared));
        for ((arm, workload, _), foretold) in batch.iter().zip(all) {
            let foretold = foretold.unwrap_or_else(|| Err(LabError::Workload("the simulator broke off".to_owned())))?;
            if foretold.is_none() {
                left_out.push(arm.name.clone());
            }
            let (foretold, simpler) = foretold.unzip();
            let (foretold, simpler) = (foretold.flatten(), simpler.flatten());
            let (foretold, rounds) = foretold.map(|found: Simulated| (found.figures, found.rounds)).unzip();
            let (name, limit, rounds) = (arm.name.clone(), workload.limit, rounds.unwrap_or_default());
            out.settings.push(Foretold { name, limit, foretold, rounds, simpler, ..Foretold::default() });
        }
    }
    // What can be chosen is a setting for one load: the same contents, read-ahead and kernel.
    let one_load = |(arm, workload, _): &(Arm, Workload, Kernel)| (arm.fill.clone(), workload.read_ahead);
    if kernels.len() == 1 && arms.windows(2).all(|pair| one_load(&pair[0]) == one_load(&pair[1])) {
        out.front = out.front().into_iter().map(str::to_owned).collect();
    }
    let by_old_sizes = |((arm, _, kernel), setting): (&(Arm, Workload, Kernel), &Foretold)| {
        let can_be = arm.swap != SwapKind::None && !kernel.sums_up && kernel.mglru().is_none();
        can_be && setting.foretold.is_some_and(|figures| 0.0 < figures.killed && figures.killed < 1.0)
    };
    if arms.iter().zip(&out.settings).any(by_old_sizes) {
        out.notes.push(KILLED.to_owned());
    }
    out.notes.extend(unsettled(&out.settings));
    out.notes.push(basis.said(reference, long));
    if !left_out.is_empty() {
        out.notes.push(format!("not simulated yet: {}", left_out.join(", ")));
    }
    let mut named: Vec<String> = kernels.iter().map(Kernel::named).collect();
    named.dedup();
    out.notes.push(format!("simulated kernel: {} at its limit", named.join("; ")));
    let mut left: Vec<&str> = kernels.iter().flat_map(Kernel::notes).collect();
    left.sort_unstable();
    left.dedup();
    if !left.is_empty() {
        out.notes.push(format!("left out of it: {}", left.join("; ")));
    }
    Ok(out)
}

/// A setting with each kernel; its name says which, if there are several.
fn with_each((arm, workload): &(Arm, Workload), kernels: &[Kernel]) -> Vec<(Arm, Workload, Kernel)> {
    let name = |kernel: &Kernel| match kernels.len() {
        1 => arm.name.clone(),
        _ => format!("{} {}", arm.name, profile::word(kernel)),
    };
    let with = |kernel: &Kernel| (Arm { name: name(kernel), ..arm.clone() }, workload.clone(), *kernel);
    kernels.iter().map(with).collect()
}

fn one(
    touches: &Compact,
    of: &(Arm, Workload, Kernel),
    (swap, runs): (SwapSizes, u32),
    basis: Basis<'_>,
    compared: bool,
) -> Result<Option<(Option<Simulated>, Option<Simpler>)>> {
    let Some((setting, lengths)) = prepared(of, swap, basis)? else { return Ok(None) };
    let (_, workload, _) = of;
    let length = |region: u32, page: u64| lengths.of(region, page);
    let foretold =
        ramline_predict::forecast::compact(touches, &setting, workload.timeout.0, (workload.seed, runs), length);
    // What simpler models say takes longer than the forecast: asked only where something was measured that both can be held against.
    Ok(Some((foretold, compared.then(|| rivals::simpler(touches, &setting)))))
}

fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// What the simulator is asked, and what pages compress to; `None` for a kind of swap that it has not.
fn prepared(
    (arm, workload, kernel): &(Arm, Workload, Kernel),
    swap: SwapSizes,
    basis: Basis<'_>,
) -> Result<Option<(Setting, Found)>> {
    let (to, algorithm) = match &arm.swap {
        SwapKind::None => (SwapTo::Nowhere, None),
        SwapKind::File => (SwapTo::Disk, None),
        SwapKind::Zram { algorithm } => (SwapTo::Zram, Some(algorithm.as_deref().unwrap_or(ALGORITHM))),
        SwapKind::AsConfigured | SwapKind::ZramOverFile { .. } | SwapKind::Zswap => return Ok(None),
    };
    let pages = |bytes: Bytes| bytes.0 / 4096;
    let whole = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    let every = ns(SAMPLE_EVERY);
    let watched = Sums::Watched { every, first: basis.first_look };
    let sums = if workload.fresh_statistics { watched } else { Sums::Every(ns(STALE)) };
    let setting = Setting {
        limit: pages(workload.limit),
        follows: basis.follows,
        swappiness: arm.swappiness.unwrap_or(60).into(),
        swap: to,
        slots: whole(pages(swap.area)),
        read_ahead: whole(pages(workload.read_ahead).max(1)),
        cluster: CLUSTER,
        fresh: known::fresh(arm, basis.records).unwrap_or(FRESH),
        base: 0,
        sums,
        first_looks: known::looks(arm, basis.records, every),
        costs: basis.costs(algorithm.unwrap_or(ALGORITHM), arm),
        kernel: *kernel,
    };
    Ok(Some((setting, basis.lengths.find(&arm.fill, algorithm, workload.seed)?)))
}

/// That the middle of some settings is not known.
fn unsettled(settings: &[Foretold]) -> Option<String> {
    let of = |setting: &Foretold| setting.foretold.filter(|figures| figures.unsettled)?.simulations;
    let most = settings.iter().filter_map(of).max()?;
    let names: Vec<&str> =
        settings.iter().filter(|setting| of(setting).is_some()).map(|setting| setting.name.as_str()).collect();
    let names = names.join(", ");
    Some(format!(
        "uncertain: {names}: simulations differ too much for their median to be known to a tenth, even {most} of them; use the range"
    ))
}

/// Puts what a series measured beside what was foretold, setting by setting.
fn beside(forecast: &mut Forecast, records: &[RunRecord]) {
    if let Some(machine) = records.first().map(|record| &record.machine) {
        let (kernel, version) = (&machine.kernel, machine.cgroup_version);
        forecast.notes.push(format!("measured: on Linux {kernel} in a cgroup v{version}"));
    }
    for setting in &mut forecast.settings {
        let runs: Vec<Seen> =
            records.iter().filter(|record| record.arm.name == setting.name).filter_map(measured).collect();
        setting.runs = u32::try_from(runs.len()).unwrap_or(u32::MAX);
        setting.measured = Figures::of(&runs);
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of a run")]
pub(super) fn measured(record: &RunRecord) -> Option<Seen> {
    let verdict = match &record.verdict {
        Ended::Completed => Verdict::Fine,
        Ended::Thrashing(_) => Verdict::Thrashing,
        Ended::Killed(_) => Verdict::Killed,
        _ => return None,
    };
    let reclaim = &record.reclaim;
    let zeros = reclaim.swap_in_zero.unwrap_or(0);
    Some(Seen {
        verdict,
        rounds: record.rounds.len() as f64 + record.fraction,
        seconds: record.elapsed.0 as f64 / 1e9,
        major: reclaim.major_faults as f64,
        swap_in: (reclaim.swap_in? + zeros) as f64,
        refault_file: reclaim.refault_file? as f64,
        beside: None,
    })
}

#[cfg(test)]
mod tests;
