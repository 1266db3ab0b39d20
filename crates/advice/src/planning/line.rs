//! Lines of a plan, begun by what is decided.

use ramline_plan::{Decision, PlanLine, Reason, Step};

/// One number a line rests on.
pub(super) fn reason(text: impl Into<String>, source: impl Into<String>) -> Reason {
    Reason { text: text.into(), source: source.into() }
}

/// A line of a setting, whose value is to be kept until something else is decided.
#[derive(Debug, Clone)]
pub(super) struct Draft(pub PlanLine);

impl Draft {
    /// A draft of the line for this target.
    pub fn new(target: &str, old: Option<String>, why: Reason) -> Draft {
        Draft(PlanLine {
            target: target.to_owned(),
            old,
            new: None,
            decision: Decision::Keep,
            why: vec![why],
            effect: String::new(),
            risk: String::new(),
            set_by: Vec::new(),
            steps: Vec::new(),
            harsh: None,
        })
    }

    /// Who sets it today.
    pub fn set_by(mut self, who: Vec<String>) -> Draft {
        self.0.set_by = who;
        self
    }

    /// What else it rests on.
    pub fn also(mut self, why: impl IntoIterator<Item = Reason>) -> Draft {
        self.0.why.extend(why);
        self
    }

    /// It cannot be known; the command that would tell.
    pub fn not_known(mut self, tell: impl Into<String>) -> PlanLine {
        self.0.decision = Decision::NotKnown(tell.into());
        self.0
    }

    /// It is kept.
    pub fn keep(self) -> PlanLine {
        self.0
    }

    /// It is changed, unless something stands in the way.
    pub fn change(
        mut self,
        new: impl Into<String>,
        effect: String,
        risk: String,
        steps: Result<Vec<Step>, String>,
    ) -> PlanLine {
        self.0.new = Some(new.into());
        self.0.effect = effect;
        self.0.risk = risk;
        match steps {
            Ok(steps) => {
                self.0.steps = steps;
                self.0.decision = Decision::Change;
            }
            Err(why) => self.0.decision = Decision::Refused(why),
        }
        self.0
    }
}
