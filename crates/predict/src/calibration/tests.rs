//! What is read of the records of a series.

use ramline_evidence::{Sample, Verdict as Ended};
use ramline_units::Bytes;

use super::*;

fn record(name: &str, fill: u64, anon: u64) -> RunRecord {
    let mut record = RunRecord { fill: Nanos(fill), verdict: Ended::Completed, fraction: 2.0, ..RunRecord::default() };
    record.arm.name = name.to_owned();
    record.ready = [("group.anon_bytes", anon * PAGE), ("group.kernel_bytes", 20 * PAGE)]
        .map(|(name, bytes)| (name.to_owned(), bytes))
        .into();
    (record.elapsed, record.reclaim.swap_in, record.reclaim.refault_file) = (Nanos(4_000_000_000), Some(0), Some(0));
    record
}

#[test]
fn the_pages_of_the_program_are_those_of_its_runs_without_the_few_at_both_ends() {
    let records: Vec<_> = [7, 900].into_iter().chain(100..108).map(|anon| record("a", 1, anon)).collect();
    assert_eq!((records.len(), overhead_pages(&records)), (10, Some([120, 128])));
    assert_eq!(overhead_pages(&[RunRecord::default()]), None);
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
    let ([compress, decompress], spread) = compression_cost(&arm, &records).unwrap();
    assert_eq!([compress, decompress], [12.0, 7.0]);
    assert!((1.5..1.7).contains(&spread), "{spread}");
    // Two rounds each.
    assert_eq!(round_cpu_seconds(&arm, &records), Some(vec![3.0, 2.0]));
    let old = [record("a", 1, 0)];
    assert_eq!((compression_cost(&arm, &old), round_cpu_seconds(&arm, &old)), (None, None));
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
    let first = |arms: &[(Arm, Workload)]| round_setting(arms, &records).map(|((arm, _), _)| arm.name.clone());
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
    assert_eq!(name(fill_setting(&arms, &records)), Some(("swap".to_owned(), vec![3e-9, 1e-9])));
    // Without a read there is no pace of a disk.
    assert_eq!(name(round_setting(&arms, &records)), None);
    records.iter_mut().for_each(|record| record.reclaim.major_faults = 1000);
    assert_eq!(name(round_setting(&arms, &records)), Some(("late".to_owned(), vec![2.0])));
    // What happens in its rounds is chance.
    let mut other = record("late", 9, 0);
    other.reclaim.major_faults = 3000;
    records.push(other);
    assert_eq!(name(round_setting(&arms, &records)).unwrap().0, "swap");
}

#[test]
fn pages_of_requests_have_a_pace_of_their_own_where_a_steady_setting_reads_many_at_once() {
    let arm = |name: &str| (Arm { name: name.to_owned(), swap: SwapKind::File, ..Arm::default() }, Workload::default());
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
        page_cost_setting(arms, &records, &arm(than)).map(|((arm, _), _)| arm.name.clone())
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
    let arms = ["a", "b", "c", "d"].map(|name| (Arm { name: name.to_owned(), ..Arm::default() }, Workload::default()));
    let times = |step: i32| (0..6).map(|run| f64::from(100 + step * (run % 2))).collect::<Vec<f64>>();
    let took = |arm: &Arm| match arm.name.as_str() {
        "a" => Some(times(90)),
        "b" => Some(times(1)),
        "c" => None,
        _ => Some(times(5)),
    };
    assert_eq!(run_spread(&arms, &[], took), pace::spread(&times(5)));
    assert_eq!(run_spread(&arms, &[], |_| None), MEASURED_SPREAD);
    let reads = [("a", 100), ("a", 120), ("b", 100), ("b", 100), ("d", 100), ("d", 300)].map(|(name, reads)| {
        let mut record = record(name, 1, 0);
        record.reclaim.major_faults = reads;
        record
    });
    let middle = f64::midpoint(pace::spread(&times(90)), pace::spread(&times(1)));
    assert_eq!(run_spread(&arms, &reads, took), middle);
    // Where none is steady all count.
    let both = [("a", 100), ("a", 300)].map(|(name, reads)| {
        let mut record = record(name, 1, 0);
        record.reclaim.major_faults = reads;
        record
    });
    assert_eq!(run_spread(&arms[..1], &both, took), pace::spread(&times(90)));
}

#[test]
fn a_processor_s_pace_is_less_certain_where_a_setting_without_swap_gives_it_for_others() {
    let arms = [SwapKind::None, SwapKind::File].map(|swap| (Arm { swap, ..Arm::default() }, Workload::default()));
    let of = |by: usize, all: usize| processor_spread(1.2, Some(&arms[by].0), &arms[..all]);
    assert_eq!([of(0, 2), of(1, 2), of(0, 1)], [1.5, 1.2, 1.2]);
}
