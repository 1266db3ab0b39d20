//! Rows: processes added up by a name.

use super::by::{self, By};
use super::estimate::{Estimate, How, Part};
use super::filter::{Filter, Matched};
use super::row::{Row, Spread, bytes};
use super::swapped::SwapCosts;
use crate::prelude::*;

/// What rows are made of.
pub struct Parts<'a> {
    pub all: &'a Processes,
    pub estimate: &'a Estimate,
    pub swap: &'a SwapCosts,
    pub growth: Option<&'a Growth>,
    pub filter: &'a Filter,
}

impl Parts<'_> {
    /// It has memory, and is asked for.
    pub fn takes(&self, p: &Process) -> bool {
        p.has_memory() && (self.filter.is_empty() || self.filter.takes(self.all, p))
    }
}

/// Anonymous memory, in RAM and in swap, then and now.
pub struct Growth {
    before: HashMap<(u32, u64), (Bytes, Option<u64>)>,
    /// Ticks of a processor in the window.
    ticks: f64,
    pub started: u64,
    pub ended: u64,
}

impl Growth {
    /// Growth between two readings; `ticks`: of one processor, between the two.
    pub fn between(before: Option<&Processes>, after: &Processes, ticks: f64) -> Growth {
        let list = before.map(|b| b.list.as_slice()).unwrap_or_default();
        let before: HashMap<_, _> = list.iter().map(|p| ((p.pid, p.started_ticks), (made(p), p.cpu_ticks))).collect();
        let stayed = after.list.iter().filter(|p| before.contains_key(&(p.pid, p.started_ticks))).count() as u64;
        let (then, now) = (before.len() as u64, after.list.len() as u64);
        Growth { before, ticks, started: now.saturating_sub(stayed), ended: then.saturating_sub(stayed) }
    }

    /// `None` for one that was not there before: what it brought along may be its parent's.
    fn since(&self, p: &Process) -> Option<SignedBytes> {
        Some(SignedBytes::difference(made(p), self.before.get(&(p.pid, p.started_ticks))?.0))
    }

    /// Processors used; `None` for one that was not there before.
    #[expect(clippy::cast_precision_loss, reason = "ticks of a window")]
    fn cpu(&self, p: &Process) -> Option<f64> {
        let before = self.before.get(&(p.pid, p.started_ticks))?.1?;
        let used = p.cpu_ticks?.checked_sub(before)?;
        (self.ticks > 0.0).then(|| used as f64 / self.ticks)
    }
}

fn made(p: &Process) -> Bytes {
    p.rss_anon.unwrap_or_default() + p.swap.unwrap_or_default()
}

/// A row that is being added up.
#[derive(Debug, Clone, Default)]
pub struct Sum {
    pub row: Row,
    anon: Part,
    shared: Part,
    own: Bytes,
    swap_costs: Part,
    has_cost: bool,
    /// One of them, and whether all are of its user.
    first: Option<(u32, u32)>,
    users: bool,
}

impl Sum {
    /// Adds the process at this place of the list.
    pub fn add(&mut self, parts: &Parts<'_>, at: usize) {
        let (Some(p), Some(Some(member))) = (parts.all.list.get(at), parts.estimate.members.get(at)) else { return };
        let row = &mut self.row;
        row.processes += 1;
        self.users |= self.first.is_some_and(|(_, uid)| uid != p.uid);
        self.first.get_or_insert((p.pid, p.uid));
        row.rss += p.resident();
        row.swap += p.swap.unwrap_or_default();
        row.page_tables += p.page_tables.unwrap_or_default();
        row.locked += p.locked.unwrap_or_default();
        row.hugetlb += p.hugetlb.unwrap_or_default();
        row.walked += u64::from(member.how == How::Walked);
        row.alike += u64::from(member.how == How::Alike);
        if let Some(more) = parts.growth.and_then(|g| g.since(p)) {
            row.growth = Some(SignedBytes(row.growth.unwrap_or_default().0.saturating_add(more.0)));
        }
        if let Some(more) = parts.growth.and_then(|g| g.cpu(p)) {
            row.cpu = Some(row.cpu.unwrap_or_default() + more);
        }
        self.own += p.walked.map(|w| w.uss).unwrap_or_default();
        self.anon = self.anon.plus(member.anon);
        self.shared = self.shared.plus(member.shared);
        if let Some(cost) = parts.swap.for_process(p) {
            self.swap_costs = self.swap_costs.plus(cost);
            self.has_cost = true;
        }
    }

    /// The row, its bounds closed by the machine's sums.
    pub fn finish(self, parts: &Parts<'_>) -> Row {
        let (anon, shared) = parts.estimate.close(self.anon, self.shared);
        // A page counts at most whole in each that maps it.
        let holds = anon.plus(shared).spread().at_most(self.row.rss);
        let anon = bytes(anon.mid).min(holds.value);
        let every = self.row.walked == self.row.processes && self.row.processes > 0;
        let only = self.first.filter(|_| self.row.processes == 1).map(|(pid, _)| pid);
        let user = self.first.filter(|_| !self.users).map(|(_, uid)| by::user(parts.all, uid).into_owned());
        Row {
            holds,
            pid: self.row.pid.or(only),
            user,
            anon,
            shared: holds.value.saturating_sub(anon),
            own: every.then_some(self.own),
            swap_costs: self.has_cost.then(|| parts.swap.close(self.swap_costs)),
            ..self.row
        }
    }
}

/// Rows of all processes that have memory, largest first.
pub fn grouped(parts: &Parts<'_>, by: By) -> Vec<Row> {
    let mut sums: Vec<Sum> = Vec::new();
    let mut index: HashMap<std::borrow::Cow<'_, str>, usize> = HashMap::new();
    for (at, p) in parts.all.list.iter().enumerate().filter(|(_, p)| parts.takes(p)) {
        let name = by::name(parts.all, p, by);
        let fresh = |name: &str| {
            let row = Row { name: name.to_owned(), ..Row::default() };
            Sum { row, ..Sum::default() }
        };
        let place = if by == By::Process {
            let mut sum = fresh(&name);
            sum.row.pid = Some(p.pid);
            sums.push(sum);
            sums.len() - 1
        } else {
            *index.entry(name).or_insert_with_key(|name| {
                sums.push(fresh(name));
                sums.len() - 1
            })
        };
        sums[place].add(parts, at);
    }
    let mut rows: Vec<Row> = sums.into_iter().map(|sum| sum.finish(parts)).collect();
    ramline_units::sort_by(&mut rows, |a, b| b.holds.value.cmp(&a.holds.value).then_with(|| a.name.cmp(&b.name)));
    rows
}

/// All that are asked for, in one sum.
pub fn matched(parts: &Parts<'_>) -> Matched {
    let mut sum = Sum::default();
    for (at, _) in parts.all.list.iter().enumerate().filter(|(_, p)| parts.takes(p)) {
        sum.add(parts, at);
    }
    let Row { processes, holds, swap, .. } = sum.finish(parts);
    Matched { what: parts.filter.words(), processes, holds, swap }
}

impl Spread {
    /// True when the truth cannot differ from the value by more than a twentieth.
    #[must_use]
    pub fn is_narrow(&self) -> bool {
        self.error().0 <= self.value.0 / 20 || self.error() <= Bytes::from_kib(64)
    }
}
