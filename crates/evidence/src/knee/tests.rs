use super::*;
use crate::record::{Arm, Better, Figure};

const ASKED: KneeAsked = KneeAsked { within: 0.1, resolution: 0.05, runs: 3, start: Bytes::from_mib(100) };

fn record(limit: Option<Bytes>, wall: f64, verdict: Verdict) -> RunRecord {
    let arm = match limit {
        None => Arm::named(UNLIMITED, &[]),
        Some(limit) => Arm::named("limit", &[(LIMIT, &limit.0.to_string())]),
    };
    RunRecord { arm, verdict, figures: vec![Figure::new("wall", wall, "s", Better::Lower)], ..RunRecord::default() }
}

/// Plays a command: its time, or a verdict, as a function of the limit; returns the result and the runs it took.
fn play(asked: KneeAsked, mut command: impl FnMut(Option<Bytes>, usize) -> (f64, Verdict)) -> (Knee, usize) {
    let mut records = Vec::new();
    while let Some(limit) = Knee::of(&records, asked).next() {
        assert!(records.len() < 400, "it does not end");
        for limit in [None, Some(limit)] {
            let (wall, verdict) = command(limit, records.len());
            records.push(record(limit, wall, verdict));
        }
    }
    (Knee::of(&records, asked), records.len())
}

fn knee_at(mib: f64) -> impl Fn(Option<Bytes>, usize) -> (f64, Verdict) {
    move |limit, _| match limit.map(|limit| limit.as_f64() / f64::from(1 << 20)) {
        Some(limit) if limit < mib / 2.0 => (0.3, Verdict::Killed("oom".to_owned())),
        Some(limit) if limit < mib => (1.0 + 2.0 * (mib - limit) / mib + 0.11, Verdict::Completed),
        _ => (1.0, Verdict::Completed),
    }
}

#[test]
fn a_sharp_knee_is_found_to_the_resolution_wherever_it_is() {
    for mib in [3.0, 17.3, 40.0, 71.0, 99.0] {
        let (knee, runs) = play(ASKED, knee_at(mib));
        let (small, enough) = (knee.too_small.unwrap().as_f64(), knee.enough.unwrap().as_f64());
        let true_knee = mib * f64::from(1 << 20);
        assert!(small < true_knee && enough >= true_knee - 1.0, "{mib}: {knee:?}");
        assert!(enough / small <= 1.051 || enough - small <= STEP.as_f64(), "{mib}: {small} {enough}");
        assert!(knee.monotonic && knee.doubts.is_empty(), "{mib}: {:?}", knee.doubts);
        assert!(runs <= 48, "{mib}: {runs} runs");
        let bounds = [knee.too_small, knee.enough];
        let few = |probe: &Probe| bounds.contains(&Some(probe.limit)) && probe.n < 3 && probe.killed == 0;
        assert!(!knee.probes.iter().any(few), "the answer rests on all runs: {knee:?}");
    }
}

#[test]
fn a_limit_above_and_one_below_are_tried_at_the_end() {
    let (knee, _) = play(ASKED, knee_at(40.0));
    let (small, enough) = (knee.too_small.unwrap(), knee.enough.unwrap());
    assert!(knee.probes.iter().any(|probe| probe.limit > enough && probe.limit.as_f64() <= enough.as_f64() * 1.26));
    assert!(knee.probes.iter().any(|probe| probe.limit < small && probe.limit.as_f64() >= small.as_f64() * 0.79));
}

#[test]
fn a_command_that_needs_nothing_is_enough_everywhere() {
    let (knee, _) = play(ASKED, |_, _| (1.0, Verdict::Completed));
    assert_eq!(knee.too_small, None);
    assert!(knee.enough.unwrap() <= Bytes::from_mib(2), "{knee:?}");
    assert!(knee.sentence().contains("no limit tried was too small"));
}

#[test]
fn a_command_that_is_never_fast_enough_ends_the_search_without_an_answer() {
    let (knee, runs) = play(ASKED, |limit, _| (if limit.is_some() { 2.0 } else { 1.0 }, Verdict::Completed));
    assert_eq!(knee.enough, None);
    assert!(runs <= 40 && knee.sentence().starts_with("no limit was found"), "{runs} {}", knee.sentence());
}

#[test]
fn killed_once_is_too_small_and_needs_no_second_run() {
    let records =
        [record(None, 1.0, Verdict::Completed), record(Some(Bytes::from_mib(8)), 0.2, Verdict::Killed("oom".into()))];
    let knee = Knee::of(&records, ASKED);
    assert_eq!((knee.probes[0].judged, knee.probes[0].n, knee.probes[0].killed), (Judged::TooSmall, 1, 1));
    assert_eq!(knee.probes[0].ratio, None);
}

#[test]
fn runs_that_disagree_get_more_runs_and_then_their_interval_decides() {
    assert_eq!(judge(&[1.06], ASKED), Judged::Open);
    assert_eq!(judge(&[1.0, 1.2], ASKED), Judged::Open);
    assert_eq!(judge(&[1.0, 1.05, 1.1], ASKED), Judged::Enough);
    assert_eq!(judge(&[1.2, 1.3, 1.2], ASKED), Judged::TooSmall);
    assert_eq!(judge(&[1.0, 1.3, 1.0], ASKED), Judged::Open);
    assert_eq!(judge(&[1.0, 1.3, 1.0, 1.0, 1.0, 1.0, 1.0], ASKED), Judged::Enough);
    assert_eq!(judge(&[1.0, 1.3, 1.0, 1.3, 1.0, 1.3, 1.0], ASKED), Judged::Between);
}

#[test]
fn a_noisy_machine_is_doubted_and_the_search_still_ends() {
    let steady = knee_at(40.0);
    let mut rng = crate::rng::SplitMix64::new(7);
    let (knee, runs) = play(ASKED, |limit, n| {
        let (wall, verdict) = steady(limit, n);
        (wall * (1.0 + f64::from(u32::try_from(rng.below(1000)).unwrap()) / 2000.0), verdict)
    });
    assert!(knee.doubts.iter().any(|doubt| doubt.contains("finer than what this machine can tell")), "{knee:?}");
    assert!(runs < 400);
}

#[test]
fn far_from_the_knee_one_run_shows_the_way_and_near_it_all_are_made() {
    assert_eq!([judge(&[1.02], ASKED), judge(&[1.09], ASKED)], [Judged::Enough, Judged::Open]);
    assert_eq!([judge(&[1.5], ASKED), judge(&[1.3], ASKED)], [Judged::TooSmall, Judged::Open]);
    assert_eq!(judge(&[f64::INFINITY], ASKED), Judged::TooSmall, "given up");
}

#[test]
fn one_run_that_showed_the_wrong_way_is_found_out_when_the_bound_gets_all_its_runs() {
    // The third run at a limit, at 40 MiB, is held up by chance: without the others it would be the answer.
    let (steady, mut held_up) = (knee_at(17.3), false);
    let (knee, runs) = play(ASKED, |limit, n| match limit {
        Some(limit) if limit < Bytes::from_mib(45) && limit > Bytes::from_mib(18) && !held_up => {
            held_up = true;
            (2.0, Verdict::Completed)
        }
        _ => steady(limit, n),
    });
    assert!(held_up && runs < 120, "{runs}");
    assert!(knee.enough.unwrap() < Bytes::from_mib(19) && knee.too_small.unwrap() < Bytes::from_mib(18), "{knee:?}");
}

#[test]
fn a_run_that_was_given_up_shows_the_way_and_decides_nothing_alone() {
    let at = |mib: u64, wall: f64, verdict| record(Some(Bytes::from_mib(mib)), wall, verdict);
    let late = || at(8, 3.0, Verdict::Thrashing("3 s".into()));
    let mut records = vec![record(None, 1.0, Verdict::Completed), late()];
    assert_eq!(Knee::of(&records, ASKED).probes[0].judged, Judged::TooSmall);
    // It is a bound of the answer: there are more runs before the search may end.
    let fine = Bytes::from_kib(8192 + 256);
    records.extend((0..3).map(|_| record(Some(fine), 1.0, Verdict::Completed)));
    assert_eq!(Knee::of(&records, ASKED).next(), Some(Bytes::from_mib(8)));
    records.extend([late(), late()]);
    let probe = Knee::of(&records, ASKED).probes[0].clone();
    assert_eq!((probe.judged, probe.late, probe.ratio), (Judged::TooSmall, 3, None));
    *records.last_mut().unwrap() = at(8, 1.0, Verdict::Completed);
    assert_eq!(Knee::of(&records, ASKED).probes[0].judged, Judged::Open);
}

#[test]
fn more_memory_that_is_slower_is_told() {
    let at = |mib: u64, wall: f64| vec![record(Some(Bytes::from_mib(mib)), wall, Verdict::Completed); 3];
    let mut records = vec![record(None, 1.0, Verdict::Completed)];
    records.extend(at(20, 1.0));
    records.extend(at(30, 2.0));
    records.extend(at(40, 1.0));
    let knee = Knee::of(&records, ASKED);
    assert!(!knee.monotonic);
    assert_eq!((knee.too_small, knee.enough), (Some(Bytes::from_mib(30)), Some(Bytes::from_mib(40))));
}

#[test]
fn shares_are_read_as_percent_or_as_parts() {
    assert_eq!((share("10%"), share("0.1"), share("5 %")), (Some(0.1), Some(0.1), Some(0.05)));
    assert_eq!((share("0%"), share("-1%"), share("much"), share("2000%")), (None, None, None, None));
}

#[test]
fn limits_from_elsewhere_may_be_closer_than_two_steps_and_anywhere_in_the_range() {
    for low in [0, 100, u64::MAX - 2 * STEP.0] {
        let (low, high) = (Bytes(low), Bytes(low) + STEP + Bytes(1));
        let probe = |limit, judged| Probe { limit, n: 3, killed: 0, late: 0, ratio: None, range: None, judged };
        let probes = vec![probe(low, Judged::TooSmall), probe(high, Judged::Enough)];
        let asked = KneeAsked { resolution: 1e-9, ..ASKED };
        let knee = Knee { asked, probes, too_small: Some(low), enough: Some(high), ..Knee::default() };
        let Some(next) = knee.next() else { continue };
        assert!(next > Bytes::ZERO, "{next}");
    }
    let most = u64::MAX.to_string();
    let mut records: Vec<RunRecord> =
        (0..8).map(|n| record((n > 3).then_some(Bytes(u64::MAX - n)), 1.0, Verdict::Completed)).collect();
    records.iter_mut().for_each(|run| run.arm.settings.extend([(START.to_owned(), most.clone())]));
    let knee = Knee::of(&records, KneeAsked { start: Bytes(u64::MAX), ..ASKED });
    assert!(!matches!(knee.next(), Some(limit) if limit == Bytes::ZERO));
}

#[test]
fn each_limit_has_its_share_of_the_longest_time_and_its_runs_that_ended() {
    let probe =
        |ratio, n, killed| Probe { limit: STEP, n, killed, late: 1, ratio, range: None, judged: Judged::Between };
    let probes = vec![probe(None, 3, 3), probe(Some(4.0), 3, 1), probe(Some(1.0), 3, 0)];
    assert_eq!(probes.iter().map(Probe::completed).collect::<Vec<_>>(), [0, 1, 2]);
    let knee = Knee { probes, ..Knee::default() };
    assert_eq!(knee.shares().collect::<Vec<_>>(), [None, Some(1.0), Some(0.25)]);
}
