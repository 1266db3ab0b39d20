//! What stands beside a forecast, and which settings are uncertain.

use super::*;

#[test]
fn what_a_series_measured_stands_beside_what_was_foretold_with_its_place() {
    let mut record = RunRecord { verdict: Ended::Completed, fraction: 2.0, ..RunRecord::default() };
    record.arm.name = "swap:60".to_owned();
    (record.machine.kernel, record.machine.cgroup_version) = ("6.12.1".to_owned(), 2);
    (record.reclaim.swap_in, record.reclaim.refault_file, record.reclaim.major_faults) = (Some(8), Some(6), 4);
    let foretold = Some(Figures::default());
    let settings = vec![Foretold { name: "swap:60".to_owned(), foretold, ..Foretold::default() }];
    let mut forecast = Forecast { settings, ..Forecast::default() };
    beside(&mut forecast, &[record]);
    let setting = forecast.settings.remove(0);
    let major = setting.measured.and_then(|figures| figures.major).map(|range| range.median);
    assert_eq!((setting.foretold, major), (foretold, Some(2.0)));
    assert_eq!(forecast.notes, ["measured: on Linux 6.12.1 in a cgroup v2"]);
}

#[test]
fn settings_whose_middle_is_not_known_are_named() {
    let of = |name: &str, simulations: usize, unsettled: bool| {
        let figures = Figures { simulations: Some(simulations), unsettled, ..Figures::default() };
        Foretold { name: name.to_owned(), foretold: Some(figures), ..Foretold::default() }
    };
    assert_eq!(unsettled(&[of("no-swap", 32, false)]), None);
    let note = unsettled(&[of("no-swap", 32, false), of("swap:1", 128, true), of("swap:60", 128, true)]).unwrap();
    assert!(note.starts_with("uncertain: swap:1, swap:60: ") && note.contains(" 128 of them;"), "{note}");
}
