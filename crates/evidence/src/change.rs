//! What `tune` has left in force: each change with its steps, as they were looked at.

use ramline_units::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a change stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeState {
    /// Every step is as it was made.
    #[default]
    InForce,
    /// It was applied, and something is no longer as it was made.
    Drifted,
    /// It was applied, and nothing of it is there any more.
    Gone,
    /// Its apply was interrupted.
    HalfApplied,
    /// Its undo was interrupted.
    HalfUndone,
    /// It was undone.
    Undone,
}

/// Where a step stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepStands {
    /// As the step makes it.
    #[default]
    After,
    /// As before the step.
    Before,
    /// It was so before the step, which therefore did nothing.
    WasSo,
    /// Neither.
    Changed,
    /// The step has no state, as reading units again has none.
    Stateless,
}

/// One step.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepReport {
    /// Its effect: `write /proc/sys/vm/swappiness: 60 -> 133`.
    pub step: String,
    /// Where it stands.
    pub stands: StepStands,
    /// How the object is now, where somebody else has changed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
    /// It outlives a reboot by itself.
    pub lasts: bool,
}

/// What was found of a change at one boot.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct BootFound {
    /// Which boot, counted from the one in which the change was applied, which is 1; only boots that were looked at count.
    pub boot: u64,
    /// When it was looked at, in milliseconds since 1970.
    pub time_ms: u64,
    /// Where the change stood.
    pub state: ChangeState,
    /// What was not as it was made, and by whom where that is known: `vm.swappiness was 60, set by /etc/sysctl.d/zz.conf:1`.
    pub astray: Vec<String>,
}

/// One change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangeReport {
    /// Its number.
    pub number: u64,
    /// In a few words.
    pub what: String,
    /// Why, a line each.
    pub why: Vec<String>,
    /// The user who asked for it.
    pub who: String,
    /// The command.
    pub command: String,
    /// When it was applied, in milliseconds since 1970.
    pub applied_ms: u64,
    /// When its state was last changed by ramline, in milliseconds since 1970.
    pub changed_ms: u64,
    /// The boot is another than the one in which it was applied.
    pub rebooted: bool,
    /// Why it was undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undone_why: Option<String>,
    /// Where it stands.
    pub state: ChangeState,
    /// Its steps, in order.
    pub steps: Vec<StepReport>,
    /// Of a change that was undone: what was left alone, since another program or person had changed it, and is still there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<String>,
    /// What was found at each boot since, oldest first.
    #[serde(default)]
    pub boots: Vec<BootFound>,
}

impl ChangeReport {
    /// Where a change stands that was applied whole, by its steps.
    #[must_use]
    pub fn state_of(steps: &[StepReport]) -> ChangeState {
        let own = || steps.iter().filter(|step| !matches!(step.stands, StepStands::WasSo | StepStands::Stateless));
        match (own().all(|step| step.stands == StepStands::After), own().any(|step| step.stands == StepStands::After)) {
            (true, _) => ChangeState::InForce,
            (false, true) => ChangeState::Drifted,
            (false, false) if own().any(|step| step.stands == StepStands::Changed) => ChangeState::Drifted,
            (false, false) => ChangeState::Gone,
        }
    }

    /// Steps that are not as they were made.
    pub fn astray(&self) -> impl Iterator<Item = &StepReport> {
        self.steps.iter().filter(|step| matches!(step.stands, StepStands::Before | StepStands::Changed))
    }

    /// It was applied whole, and is no longer as it was made.
    #[must_use]
    pub const fn is_astray(&self) -> bool {
        matches!(self.state, ChangeState::Drifted | ChangeState::Gone)
    }

    /// It is there, whole or in part, or should be.
    #[must_use]
    pub fn stands(&self) -> bool {
        self.state != ChangeState::Undone
    }
}

/// All changes, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangeList {
    /// The changes.
    pub changes: Vec<ChangeReport>,
    /// Records that cannot be read, each with the reason.
    pub unreadable: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_in_force_when_all_that_it_made_is_so_and_gone_when_nothing_is() {
        let of = |stands: &[StepStands]| {
            let step = |stands: &StepStands| StepReport { stands: *stands, ..StepReport::default() };
            ChangeReport::state_of(&stands.iter().map(step).collect::<Vec<_>>())
        };
        use StepStands::{After, Before, Changed, Stateless, WasSo};
        assert_eq!(of(&[After, WasSo, Stateless, After]), ChangeState::InForce);
        assert_eq!(of(&[After, Before]), ChangeState::Drifted);
        assert_eq!(of(&[Before, Changed]), ChangeState::Drifted);
        assert_eq!(of(&[Before, WasSo, Before]), ChangeState::Gone);
    }
}
