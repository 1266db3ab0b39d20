use super::*;
use crate::record::{Arm, Better, Figure};

const ASKED: KneeAsked = KneeAsked {
    within: 0.1,
    resolution: 0.05,
    runs: 3,
    start: Bytes::from_mib(100),
    least: Bytes::ZERO,
    floor: Bytes::ZERO,
};

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
    while let Some(limit) = Knee::new(&records, asked).next() {
        assert!(records.len() < 400, "it does not end");
        for limit in [None, Some(limit)] {
            let (wall, verdict) = command(limit, records.len());
            records.push(record(limit, wall, verdict));
        }
    }
    (Knee::new(&records, asked), records.len())
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
        let few = |probe: &Probe| bounds.contains(&Some(probe.limit)) && probe.n < 3;
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
fn killed_once_is_too_small_and_shows_the_way() {
    let records =
        [record(None, 1.0, Verdict::Completed), record(Some(Bytes::from_mib(8)), 0.2, Verdict::Killed("oom".into()))];
    let knee = Knee::new(&records, ASKED);
    assert_eq!((knee.probes[0].judged, knee.probes[0].n, knee.probes[0].killed), (LimitVerdict::TooSmall, 1, 1));
    assert_eq!(knee.probes[0].ratio, None);
}

#[test]
fn runs_that_disagree_get_more_runs_and_then_their_interval_decides() {
    assert_eq!(judge(&[1.06], ASKED), LimitVerdict::Open);
    assert_eq!(judge(&[1.0, 1.2], ASKED), LimitVerdict::Open);
    assert_eq!(judge(&[1.0, 1.05, 1.1], ASKED), LimitVerdict::Enough);
    assert_eq!(judge(&[1.2, 1.3, 1.2], ASKED), LimitVerdict::TooSmall);
    assert_eq!(judge(&[1.0, 1.3, 1.0], ASKED), LimitVerdict::Open);
    assert_eq!(judge(&[1.0, 1.3, 1.0, 1.0, 1.0, 1.0, 1.0], ASKED), LimitVerdict::Enough);
    assert_eq!(judge(&[1.0, 1.3, 1.0, 1.3, 1.0, 1.3, 1.0], ASKED), LimitVerdict::Between);
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
    assert_eq!([judge(&[1.02], ASKED), judge(&[1.09], ASKED)], [LimitVerdict::Enough, LimitVerdict::Open]);
    assert_eq!([judge(&[1.5], ASKED), judge(&[1.3], ASKED)], [LimitVerdict::TooSmall, LimitVerdict::Open]);
    assert_eq!(judge(&[f64::INFINITY], ASKED), LimitVerdict::TooSmall, "given up");
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
    assert_eq!(Knee::new(&records, ASKED).probes[0].judged, LimitVerdict::TooSmall);
    // It is a bound of the answer: there are more runs before the search may end.
    let fine = Bytes::from_kib(8192 + 256);
    records.extend((0..3).map(|_| record(Some(fine), 1.0, Verdict::Completed)));
    assert_eq!(Knee::new(&records, ASKED).next(), Some(Bytes::from_mib(8)));
    records.extend([late(), late()]);
    let probe = Knee::new(&records, ASKED).probes[0].clone();
    assert_eq!((probe.judged, probe.late, probe.ratio), (LimitVerdict::TooSmall, 3, None));
    *records.last_mut().unwrap() = at(8, 1.0, Verdict::Completed);
    assert_eq!(Knee::new(&records, ASKED).probes[0].judged, LimitVerdict::Open);
}

#[test]
fn more_memory_that_is_slower_is_told() {
    let at = |mib: u64, wall: f64| vec![record(Some(Bytes::from_mib(mib)), wall, Verdict::Completed); 3];
    let mut records = vec![record(None, 1.0, Verdict::Completed)];
    records.extend(at(20, 1.0));
    records.extend(at(30, 2.0));
    records.extend(at(40, 1.0));
    let knee = Knee::new(&records, ASKED);
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
        let probe = |limit, judged| Probe {
            limit,
            n: 3,
            killed: 0,
            failed: 0,
            late: 0,
            ratio: None,
            range: None,
            reread: None,
            judged,
        };
        let probes = vec![probe(low, LimitVerdict::TooSmall), probe(high, LimitVerdict::Enough)];
        let asked = KneeAsked { resolution: 1e-9, ..ASKED };
        let knee = Knee { asked, probes, too_small: Some(low), enough: Some(high), ..Knee::default() };
        let Some(next) = knee.next() else { continue };
        assert!(next > Bytes::ZERO, "{next}");
    }
    let most = u64::MAX.to_string();
    let mut records: Vec<RunRecord> =
        (0..8).map(|n| record((n > 3).then_some(Bytes(u64::MAX - n)), 1.0, Verdict::Completed)).collect();
    records.iter_mut().for_each(|run| run.arm.settings.extend([(START.to_owned(), most.clone())]));
    let knee = Knee::new(&records, KneeAsked { start: Bytes(u64::MAX), ..ASKED });
    assert!(!matches!(knee.next(), Some(limit) if limit == Bytes::ZERO));
}

#[test]
fn each_limit_has_its_share_of_the_longest_time_and_its_runs_that_ended() {
    let probe = |ratio, n, killed| Probe {
        limit: STEP,
        n,
        killed,
        failed: 0,
        late: 1,
        ratio,
        range: None,
        reread: None,
        judged: LimitVerdict::Between,
    };
    let probes = vec![probe(None, 3, 3), probe(Some(4.0), 3, 1), probe(Some(1.0), 3, 0)];
    assert_eq!(probes.iter().map(Probe::completed).collect::<Vec<_>>(), [0, 1, 2]);
    let knee = Knee { probes, ..Knee::default() };
    assert_eq!(knee.shares().collect::<Vec<_>>(), [None, Some(1.0), Some(0.25)]);
}

#[test]
fn surely_is_said_of_three_runs_on_each_side_and_of_no_fewer() {
    let mib = Bytes::from_mib;
    let runs = |small: usize, enough: usize| {
        let mut records = vec![record(None, 1.0, Verdict::Completed)];
        records.extend((0..small).map(|_| record(Some(mib(40)), 0.2, Verdict::Killed("oom".into()))));
        records.extend((0..enough).map(|_| record(Some(mib(42)), 1.0, Verdict::Completed)));
        // A limit above and one below are tried already.
        records.push(record(Some(mib(50)), 1.0, Verdict::Completed));
        records.push(record(Some(mib(35)), 0.2, Verdict::Killed("oom".into())));
        records
    };
    let said = |small, enough, least| Knee::new(&runs(small, enough), KneeAsked { runs: least, ..ASKED }).sentence();
    assert_eq!(
        said(3, 3, 3),
        "42.0 MiB is surely enough to stay within 10 % of the unlimited time, 40.0 MiB surely is not"
    );
    for (small, enough) in [(1, 3), (3, 1), (1, 1)] {
        assert!(said(small, enough, 3).starts_with("not finished: 42.0 MiB was enough"), "{}", said(small, enough, 3));
        let few = said(small, enough, 1);
        assert!(few.ends_with("40.0 MiB was not (1 run; 3 are needed to be sure)") && !few.contains("surely"), "{few}");
    }
    let knee = Knee::new(&runs(1, 3), ASKED);
    assert_eq!(knee.next(), Some(mib(40)), "killed once: two more");
}

#[test]
fn what_cannot_be_reclaimed_is_the_second_limit_and_saves_the_way_down() {
    let least = KneeAsked { least: Bytes::from_mib(38), ..ASKED };
    let (knee, runs) = play(least, knee_at(40.0));
    assert!(knee.probes.iter().all(|probe| probe.limit >= Bytes::from_mib(30)), "{:?}", knee.probes);
    let (plain, more) = play(ASKED, knee_at(40.0));
    assert_eq!((knee.too_small.is_some(), knee.enough.is_some()), (true, true));
    assert!(runs < more && plain.probes.iter().any(|probe| probe.limit < Bytes::from_mib(20)), "{runs} {more}");
}

#[test]
fn no_limit_is_set_below_the_floor_of_a_service_in_use() {
    let floor = Bytes::from_mib(60);
    let of = |mib: f64| play(KneeAsked { floor, ..ASKED }, knee_at(mib)).0;
    for mib in [30.0, 61.0, 80.0] {
        assert!(of(mib).probes.iter().all(|probe| probe.limit >= floor), "{mib}: {:?}", of(mib).probes);
    }
    let said = of(30.0).sentence();
    assert!(said.ends_with("below 60.0 MiB nothing was tried: so much cannot be reclaimed"), "{said}");
    assert!(of(80.0).sentence().contains("surely is not"));
}

#[test]
fn a_run_that_ends_with_an_error_under_a_limit_is_counted_apart_from_a_killed_one() {
    let mib = Bytes::from_mib(40);
    let records =
        [record(None, 1.0, Verdict::Completed), record(Some(mib), 0.1, Verdict::Failed("exit status 1".into()))];
    let knee = Knee::new(&records, ASKED);
    let probe = &knee.probes[0];
    assert_eq!((probe.killed, probe.failed, probe.completed(), probe.judged), (0, 1, 0, LimitVerdict::TooSmall));
}
