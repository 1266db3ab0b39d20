//! Walks of page tables within a budget.
//!
//! Each walk holds the process's mmap lock while it lasts: a process that wants to map or unmap memory waits for it.
//! Hence the budget, the order (see `plan`), and no unrequested walk of a huge process.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ramline_snapshot::processes::Walked;

use super::one::walk;
use super::plan::{Plan, by_kin};
use crate::prelude::*;
use crate::proc_dir::{NotRead, PidDir};

/// Threads that walk within a budget, which is of time added up over them.
const THREADS: usize = 2;
/// Threads that walk without one, at most.
pub const DEEP_THREADS: usize = 8;
/// Of a group of likely forks, so many are walked when there is no budget.
const OF_ALIKE: usize = 8;

/// Walks the processes whose page tables can change the answer, for at most `budget` of time added up over threads.
pub fn within(root: &Root, all: &mut Processes, budget: Nanos) {
    let plan = Mutex::new(Plan::new(all, budget));
    let shared = &plan;
    let results = walk_each(root, all, THREADS, || {
        let next = lock(shared).next()?;
        Some((next.process, move |walked: Option<&Walked>, cost| lock(shared).done(next, walked, cost)))
    });
    let (left_out, too_large) = lock(&plan).open();
    drop(plan);
    put(all, results);
    (all.walks.left_out, all.walks.too_large) = (left_out, too_large);
    all.walks.budget = Some(budget);
}

/// Walks every process that is not one of many alike, however large; of many alike so many that their spread shows.
pub fn deep(root: &Root, all: &mut Processes) {
    let chosen = chosen(all);
    let next = AtomicUsize::new(0);
    let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let results = walk_each(root, all, cpus.min(DEEP_THREADS), || {
        let at = chosen.get(next.fetch_add(1, Ordering::Relaxed))?;
        Some((*at, |_: Option<&Walked>, _| {}))
    });
    put(all, results);
}

/// All processes with memory, the largest first; of a group of more than [`OF_ALIKE`] likely forks, so many, evenly by size.
fn chosen(all: &Processes) -> Vec<usize> {
    let mut chosen = Vec::new();
    for mut members in by_kin(all) {
        ramline_units::sort_by_key(&mut members, |at| all.list[*at].rss());
        let take = members.len().min(OF_ALIKE);
        chosen.extend((0..take).map(|i| members[i * (members.len() - 1) / (take - 1).max(1)]));
    }
    ramline_units::sort_by_key(&mut chosen, |at| std::cmp::Reverse(all.list[*at].rss()));
    chosen
}

type Walks = Vec<(usize, Result<Walked, NotRead>)>;

/// Walks what `next` names, on so many threads, and gives it the result.
fn walk_each<F>(root: &Root, all: &Processes, threads: usize, next: impl Fn() -> Option<(usize, F)> + Sync) -> Walks
where
    F: FnOnce(Option<&Walked>, Nanos),
{
    let Ok(proc) = ProcDir::open(root) else { return Vec::new() };
    let results: Mutex<Walks> = Mutex::default();
    let work = || {
        let mut buffer = vec![0; 16 << 10];
        while let Some((at, done)) = next() {
            let start = Instant::now();
            let walked = one(&proc, &all.list[at], &mut buffer);
            let cost = start.elapsed().into();
            let walked = walked.map(|walked| Walked { cost, ..walked });
            done(walked.as_ref().ok(), cost);
            lock(&results).push((at, walked));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            // Where there are no more threads to be had, those that are do the work.
            drop(ramline_kernel::worker::beside(scope, "page-tables", work));
        }
        work();
    });
    results.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn put(all: &mut Processes, results: Walks) {
    for (at, walked) in results {
        match walked {
            Ok(walked) => {
                all.walks.done += 1;
                all.walks.cost.0 += walked.cost.0;
                all.list[at].walked = Some(walked);
            }
            Err(NotRead::Denied) => all.walks.denied += 1,
            Err(_) => {}
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Walks a process if it is still the one that was listed: an id may have been used again since.
fn one(proc: &ProcDir, listed: &Process, buffer: &mut Vec<u8>) -> Result<Walked, NotRead> {
    let dir: PidDir = proc.process(listed.pid)?;
    let mut now = Process::default();
    now.stat(dir.read("stat", buffer)?).map_err(|_| NotRead::Unusable)?;
    if now.started_ticks != listed.started_ticks {
        return Err(NotRead::Vanished);
    }
    walk(&dir, buffer)?.ok_or(NotRead::Vanished)
}

#[cfg(test)]
mod tests {
    use ramline_units::Bytes;

    use super::*;

    #[test]
    fn of_many_alike_eight_are_walked_among_them_the_smallest_and_the_largest_and_everything_else() {
        let process = |pid: u32, exe, kib| Process {
            pid,
            exe: Some(exe),
            rss_anon: Some(Bytes::from_kib(kib)),
            ..Process::default()
        };
        let mut list: Vec<Process> = (1..=100).map(|pid| process(pid, 0, 50_000 + u64::from(pid))).collect();
        list.extend((101..=103).map(|pid| process(pid, 1, 9_000)));
        list.push(Process { rss_anon: None, ..process(104, 2, 0) });
        let chosen = chosen(&Processes { list, ..Processes::default() });
        assert_eq!(chosen.len(), 11);
        assert!(chosen.contains(&0) && chosen.contains(&99) && chosen.contains(&102));
        assert_eq!(chosen[0], 99);
    }
}
