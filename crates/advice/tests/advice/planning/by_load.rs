use ramline_advice::planning::{Ask, ByLoad, nearly_fastest, plan, settings_to_try};
use ramline_evidence::{Arm, Better, Figure, RunRecord, SwapKind, Verdict};
use ramline_plan::{Decision, Plan, Topic};

use super::{is_refused, systemd, why};
use crate::cases::{Case, with_zram, without_swap};

fn zram(name: &str) -> SwapKind {
    SwapKind::Zram { algorithm: Some(name.to_owned()) }
}

/// Seven runs of each, a hundredth of a second apart.
fn runs(ways: &[(SwapKind, Option<u32>, f64)]) -> Vec<RunRecord> {
    let run = |(swap, swappiness, wall): &(SwapKind, Option<u32>, f64), index: u32| RunRecord {
        experiment: "swap-command".into(),
        arm: Arm {
            name: format!("{swap:?} {swappiness:?}"),
            swap: swap.clone(),
            swappiness: *swappiness,
            ..Arm::default()
        },
        verdict: Verdict::Completed,
        figures: vec![Figure::new("wall", wall + f64::from(index) * 0.01, "s", Better::Lower)],
        ..RunRecord::default()
    };
    (0..7).flat_map(|index| ways.iter().map(move |way| run(way, index))).collect()
}

fn by(case: &Case, records: &[RunRecord]) -> Plan {
    let by_load = ByLoad::from_records(records).unwrap_or_else(|why| panic!("{why}"));
    let ask = Ask { topics: vec![Topic::Swap, Topic::Zram, Topic::Vm], by_load: Some(by_load), ..Ask::default() };
    case.inputs(|inputs| plan(inputs, &systemd(), &ask))
}

/// What the plan sets, by target.
fn set(plan: &Plan, target: &str) -> Option<String> {
    let line = plan.lines.iter().find(|line| line.target == target).unwrap_or_else(|| panic!("{target}: {plan:?}"));
    if line.decision == Decision::Keep { None } else { line.new.clone() }
}

fn all(plan: &Plan) -> [Option<String>; 3] {
    ["swap on disk", "zram", "vm.swappiness"].map(|target| set(plan, target))
}

const AS_IT_IS: (SwapKind, Option<u32>, f64) = (SwapKind::AsConfigured, None, 3.0);

#[test]
fn a_load_that_is_fastest_with_a_swap_file_gets_one_and_no_zram() {
    let records = runs(&[AS_IT_IS, (SwapKind::File, Some(60), 1.32), (zram("lz4"), Some(60), 2.04)]);
    let planned = by(&without_swap(), &records);
    let [file, zram, swappiness] = all(&planned);
    assert!(file.unwrap().starts_with("/swapfile, "));
    assert_eq!((zram, swappiness), (None, None));
    let made = planned.lines.iter().find(|line| line.target == "swap on disk").unwrap();
    assert_eq!(
        why(made),
        "your command takes 1.35 s with a swap file at swappiness 60, the fastest of 3 settings (7 runs each); \
         others: zram (lz4) at swappiness 60 2.07 s, things as they are 3.03 s"
    );
}

#[test]
fn one_that_is_fastest_with_zram_gets_the_algorithm_and_the_value_it_was_run_with() {
    let records = runs(&[AS_IT_IS, (zram("lz4"), Some(60), 2.04), (zram("lz4"), Some(180), 1.5)]);
    let [file, zram, swappiness] = all(&by(&without_swap(), &records));
    assert_eq!((file, swappiness.as_deref()), (None, Some("180")));
    assert!(zram.unwrap().contains(", lz4, priority 100"));
}

#[test]
fn only_what_is_near_the_fastest_and_not_told_apart_is_worth_more_runs() {
    let names = |ways: &[(SwapKind, Option<u32>, f64)]| nearly_fastest(&runs(ways));
    let near = names(&[
        AS_IT_IS,
        (SwapKind::File, Some(60), 1.32),
        (SwapKind::File, Some(100), 1.31),
        (zram("lz4"), Some(60), 2.0),
    ]);
    assert_eq!(near, ["File Some(60)", "File Some(100)"]);
    // A tenth slower, and measurably so.
    assert!(names(&[AS_IT_IS, (SwapKind::File, Some(60), 1.45), (SwapKind::File, Some(100), 1.31)]).is_empty());
    assert!(nearly_fastest(&[]).is_empty());
}

#[test]
fn what_cannot_be_told_apart_from_things_as_they_are_changes_nothing() {
    let level = runs(&[(SwapKind::AsConfigured, None, 1.004), (zram("lz4"), Some(180), 1.0)]);
    let planned = by(&without_swap(), &level);
    assert_eq!(all(&planned), [None, None, None]);
    let kept = why(&planned.lines[0]);
    assert!(
        kept.starts_with(
            "your command takes 1.03 s with things as they are; the fastest is not measurably faster: zram (lz4)"
        ),
        "{kept}"
    );
    // Of few runs nothing can be claimed.
    let few = runs(&[(SwapKind::AsConfigured, None, 2.0), (zram("lz4"), Some(180), 1.0)])[..4].to_vec();
    assert_eq!(all(&by(&without_swap(), &few)), [None, None, None]);
    let more = runs(&[(SwapKind::AsConfigured, None, 1.2), (zram("lz4"), Some(180), 1.0)]);
    assert_eq!(all(&by(&without_swap(), &more))[2].as_deref(), Some("180"));
}

#[test]
fn of_values_of_swappiness_that_are_level_the_first_is_taken() {
    let level = |second: f64| {
        let records = runs(&[AS_IT_IS, (SwapKind::File, Some(60), 1.0), (SwapKind::File, Some(100), second)]);
        all(&by(&without_swap(), &records))[2].clone()
    };
    assert_eq!((level(0.995), level(0.8).as_deref()), (None, Some("100")));
}

#[test]
fn a_setting_under_which_a_run_did_not_end_is_not_taken() {
    let mut records = runs(&[AS_IT_IS, (zram("lz4"), Some(180), 1.0)]);
    records[3].verdict = Verdict::Thrashing("x".into());
    let planned = by(&without_swap(), &records);
    assert_eq!(all(&planned), [None, None, None]);
    records.iter_mut().for_each(|record| record.verdict = Verdict::Thrashing("x".into()));
    assert_eq!(
        ByLoad::from_records(&records).unwrap_err(),
        "under every setting a run was killed or did not end: the limit is too small for this load"
    );
}

#[test]
fn records_that_decide_nothing_say_why() {
    let two = runs(&[AS_IT_IS, (zram("lz4"), Some(180), 1.0)]);
    let why = |change: fn(&mut RunRecord)| {
        let mut records = two.clone();
        records.iter_mut().skip(1).step_by(2).for_each(change);
        ByLoad::from_records(&records).unwrap_err()
    };
    assert!(why(|record| record.arm.fill = "zeros".into()).contains("more than one load"));
    assert!(why(|record| record.emulated = true).contains("emulated"));
    assert!(ByLoad::from_records(&[]).is_err());
    assert!(ByLoad::from_records(&runs(&[AS_IT_IS])).unwrap_err().contains("no series of two or more swap settings"));
    let mut reader = two.clone();
    reader.iter_mut().for_each(|record| record.figures[0].name = "read".into());
    assert!(ByLoad::from_records(&reader).unwrap_err().contains("no series of two or more swap settings"));
}

#[test]
fn what_is_tried_is_what_this_machine_could_have() {
    let of = |case: &Case| settings_to_try(&case.now, None).join(" ");
    assert_eq!(of(&without_swap()), "as-configured swap:60 swap:100 zram:60 zram:100 zram:180");
    assert_eq!(
        of(&without_swap().swappiness(150)),
        "as-configured swap:150 swap:60 swap:100 zram:150 zram:60 zram:100 zram:180"
    );
    let disk = without_swap().swaps("/dev/vda2 partition 8388604 0 -2\n");
    assert_eq!(of(&disk), "as-configured swap:100 zram:60 zram:100 zram:180");
    // What is on is tried as it is, and with less where it is set to the most.
    let on = of(&with_zram().swappiness(180));
    assert!(
        on.starts_with("as-configured zram:") && on.contains(":60 ") && on.ends_with(":100") && !on.contains("swap:"),
        "{on}"
    );
}

#[test]
fn the_value_is_set_only_with_the_swap_it_was_run_with() {
    let records = runs(&[AS_IT_IS, (zram("lz4"), Some(180), 1.0)]);
    let disk = without_swap().swaps("/dev/vda2 partition 8388604 4096 -2\n");
    let ask = Ask { topics: vec![Topic::Vm], by_load: ByLoad::from_records(&records).ok(), ..Ask::default() };
    let alone = disk.inputs(|inputs| plan(inputs, &systemd(), &ask));
    let line = alone.lines.iter().find(|line| line.target == "vm.swappiness").unwrap_or_else(|| panic!("{alone:?}"));
    assert!(is_refused(line, "not set up by this plan"), "{line:?}");
    assert_eq!(all_on(&disk, &records), (true, Some("180".into())));
}

fn all_on(case: &Case, records: &[RunRecord]) -> (bool, Option<String>) {
    let planned = by(case, records);
    (set(&planned, "zram").is_some(), set(&planned, "vm.swappiness"))
}

#[test]
fn what_no_plan_can_bring_about_is_said() {
    let why = |case: &Case, swap: SwapKind, swappiness: u32| {
        let records = runs(&[AS_IT_IS, (swap, Some(swappiness), 1.0)]);
        ByLoad::from_records(&records).and_then(|by_load| by_load.fits(&case.now)).err().unwrap_or_default()
    };
    assert_eq!(why(&without_swap(), zram("lz4"), 180), "");
    assert!(why(&without_swap(), zram("x\", RUN+=\"y"), 180).contains("this kernel's zram does not have it"));
    assert!(why(&without_swap(), zram("lz4"), 900).contains("takes no such swappiness"));
    assert!(why(&with_zram(), SwapKind::File, 60).contains("zram is on here"));
    assert!(why(&with_zram(), zram("842"), 60).contains("another algorithm"));
    assert!(why(&without_swap(), SwapKind::Zswap, 60).contains("no plan sets that up"));
}
