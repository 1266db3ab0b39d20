//! Which page tables to walk, in which order, within a budget.
//!
//! The machine's totals are known without any walk: all anonymous memory that is mapped is AnonPages, all file and shared
//! memory that is mapped is Mapped, each page counted once. What is not known is how they divide. So for each group of
//! likely forks there is a *width*: by how much its share could differ from what is known.
//!
//! - Shared part: it lies between 0 and the smaller of "all it maps" and Mapped; and since the others can hold at most what
//!   they map, it holds at least the rest of Mapped. A database that maps nearly everything is known without a walk.
//! - Anonymous part: exact, unless forks of one program share pages; the machine's excess (all anonymous residents minus
//!   AnonPages) is the most that any of them can be off.
//!
//! The group with the largest width for its predicted cost is next; one member stands for all, a second and a third
//! about the spread. It ends when the widths add up to a hundredth of the whole, when the budget is used, or when every
//! further walk is predicted to take longer than what is left of it.
//!
//! Worked example: two programs map 900 and 100 MiB, Mapped is 920 MiB. The first holds 820 to 900, the second 20 to 100:
//! both widths are 80 MiB, and walking the second costs a ninth.

use ramline_snapshot::processes::{Around, Program, Walked};

use crate::prelude::*;

/// Processes that map more than this are walked only when all are: it takes about half a second.
pub const LARGEST_WALK: Bytes = Bytes::from_gib(16);
/// Nanoseconds a walk takes per byte before any was timed: 30 ms per GiB of 4 KiB pages, in the middle of what others measured.
const FIRST_RATE: f64 = 30e6 / (1024.0 * 1024.0 * 1024.0);
/// Nanoseconds a walk takes that finds nothing: opening, mappings, printing.
const FIXED: f64 = 100e3;
/// A walk may take this much longer than predicted before it breaks the budget.
const SAFETY: f64 = 1.5;
/// The widths may leave this share of the whole open.
const ENOUGH: f64 = 0.01;
/// By how much the unwalked members of a group may differ, after one, two and three walks, until which another is worth it.
const SPREAD: [f64; 4] = [1.0, 0.25, 0.1, 0.0];

/// Likely forks of one another.
#[derive(Debug, Default)]
struct Kin {
    /// Not walked yet, by size.
    open: Vec<usize>,
    walked: usize,
    shared: f64,
    anon: f64,
    /// Processes of the same program: only they can share its anonymous pages.
    sharers: f64,
    /// What the last walk said of each resident byte.
    shared_ratio: f64,
    anon_ratio: f64,
    busy: bool,
}

/// The order of the walks.
#[derive(Debug)]
pub struct Plan<'a> {
    list: &'a [Process],
    kin: Vec<Kin>,
    /// All that processes map, each page once.
    whole: f64,
    mapped: f64,
    /// Anonymous residents beyond AnonPages that no walk has explained.
    excess: f64,
    /// Sum of what the groups can hold of Mapped at most.
    at_most: f64,
    rate: f64,
    fixed: f64,
    left: f64,
}

/// A walk to make.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NextWalk {
    /// Index into the list.
    pub process: usize,
    kin: usize,
    reserved: f64,
}

/// The places of the members of each group of likely forks.
pub fn by_kin(all: &Processes) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (at, number) in all.kin().into_iter().enumerate() {
        let Some(number) = number.and_then(|n| usize::try_from(n).ok()) else { continue };
        groups.resize_with(groups.len().max(number + 1), Vec::new);
        groups[number].push(at);
    }
    groups
}

#[expect(clippy::cast_precision_loss, reason = "counts of processes and nanoseconds of a budget are below 2^53")]
impl<'a> Plan<'a> {
    pub fn new(all: &'a Processes, budget: Nanos) -> Plan<'a> {
        let list = all.list.as_slice();
        let mut programs: HashMap<Program<'_>, usize> = HashMap::new();
        list.iter().filter(|p| p.has_memory()).for_each(|p| *programs.entry(p.program()).or_default() += 1);
        let mut kin: Vec<Kin> = Vec::new();
        for members in by_kin(all) {
            let mut group = Kin::default();
            for at in members {
                let process = &list[at];
                group.shared += process.rss_shared().as_f64();
                group.anon += process.rss_anon.unwrap_or_default().as_f64();
                // Whose program is not known may be anybody's fork.
                let of_program = programs.get(&process.program()).copied().unwrap_or(1);
                group.sharers = if process.exe.is_some() { of_program as f64 } else { list.len() as f64 };
                match process.walked {
                    Some(_) => group.walked += 1,
                    None => group.open.push(at),
                }
            }
            ramline_units::sort_by_key(&mut group.open, |at| list[*at].rss());
            kin.push(group);
        }
        let sum = |part: fn(&Kin) -> f64| kin.iter().map(part).sum::<f64>();
        let (anon, shared) = (sum(|k| k.anon), sum(|k| k.shared));
        let Around { anon_after, mapped_after, .. } = all.around.unwrap_or_default();
        let known = all.around.is_some();
        let mapped = if known { mapped_after.as_f64().min(shared) } else { shared };
        let excess = if known { (anon - anon_after.as_f64()).max(0.0) } else { anon };
        let at_most = kin.iter().map(|k| k.shared.min(mapped)).sum();
        Plan {
            list,
            kin,
            whole: (anon - excess) + mapped,
            mapped,
            excess,
            at_most,
            rate: FIRST_RATE,
            fixed: FIXED,
            left: budget.0 as f64,
        }
    }

    /// The walk that settles most for its cost and fits into what is left.
    pub fn next(&mut self) -> Option<NextWalk> {
        let mut open = 0.0;
        let mut best: Option<(f64, NextWalk)> = None;
        for (index, group) in self.kin.iter().enumerate().filter(|(_, k)| !k.busy && !k.open.is_empty()) {
            let width = self.width(group);
            open += width;
            let process = group.candidate();
            let rss = self.list[process].rss();
            let reserved = SAFETY * self.cost(rss);
            let fits = reserved <= self.left && rss <= LARGEST_WALK && width > 0.0;
            if fits && best.is_none_or(|(value, _)| width / reserved > value) {
                best = Some((width / reserved, NextWalk { process, kin: index, reserved }));
            }
        }
        let (_, next) = best.filter(|_| open > ENOUGH * self.whole)?;
        self.left -= next.reserved;
        self.kin[next.kin].busy = true;
        Some(next)
    }

    /// What a walk gave: `None` when the process ended or refused.
    pub fn done(&mut self, next: NextWalk, walked: Option<&Walked>, cost: Nanos) {
        self.left += next.reserved - cost.0 as f64;
        let rss = self.list[next.process].rss();
        if rss >= Bytes::from_mib(16) {
            let seen = (cost.0 as f64 - FIXED).max(0.0) / rss.as_f64();
            self.rate = f64::midpoint(self.rate, seen);
        } else {
            // On a busy machine a walk mostly waits for its turn.
            self.fixed = f64::midpoint(self.fixed, cost.0 as f64).max(FIXED);
        }
        let (mapped, process) = (self.mapped, &self.list[next.process]);
        let group = &mut self.kin[next.kin];
        group.busy = false;
        group.open.retain(|at| *at != next.process);
        let Some(walked) = walked else { return };
        let before = (group.at_most(mapped), group.shared_anon());
        let ratio = |part: Bytes, of: Bytes| part.share_of(of).unwrap_or(0.0).min(1.0);
        let rss_anon = process.rss_anon.unwrap_or_default();
        let anon = walked.pss_anon.unwrap_or_else(|| walked.pss.saturating_sub(process.rss_shared()));
        group.walked += 1;
        group.anon_ratio = ratio(anon, rss_anon);
        group.shared_ratio = ratio(walked.pss.saturating_sub(anon), process.rss_shared());
        self.at_most += group.at_most(mapped) - before.0;
        self.excess = (self.excess - (group.shared_anon() - before.1)).max(0.0);
    }

    /// Processes that would still change the answer: those not walked for the budget, and those too large to walk.
    pub fn open(&self) -> (u64, u64) {
        let (mut left_out, mut too_large) = (0, 0);
        for group in self.kin.iter().filter(|k| !k.open.is_empty() && self.width(k) > ENOUGH * self.whole) {
            let large = self.list[group.candidate()].rss() > LARGEST_WALK;
            *(if large { &mut too_large } else { &mut left_out }) += group.open.len() as u64;
        }
        (left_out, too_large)
    }

    fn cost(&self, rss: Bytes) -> f64 {
        self.fixed + self.rate * rss.as_f64()
    }

    fn width(&self, group: &Kin) -> f64 {
        if group.walked > 0 {
            let rest = group.open.len() as f64 / (group.open.len() + group.walked) as f64;
            let value = group.shared_ratio * group.shared + group.anon_ratio * group.anon;
            return SPREAD.get(group.walked).copied().unwrap_or(0.0) * value * rest;
        }
        let most = group.at_most(self.mapped);
        let least = (self.mapped - (self.at_most - most)).max(0.0);
        let anon = if group.sharers > 1.0 { group.anon * (1.0 - 1.0 / group.sharers) } else { 0.0 };
        (most - least).max(0.0) + anon.min(self.excess)
    }
}

impl Kin {
    /// Of Mapped, at most.
    fn at_most(&self, mapped: f64) -> f64 {
        if self.walked > 0 { self.shared_ratio * self.shared } else { self.shared.min(mapped) }
    }

    /// Of its anonymous residents, what walks have shown to be shared with others.
    fn shared_anon(&self) -> f64 {
        if self.walked > 0 { self.anon * (1.0 - self.anon_ratio) } else { 0.0 }
    }

    /// First the one in the middle, then the largest, then the smallest.
    fn candidate(&self) -> usize {
        let last = self.open.len() - 1;
        self.open[[last / 2, last].get(self.walked).copied().unwrap_or(0)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: u32, exe: u32, anon_mib: u64, shared_mib: u64) -> Process {
        Process {
            pid,
            exe: Some(exe),
            rss_anon: Some(Bytes::from_mib(anon_mib)),
            rss_shmem: Some(Bytes::from_mib(shared_mib)),
            ..Process::default()
        }
    }

    fn all(list: Vec<Process>, anon_mib: u64, mapped_mib: u64) -> Processes {
        let (anon, mapped) = (Bytes::from_mib(anon_mib), Bytes::from_mib(mapped_mib));
        let around = Around {
            anon_before: anon,
            anon_after: anon,
            mapped_before: mapped,
            mapped_after: mapped,
            ..Around::default()
        };
        Processes { list, around: Some(around), ..Processes::default() }
    }

    const BUDGET: Nanos = Nanos(250_000_000);

    #[test]
    fn what_the_totals_settle_is_not_walked() {
        // One program maps all of Mapped, the other next to nothing: 1 MiB of 1000 is open.
        let seen = all(vec![process(1, 0, 10, 1000), process(2, 1, 500, 1)], 510, 1000);
        assert_eq!(Plan::new(&seen, BUDGET).next(), None);
        // Two programs with private memory only.
        let seen = all(vec![process(1, 0, 700, 0), process(2, 1, 500, 0)], 1200, 0);
        assert_eq!(Plan::new(&seen, BUDGET).next(), None);
    }

    #[test]
    fn of_two_that_settle_the_same_the_cheaper_is_walked_and_settles_both() {
        let seen = all(vec![process(1, 0, 0, 900), process(2, 1, 0, 100)], 0, 920);
        let mut plan = Plan::new(&seen, BUDGET);
        let next = plan.next().unwrap();
        assert_eq!(next.process, 1);
        let walked = Walked { pss: Bytes::from_mib(20), pss_anon: Some(Bytes(0)), ..Walked::default() };
        plan.done(next, Some(&walked), Nanos(3_000_000));
        assert_eq!(plan.next(), None);
        assert_eq!(plan.open(), (0, 0));
    }

    #[test]
    fn forks_that_share_are_walked_three_times_not_once_each() {
        let list = (1..=1400).map(|pid| process(pid, 0, 50, 0)).collect();
        let seen = all(list, 60, 0);
        let mut plan = Plan::new(&seen, BUDGET);
        let mut walks = 0;
        while let Some(next) = plan.next() {
            walks += 1;
            let pss = Bytes::from_mib(60).scale(1, 1400).unwrap();
            plan.done(next, Some(&Walked { pss, pss_anon: Some(pss), ..Walked::default() }), Nanos(2_000_000));
        }
        assert_eq!(walks, 3);
        assert_eq!(plan.open(), (0, 0));
    }

    #[test]
    fn a_walk_that_would_break_the_budget_or_is_too_large_is_left_out_and_counted() {
        let list =
            vec![process(1, 0, 0, 6000), process(2, 1, 0, 6000), process(3, 2, 0, 17 << 10), process(4, 3, 0, 9)];
        let seen = all(list, 0, 17 << 10);
        let mut plan = Plan::new(&seen, Nanos(200_000_000));
        assert_eq!(plan.next().unwrap().process, 3);
        assert_eq!(plan.next(), None);
        assert_eq!(plan.open(), (2, 1));
    }

    #[test]
    fn a_process_that_ended_is_not_tried_again() {
        let seen = all(vec![process(1, 0, 0, 500), process(2, 1, 0, 500)], 0, 600);
        let mut plan = Plan::new(&seen, BUDGET);
        while let Some(next) = plan.next() {
            plan.done(next, None, Nanos(1000));
        }
        assert!(plan.kin.iter().all(|k| k.open.is_empty()));
    }
}
