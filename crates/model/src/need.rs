//! How much memory a group needs, from what it lost and read again while it was watched.
//!
//! The answer holds for what the group did in that time and no other; it is for page cache. Memory of its own that was swapped is named and not
//! counted. Below the present size nothing is said: what was never evicted cannot return.
//!
//! Worked example: a database in a group limited to 200 MiB, whose pages all return within 345 MiB of evictions, needs 545 MiB.

mod ahead;
mod curve;
mod set;
mod tried;
mod zram;

use ramline_evidence::{FEWEST_RETURNS, GhostCurve, SizeTrial, SizeVerified};

pub use ahead::{DiskReadAhead, READ_AHEAD_WORST};
pub use curve::{CurveAnswer, RoomCurve};
pub use set::SetLimit;
pub use tried::{Direction, direction};
pub use zram::{ColdSeen, CompressedSample, ZramVerdict, ZramWorth};

use crate::groups::GroupMemory;
use crate::prelude::*;

/// Sizes that are spoken of, in percent of the present one.
const STEPS: [u64; 4] = [110, 125, 150, 200];
/// A group that has this share of its limit left is not pressed by it.
const ROOM_LEFT: f64 = 0.02;
/// Growth by this share while it was watched is a group that fills.
const FILLS: f64 = 0.01;
/// The kernel charges a group in batches of so many pages for each processor (MEMCG_CHARGE_BATCH), and at its limit reclaims so many at
/// once (SWAP_CLUSTER_MAX): a limit of exactly its size evicts pages that it reads again.
const CHARGE_BATCH: u64 = 64;
const RECLAIM_BATCH: u64 = 32;
/// At most this part of the answer: a service of a large machine has not run on all its processors.
const LARGEST_BATCHES: u64 = 20;
/// Reclaim evicts whole folios, of up to this size (MAX_PAGECACHE_ORDER of 4 KiB pages).
const LARGEST_FOLIO: Bytes = Bytes::from_mib(2);
/// Less growth is noise, for the same reason.
const LEAST_GROWTH: Bytes = Bytes::from_mib(4);
/// With more pages a miss the kernel reads ahead of what was asked for.
const READS_AHEAD: f64 = 1.2;

/// What can be said.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NeedAnswer {
    /// Hardly anything was read again: it has what it needs for what it did.
    Enough,
    /// With this size next to nothing is read again.
    Size(Bytes),
    /// More than this: there, this share of the misses is left.
    MoreThan(Bytes, f64),
    /// Not more than this, to which it was made smaller without harm.
    AtMost(Bytes),
    /// It grows: what it will need is not known yet.
    Fills,
    /// It reads, and what it reads was not evicted from it before: more memory does not help, or it was watched too briefly.
    FirstReads,
}

/// One size, and what is left there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NeedStep {
    /// The size of the group.
    pub size: Bytes,
    /// More than the present one.
    pub more: Bytes,
    /// The share of today's misses that is left; `None` beyond what was seen.
    pub left: Option<f64>,
    /// The most that may be left, where the kernel's read-ahead adds to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    /// The same as misses a second.
    pub misses_per_second: Option<f64>,
}

/// How much memory a group needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Need {
    /// Path below the mount of the hierarchy.
    pub group: String,
    /// What it uses.
    pub current: Bytes,
    /// The limit in force: its own, or the tightest above it.
    pub limit: Option<Bytes>,
    /// The group that sets the limit.
    pub limit_at: Option<String>,
    /// The answer.
    pub answer: NeedAnswer,
    /// Some sizes above the present one.
    pub steps: Vec<NeedStep>,
    /// Pages read with a miss, where read(2) meets the kernel's read-ahead: more is left than said, until all fits.
    pub reads_ahead: Option<f64>,
    /// The read-ahead of its disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<DiskReadAhead>,
    /// Anonymous pages swapped in a second, which this does not count; `None` where the kernel does not tell.
    pub swap_ins: Option<f64>,
    /// What the kernel charges a group ahead of its use: a limit must be larger than the size by this.
    #[serde(default)]
    pub batches: Bytes,
    /// What was seen.
    pub curve: GhostCurve,
    /// What was missed while its size was changed: then the answer is of this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<SizeTrial>,
    /// Whether zram would help.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zram: Option<ZramWorth>,
    /// What sets the answer as its limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set: Option<SetLimit>,
    /// The answer set as the limit, and measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified: Option<SizeVerified>,
}

/// The need of `group` on a machine with so many processors, read after it was watched, with rates over that time.
#[must_use]
pub fn need(group: &GroupMemory, curve: GhostCurve, cpus: u64) -> Need {
    let current = group.current.unwrap_or_default();
    let rates = group.rates.unwrap_or_default();
    let seconds = curve.watched.as_secs_f64();
    let has_room = has_room(group);
    let grew = rates.growth.map_or(0.0, |growth| growth * seconds);
    let base = base(current, grew, curve.mean_size);
    let answer = match (curve.knee(), curve.reach()) {
        _ if has_room && grew > (FILLS * current.as_f64()).max(LEAST_GROWTH.as_f64()) => NeedAnswer::Fills,
        _ if curve.returns < FEWEST_RETURNS && curve.misses >= FEWEST_RETURNS => NeedAnswer::FirstReads,
        _ if curve.returns < FEWEST_RETURNS => NeedAnswer::Enough,
        (Some(more), _) => NeedAnswer::Size(base + more),
        (None, reach) => NeedAnswer::MoreThan(base + reach, curve.left(reach).unwrap_or(1.0)),
    };
    let says = matches!(answer, NeedAnswer::Size(_) | NeedAnswer::MoreThan(..));
    let steps = STEPS.iter().filter(|_| says).map(|percent| step(base, *percent, &curve)).collect();
    let by_faults = group.rates.and_then(|rates| rates.major_faults).unwrap_or(0.0) * seconds;
    let by_reads = curve.misses as f64 - by_faults;
    let reads_ahead = curve.pages_per_miss().filter(|pages| *pages > READS_AHEAD && by_reads > by_faults && says);
    Need {
        group: group.path.clone(),
        current,
        limit: group.bound.effective_max,
        limit_at: group.bound.effective_at.clone(),
        answer,
        steps,
        reads_ahead,
        disk: None,
        swap_ins: rates.refaults_anon,
        batches: curve.page_size.scale(CHARGE_BATCH * cpus + RECLAIM_BATCH, 1).unwrap_or_default(),
        curve,
        trial: None,
        zram: None,
        set: None,
        verified: None,
    }
}

/// What distances are added to: its mean size while it was watched. Reclaim leaves a group at its limit up to a large folio smaller at a given moment; of one that grew
/// by more than a folio it is the size now.
fn base(current: Bytes, grew: f64, mean: Option<Bytes>) -> Bytes {
    if grew.abs() > LARGEST_FOLIO.as_f64() { current } else { mean.unwrap_or(current) }
}

/// It fills its limit: what it needs is worth asking.
#[must_use]
pub fn fills_limit(group: &GroupMemory) -> bool {
    !has_room(group)
}

/// Part of its limit is left, or it has no limit. A group that hit its limit while it was watched has none left, even if a large folio is free now. Hits alone prove
/// nothing: version 2 also counts those of the groups below.
fn has_room(group: &GroupMemory) -> bool {
    let was_hit = group.rates.and_then(|rates| rates.limit_hits).is_some_and(|hits| hits > 0);
    let beside = if was_hit { LARGEST_FOLIO } else { Bytes::ZERO };
    match (group.bound.room, group.bound.effective_max) {
        (Some(room), Some(limit)) => room.as_f64() > limit.as_f64() * ROOM_LEFT + beside.as_f64(),
        _ => true,
    }
}

fn step(base: Bytes, percent: u64, curve: &GhostCurve) -> NeedStep {
    step_at(base, base.scale(percent - 100, 100).unwrap_or_default(), curve)
}

fn step_at(base: Bytes, more: Bytes, curve: &GhostCurve) -> NeedStep {
    let left = curve.left(more);
    let misses_per_second = left.zip(curve.misses_per_second()).map(|(left, now)| left * now);
    NeedStep { size: base + more, more, left, at_most: None, misses_per_second }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::groups::Rates;
    use ramline_evidence::GhostBucket;
    use ramline_snapshot::groups::Groups;
    use ramline_snapshot::machine::Machine;
    use ramline_snapshot::{Seen, Snapshot};

    const SPAN: Nanos = Nanos(10_000_000_000);

    /// A need of which nothing was seen.
    pub(super) fn empty() -> Need {
        Need {
            group: "/db".into(),
            current: Bytes::from_mib(200),
            limit: Some(Bytes::from_mib(200)),
            limit_at: Some("/db".into()),
            answer: NeedAnswer::FirstReads,
            steps: Vec::new(),
            reads_ahead: None,
            disk: None,
            swap_ins: None,
            batches: Bytes::ZERO,
            curve: GhostCurve::default(),
            trial: None,
            zram: None,
            set: None,
            verified: None,
        }
    }

    /// A group that used so much before and after, within a limit, with this many major faults a second.
    pub(super) fn group(before: u64, after: u64, limit: u64, major_faults: u64) -> GroupMemory {
        let snapshot = |used: u64, at: u64| {
            let machine = Machine { boot_id: Some("b".into()), uptime: Some(Nanos(at * SPAN.0)), ..Machine::default() };
            let mut snapshot = Snapshot::new(machine);
            let stat = [("pgmajfault".to_owned(), at * 10 * major_faults)].into();
            let list = vec![Group {
                path: "/pg".into(),
                current: Some(Bytes::from_mib(used)),
                max: Some(Limit::At(Bytes::from_mib(limit))),
                stat,
                ..Group::default()
            }];
            snapshot.groups = Seen::new(Groups { version: Some(Version::V2), list, ..Groups::default() });
            snapshot
        };
        let (before, after) = (snapshot(before, 1), snapshot(after, 2));
        let window = Window::new(&before, &after).unwrap();
        crate::groups::from_snapshot(&after, Some(&window)).unwrap().groups.remove(0)
    }

    /// All returns at 345 MiB; so many pages a miss.
    pub(super) fn curve(misses: u64, returns: u64, pages_a_miss: u64) -> GhostCurve {
        GhostCurve {
            watched: SPAN,
            page_size: Bytes(4096),
            misses,
            returns,
            pages_added: misses * pages_a_miss,
            pages_evicted: misses,
            pages_out: 100_000,
            buckets: vec![GhostBucket { pages: 345 << 8, returned: returns, beyond: misses - returns }],
            ..GhostCurve::default()
        }
    }

    #[test]
    fn a_group_at_its_limit_needs_the_limit_and_what_it_misses() {
        let need = need(&group(200, 200, 200, 0), curve(10_000, 10_000, 1), 2);
        assert_eq!(need.answer, NeedAnswer::Size(Bytes::from_mib(545)));
        let steps: Vec<_> = need.steps.iter().map(|step| (step.size.0 >> 20, step.left)).collect();
        assert_eq!(steps, [(220, Some(1.0)), (250, Some(1.0)), (300, Some(1.0)), (400, Some(1.0))]);
        assert_eq!((need.steps[0].misses_per_second, need.reads_ahead), (Some(1000.0), None));
    }

    #[test]
    fn a_group_that_hit_its_limit_while_it_was_watched_is_at_it_though_a_large_folio_is_free() {
        let with_hits = |(used, hits)| {
            let mut one = group(used, used, 200, 0);
            one.rates = one.rates.map(|rates| Rates { limit_hits: Some(hits), ..rates });
            has_room(&one)
        };
        assert_eq!([(195, 300), (195, 0)].map(with_hits), [false, true]);
        // Those of a group below it: it is far from its own.
        assert!(with_hits((100, 300)));
    }

    #[test]
    fn what_was_out_is_added_to_the_mean_size_unless_it_grew() {
        let seen = GhostCurve { mean_size: Some(Bytes::from_mib(198)), ..curve(10_000, 10_000, 1) };
        let size = |before| need(&group(before, 200, 200, 0), seen.clone(), 2).answer;
        assert_eq!(size(199), NeedAnswer::Size(Bytes::from_mib(198 + 345)));
        assert_eq!(size(120), NeedAnswer::Size(Bytes::from_mib(200 + 345)));
    }

    #[test]
    fn a_limit_is_larger_than_the_size_by_what_the_kernel_charges_ahead() {
        let limit = |cpus| need(&group(200, 200, 200, 0), curve(10_000, 10_000, 1), cpus).new_limit();
        assert_eq!(limit(2), Some(Bytes::from_mib(545) + Bytes(4096 * (2 * 64 + 32))));
        assert_eq!(limit(512), Some(Bytes::from_mib(545) + Bytes::from_mib(545).scale(1, 20).unwrap()));
    }

    #[test]
    fn read_ahead_is_named_where_read_2_meets_it_and_not_for_mapped_files() {
        assert_eq!(super::need(&group(200, 200, 200, 0), curve(10_000, 10_000, 3), 2).reads_ahead, Some(3.0));
        assert_eq!(super::need(&group(200, 200, 200, 1000), curve(10_000, 10_000, 3), 2).reads_ahead, None);
    }

    #[test]
    fn no_number_is_given_to_a_group_that_grows_reads_ever_new_data_or_reads_nothing_again() {
        let answer = |group: GroupMemory, curve| super::need(&group, curve, 2).answer;
        assert_eq!(answer(group(80, 120, 200, 0), curve(10_000, 9_000, 1)), NeedAnswer::Fills);
        assert_eq!(answer(group(200, 200, 200, 0), curve(10_000, 50, 1)), NeedAnswer::FirstReads);
        assert_eq!(answer(group(199, 200, 200, 0), curve(40, 40, 1)), NeedAnswer::Enough);
        assert_eq!(answer(group(10, 10, 200, 0), curve(0, 0, 1)), NeedAnswer::Enough);
    }
}
