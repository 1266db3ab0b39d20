use ramline_plan::{Decision, Goal};

use super::{planned, systemd};
use crate::cases::Case;

/// On machines where nothing is wrong the plan keeps everything.
#[test]
fn on_healthy_machines_nothing_is_changed() {
    for name in ramline_testkit::names("healthy") {
        let plan = planned(&Case::tree(&name), &systemd(), &[], Goal::Balanced);
        let changed: Vec<&str> = plan.changes().map(|line| line.target.as_str()).collect();
        assert_eq!(changed, [""; 0], "{name}: {:?}", plan.changes().collect::<Vec<_>>());
        let kept = plan.lines.iter().filter(|line| line.decision == Decision::Keep).count();
        assert!(2 * kept > plan.lines.len() || plan.lines.len() < 2, "{name}: {:?}", plan.lines);
    }
}
