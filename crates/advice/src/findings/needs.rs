//! What a rule needs, and why it could not look where that is missing.
//!
//! A rule that is silent for want of a measurement looks like one that found nothing. Each row names one need and the rules that
//! rest on it; what no row names needs the snapshot alone, and sections that were not seen are reported by their own names.
//!
//! Worked example: without measured costs the rules about swappiness cannot look; a noisy measurement of zram does not silence the
//! rule about the dirty limits, which needs the disk.

use super::dirty_limits_in_seconds;
use crate::prelude::*;

/// Rules that could not look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotLooked {
    /// Their ids.
    pub rules: Vec<&'static str>,
    /// What was missing.
    pub why: String,
    /// The command that supplies it.
    pub fix: &'static str,
}

/// One need.
struct Need {
    rules: &'static [&'static str],
    missing: fn(&Inputs<'_>) -> Option<String>,
    fix: &'static str,
}

const NEEDS: &[Need] = &[
    Need {
        rules: &[
            "no-swap-and-refaults",
            "read-ahead-amplifies-faults",
            "kernel-memory-growing",
            "group-at-limit-loses-cache",
            "process-swap-hot",
            "page-cluster-against-hits",
        ],
        missing: |inputs| inputs.window.is_none().then(|| "rates need two looks".to_owned()),
        fix: "ramline show --for 2s",
    },
    Need {
        rules: &["group-at-limit-loses-cache"],
        missing: |inputs| {
            let window = inputs.window?;
            let seen = [window.before, window.after].iter().all(|s| s.groups.data().is_some());
            (!seen).then(|| "the control groups were not seen in both looks".to_owned())
        },
        fix: "ramline show cgroups --for 5s",
    },
    Need {
        rules: &["dirty-limits-in-seconds"],
        missing: dirty_limits_in_seconds::missing,
        fix: "ramline measure tiers",
    },
    Need {
        rules: &["swappiness-against-costs", "swap-slower-than-reload"],
        missing: |inputs| {
            // Without swap both have nothing to look at.
            let areas = look::areas(inputs.snapshot)?;
            let first = *areas.first()?;
            let priced = look::swap_in_cost(inputs, first).is_some() && look::reload_cost(inputs).is_some();
            (!priced).then(|| "what a swap-in and a re-read cost was not measured".to_owned())
        },
        fix: "ramline measure tiers",
    },
];

/// Every rule that could not look, by what was missing.
#[must_use]
pub fn not_looked(inputs: &Inputs<'_>) -> Vec<NotLooked> {
    let missing = NEEDS.iter().filter_map(|need| Some((need, (need.missing)(inputs)?)));
    missing.map(|(need, why)| NotLooked { rules: need.rules.to_vec(), why, fix: need.fix }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RULES;

    #[test]
    fn every_rule_that_is_named_here_is_in_the_table() {
        for id in NEEDS.iter().flat_map(|need| need.rules) {
            assert!(RULES.iter().any(|rule| rule.id == *id), "{id}");
        }
    }
}
