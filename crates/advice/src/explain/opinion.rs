//! What to do about swap, zram and vm.swappiness, as `tune plan` decides it: a topic has no opinion of its own, so that both cannot differ.
//!
//! What it is not: the steps; how a system is set up decides those, and `tune plan` reads it. Worked example: memory is not short, so the plan keeps things as
//! they are, and `zram-unused` says "Nothing: memory is not short: 805.9 MiB of 967.1 MiB is available."

use ramline_plan::{Decision, PlanLine, Topic as Planned};
use ramline_snapshot::setup::SetUp;

use crate::planning::{self, Ask};
use crate::prelude::*;

/// The sections that the plan looks at for these; a topic that quotes it reads them too.
pub(super) const WANTS: Wanted =
    Wanted { blocks: true, mounts: true, zswap: true, killers: true, groups: true, configured: true, ..LIGHT };

/// What is planned for the first of these targets that is not to be left alone, or for the first of them: `zram`, `vm.swappiness`.
pub(super) fn for_targets(inputs: &Inputs<'_>, targets: &[&str]) -> Option<String> {
    let ask = Ask { topics: vec![Planned::Swap, Planned::Zram, Planned::Vm], ..Ask::default() };
    let plan = planning::plan(inputs, &SetUp::default(), &ask);
    let of = |target: &&str| plan.lines.iter().find(|line| line.target.starts_with(*target));
    let lines: Vec<&PlanLine> = targets.iter().filter_map(of).collect();
    let rank = |line: &&PlanLine| match line.decision {
        Decision::Change => 0,
        Decision::Refused(_) => 1,
        Decision::NotKnown(_) => 2,
        Decision::Keep => 3,
    };
    lines.into_iter().min_by_key(rank).map(words)
}

fn words(line: &PlanLine) -> String {
    let why = line.why.first().map(|why| why.text.as_str()).unwrap_or_default();
    let topic = match line.target.as_str() {
        target if target.starts_with("vm.") => "vm",
        target if target.starts_with("zram") => "zram",
        _ => "swap",
    };
    match &line.decision {
        Decision::Keep => format!("Nothing: {why}."),
        Decision::Change => {
            let new = line.new.as_deref().unwrap_or("another value");
            format!("{} ({new}): {why}. The steps: `ramline tune plan {topic}`.", capital(&line.target))
        }
        Decision::NotKnown(tell) => format!("Not decided: {why}. To find out: `{tell}`."),
        Decision::Refused(blocked) => {
            let new = line.new.as_deref().unwrap_or("another value");
            format!("Advised for {}: {new} ({why}). It cannot be set here: {blocked}.", line.target)
        }
    }
}
