//! The screens of commands that do something: measure, lab, explain, findings, checkup and its comparison.
//!
//! What it is: functions from measured and concluded data to text. What it is not: view-models with data of their own;
//! the data are the records and reports themselves, which `--json` prints as they are.
//!
//! Worked example: [`leftovers`] of one name is one line that ends in the command that removes it.

mod checkup;
mod compare;
mod explain;
mod findings;
mod lab;
mod measure;

pub use checkup::checkup;
pub use compare::{Comparison, FindingRef, LineMove, TierMove, compare};
pub use explain::explain;
pub use findings::findings;
pub use lab::{live, proof};
pub use measure::tiers;

use crate::escape;

/// What an earlier run left behind, in one line; `None` when nothing is left.
#[must_use]
pub fn leftovers(names: &[String]) -> Option<String> {
    if names.is_empty() {
        return None;
    }
    let names: Vec<_> = names.iter().map(|name| escape(name)).collect();
    Some(format!("left behind by a ramline that was cut short: {}; try: ramline lab clean\n", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leftovers_are_one_line_with_the_way_out() {
        assert_eq!(leftovers(&[]), None);
        assert_eq!(
            leftovers(&["swap area /dev/loop0".into(), "cgroup\nx".into()]).as_deref(),
            Some(
                "left behind by a ramline that was cut short: swap area /dev/loop0, cgroup\\nx; try: ramline lab clean\n"
            )
        );
    }
}
