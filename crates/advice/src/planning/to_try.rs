//! Which settings are tried on a load of the reader's own.

use ramline_evidence::pages::PageProfile;

use super::zram::algorithm_by_pages;
use crate::prelude::*;

/// The settings worth trying on a load here, as the lab takes them: as things are, a swap file where there is no zram, and zram with the algorithm in use or
/// that these pages speak for, each with the swappiness in force and with others.
#[must_use]
pub fn settings_to_try(snapshot: &Snapshot, profile: Option<&PageProfile>) -> Vec<String> {
    let areas = look::areas(snapshot).unwrap_or_default();
    let now = snapshot.settings.data().and_then(|settings| settings.swappiness).unwrap_or(60);
    let most = i64::try_from(balance::MOST_SUGGESTED).unwrap_or(now);
    let on = areas.iter().find_map(|area| look::zram_of(snapshot, area));
    // What is on is tried with the value in force as things are.
    let values = |others: &[i64], is_on: bool| -> Vec<i64> {
        let own = (!is_on).then_some(now);
        own.into_iter().chain(others.iter().copied().filter(|value| *value != now)).collect()
    };
    let mut out = vec!["as-configured".to_owned()];
    if on.is_none() {
        out.extend(values(&[60, 100], !areas.is_empty()).into_iter().map(|value| format!("swap:{value}")));
    }
    // A module that is not loaded is not loaded for a trial.
    if snapshot.zram.data().is_some_and(|zram| zram.support.control) {
        let of_pages = || algorithm_by_pages(profile?, snapshot);
        let algorithm = on.and_then(|device| device.algorithm.clone()).or_else(of_pages);
        let name = algorithm.map_or_else(String::new, |name| format!("{name}:"));
        out.extend(values(&[60, 100, most], on.is_some()).into_iter().map(|value| format!("zram:{name}{value}")));
    }
    out
}
