//! A kill in sentences: who, by whom, under which limit, why, and what would have avoided it.
//!
//! The judgement is `ramline_model::kill`; here it is worded, with the figures that decide. What is not in the log is said to be missing.

mod avoid;
mod grown;
mod headline;
mod stalled;
mod why;

pub use stalled::{RecordedStall, WordedStall};

use ramline_model::kill::{Certainty, GrowthBefore, Kill, KillCause};
use ramline_units::{Deserialize, JsonSchema, Serialize};

/// What would have avoided a kill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Remedy {
    /// What it does.
    pub what: String,
    /// How, as commands.
    pub commands: Vec<String>,
}

/// A kill, explained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExplainedKill {
    /// The judgement and its figures.
    #[serde(flatten)]
    pub kill: Kill,
    /// Who was killed, by whom, when, under which limit.
    pub headline: String,
    /// Why, with the arithmetic.
    pub why: Vec<String>,
    /// What would have avoided it.
    pub avoid: Vec<Remedy>,
    /// Who grew in the minutes before, where that was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<GrowthBefore>,
    /// When tasks waited for memory, where nothing was killed and that was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stall: Option<RecordedStall>,
}

impl ExplainedKill {
    /// The same with what was recorded before it.
    #[must_use]
    pub fn with_growth(mut self, growth: GrowthBefore) -> ExplainedKill {
        for line in &mut self.why {
            if let Some(rest) = line.strip_suffix(why::NOT_IN_ONE_REPORT) {
                *line = rest.to_owned();
            }
        }
        self.why.extend(grown::sentences(&growth, &self.kill));
        self.recorded = Some(growth);
        self
    }

    /// A log without a kill, and a stall that was recorded.
    #[must_use]
    pub fn with_stall(mut self, stall: RecordedStall) -> ExplainedKill {
        (self.headline, self.why) = (stall.headline(), stall.why());
        (self.kill.nothing_found, self.kill.cause) = (false, KillCause::ThrashFreeze);
        self.kill.confidence = if stall.kills == Some(0) { Certainty::Sure } else { Certainty::Likely };
        self.avoid = stall.avoid();
        self.stall = Some(stall);
        self
    }
}

/// Words for a judgement.
#[must_use]
pub fn explained(kill: Kill) -> ExplainedKill {
    let (headline, why, avoid) = (headline::headline(&kill), why::why(&kill), avoid::avoid(&kill));
    ExplainedKill { kill, headline, why, avoid, recorded: None, stall: None }
}
