//! Known cases of the statistics, and what their sentences say.

use super::*;

#[test]
fn the_rank_test_is_that_of_the_tables() {
    // All of b above all of a, 7 and 7: 2 of the 3432 ways to choose 7 of 14. 6 and 6: 2 of 924.
    let low: Vec<f64> = (0..7).map(f64::from).collect();
    let high: Vec<f64> = (10..17).map(f64::from).collect();
    assert!((rank_test(&low, &high).unwrap() - 2.0 / 3432.0).abs() < 1e-12);
    assert!((rank_test(&high[..6], &low[..6]).unwrap() - 2.0 / 924.0).abs() < 1e-12);
    // 1 2 4 against 3 5 6: rank sums of 7 or less, or 14 or more, in 4 of 20 ways.
    assert!((rank_test(&[1.0, 2.0, 4.0], &[3.0, 5.0, 6.0]).unwrap() - 0.2).abs() < 1e-12);
    assert_eq!(rank_test(&[1.0; 7], &[1.0; 7]), Some(1.0));
    assert_eq!((rank_test(&[], &[1.0]), rank_test(&[f64::NAN], &[1.0])), (None, None));
}

#[test]
fn many_values_are_taken_to_be_normal_and_agree_with_counting() {
    let side = |from: u32, n: u32| (0..n).map(|i| f64::from(from + 2 * i)).collect::<Vec<f64>>();
    let counted = rank_test(&side(0, 30), &side(13, 30)).unwrap();
    let normal = rank_test(&side(0, 31), &side(13, 31)).unwrap();
    assert!((counted - normal).abs() < 0.005, "{counted} {normal}");
    assert!((both_tails(1.959_964) - 0.05).abs() < 1e-6);
}

#[test]
fn one_disturbed_run_does_not_hide_what_the_others_say() {
    // Two slow runs stretch the interval of a over that of b, and rank two of fourteen the other way.
    let (a, b) = ([1.0, 1.01, 1.02, 1.03, 1.04, 1.05, 1.5], [1.03, 1.2, 1.21, 1.22, 1.23, 1.24, 1.25]);
    let (c, d) = ([1.0, 1.01, 1.02, 1.03, 1.04, 1.21, 1.22], [1.15, 1.2, 1.23, 1.24, 1.25, 1.26, 1.27]);
    assert!(compare_runs((&measurement(&a), &a), (&measurement(&b), &b)).is_claimed());
    let compared = compare_runs((&measurement(&c), &c), (&measurement(&d), &d));
    assert!(!compared.separated && compared.is_claimed(), "{compared:?}");
    assert!(
        compared.sentence().contains("(7 runs each, 95 % intervals overlap, ranks differ, rank test p 0."),
        "{}",
        compared.sentence()
    );
    let few = compare_runs((&measurement(&a[..5]), &a[..5]), (&measurement(&b[..5]), &b[..5]));
    assert_eq!((few.p, few.is_claimed()), (None, false));
}

#[test]
fn a_sentence_says_what_its_runs_can_bear() {
    let said = |a: &[f64], b: &[f64]| compare_runs((&measurement(a), a), (&measurement(b), b)).sentence();
    assert_eq!(said(&[1.0], &[9.0]), "9.0 times as much (1 run each: an indication, 6 are needed for proof)");
    assert_eq!(said(&[1.0], &[1.2]), "no significant difference (1 run each; 6 are needed)");
    assert_eq!(said(&[1.0, 2.0, 3.0], &[1.5, 2.5, 3.5]), "no significant difference (3 runs each; 6 are needed)");
    assert_eq!(
        said(&[1.0, 1.1], &[2.0, 2.1, 2.2]),
        "2.0 times as much (2 and 3 runs: an indication, 6 are needed for proof)"
    );
    let seven: Vec<f64> = (0..7).map(|i| 1.0 + 0.01 * f64::from(i)).collect();
    let twice: Vec<f64> = seven.iter().map(|v| v * 2.0).collect();
    assert_eq!(said(&seven, &twice), "2.0 times as much (7 runs each, 95 % intervals apart, rank test p < 0.001)");
    assert_eq!(said(&seven, &seven), "no significant difference (7 runs each, rank test p 1.000)");
}

fn measurement(values: &[f64]) -> Measurement {
    Measurement::from_values(values, "s", "", &[]).unwrap()
}

#[test]
fn the_median_of_an_even_number_lies_between_the_middle_two() {
    assert_eq!(median(&[1.0, 2.0, 4.0, 8.0]), Some(3.0));
    assert_eq!(median(&[1.0, 2.0, 4.0]), Some(2.0));
    assert_eq!(median(&[]), None);
}

#[test]
fn the_nearest_rank_is_a_measured_value() {
    let ten: Vec<f64> = (1..=10).map(f64::from).collect();
    assert_eq!(nearest_rank(&ten, 0.5), Some(5.0));
    assert_eq!(nearest_rank(&ten, 0.51), Some(6.0));
    assert_eq!(nearest_rank(&ten, 1.0), Some(10.0));
    assert_eq!(nearest_rank(&ten, 0.0), Some(1.0));
}

#[test]
fn overlapping_ranges_claim_no_difference_and_one_run_never_does() {
    assert!(!compare(&measurement(&[1.0, 3.0]), &measurement(&[2.0, 4.0])).separated);
    assert!(!compare(&measurement(&[1.0]), &measurement(&[9.0])).separated);
    assert!(compare(&measurement(&[1.0, 2.0]), &measurement(&[2.1, 4.0])).separated);
}

#[test]
fn with_many_runs_the_intervals_decide_even_where_ranges_touch() {
    let mut a: Vec<f64> = (0..30).map(|i| 10.0 + f64::from(i) * 0.01).collect();
    let b: Vec<f64> = (0..30).map(|i| 11.0 + f64::from(i) * 0.01).collect();
    a.push(11.1);
    let compared = compare(&measurement(&a), &measurement(&b));
    assert_eq!(compared.by, IntervalKind::Ci95);
    assert!(compared.separated);
}

#[test]
fn the_bootstrap_repeats_itself_and_covers_the_true_median_about_95_times_in_100() {
    let mut rng = SplitMix64::new(7);
    let mut covered = 0u32;
    for _ in 0..200 {
        let mut values: Vec<f64> = (0..15).map(|_| rng.below(1_000_000) as f64).collect();
        values.sort_by(f64::total_cmp);
        let interval = bootstrap_median(&values, SEED).unwrap();
        assert_eq!(Some(interval), bootstrap_median(&values, SEED));
        covered += u32::from(interval.low <= 500_000.0 && interval.high >= 500_000.0);
    }
    // 200 draws at 95 %: 190 expected, standard deviation 3; the percentile bootstrap of a median is known to be
    // a little off either way, so 4 deviations.
    assert!((178..=200).contains(&covered), "{covered}");
}

#[test]
fn the_ranks_of_many_values_say_what_drawing_them_says() {
    let few: Vec<f64> = (0..1000).map(f64::from).collect();
    let (drawn, ranked) = (bootstrap_median(&few, SEED).unwrap(), by_ranks(&few).unwrap());
    // The interval is 62 wide: a tenth of that.
    assert!((drawn.low - ranked.low).abs() < 6.0 && (drawn.high - ranked.high).abs() < 6.0, "{drawn:?} {ranked:?}");
}

#[test]
fn cliffs_delta_is_one_when_every_run_is_slower() {
    assert_eq!(cliffs_delta(&[1.0, 2.0], &[3.0, 4.0]), Some(1.0));
    assert_eq!(cliffs_delta(&[1.0, 2.0], &[1.0, 2.0]), Some(0.0));
    assert_eq!(cliffs_delta(&[3.0], &[1.0, 2.0]), Some(-1.0));
    assert_eq!(cliffs_delta(&[], &[1.0]), None);
}
