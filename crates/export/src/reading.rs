//! What a snapshot means, computed once for all families.

use ramline_advice::{Finding, Inputs, findings, with_findings};
use ramline_model::groups::{self, GroupMemory, GroupTree};
use ramline_model::ledger::Ledger;
use ramline_model::swap::{self, SwapState};
use ramline_model::tmpfs::{self, TmpfsState};
use ramline_model::verdict::{self, Verdict};
use ramline_model::watermarks::{self, Watermarks};
use ramline_model::zram::{self, ZramState};
use ramline_snapshot::cgroup::Group;
use ramline_snapshot::{Snapshot, Window};

/// How much is exported of what a machine may have thousands of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Control groups.
    pub groups: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { groups: 20 }
    }
}

/// Swap areas, tmpfs and the like: more than this of one kind is a fault, and would fill a database.
pub const MOST_OBJECTS: usize = 64;

/// A snapshot, judged.
pub struct Reading<'a> {
    pub snapshot: &'a Snapshot,
    pub ledger: Option<Ledger>,
    pub marks: Option<Watermarks>,
    pub swap: Option<SwapState>,
    pub zram: Option<ZramState>,
    pub tmpfs: Option<TmpfsState>,
    pub verdict: Option<Verdict>,
    pub findings: Vec<Finding>,
    /// Rules that could not look.
    pub blind: Vec<&'static str>,
    pub groups: Vec<(GroupMemory, Option<&'a Group>)>,
    pub groups_left_out: Option<u64>,
}

impl<'a> Reading<'a> {
    pub fn new(snapshot: &'a Snapshot, window: Option<Window<'a>>, limits: Limits) -> Reading<'a> {
        let inputs = Inputs { snapshot, window, tiers: None, runs: &[] };
        let findings = findings(&inputs);
        let blind = ramline_advice::not_looked(&inputs).into_iter().flat_map(|gap| gap.rules).collect();
        let tree = groups::from_snapshot(snapshot, window.as_ref());
        let all = tree.as_ref().map(|tree| tree.groups.iter().filter(|group| group.depth > 0).count());
        let groups = tree.map(|tree| chosen(tree, snapshot, limits.groups)).unwrap_or_default();
        Reading {
            snapshot,
            ledger: Ledger::from_snapshot(snapshot),
            marks: watermarks::from_snapshot(snapshot, window),
            swap: swap::from_snapshot(snapshot, window),
            zram: zram::from_snapshot(snapshot),
            tmpfs: tmpfs::from_snapshot(snapshot),
            verdict: verdict::from_snapshot(snapshot, window).map(|verdict| with_findings(verdict, &findings)),
            findings,
            blind,
            groups_left_out: all.map(|all| (all - groups.len().min(all)) as u64),
            groups,
        }
    }
}

/// Half of them by what they hold, the others by what they suffer: kills, waiting, pages read again, nearness to the limit. The top is
/// the machine, which has metrics of its own.
fn chosen(tree: GroupTree, snapshot: &Snapshot, most: usize) -> Vec<(GroupMemory, Option<&Group>)> {
    let mut rest: Vec<GroupMemory> = tree.groups.into_iter().filter(|group| group.depth > 0).collect();
    ramline_units::sort_by(&mut rest, |a, b| b.current.cmp(&a.current));
    let mut suffering = rest.split_off(rest.len().min(most.div_ceil(2)));
    ramline_units::sort_by(&mut suffering, |a, b| suffers(b).total_cmp(&suffers(a)));
    suffering.truncate(most / 2);
    rest.append(&mut suffering);
    let raw = snapshot.groups.data().or(snapshot.limited.data());
    let find = |path: &str| raw.and_then(|raw| raw.list.iter().find(|group| group.path == path));
    rest.into_iter()
        .map(|group| (find(&group.path).map(|raw| (group.clone(), Some(raw)))).unwrap_or((group, None)))
        .collect()
}

/// A measure to put groups in order by: what was killed counts most, then the share of time waited, then how full it is.
#[expect(clippy::cast_precision_loss, reason = "an order does not need the last bits")]
fn suffers(group: &GroupMemory) -> f64 {
    let killed = group.events.oom_kills.unwrap_or(0).min(1_000) as f64;
    let waits = group.pressure.as_ref().and_then(|p| p.some).map_or(0.0, |some| some.avg10);
    let full = group.current.zip(group.bound.effective_max).and_then(|(used, of)| used.share_of(of)).unwrap_or(0.0);
    let rates = group.rates.and_then(|rates| rates.refaults_file).unwrap_or(0.0);
    killed * 1_000.0 + waits * 100.0 + full * 10.0 + rates.min(1_000.0) / 100.0
}
