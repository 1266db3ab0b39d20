//! Who uses the memory: what each group of processes holds, each page counted once, with the bounds of what was not looked at.
//!
//! [`Who`], from one snapshot. A page that k processes map counts for a k-th in each (the kernel's PSS). Without
//! any walk of page tables the machine's sum is known: AnonPages + Mapped of /proc/meminfo. What a group holds of it lies
//! between bounds that follow from what each process maps; walks narrow them (see [`estimate`]).
//! Not the cost of taking the memory away.
//!
//! Limits of the sum: pages of the huge-page pool (hugetlb) are in neither, and are a column of their own; a page that only
//! a process outside our process namespace maps is in the machine's sum and in no row, so inside a container the sum is an
//! upper bound only; both counters lag by at most 125 pages a CPU; shared memory that is not mapped is in neither
//! (see the ledger); a huge page of which a part is unmapped counts with the part that is mapped.
//!
//! ```
//! use ramline_model::processes::{By, Who};
//! use ramline_snapshot::{Seen, Snapshot, machine::Machine, processes::{Process, Processes}};
//! use ramline_units::Bytes;
//! let one = Process { pid: 7, name: "db".into(), rss_anon: Some(Bytes::from_mib(3)), ..Process::default() };
//! let mut seen = Snapshot::new(Machine::default());
//! seen.processes = Seen::new(Processes { list: vec![one], ..Processes::default() });
//! let who = Who::from_snapshot(&seen, None, By::Program).ok_or("no processes")?;
//! assert_eq!((who.rows[0].name.as_str(), who.rows[0].holds.value), ("db", Bytes::from_mib(3)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod alike;
mod by;
pub mod estimate;
mod filter;
mod row;
mod rows;
pub mod swapped;
mod tree;

#[cfg(test)]
mod storm;
#[cfg(test)]
mod tests;

use ramline_snapshot::processes::{Missed, Walks};

pub use by::By;
use estimate::Estimate;
pub use filter::{Filter, Matched};
pub use row::{Identity, Row, Spread};
use swapped::SwapCosts;

use ramline_snapshot::containers::ByGroup;

use crate::prelude::*;

/// The answer to "who uses it".
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Who {
    /// What the rows are.
    pub by: By,
    /// The rows, those that hold most first; or in the order of the tree.
    pub rows: Vec<Row>,
    /// What all seen processes hold together, each page once.
    pub whole: Spread,
    /// Those that were asked for, where not all were.
    pub matched: Option<Matched>,
    /// Every process of the machine was seen, so the rows add up to the machine's sum, but for processes that began or ended meanwhile.
    pub complete: bool,
    /// The machine's sums are of the listed processes alone, and bound each row from below; not so where processes began or ended
    /// while the others were read.
    pub closed: bool,
    /// Walked processes contradicted that the others of their kind are like them: they are bounded instead.
    pub unlike: bool,
    /// The sums.
    pub identity: Identity,
    /// Processes with memory of their own.
    pub processes: u64,
    /// Threads of the kernel.
    pub kernel_threads: u64,
    /// Ended, and not yet waited for by their parents.
    pub zombies: u64,
    /// Processes that a group of likely forks stands for without being walked.
    pub alike: u64,
    /// Not seen.
    pub missed: Missed,
    /// Page-table walks.
    pub walks: Walks,
    /// How long reading took, walks included.
    pub cost: Option<Nanos>,
    /// What growth was measured over.
    pub span: Option<Nanos>,
    /// Processes that started and that ended in that time.
    pub started_ended: Option<(u64, u64)>,
    /// Swap against the RAM it costs.
    pub swap: SwapCosts,
}

impl Who {
    /// The users of memory in a snapshot; a window supplies growth. `None` where the processes were not seen.
    #[must_use]
    pub fn from_snapshot(seen: &Snapshot, window: Option<&Window<'_>>, by: By) -> Option<Who> {
        Who::matching(seen, window, by, &Filter::default())
    }

    /// The same, with rows of some processes alone. What all hold, and the bounds of each, still come from all of them.
    #[must_use]
    pub fn matching(seen: &Snapshot, window: Option<&Window<'_>>, by: By, filter: &Filter) -> Option<Who> {
        let all = seen.processes.data()?;
        let estimate = Estimate::from_processes(all, seen.machine.cpus);
        let swap = SwapCosts::from_snapshot(seen);
        let ticks = |w: &Window<'_>| w.span.as_secs_f64() * ticks_per_s(seen);
        let growth = window.map(|w| rows::Growth::between(w.before.processes.data(), all, ticks(w)));
        let parts = rows::Parts { all, estimate: &estimate, swap: &swap, growth: growth.as_ref(), filter };
        let mut rows = if by == By::Tree { tree::rows(&parts) } else { rows::grouped(&parts, by) };
        if by == By::Container {
            let containers = ByGroup::new(seen.containers.data());
            rows.iter_mut().for_each(|row| by::name_container(&mut row.name, &containers));
        }
        let count = |what: fn(&Process) -> bool| all.list.iter().filter(|p| what(p)).count() as u64;
        let cost = match &seen.processes {
            ramline_snapshot::Seen::Seen { cost, .. } => *cost,
            _ => None,
        };
        Some(Who {
            by,
            rows,
            whole: estimate.whole(),
            matched: (!filter.is_empty()).then(|| rows::matched(&parts)),
            complete: estimate.complete,
            closed: estimate.alone,
            unlike: estimate.unlike,
            identity: estimate.identity,
            processes: count(Process::has_memory),
            kernel_threads: count(|p| p.kernel_thread),
            zombies: count(|p| p.state == 'Z'),
            alike: estimate.alike(),
            missed: all.missed,
            walks: all.walks,
            cost,
            span: window.map(|w| w.span),
            started_ended: growth.as_ref().map(|g| (g.started, g.ended)),
            swap,
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "ticks of a second")]
fn ticks_per_s(seen: &Snapshot) -> f64 {
    seen.machine.ticks_per_s as f64
}

impl Who {
    /// The row that uses most; of a tree the largest that has nothing below it, since the top holds everything.
    #[must_use]
    pub fn largest(&self) -> Option<&Row> {
        let leaf = |at: usize| {
            self.rows.get(at + 1).is_none_or(|next| self.by != By::Tree || next.depth <= self.rows[at].depth)
        };
        let leaves = (0..self.rows.len()).filter(|at| leaf(*at));
        // Of equals the first.
        leaves.max_by_key(|at| (self.rows[*at].holds.value, std::cmp::Reverse(*at))).map(|at| &self.rows[at])
    }

    /// Keeps so many rows, and says how many were left out. Of a tree the largest subtrees stay, with all above them.
    pub fn keep(&mut self, most: usize) -> u64 {
        let all = self.rows.len();
        if self.by == By::Tree {
            let mut sizes: Vec<Bytes> = self.rows.iter().map(|r| r.holds.value).collect();
            sizes.sort_unstable_by(|a, b| b.cmp(a));
            // A parent holds at least what its largest child holds, so no row loses the one above it.
            if let Some(smallest) = most.checked_sub(1).and_then(|last| sizes.get(last)) {
                self.rows.retain(|r| r.holds.value >= *smallest);
            }
        }
        self.rows.truncate(most);
        (all - self.rows.len()) as u64
    }
}
