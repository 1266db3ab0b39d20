//! The shape of a finding, of the rule that makes it, and of what a rule may look at.

use ramline_evidence::{RunRecord, TierReport};
use ramline_snapshot::{Snapshot, Window};
use ramline_units::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a rule may look at. Everything but the snapshot may be missing; a rule that needs it is then silent.
#[derive(Debug, Clone, Copy)]
pub struct Inputs<'a> {
    /// The machine now.
    pub snapshot: &'a Snapshot,
    /// Two snapshots of one boot, for rates.
    pub window: Option<Window<'a>>,
    /// What the tiers cost here.
    pub tiers: Option<&'a TierReport>,
    /// Runs of the proof in the sandbox.
    pub runs: &'a [RunRecord],
}

/// How much a finding matters. Findings are ranked by it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// Good to know; costs little or nothing.
    #[default]
    Note,
    /// Costs time or memory now, or will under load.
    Warning,
    /// Work is being lost or stalled now.
    Critical,
}

/// How sure a finding is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// From a formula or a single measurement.
    #[default]
    Low,
    /// Seen over a window, or by two sources.
    Medium,
    /// Read directly from the kernel's state, or proved by an arm of the lab.
    High,
}

/// One number or state a finding rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// What: "file refaults".
    pub what: String,
    /// The value with its unit and scope: "412 pages/s over 2.0 s".
    pub value: String,
    /// Where it was read or measured: "/proc/vmstat workingset_refault_file".
    pub source: String,
}

/// A change and the way back, as the commands an administrator would run. Shown, not applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// What it does, in one line.
    pub what: String,
    /// Commands, in order.
    pub commands: Vec<String>,
    /// Commands that undo it, in order.
    pub undo: Vec<String>,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Stable name, also of its docs page: `swap-outranked`.
    pub id: String,
    /// One sentence with the deciding number.
    pub title: String,
    /// How much it matters.
    pub weight: Weight,
    /// The control group whose trouble it is, empty where it is not known which; `None` where it is the machine's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// What it is worth, in the reader's units: "up to 3.1 GiB", "saves about 40 ms a fault".
    pub effect: String,
    /// What it rests on.
    pub evidence: Vec<Evidence>,
    /// How sure.
    pub confidence: Confidence,
    /// What is already in place and therefore not advised.
    pub already: Vec<String>,
    /// What happens if the advice is wrong.
    pub cost_if_wrong: String,
    /// The change; `None` where looking closer is the advice.
    pub change: Option<Change>,
    /// The `explain` topic that tells the mechanism.
    pub explain: String,
    /// The command that does what the finding advises: `sudo ramline tune apply swap-outranked`; `None` where tune has no plan for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tune: Option<String>,
    /// Docs page, relative to the project: `docs/findings/swap-outranked.md`.
    pub docs: String,
}

/// A rule: one file, one line in the table.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Stable name; the findings it makes carry it.
    pub id: &'static str,
    /// What it looks for, in one line.
    pub looks_for: &'static str,
    /// The `explain` topic it links to.
    pub explain: &'static str,
    /// What happens if its advice is wrong, where a finding says nothing else.
    pub cost_if_wrong: &'static str,
    /// What `tune` can do about it.
    pub tune: Tune,
    pub(crate) check: fn(&Inputs<'_>) -> Option<Draft>,
}

/// What `ramline tune plan ID` plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tune {
    /// These settings, to the values the finding names.
    Settings(&'static [&'static str]),
    /// The lines of these topics whose setting's name begins so.
    Lines(&'static [(ramline_plan::Topic, &'static str)]),
    /// Nothing; why.
    No(&'static str),
}

/// How what a finding advises is done.
#[derive(Debug, Default)]
pub(crate) enum Way {
    /// By its own commands, or not at all.
    #[default]
    Own,
    /// These settings become these values.
    Settings(Vec<Setting<'static>>),
    /// By what is planned of the rule's topics; what that is, in a few words.
    Lines(&'static str),
}

impl Way {
    /// One setting below `vm.`.
    pub(crate) fn one(name: &'static str, now: impl TryInto<i64>, then: impl TryInto<i64>) -> Way {
        let both = now.try_into().ok().zip(then.try_into().ok());
        both.map_or(Way::Own, |(now, then)| Way::Settings(vec![Setting { name, now, then, instead: None }]))
    }
}

/// A knob below `/proc/sys/vm` that is set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting<'a> {
    /// `swappiness`.
    pub name: &'a str,
    pub now: i64,
    pub then: i64,
    /// Another that becomes 0 when this one is set, and its value now: `dirty_ratio` of `dirty_bytes`.
    pub instead: Option<(&'a str, i64)>,
}

impl Setting<'_> {
    fn words(&self) -> String {
        match self.instead {
            Some((other, held)) if self.now == 0 => {
                format!("vm.{}: 0 ({other} {held}) -> {}", self.name, self.then)
            }
            _ => format!("vm.{}: {} -> {}", self.name, self.now, self.then),
        }
    }
}

/// A finding without what its rule already says.
#[derive(Default)]
pub(crate) struct Draft {
    pub(crate) title: String,
    pub(crate) weight: Weight,
    pub(crate) group: Option<String>,
    pub(crate) effect: String,
    pub(crate) evidence: Vec<Evidence>,
    pub(crate) confidence: Confidence,
    pub(crate) already: Vec<String>,
    /// Where it is not what the rule says.
    pub(crate) cost_if_wrong: Option<String>,
    pub(crate) change: Option<Change>,
    /// Where a plan does it.
    pub(crate) way: Way,
}

impl Rule {
    /// What it finds; `None` when there is nothing to say or not enough was seen.
    pub fn finding(&self, inputs: &Inputs<'_>) -> Option<Finding> {
        let Draft { title, weight, group, effect, evidence, confidence, already, cost_if_wrong, change, way } =
            (self.check)(inputs)?;
        let what = match way {
            Way::Own => None,
            Way::Settings(all) => Some(all.iter().map(Setting::words).collect::<Vec<_>>().join(", ")),
            Way::Lines(what) => Some(what.to_owned()),
        };
        let tune = what.is_some().then(|| format!("sudo ramline tune apply {}", self.id));
        Some(Finding {
            id: self.id.to_owned(),
            title,
            weight,
            group,
            effect,
            evidence,
            confidence,
            already,
            cost_if_wrong: cost_if_wrong.unwrap_or_else(|| self.cost_if_wrong.to_owned()),
            change: what.zip(tune.clone()).map(|(what, tune)| Change::by(what, [tune], [UNDO.to_owned()])).or(change),
            tune,
            explain: self.explain.to_owned(),
            docs: format!("docs/findings/{}.md", self.id),
        })
    }
}

/// What takes back a change of tune.
const UNDO: &str = "sudo ramline tune undo";

impl Change {
    /// These commands, and those that undo it.
    pub(crate) fn by<const N: usize, const M: usize>(
        what: impl Into<String>,
        commands: [String; N],
        undo: [String; M],
    ) -> Change {
        Change { what: what.into(), commands: commands.into(), undo: undo.into() }
    }
}
