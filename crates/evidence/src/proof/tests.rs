//! The table of the proof on made-up records.

use ramline_units::Nanos;

use super::made::POINTS;
use super::*;
use crate::record::{Arm, Reclaim, RoundTime, RunRecord, Verdict};
use crate::sample::{Phase, Sample};

fn run(name: &str, seconds: &[f64], verdict: Verdict) -> RunRecord {
    let nanos = |s: f64| Nanos(format!("{:.0}", (s * 1e9).abs()).parse().unwrap());
    RunRecord {
        arm: Arm { name: name.into(), ..Arm::default() },
        rounds: seconds.iter().map(|s| RoundTime { took: nanos(*s), checksum: 0 }).collect(),
        elapsed: nanos(seconds.iter().sum()),
        verdict,
        reclaim: Reclaim { major_faults: 100, refault_file: Some(7), ..Reclaim::default() },
        ..RunRecord::default()
    }
}

#[test]
fn arms_come_in_the_order_first_run_and_are_compared_with_the_first() {
    let runs = [
        run("swap", &[1.0, 1.0], Verdict::Completed),
        run("none", &[4.0, 4.0], Verdict::Completed),
        run("swap", &[1.2, 1.2], Verdict::Completed),
        run("none", &[5.0, 5.0], Verdict::Completed),
    ];
    let runs: Vec<RunRecord> = runs.iter().cycle().take(12).cloned().collect();
    let few = ProofTable::from_runs(&runs[..10]).unwrap().arms[1].versus_first.clone().unwrap();
    assert!(!few.separated && few.sentence.contains("6 are needed"), "{}", few.sentence);
    let table = ProofTable::from_runs(&runs).unwrap();
    assert_eq!(table.arms.iter().map(|a| a.name.as_str()).collect::<Vec<_>>(), ["swap", "none"]);
    assert_eq!((table.arms[0].n, table.arms[0].completed), (6, 6));
    assert_eq!(table.arms[0].versus_first, None);
    let versus = table.arms[1].versus_first.clone().unwrap();
    assert!(versus.separated && !versus.at_least);
    assert!((versus.ratio - 4.5 / 1.1).abs() < 1e-9);
    assert_eq!(table.arms[0].swap_in, None);
    assert_eq!(table.arms[0].refault_file.as_ref().map(|m| m.median), Some(3.5), "7 in two rounds");
}

#[test]
fn emulated_runs_prove_nothing_and_are_left_out() {
    let mut runs = [run("swap", &[1.0], Verdict::Completed), run("none", &[9.0], Verdict::Completed)];
    runs[1].emulated = true;
    let table = ProofTable::from_runs(&runs).unwrap();
    assert_eq!(table.arms.iter().map(|arm| arm.name.as_str()).collect::<Vec<_>>(), ["swap"]);
    runs[0].emulated = true;
    assert_eq!(ProofTable::from_runs(&runs), None);
}

#[test]
fn without_one_round_the_ratio_is_a_lower_bound() {
    let mut stuck = run("none", &[], Verdict::Thrashing("20 s passed".into()));
    stuck.elapsed = Nanos(20_000_000_000);
    let runs = [run("swap", &[2.0], Verdict::Completed), stuck];
    let runs: Vec<RunRecord> = runs.iter().cycle().take(12).cloned().collect();
    let table = ProofTable::from_runs(&runs).unwrap();
    let arm = &table.arms[1];
    assert_eq!((arm.outcome, arm.why.as_deref()), (RunOutcome::Thrashing, Some("20 s passed")));
    assert_eq!((arm.seconds_per_round.clone(), arm.more_than_s), (None, Some(20.0)));
    assert_eq!(table.shares(), [Some(0.1), Some(1.0)], "of the longest, or of the bound that the longest is above");
    let versus = arm.versus_first.clone().unwrap();
    assert!(versus.at_least && versus.separated);
    assert!((versus.ratio - 10.0).abs() < 1e-9);
}

#[test]
fn a_run_that_failed_to_start_counts_as_a_run_but_not_as_a_time() {
    let runs = [run("zram", &[], Verdict::Failed("no module".into())), run("zram", &[3.0], Verdict::Completed)];
    let arm = &ProofTable::from_runs(&runs).unwrap().arms[0];
    assert_eq!((arm.n, arm.completed, arm.outcome), (2, 1, RunOutcome::Failed));
    assert_eq!(arm.seconds_per_round.as_ref().map(|m| m.n), Some(1));
    assert_eq!(arm.more_than_s, None);
}

#[test]
fn the_timeline_starts_with_the_rounds_and_is_thinned_but_keeps_its_end() {
    let sample = |index: u64, phase| Sample {
        at: Nanos(index * 100_000_000),
        phase,
        rounds: 3,
        fraction: 0.5,
        ..Sample::default()
    };
    let mut samples = vec![sample(0, Phase::Fill)];
    samples.extend((1..=500).map(|i| sample(i, Phase::Rounds)));
    let mut record = RunRecord { samples, ..RunRecord::default() };
    let points = timeline(&record);
    assert!(points.len() <= POINTS + 1, "{}", points.len());
    assert_eq!(points[0], ProofPoint { at_s: 0.0, rounds: 3.5 });
    assert!((points.last().unwrap().at_s - 49.9).abs() < 1e-9);
    assert_eq!(timeline(&RunRecord::default()), Vec::new());
    // Where the run ended is known exactly: 4 rounds in 49.95 s.
    (record.elapsed, record.rounds) = (Nanos(49_950_000_000), vec![RoundTime::default(); 4]);
    assert_eq!(timeline(&record).last(), Some(&ProofPoint { at_s: 49.95, rounds: 4.0 }));
}

#[test]
fn the_arms_are_those_of_the_series_and_few_ticks_are_not_split() {
    let of = |name: &str, user: u64, system: u64| RunRecord {
        user: Nanos(user * 1_000_000),
        system: Nanos(system * 1_000_000),
        ..run(name, &[1.0, 1.0], Verdict::Completed)
    };
    let long = [of("swap", 400, 200), of("none", 600, 900)];
    let arms = ProofTable::from_runs(&long).unwrap().arms;
    let median = |measured: &Option<Measurement>| measured.as_ref().map(|m| (m.median, m.unit.clone()));
    assert_eq!(median(&arms[0].user_s), Some((0.2, "s".to_owned())), "of one round");
    assert_eq!(median(&arms[1].major_faults), Some((50.0, "faults".to_owned())));
    let short = [of("swap", 400, 200), of("none", 10, 20)];
    let arms = ProofTable::from_runs(&short).unwrap().arms;
    assert_eq!((arms[0].user_s.as_ref(), arms[1].system_s.as_ref()), (None, None), "30 ms are three ticks");
}

#[test]
fn what_a_headline_is_made_of_says_the_same_as_the_series_of_the_runs() {
    let mut stuck = run("zram", &[], Verdict::Thrashing("20 s passed".into()));
    stuck.elapsed = Nanos(20_000_000_000);
    for n in [3, 12, 21] {
        let runs =
            [run("swap", &[1.0, 1.2], Verdict::Completed), run("none", &[4.0], Verdict::Completed), stuck.clone()];
        let runs: Vec<RunRecord> = runs.iter().cycle().take(n).cloned().collect();
        let table = ProofTable::from_runs(&runs).unwrap();
        let series = table.series();
        let found = series.main_difference(&["time per round"]).unwrap();
        assert_eq!((found.first.name.as_str(), found.other.name.as_str()), ("swap", "none"));
        assert_eq!((found.of_other.claimed, found.versus.is_claimed()), (n > 12, n > 12), "{n}");
        assert!((found.factor().unwrap() - 4.0 / 1.1).abs() < 1e-9);
        let words: Vec<_> = series.arms.iter().map(|arm| arm.verdicts[0].0.as_str()).collect();
        assert_eq!(words, ["completed", "completed", "thrashing"]);
    }
}

#[test]
fn a_factor_is_never_below_one_and_of_nothing_there_is_none() {
    let of = |ratio| ProofVersus { ratio, ..ProofVersus::default() };
    assert_eq!((of(4.0).factor(), of(4.0).is_slower()), (Some(4.0), true));
    assert_eq!((of(0.25).factor(), of(0.25).is_slower()), (Some(4.0), false));
    assert_eq!((of(0.0).factor(), of(f64::INFINITY).factor()), (None, None));
}

/// One run of six got through, and quickly; the bound of the others is what stands everywhere, and no headline is made of the one.
#[test]
fn a_setting_of_which_most_got_stuck_is_told_by_its_bound() {
    let mut stuck = run("none", &[], Verdict::Thrashing("30 s passed".into()));
    stuck.elapsed = Nanos(30_000_000_000);
    let base = std::iter::repeat_n(run("swap", &[1.0], Verdict::Completed), 6);
    let mixed = std::iter::once(run("none", &[0.9], Verdict::Completed)).chain(std::iter::repeat_n(stuck, 5));
    let table = ProofTable::from_runs(&base.chain(mixed).collect::<Vec<_>>()).unwrap();
    let arm = &table.arms[1];
    assert_eq!((arm.seconds_per_round.is_some(), arm.time_or_bound()), (true, Some(30.0)));
    assert!(arm.versus_first.as_ref().is_some_and(|versus| versus.at_least && versus.ratio > 29.0));
    let series = table.series();
    assert!(series.arms[1].figures.is_empty() && !series.arms[0].figures.is_empty(), "{series:?}");
}
