//! What the runs of a series say about the machine and the program that made them: no count of the runs, and of times only those of fills and of one or two settings' rounds, which are then
//! no predictions. Of other settings only how much their rounds differ, and when they began.
//!
//! What the program takes of its limit before it touches its load, and how soon it begins; how its rounds began; by its own time in a round of one setting, or by how long it filled its memory, how fast a
//! processor was; by how long that round took, and one of a setting that reads many pages at once, how fast the disks were; by the rounds of all settings, how much that differed from run to run; what compression took there before each run; whether anything was read from swap on that machine before.

use crate::apparatus::reader::RoundsBegin;
use crate::forecast::{Figures, Range, RunFigures};
use crate::pace;
use ramline_evidence::{Arm, CodecTimes, Phase, RunRecord, SwapKind, Workload};
use ramline_sim::cost::MEASURED_SPREAD;
use ramline_sim::load::PAGE;

use ramline_units::Nanos;

use crate::measured::measured;

/// What a record has among what was verified where files lie on the disk itself.
pub const PLAIN: &str = "scratch without loop device";
/// A round with fewer major faults and pages of files that come back says nothing about disks.
const READS: f64 = 50.0;

/// Pages of the program, and what the kernel keeps for the group, when its workload was ready to begin: from the least to below the most of the runs, but
/// for a tenth of them at each end. `None` of records that do not say it. Nothing is added for pages that other processors have charged ahead: of 476 looks
/// at a stopped load three quarters found none.
pub fn own(records: &[RunRecord]) -> Option<[u64; 2]> {
    let of = |record: &RunRecord| {
        let bytes = |name: &str| record.ready.get(name).copied();
        Some((bytes("group.anon_bytes")? + bytes("group.kernel_bytes")?) / PAGE)
    };
    let mut all: Vec<u64> = records.iter().filter_map(of).collect();
    all.sort_unstable();
    let few = all.len() / 10;
    Some([*all.get(few)?, all.iter().nth_back(few)? + 1])
}

/// When the lab looks at a group for the first time after its load began, in nanoseconds from there: its looks begin with the program and come each
/// `every`. The least and the most, but for a tenth of the runs at each end; any time where they lie in different turns.
pub fn first_read(records: &[RunRecord], every: u64) -> Option<[u64; 2]> {
    let begun = |record: &RunRecord| Some(done(record)?.saturating_sub(Nanos(record.fill.0 + record.elapsed.0)).0);
    let mut all: Vec<u64> = records.iter().filter_map(begun).collect();
    all.sort_unstable();
    let few = all.len() / 10;
    let (soon, late) = (*all.get(few)?, *all.iter().nth_back(few)?);
    let every = every.max(1);
    Some(if soon / every == late / every { [every - late % every, every - soon % every] } else { [0, every] })
}

/// When the lab looked for the first time in the rounds of each run of a setting, and how much was filled when it had looked before. None of fewer than five runs, or on an emulated
/// processor: looks come 0.1 to 0.2 ms late each, there many times as much, so that behind a hundred of them it is not known when they come.
#[expect(clippy::cast_precision_loss, reason = "nanoseconds of a fill")]
pub fn rounds_begin(arm: &Arm, records: &[RunRecord], every: u64) -> Vec<RoundsBegin> {
    const FEW: usize = 5;
    const KNOWN: u64 = 100;
    let every = every.max(1);
    let one = |record: &RunRecord| {
        let (fill, begun) = (record.fill.0, done(record)?.saturating_sub(record.elapsed).0);
        let since = begun % every;
        let filled = fill.saturating_sub(since) as f64 / fill as f64;
        (fill > 0 && begun / every < KNOWN && !record.emulated)
            .then_some(RoundsBegin { first_read: every - since, filled })
    };
    let all: Vec<RoundsBegin> = of(arm, records).filter_map(one).collect();
    if all.len() < FEW { Vec::new() } else { all }
}

/// When the lab saw that the load was done; it looks on while the program ends.
fn done(record: &RunRecord) -> Option<Nanos> {
    record.samples.iter().find(|sample| sample.phase == Phase::Done).map(|sample| sample.at)
}

/// The part of the runs of a setting before which nothing was read from swap since the machine was started. `None` of records that do not say it.
#[expect(clippy::cast_precision_loss, reason = "a number of runs")]
pub fn fresh(arm: &Arm, records: &[RunRecord]) -> Option<f64> {
    let before = |record: &RunRecord| record.before.get("vm.pswpin").copied();
    let read: Vec<u64> = of(arm, records).map(before).collect::<Option<_>>()?;
    let fresh = read.iter().filter(|pages| **pages == 0).count();
    (!read.is_empty()).then(|| fresh as f64 / read.len() as f64)
}

/// What compression took before the runs of a setting: nanoseconds to compress and to decompress a page, in the middle of them, and so many times less or more.
#[expect(clippy::cast_precision_loss, reason = "nanoseconds of a page")]
pub fn codec(arm: &Arm, records: &[RunRecord]) -> Option<([f64; 2], f64)> {
    let of = |pick: fn(&CodecTimes) -> Nanos| {
        let each = of(arm, records).filter_map(|record| record.codec.as_ref());
        each.map(|times| pick(times).0 as f64).filter(|took| *took > 0.0).collect::<Vec<_>>()
    };
    let (compress, decompress) = (of(|times| times.compress), of(|times| times.decompress));
    let spread = pace::spread(&compress).max(pace::spread(&decompress));
    let middle = |all: Vec<f64>| Range::from_values(all).map(|range| range.median);
    Some(([middle(compress)?, middle(decompress)?], spread))
}

/// Its files lie on the disk itself: without root no loop device is made.
pub fn is_plain(records: &[RunRecord]) -> bool {
    records.iter().any(|record| record.verified.contains_key(PLAIN))
}

/// Its processor was emulated: how long its rounds take says then how busy the machine was that did it. In guests they took up to eight times as long as others of
/// the same setting, and what was counted had nothing to do with it (bench/runs/accuracy-found-2.json and -4: in the middle of 36 settings the correlation was 0.1).
pub fn is_emulated(records: &[RunRecord]) -> bool {
    records.iter().any(|record| record.emulated)
}

/// The setting whose fill says how fast a processor was, with its seconds: one without swap, if there is one, else one that writes to a disk. Of several
/// the one that took the least: what else there was only made a fill longer (a hypervisor that has to give 14 GiB first: 28 s, 8 s after that).
#[expect(clippy::cast_precision_loss, reason = "nanoseconds of a fill")]
pub fn filled<'a>(arms: &'a [(Arm, Workload)], records: &[RunRecord]) -> Option<(&'a (Arm, Workload), Vec<f64>)> {
    let took = |(arm, _): &(Arm, Workload)| {
        let filled = of(arm, records).filter(|record| record.fill.0 > 0);
        let took: Vec<f64> = filled.map(|record| record.fill.0 as f64 / 1e9).collect();
        (!took.is_empty()).then_some(took)
    };
    let middle = |took: &[f64]| Range::from_values(took.to_vec()).map_or(0.0, |range| range.median);
    let by = |swap: SwapKind| {
        let known = arms.iter().filter(|(arm, _)| arm.swap == swap).filter_map(|both| Some((both, took(both)?)));
        known.min_by(|(_, one), (_, other)| middle(one).total_cmp(&middle(other)))
    };
    by(SwapKind::None).or_else(|| by(SwapKind::File))
}

/// The setting whose rounds say how fast the disks were, with the seconds of one: it reads from them; one that is steady, one with
/// swap, since without any reclaim looks at files alone, and swappiness 60, if they were measured.
pub fn rounds<'a>(arms: &'a [(Arm, Workload)], records: &[RunRecord]) -> Option<(&'a (Arm, Workload), Vec<f64>)> {
    let mut all: Vec<_> = arms.iter().collect();
    all.sort_by_key(|(arm, _)| (!is_steady(arm, records), arm.swap == SwapKind::None, arm.swappiness != Some(60)));
    all.into_iter().find_map(|both| Some((both, took(&both.0, records)?)))
}

/// The setting that gives the pace of each page of a request, with the seconds of one of its rounds: it is steady, has the same read-ahead as `than`, by whose rounds both paces cannot be
/// known, and reads the most pages at once, at least twice as many.
pub fn long<'a>(
    arms: &'a [(Arm, Workload)],
    records: &[RunRecord],
    than: &(Arm, Workload),
) -> Option<(&'a (Arm, Workload), Vec<f64>)> {
    const LONGER: f64 = 2.0;
    let least = LONGER * pages_of_a_fault(&than.0, records)?;
    let all = arms.iter().filter(|(arm, load)| load.read_ahead == than.1.read_ahead && is_steady(arm, records));
    let long = all.filter_map(|both| Some((both, pages_of_a_fault(&both.0, records)?, took(&both.0, records)?)));
    let (both, pages, took) = long.max_by(|(_, one, _), (_, other, _)| one.total_cmp(other))?;
    (pages >= least).then_some((both, took))
}

/// Pages that a fault of a setting reads in the middle of its runs; `None` where it hardly has any.
fn pages_of_a_fault(arm: &Arm, records: &[RunRecord]) -> Option<f64> {
    let runs: Vec<RunFigures> = of(arm, records).filter_map(measured).collect();
    let figures = Figures::from_runs(&runs)?;
    let faults = figures.major.filter(|major| major.median >= READS)?.median;
    let pages = figures.refault_file?.median + figures.swap_in?.median;
    (pages >= READS).then_some(pages / faults)
}

/// Seconds of a round of a setting that reads from disks.
pub fn took(arm: &Arm, records: &[RunRecord]) -> Option<Vec<f64>> {
    matches!(arm.swap, SwapKind::None | SwapKind::File).then_some(())?;
    let runs: Vec<RunFigures> = of(arm, records).filter_map(measured).collect();
    let figures = Figures::from_runs(&runs)?;
    (figures.major?.median + figures.refault_file?.median >= READS).then_some(())?;
    let done = runs.iter().filter(|run| run.rounds > 0.0 && run.seconds > 0.0);
    let all: Vec<f64> = done.map(|run| run.seconds / run.rounds).collect();
    (!all.is_empty()).then_some(all)
}

/// What its rounds read is nearly the same from run to run; else how long they take says what happened in them, not how fast a machine was. Here it is 1.5 times less or more
/// at most, but with shared data and swappiness 60 or more, where it is 1.2 to 4.0.
fn is_steady(arm: &Arm, records: &[RunRecord]) -> bool {
    const STEADY: f64 = 1.5;
    let runs = of(arm, records).filter_map(measured).filter(|run| run.rounds > 0.0);
    let read: Vec<f64> = runs.map(|run| (run.major + run.refault_file).max(1.0) / run.rounds).collect();
    read.len() < 2 || pace::spread(&read) <= STEADY
}

/// So many times less or more a machine's pace was from run to run, by what rounds took: as in the setting in the middle, since those of one setting differ by what happens in it as
/// well; of those that are steady, if there are any.
pub fn spread(arms: &[(Arm, Workload)], records: &[RunRecord], times: impl Fn(&Arm) -> Option<Vec<f64>>) -> f64 {
    let each = arms.iter().filter_map(|(arm, _)| Some((is_steady(arm, records), pace::spread(&times(arm)?))));
    let (steady, others): (Vec<_>, Vec<_>) = each.partition(|(is_steady, _)| *is_steady);
    let counts = if steady.is_empty() { others } else { steady };
    Range::from_values(counts.into_iter().map(|(_, spread)| spread).collect())
        .map_or(MEASURED_SPREAD, |range| range.median)
}

/// So many times less or more a processor's pace may be, where rounds differ so much. By a setting without swap it is less certain for others: of 21 with zram the time was 0.7 to 1.45
/// times what such a pace gives, 1.5 times less or more by two standard deviations (bench/runs/accuracy-found-6, -9 and -10.json).
pub fn processor_spread(differs: f64, by: Option<&Arm>, arms: &[(Arm, Workload)]) -> f64 {
    let swaps = |arm: &Arm| arm.swap != SwapKind::None;
    let is_unlike = by.is_some_and(|by| !swaps(by)) && arms.iter().any(|(arm, _)| swaps(arm));
    if is_unlike { differs.max(1.5) } else { differs }
}

/// Processor seconds of a round of a setting; `None` of records that do not say it.
#[expect(clippy::cast_precision_loss, reason = "nanoseconds of a run")]
pub fn worked(arm: &Arm, records: &[RunRecord]) -> Option<Vec<f64>> {
    let of_a_round = |record: &RunRecord| {
        let rounds = record.rounds.len() as f64 + record.fraction;
        let is_known = rounds > 0.0 && measured(record).is_some();
        Some(record.worked?.0 as f64 / 1e9 / rounds).filter(|worked| is_known && *worked > 0.0)
    };
    let all: Vec<f64> = of(arm, records).filter_map(of_a_round).collect();
    (!all.is_empty()).then_some(all)
}

fn of<'a>(arm: &Arm, records: &'a [RunRecord]) -> impl Iterator<Item = &'a RunRecord> + use<'a> {
    let name = arm.name.clone();
    records.iter().filter(move |record| record.arm.name == name)
}

#[cfg(test)]
mod tests {
    use ramline_evidence::{Sample, Verdict as Ended};
    use ramline_units::Bytes;

    use super::*;

    fn record(name: &str, fill: u64, anon: u64) -> RunRecord {
        let mut record =
            RunRecord { fill: Nanos(fill), verdict: Ended::Completed, fraction: 2.0, ..RunRecord::default() };
        record.arm.name = name.to_owned();
        record.ready = [("group.anon_bytes", anon * PAGE), ("group.kernel_bytes", 20 * PAGE)]
            .map(|(name, bytes)| (name.to_owned(), bytes))
            .into();
        (record.elapsed, record.reclaim.swap_in, record.reclaim.refault_file) =
            (Nanos(4_000_000_000), Some(0), Some(0));
        record
    }

    #[test]
    fn the_pages_of_the_program_are_those_of_its_runs_without_the_few_at_both_ends() {
        let records: Vec<_> = [7, 900].into_iter().chain(100..108).map(|anon| record("a", 1, anon)).collect();
        assert_eq!((records.len(), own(&records)), (10, Some([120, 128])));
        assert_eq!(own(&[RunRecord::default()]), None);
    }

    #[test]
    fn the_first_look_comes_as_long_after_the_load_began_as_its_program_was_there_before() {
        let at = |begun: u64| {
            let mut record = record("a", 50_000_000, 0);
            let at = Nanos(begun + 50_000_000 + record.elapsed.0);
            record.samples = vec![Sample { at, phase: Phase::Done, ..Sample::default() }];
            record
        };
        let records: Vec<_> = (1..=20).map(|ms| at(ms * 1_000_000)).collect();
        assert_eq!(first_read(&records, 100_000_000), Some([82_000_000, 97_000_000]));
        assert_eq!(first_read(&records, 10_000_000), Some([0, 10_000_000]));
        assert_eq!(first_read(&[record("a", 1, 0)], 100_000_000), None);
    }

    #[test]
    fn a_look_of_the_rounds_and_what_was_filled_before_it_are_those_of_one_run() {
        let arm = Arm { name: "a".to_owned(), ..Arm::default() };
        // The rounds begin so many milliseconds after the lab began to look.
        let at = |begun: u64| {
            let mut record = record("a", 80_000_000, 0);
            let at = Nanos(begun * 1_000_000 + record.elapsed.0);
            record.samples = vec![Sample { at, phase: Phase::Done, ..Sample::default() }];
            record
        };
        let of = |records: &[RunRecord]| rounds_begin(&arm, records, 100_000_000);
        let look = |ms: u64, filled| RoundsBegin { first_read: ms * 1_000_000, filled };
        // Where the fill began after the look before, nothing was filled then; a look as the rounds begin is the one before.
        let known = [105, 220, 340, 490, 200].map(at);
        let expected = [look(95, 0.9375), look(80, 0.75), look(60, 0.5), look(10, 0.0), look(100, 1.0)];
        assert_eq!(of(&known), expected);
        // Too few; too late, on an emulated processor, or of a record that does not say how long its fill took.
        assert_eq!(of(&known[..4]), []);
        let [late, emulated, silent] =
            [at(20_000), RunRecord { emulated: true, ..at(110) }, RunRecord { fill: Nanos(0), ..at(110) }];
        assert_eq!(of(&[&known[..], &[late, emulated, silent]].concat()), expected);
        // The lab looks on while the program ends.
        let mut ending = at(110);
        ending.samples.push(Sample { at: Nanos(1 << 40), ..ending.samples[0].clone() });
        assert_eq!(done(&ending), Some(ending.samples[0].at));
    }

    #[test]
    fn a_machine_is_fresh_before_its_first_read_from_swap() {
        let arm = Arm { name: "a".to_owned(), ..Arm::default() };
        let read = |name: &str, pages: u64| {
            let mut record = record(name, 1, 0);
            record.before.insert("vm.pswpin".to_owned(), pages);
            record
        };
        let records = [read("a", 0), read("a", 7), read("b", 0), read("a", 9), read("a", 7)];
        assert_eq!(fresh(&arm, &records), Some(0.25));
        assert_eq!([fresh(&arm, &[read("a", 0), record("a", 1, 0)]), fresh(&arm, &[])], [None, None]);
    }

    #[test]
    fn compression_and_processor_time_are_those_of_the_setting_s_own_runs() {
        let arm = Arm { name: "a".to_owned(), ..Arm::default() };
        let run = |name: &str, compress: u64, worked: u64| {
            let codec = Some(CodecTimes { compress: Nanos(compress), decompress: Nanos(7) });
            RunRecord { codec, worked: Some(Nanos(worked)), ..record(name, 1, 0) }
        };
        let records = [run("a", 10, 6_000_000_000), run("b", 99, 1), run("a", 14, 4_000_000_000)];
        let ([compress, decompress], spread) = codec(&arm, &records).unwrap();
        assert_eq!([compress, decompress], [12.0, 7.0]);
        assert!((1.5..1.7).contains(&spread), "{spread}");
        // Two rounds each.
        assert_eq!(worked(&arm, &records), Some(vec![3.0, 2.0]));
        let old = [record("a", 1, 0)];
        assert_eq!((codec(&arm, &old), worked(&arm, &old)), (None, None));
    }

    #[test]
    fn a_setting_with_swap_tells_a_pace_before_one_without_and_swappiness_60_before_others() {
        let arm = |name: &str, swap, swappiness| {
            (Arm { name: name.to_owned(), swap, swappiness: Some(swappiness), ..Arm::default() }, Workload::default())
        };
        let all = [arm("none", SwapKind::None, 60), arm("1", SwapKind::File, 1), arm("60", SwapKind::File, 60)];
        let records = ["none", "1", "60"].map(|name| {
            let mut record = record(name, 1, 0);
            record.reclaim.major_faults = 1000;
            record
        });
        let first = |arms: &[(Arm, Workload)]| rounds(arms, &records).map(|((arm, _), _)| arm.name.clone());
        assert_eq!(
            [first(&all), first(&all[..2]), first(&all[..1])],
            ["60", "1", "none"].map(|name| Some(name.to_owned()))
        );
    }

    #[test]
    fn a_pace_is_found_in_the_setting_that_says_most_about_it() {
        let arm = |name: &str, swap| (Arm { name: name.to_owned(), swap, ..Arm::default() }, Workload::default());
        let zram = SwapKind::Zram { algorithm: None };
        let arms =
            [arm("late", SwapKind::File), arm("swap", SwapKind::File), arm("zram", zram), arm("none", SwapKind::None)];
        let mut records = vec![record("late", 9, 0), record("swap", 3, 0), record("zram", 1, 0), record("swap", 1, 0)];
        let name = |found: Option<(&(Arm, Workload), Vec<f64>)>| found.map(|((arm, _), took)| (arm.name.clone(), took));
        assert_eq!(name(filled(&arms, &records)), Some(("swap".to_owned(), vec![3e-9, 1e-9])));
        // Without a read there is no pace of a disk.
        assert_eq!(name(rounds(&arms, &records)), None);
        records.iter_mut().for_each(|record| record.reclaim.major_faults = 1000);
        assert_eq!(name(rounds(&arms, &records)), Some(("late".to_owned(), vec![2.0])));
        // What happens in its rounds is chance.
        let mut other = record("late", 9, 0);
        other.reclaim.major_faults = 3000;
        records.push(other);
        assert_eq!(name(rounds(&arms, &records)).unwrap().0, "swap");
    }

    #[test]
    fn pages_of_requests_have_a_pace_of_their_own_where_a_steady_setting_reads_many_at_once() {
        let arm =
            |name: &str| (Arm { name: name.to_owned(), swap: SwapKind::File, ..Arm::default() }, Workload::default());
        let arms = ["few", "some", "many", "chance"].map(arm);
        let read = |name: &str, faults: u64, pages: u64| {
            let mut record = record(name, 1, 0);
            (record.reclaim.major_faults, record.reclaim.refault_file) = (faults, Some(pages));
            record
        };
        let chance = [read("chance", 100, 9000), read("chance", 300, 90_000)];
        let runs = [("few", 200, 600), ("some", 300, 1700), ("many", 900, 9900), ("idle", 200, 0), ("rare", 20, 9000)];
        let records = [&runs.map(|(name, faults, pages)| read(name, faults, pages))[..], &chance].concat();
        let long = |arms: &[(Arm, Workload)], than: &str| {
            long(arms, &records, &arm(than)).map(|((arm, _), _)| arm.name.clone())
        };
        assert_eq!(long(&arms, "few"), Some("many".to_owned()));
        // 3 pages and 5.7, not twice as many; 11 beside itself; and what has no runs, no pages or hardly a fault.
        assert_eq!([long(&arms[..2], "few"), long(&arms, "many"), long(&arms, "none")], [None, None, None]);
        assert_eq!([long(&arms, "idle"), long(&[arm("rare")], "few")], [None, None]);
        // Windows of another length are another measure.
        let mut other = arm("many");
        other.1.read_ahead = Bytes(8 << 20);
        assert_eq!(long(&[other], "few"), None);
    }

    #[test]
    fn a_pace_differs_as_rounds_do_in_the_setting_in_the_middle() {
        let arms =
            ["a", "b", "c", "d"].map(|name| (Arm { name: name.to_owned(), ..Arm::default() }, Workload::default()));
        let times = |step: i32| (0..6).map(|run| f64::from(100 + step * (run % 2))).collect::<Vec<f64>>();
        let took = |arm: &Arm| match arm.name.as_str() {
            "a" => Some(times(90)),
            "b" => Some(times(1)),
            "c" => None,
            _ => Some(times(5)),
        };
        assert_eq!(spread(&arms, &[], took), pace::spread(&times(5)));
        assert_eq!(spread(&arms, &[], |_| None), MEASURED_SPREAD);
        let reads = [("a", 100), ("a", 120), ("b", 100), ("b", 100), ("d", 100), ("d", 300)].map(|(name, reads)| {
            let mut record = record(name, 1, 0);
            record.reclaim.major_faults = reads;
            record
        });
        let middle = f64::midpoint(pace::spread(&times(90)), pace::spread(&times(1)));
        assert_eq!(spread(&arms, &reads, took), middle);
        // Where none is steady all count.
        let both = [("a", 100), ("a", 300)].map(|(name, reads)| {
            let mut record = record(name, 1, 0);
            record.reclaim.major_faults = reads;
            record
        });
        assert_eq!(spread(&arms[..1], &both, took), pace::spread(&times(90)));
    }

    #[test]
    fn a_processor_s_pace_is_less_certain_where_a_setting_without_swap_gives_it_for_others() {
        let arms = [SwapKind::None, SwapKind::File].map(|swap| (Arm { swap, ..Arm::default() }, Workload::default()));
        let of = |by: usize, all: usize| processor_spread(1.2, Some(&arms[by].0), &arms[..all]);
        assert_eq!([of(0, 2), of(1, 2), of(0, 1)], [1.5, 1.2, 1.2]);
    }
}
