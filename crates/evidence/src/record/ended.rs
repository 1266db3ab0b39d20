//! How a run ended, with the reason and without.

use crate::prelude::*;

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// All rounds done.
    Completed,
    /// The clock or the watchdog ended it while it was still going; the reason.
    Thrashing(String),
    /// The kernel killed it; who and why.
    Killed(String),
    /// It could not be run; the error.
    Failed(String),
    /// No verdict was recorded: the run was cut short.
    #[default]
    Unfinished,
}

/// How a run ended, without the reason, or the worst end of several. In order, from good to bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunOutcome {
    /// All rounds were done.
    Completed,
    /// No verdict was recorded: the run was cut short.
    #[default]
    Unfinished,
    /// The clock or the watchdog ended it while it was still going.
    Thrashing,
    /// The kernel killed it.
    Killed,
    /// It could not be run.
    Failed,
}

impl RunOutcome {
    /// The word in tables.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            RunOutcome::Completed => "completed",
            RunOutcome::Unfinished => "unfinished",
            RunOutcome::Thrashing => "thrashing",
            RunOutcome::Killed => "killed",
            RunOutcome::Failed => "failed",
        }
    }
}

impl Verdict {
    /// Which kind it is.
    #[must_use]
    pub const fn outcome(&self) -> RunOutcome {
        match self {
            Verdict::Completed => RunOutcome::Completed,
            Verdict::Thrashing(_) => RunOutcome::Thrashing,
            Verdict::Killed(_) => RunOutcome::Killed,
            Verdict::Failed(_) => RunOutcome::Failed,
            Verdict::Unfinished => RunOutcome::Unfinished,
        }
    }

    /// The word in tables.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        self.outcome().word()
    }

    /// Why it did not complete, where that is known.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            Verdict::Thrashing(why) | Verdict::Killed(why) | Verdict::Failed(why) => Some(why),
            Verdict::Completed | Verdict::Unfinished => None,
        }
    }
}
