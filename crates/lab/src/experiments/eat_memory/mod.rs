//! The experiment eat-memory: memory is taken step by step until the limit, the kill or a given amount, and everything `free`
//! says is written down at each step.
//!
//! It answers how much a program can get although `free` says little, what is taken first (clean cache), and at which amount and
//! which swappiness the kernel begins to swap instead. The group plays the machine: its limit is the total. What it is not: a
//! danger to the machine: the group has a hard limit or the child a small end, it is the first to be killed, and the watchdog
//! looks every 100 ms.

mod allocate;
mod arms;
mod plan;
mod watch;

use self::allocate::AllocateTask;
pub use self::arms::NAME;
use self::plan::EatPlan;
use crate::prelude::*;

/// Size of each of the files that are read.
const FILE: Bytes = Bytes::from_mib(8);

/// The row of the table.
pub const EXPERIMENT: Experiment = Experiment {
    name: NAME,
    question: "How much memory can a program get although free says little, and what is taken first: cache or idle data?",
    how: "A program in a memory cgroup takes memory in steps of 1 MiB and writes to it, until the kernel kills it at the limit or \
          until --eat is reached. Before that it may have read files (their pages fill the cache), and written data that is not \
          looked at again. At each step everything stands still while the columns of free are written down, of the group as a small machine \
          and of the host.",
    needs: "root, a memory cgroup (version 1 or 2), mke2fs, a disk with about twice the files and swap free, the limit and a margin in memory",
    reading: include_str!(concat!(env!("OUT_DIR"), "/reading/eat-memory.md")),
    parameters: &[
        row("limit", Kind::Size, Some("256MiB"), "Limit of the group, the total of the small machine"),
        row(
            "arms",
            Kind::List,
            Some("no-swap,cache+no-swap"),
            "Settings, comma-separated, each of parts joined by +: no-swap, swap:S (S is the swappiness), as-configured; cache (files read before), idle (data written before), no-limit",
        ),
        params::size("eat", "Stop after so much and read the files again; left out: until the kill"),
        row("step", Kind::Size, Some("1MiB"), "One step"),
        params::size("cache", "Size of the files (7/8 of the limit)"),
        row("reads", Kind::Count(1, 3), Some("1"), "How often the files are read; what is read twice counts as in use"),
        params::size("idle", "Data that is not looked at again, in settings with idle (a quarter of the limit)"),
        row(
            "fill",
            Kind::Word(&["zeros", "text", "random"]),
            Some("zeros"),
            "Contents of what is eaten and of idle data",
        ),
        row("read-ahead", Kind::Size, Some("128KiB"), "Read-ahead of the scratch device"),
        row("runs", Kind::Count(1, 100), Some("7"), "Runs of each setting, in alternating order"),
        row("timeout", Kind::Time, Some("60s"), "When a run is given up"),
    ],
    figures: &["obtained", "free said"],
    child: Some(allocate::allocate),
    study: Study::Eaten,
    forecast: None,
    open,
};

fn open(root: &Root, params: &Params) -> Result<PlannedSeries> {
    let plan = EatPlan::from_params(root, params)?;
    let EatPlan { values, timeout, found, .. } = &plan;
    let (arms, runs) = (values.arms.clone(), params.runs());
    let until = values.eat.map_or_else(|| "until it is killed".to_owned(), |eat| format!("up to {eat}"));
    let sentences = vec![
        format!("{}; each at most {} s", counted(arms.len(), "settings", runs), timeout.as_secs()),
        format!(
            "a program in a memory cgroup limited to {} eats {} at a time {until}; no other process is killed",
            values.limit, values.step
        ),
        scratch_line(&format!(": {} of files", values.tree()), &found.place),
    ];
    let area = || format!("a swap file of {} with priority {PRIORITY} per run", values.swap_size());
    let mut global = consent::swap_areas(root, values.swaps().then(area).into_iter().collect());
    if arms.iter().any(|arm| arm.swappiness.is_some()) {
        global.extend(consent::swappiness(found.version()));
    }
    let (doubts, longest_run) = (found.doubts.clone(), timeout.saturating_add(Duration::from_secs(10)));
    let work = Box::new(EatMemory { plan, files: None });
    Ok(PlannedSeries { arms, runs, sentences, global, doubts, longest_run, work })
}

struct Files {
    fs: OwnFs,
    paths: Vec<PathBuf>,
}

struct EatMemory {
    plan: EatPlan,
    files: Option<Files>,
}

impl Series for EatMemory {
    fn prepare(&mut self, bench: &mut Bench<'_>) -> Result<()> {
        let (place, tree) = (&self.plan.found.place.dir, self.plan.values.tree());
        bench.progress.step(&format!("writing {tree} of files below {}", place.display()));
        let fs = OwnFs::create(place, image_size(tree), self.plan.values.read_ahead, bench.run)?;
        let (mut paths, mut left) = (Vec::new(), tree);
        while left > Bytes::ZERO {
            bench.run.check_interrupted()?;
            let size = left.min(FILE);
            paths.push(fs.file(&format!("file-{:03}", paths.len()), size)?);
            left = left.saturating_sub(size);
        }
        self.files = Some(Files { fs, paths });
        Ok(())
    }

    fn once(&mut self, arm: &Arm, record: &mut RunRecord, bench: &mut Bench<'_>) -> Result<()> {
        let (plan, files) = (&self.plan, prepared(&self.files)?);
        plan.found.describe(record);
        record.notes.extend(plan.found.doubts.iter().map(|why| format!("the machine was not quiet: {why}")));
        files.paths.iter().try_for_each(|path| scratch::evict(path))?;
        record.verified.extend(files.fs.verified());
        record.verified.insert("files cached before".to_owned(), cached(&files.paths)?.to_string());
        // Swap first: the undo goes backwards and empties the group before the area is switched off.
        if arm.swap == SwapKind::File {
            let file = bench.run.make_swap_file(&files.fs.dir.join("swap"), plan.values.swap_size())?;
            bench.run.swap_on(&file, Some(PRIORITY))?;
        }
        let limit = plan.values.limit_of(arm);
        let group = bench.group(&plan.found, limit, arm.swap == SwapKind::None, record)?;
        if let Some(value) = arm.swappiness {
            let change = knobs::set(Knob::Swappiness, &value.to_string(), &group, bench.run)?;
            record.verified.extend(group::verified(vec![change]));
        }
        let task = AllocateTask {
            idle: if arms::has(arm, arms::IDLE) { plan.values.idle } else { Bytes::ZERO },
            files: if arms::has(arm, arms::CACHE) { files.paths.clone() } else { Vec::new() },
            look_every: plan.values.look_every(arm),
            ..plan.task.clone()
        };
        watch::follow(plan, arm, &group, &task, record, bench)?;
        record.verified.insert("files cached at the end".to_owned(), cached(&files.paths)?.to_string());
        Ok(())
    }
}

/// How much of these files is in the page cache.
fn cached(files: &[PathBuf]) -> Result<Bytes> {
    let pages: Vec<u64> = files.iter().map(|path| scratch::cached(path)).collect::<Result<_>>()?;
    Ok(Bytes(pages.iter().sum::<u64>().saturating_mul(ramline_kernel::process::page_size())))
}
