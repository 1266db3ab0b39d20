//! Work that a command leaves to a server: processes outside its group at the other ends of its sockets, and what they did meanwhile.
//!
//! While the command runs its sockets are followed to their peers ([`ramline_kernel::sockets`]), and all processes are looked at now and
//! then. A peer stands for its service: its ancestors that it was forked from without another exec(2), and all below the highest of them, so
//! that a server that forks for each connection is one, and the script that started a server is not part of it. What the service used of the processors says whether its work matters.
//!
//! What it is not: complete. A connection that opens and closes between two looks, UDP, named pipes and shared memory are not seen.
//!
//! Worked example: pgbench used 0.4 s of processor time, the postgres it talks to 3.2 s. Of all the work nine tenths are outside.

use std::collections::BTreeSet;

use ramline_kernel::process::Work;
use ramline_kernel::sockets::{self, Other};

use crate::prelude::*;

/// A look may take this part of the time: it must not become what is measured.
const COST: u32 = 10;
/// Each figure of a process is off by up to a clock tick at each end, of 10 ms where the kernel does not say otherwise.
const LEAST: Nanos = Nanos(20_000_000);

/// A process by its number and its start.
type Id = (u32, u64);

/// One service outside, and what it did while the command ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Service {
    /// Its name.
    pub name: String,
    /// Its highest process.
    pub pid: u32,
    /// Its memory group, as a path in the hierarchy; empty where that is not known.
    pub group: String,
    /// Processor time it used.
    pub cpu: Nanos,
    /// How much its resident memory grew at most; pages that its processes share count once for each.
    pub grown: Bytes,
}

/// Use of a process at the beginning, and at the last sample.
#[derive(Debug, Clone)]
struct ProcessUse {
    first: Work,
    last: Work,
    most: Bytes,
    /// Not at the beginning, so that all it used is of this run.
    new: bool,
    ended: bool,
}

/// One who follows the sockets of one command, over one run or several.
#[derive(Debug, Default)]
pub struct Outside {
    all: BTreeMap<Id, ProcessUse>,
    members: BTreeSet<u32>,
    resolved: BTreeSet<u64>,
    peers: BTreeSet<Id>,
    /// Addresses that no process of this machine holds.
    pub elsewhere: BTreeSet<String>,
    due: Option<Instant>,
}

impl Outside {
    /// The command is about to start: what all others have used so far is not its.
    pub fn begin(&mut self, root: &Root) {
        if self.all.is_empty() {
            self.take_in(root, false);
        }
        self.due = None;
    }

    /// Processes that are part of what is measured, though not of the command: their work is not outside, and whom they talk to does not count.
    pub fn leave_out(&mut self, pids: &[u32]) {
        self.members.extend(pids);
    }

    /// Follows the sockets of the processes in its group.
    pub fn look(&mut self, root: &Root, members: &[u32]) {
        let begun = Instant::now();
        if self.due.is_some_and(|due| begun < due) {
            return;
        }
        self.members.extend(members);
        let mut wanted = BTreeSet::new();
        for pid in members {
            let new: BTreeSet<u64> = sockets::held(root, *pid).difference(&self.resolved).copied().collect();
            if new.is_empty() {
                continue;
            }
            for other in sockets::others(root, *pid, &new) {
                match other {
                    Other::Inode(inode) => drop(wanted.insert(inode)),
                    Other::Elsewhere(address) => drop(self.elsewhere.insert(address)),
                }
            }
        }
        if !wanted.is_empty() {
            let but: BTreeSet<u32> = self.members.iter().copied().chain([std::process::id()]).collect();
            for pid in sockets::holders(root, &wanted, &but).into_keys() {
                let Ok(work) = process::work(root, pid) else { continue };
                self.peers.insert((pid, work.started));
            }
        }
        if !self.peers.is_empty() {
            self.take_in(root, true);
        }
        self.due = Some(Instant::now() + begun.elapsed() * COST);
    }

    /// The command has ended.
    pub fn end(&mut self, root: &Root) {
        if !self.peers.is_empty() {
            self.take_in(root, true);
        }
    }

    fn take_in(&mut self, root: &Root, new: bool) {
        let works = sockets::pids(root).filter_map(|pid| process::work(root, pid).ok());
        self.add(works.collect(), new);
    }

    fn add(&mut self, works: Vec<Work>, new: bool) {
        self.all.values_mut().for_each(|seen| seen.ended = true);
        for work in works {
            let id = (work.pid, work.started);
            let most = work.rss;
            let seen = self.all.entry(id).or_insert_with(|| ProcessUse {
                first: work.clone(),
                last: work.clone(),
                most,
                new,
                ended: false,
            });
            (seen.ended, seen.most, seen.last) = (false, seen.most.max(most), work);
        }
    }

    /// The service that used most, where its part of the work is larger than `margin` (0.1 is 10 %) of the command's time: then a limit
    /// on the command alone says nothing of the whole. `own` is what the command used itself, `peak` the memory of its group.
    #[must_use]
    pub fn service(&self, root: &Root, own: Nanos, peak: Bytes, margin: f64) -> Option<Service> {
        let tops: BTreeSet<Id> = self.peers.iter().filter_map(|peer| self.top(*peer)).collect();
        let services = tops.into_iter().filter_map(|top| self.sum(top));
        let matters = |service: &Service| {
            let cpu = service.cpu.as_secs_f64();
            service.grown > peak || service.cpu >= LEAST && cpu > (cpu + own.as_secs_f64()) * (margin / (1.0 + margin))
        };
        let most = services.filter(matters).max_by_key(|service| (service.cpu, service.grown))?;
        let group = Hierarchy::detect(root).and_then(|found| found.group_of(root, most.pid));
        Some(Service { group: group.unwrap_or_default(), ..most })
    }

    /// The highest ancestor of the same program that is not of the command.
    fn top(&self, id: Id) -> Option<Id> {
        let mut at = self.all.get(&id)?;
        while let Some(parent) = self.parent(at) {
            let same = parent.first.image.is_some() && parent.first.image == at.first.image;
            if !same || self.members.contains(&parent.last.pid) {
                break;
            }
            at = parent;
        }
        Some((at.last.pid, at.last.started))
    }

    /// The process that had this number when the child was looked at, and started before it.
    fn parent(&self, child: &ProcessUse) -> Option<&ProcessUse> {
        let (pid, started) = (child.first.parent, child.first.started);
        self.all
            .range((pid, 0)..=(pid, started))
            .next_back()
            .map(|(_, seen)| seen)
            .filter(|seen| seen.last.pid != child.last.pid)
    }

    fn is_below(&self, seen: &ProcessUse, top: Id) -> bool {
        let mut at = Some(seen);
        while let Some(here) = at {
            if (here.last.pid, here.last.started) == top {
                return true;
            }
            at = self.parent(here);
        }
        false
    }

    fn sum(&self, top: Id) -> Option<Service> {
        let (mut own, mut waited, mut gone, mut gone_before, mut grown) = (0u64, 0u64, 0u64, 0u64, 0u64);
        for seen in self.all.values().filter(|seen| !self.members.contains(&seen.last.pid) && self.is_below(seen, top))
        {
            let before = if seen.new { 0 } else { seen.first.own.0 };
            let used = seen.last.own.0.saturating_sub(before);
            if seen.ended {
                gone = gone.saturating_add(used);
                gone_before = gone_before.saturating_add(before);
            } else {
                own = own.saturating_add(used);
            }
            let waited_before = if seen.new { 0 } else { seen.first.waited.0 };
            waited = waited.saturating_add(seen.last.waited.0.saturating_sub(waited_before));
            let rss_before = if seen.new { 0 } else { seen.first.rss.0 };
            grown = grown.saturating_add(seen.most.0.saturating_sub(rss_before));
        }
        // Children that have ended are in what their parent waited for, with all of their life, and some were seen before they ended.
        let ended = waited.saturating_sub(gone_before).max(gone);
        let highest = self.all.get(&top)?;
        Some(Service {
            name: highest.last.name.clone(),
            pid: top.0,
            group: String::new(),
            cpu: Nanos(own.saturating_add(ended)),
            grown: Bytes(grown),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn work(pid: u32, parent: u32, name: &str, own_ms: u64, waited_ms: u64, mib: u64) -> Work {
        let (own, waited) = (Nanos(own_ms * MS), Nanos(waited_ms * MS));
        // All of one name were forked from each other.
        let image = Some((name.bytes().map(u64::from).sum(), 7));
        Work {
            pid,
            parent,
            started: u64::from(pid),
            name: name.to_owned(),
            own,
            waited,
            rss: Bytes::from_mib(mib),
            image,
        }
    }

    fn followed(before: Vec<Work>, during: Vec<Work>, after: Vec<Work>, peers: &[u32]) -> Outside {
        let mut outside = Outside { members: [900].into(), ..Outside::default() };
        outside.add(before, false);
        outside.add(during, true);
        outside.peers = peers.iter().map(|pid| (*pid, u64::from(*pid))).collect();
        outside.add(after, true);
        outside
    }

    fn most(outside: &Outside, own_ms: u64, margin: f64) -> Option<(u32, u64)> {
        let tree = tempfile::tempdir().unwrap();
        let found = outside.service(&Root::new(tree.path()), Nanos(own_ms * MS), Bytes::from_mib(1000), margin)?;
        Some((found.pid, found.cpu.0 / MS))
    }

    #[test]
    fn a_server_that_forks_for_each_connection_is_one_service() {
        let server = |waited| work(10, 1, "postgres", 500, waited, 20);
        let others = [work(1, 0, "init", 0, 0, 1), work(11, 10, "postgres", 100, 0, 5), work(50, 1, "cc1", 0, 0, 9)];
        let before = [&others[..], &[server(0)]].concat();
        let backend = work(12, 10, "postgres", 900, 0, 5);
        let during = [&others[..], &[server(0), backend]].concat();
        // The backend ended with its connection: its parent waited for it, 1,000 ms in all.
        let after = [
            work(1, 0, "init", 0, 0, 1),
            work(11, 10, "postgres", 150, 0, 5),
            work(50, 1, "cc1", 9_000, 0, 9),
            server(1_000),
        ];
        let outside = followed(before, during, after.to_vec(), &[12]);
        assert_eq!(
            most(&outside, 400, 0.1),
            Some((10, 1_050)),
            "the writer's 50 ms and the backend's 1,000; no compiler"
        );
    }

    #[test]
    fn a_script_that_started_a_server_of_its_own_language_is_not_the_server() {
        let script = work(40, 1, "python3", 0, 0, 9);
        let server = |own| Work { image: Some((1, 2)), ..work(41, 40, "python3", own, 0, 9) };
        let outside = followed(
            vec![script.clone(), server(0)],
            vec![script.clone(), server(0)],
            vec![script, server(500)],
            &[41],
        );
        assert_eq!(most(&outside, 10, 0.1), Some((41, 500)));
    }

    #[test]
    fn a_peer_that_did_next_to_nothing_is_no_server_of_the_command() {
        let init = work(1, 0, "init", 0, 0, 1);
        let name_server = |own| vec![init.clone(), work(20, 1, "nscd", own, 0, 2)];
        let outside = followed(name_server(100), name_server(110), name_server(130), &[20]);
        assert_eq!(most(&outside, 1_000, 0.1), None, "3 % of the work");
        assert_eq!(most(&outside, 100, 0.1), Some((20, 30)), "23 % of it");
        assert_eq!(most(&outside, 100, 1.0), None, "where twice the time is well, half of the work may be outside");
        let idle = followed(name_server(100), name_server(100), name_server(110), &[20]);
        assert_eq!(most(&idle, 0, 0.1), None, "less than the clock can tell");
    }

    #[test]
    fn a_server_that_grows_by_more_than_the_command_has_is_one() {
        let server = |mib| vec![work(30, 1, "redis-server", 10, 0, mib)];
        let outside = followed(server(10), server(2_000), server(10), &[30]);
        assert_eq!(most(&outside, 5_000, 0.1), Some((30, 0)));
    }

    #[test]
    fn the_command_and_what_it_started_itself_are_not_outside() {
        let own = vec![work(900, 1, "make", 0, 0, 1), work(901, 900, "make", 5_000, 0, 1)];
        let outside = followed(own.clone(), own.clone(), own, &[]);
        assert_eq!(most(&outside, 10, 0.1), None);
    }
}
