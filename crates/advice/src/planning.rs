//! What to change so that it stays, as a plan of typed steps: one file a topic.
//!
//! A line says "keep" unless a number of this machine speaks for another value, and "not known" where that number is missing. Pure: the
//! same inputs give the same plan, and nothing is written.
//!
//! Worked example: swap on zram, files on a disk that takes 80 us, a swap-in 20 us: r is 4, and vm.swappiness 60 becomes 160.

mod ask;
mod by_load;
mod desk;
mod found;
mod harsh;
mod killers;
mod limit;
mod line;
mod maintain;
mod named;
pub(crate) mod need;
mod own;
mod settled;
mod swap;
mod tmp;
mod to_try;
mod vm;
mod zram;

use ramline_plan::{GroupAtLimit, Plan, Topic};
use ramline_snapshot::setup::{Etc, SetUp};
use ramline_snapshot::{Snapshot, Wanted};

use crate::{Inputs, in_group};
pub use ask::Ask;
pub use by_load::{ByLoad, nearly_fastest};
use desk::Desk;
pub use limit::{WatchedService, beside_unit};
pub use named::{NotPlanned, planned_finding};
pub use own::{NOT_JUDGED, nearest_setting};
pub use settled::findings_on;
pub use to_try::settings_to_try;

/// The sections a plan looks at.
#[must_use]
pub fn wanted(ask: &Ask) -> Wanted {
    // What is in /tmp takes a walk.
    let dirs = ask.is_for_all() || ask.topics.contains(&Topic::Tmp);
    Wanted {
        meminfo: true,
        vmstat: true,
        zoneinfo: true,
        pressure_memory: true,
        swaps: true,
        mounts: true,
        blocks: true,
        zram: true,
        zswap: true,
        cgroups: true,
        settings: true,
        lru_gen: true,
        configured: true,
        killers: true,
        groups: true,
        dirs,
        ..Wanted::NOTHING
    }
}

/// All topics, in the order in which they are planned: a disk area is below zram, and what is swapped to decides how much.
const TOPICS: [Topic; 5] = [Topic::Swap, Topic::Zram, Topic::Vm, Topic::Tmp, Topic::Maintain];

/// Plans.
#[must_use]
pub fn plan(inputs: &Inputs<'_>, set_up: &SetUp, ask: &Ask) -> Plan {
    let topics: Vec<Topic> =
        TOPICS.into_iter().filter(|topic| ask.is_for_all() || ask.topics.contains(topic)).collect();
    let mut desk = Desk::new(inputs, set_up, ask);
    own::plan(&mut desk);
    limit::plan(&mut desk);
    let of_findings = found::topics(ask);
    for topic in TOPICS.into_iter().filter(|topic| topics.contains(topic) || of_findings.contains(topic)) {
        let (before, texts) = (desk.lines.len(), desk.texts());
        match topic {
            Topic::Zram => zram::plan(&mut desk),
            Topic::Vm => vm::plan(&mut desk),
            Topic::Swap => {
                swap::plan(&mut desk);
                killers::plan(&mut desk);
            }
            Topic::Tmp => tmp::plan(&mut desk),
            Topic::Maintain => maintain::plan(&mut desk),
        }
        if !topics.contains(&topic) {
            found::only(&mut desk, topic, before, texts);
        }
    }
    found::settings(&mut desk);
    let lines = desk.lines;
    let changes = lines.iter().any(|line| line.decision == ramline_plan::Decision::Change);
    let obstacles = if changes { obstacles(inputs.snapshot, set_up, ask) } else { Vec::new() };
    let group = group(inputs, &topics);
    Plan { topics, goal: ask.goal, runtime_only: ask.runtime_only, lines, obstacles, group }
}

/// The group that the first line, the checkup and the explanations name, where the plan is about memory of running programs.
fn group(inputs: &Inputs<'_>, topics: &[Topic]) -> Option<GroupAtLimit> {
    if !topics.iter().any(|topic| matches!(topic, Topic::Swap | Topic::Zram | Topic::Vm)) {
        return None;
    }
    let said = in_group::worst(inputs)?;
    Some(GroupAtLimit { path: said.trouble.path, what: said.title, to_do: said.to_do })
}

/// What keeps all of a plan from being applied.
fn obstacles(snapshot: &Snapshot, set_up: &SetUp, ask: &Ask) -> Vec<String> {
    let mut out = Vec::new();
    if let Some(container) = &snapshot.machine.container {
        out.push(format!("this is a container ({container}), and these settings are the host's: plan and apply there"));
    }
    let lasts = "for this boot alone: ramline tune plan --runtime-only";
    match &set_up.etc {
        Etc::ReadOnly if !ask.runtime_only => out.push(format!("/etc is read-only; {lasts}")),
        Etc::Managed(by) if !ask.runtime_only => {
            out.push(format!("files in /etc are made by {by} from its own description: set it there; {lasts}"));
        }
        Etc::NotSeen if !ask.runtime_only => {
            out.push("how this system is set up was not seen: plan on the machine itself".to_owned());
        }
        _ => {}
    }
    out
}
