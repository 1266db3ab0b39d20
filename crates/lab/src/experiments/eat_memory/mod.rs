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

use std::path::PathBuf;
use std::time::Duration;

use ramline_evidence::{Arm, RunRecord, SwapKind};
use ramline_kernel::Root;
use ramline_kernel::cgroup::Group;
use ramline_model::settings::Knob;
use ramline_units::{Bytes, Limit};

use self::allocate::AllocateTask;
pub use self::allocate::allocate;
pub use self::arms::NAME;
use self::plan::Plan;
use crate::experiment::{Bench, Experiment, Series};
use crate::params::{Kind, Params, row};
use ramline_sandbox::error::{LabError, Result};
use ramline_sandbox::own_fs::{OwnFs, image_size};
use ramline_sandbox::requirements::PRIORITY;
use ramline_sandbox::{group, knobs, observe, scratch};

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
    docs: "docs/experiments/eat-memory.md",
    page: include_str!("../../../../../docs/experiments/eat-memory.md"),
    parameters: &[
        row("limit", Kind::Size, Some("256MiB"), "Limit of the group, the total of the small machine"),
        row(
            "arms",
            Kind::List,
            Some("no-swap,cache+no-swap"),
            "Settings, comma-separated, each of parts joined by +: no-swap, swap:S (S is the swappiness), as-configured; cache (files read before), idle (data written before), no-limit",
        ),
        row("eat", Kind::Size, None, "Stop after so much and read the files again; left out: until the kill"),
        row("step", Kind::Size, Some("1MiB"), "One step"),
        row("cache", Kind::Size, None, "Size of the files (7/8 of the limit)"),
        row("reads", Kind::Count(1, 3), Some("1"), "How often the files are read; what is read twice counts as in use"),
        row(
            "idle",
            Kind::Size,
            None,
            "Data that is not looked at again, in settings with idle (a quarter of the limit)",
        ),
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
    open,
};

fn open(root: &Root, params: &Params) -> Result<Box<dyn Series>> {
    Ok(Box::new(EatMemory { plan: Plan::of(root, params)?, files: None }))
}

struct Files {
    fs: OwnFs,
    paths: Vec<PathBuf>,
}

struct EatMemory {
    plan: Plan,
    files: Option<Files>,
}

impl Series for EatMemory {
    fn arms(&self) -> &[Arm] {
        &self.plan.arms
    }

    fn runs(&self) -> u32 {
        self.plan.runs
    }

    fn lines(&self) -> Vec<String> {
        self.plan.lines()
    }

    fn global(&self) -> Vec<String> {
        self.plan.global()
    }

    fn longest_run(&self) -> Duration {
        self.plan.timeout.saturating_add(Duration::from_secs(10))
    }

    fn prepare(&mut self, bench: &mut Bench<'_>) -> Result<()> {
        let plan = &self.plan;
        bench.progress.step(&format!("writing {} of files below {}", plan.tree(), plan.found.place.dir.display()));
        let size = image_size(plan.tree());
        let fs = OwnFs::create(&plan.found.place.dir, size, plan.read_ahead, bench.run)?;
        let mut paths = Vec::new();
        let mut left = plan.tree();
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
        let files = self.files.as_ref().ok_or_else(|| LabError::Workload("the files are not there".to_owned()))?;
        let plan = &self.plan;
        plan.found.describe(record);
        record.notes.extend(plan.found.doubts.iter().map(|why| format!("the machine was not quiet: {why}")));
        files.paths.iter().try_for_each(|path| scratch::evict(path))?;
        record.verified.extend(files.fs.verified());
        record.verified.insert("files cached before".to_owned(), cached(&files.paths)?.to_string());
        let group = self.group(arm, files, record, bench)?;
        record.before = observe::counters(bench.root, &group.stat()?);
        let task = self.task(arm, files);
        watch::follow(plan, arm, &group, &task, record, bench)?;
        record.verified.insert("files cached at the end".to_owned(), cached(&files.paths)?.to_string());
        Ok(())
    }
}

impl EatMemory {
    /// The swap of the arm, then the group: the undo goes backwards and empties the group before the area is switched off.
    fn group(&self, arm: &Arm, files: &Files, record: &mut RunRecord, bench: &mut Bench<'_>) -> Result<Group> {
        let plan = &self.plan;
        if arm.swap == SwapKind::File {
            let file = bench.run.make_swap_file(&files.fs.dir().join("swap"), plan.swap_size())?;
            bench.run.swap_on(&file, Some(PRIORITY))?;
        }
        let group = plan.found.make_group(record.order, bench.run)?;
        let mut changes = Vec::new();
        if let Some(limit) = plan.limit_of(arm) {
            changes.extend(group.set_memory_limit(Limit::At(limit))?);
        }
        if arm.swap == SwapKind::None {
            changes.extend(group::forbid_swap(bench.root, &group)?);
        }
        if let Some(value) = arm.swappiness {
            changes.push(knobs::set(Knob::Swappiness, &value.to_string(), &group, bench.run)?);
        }
        record.verified.extend(group::verified(changes));
        Ok(group)
    }

    fn task(&self, arm: &Arm, files: &Files) -> AllocateTask {
        let plan = &self.plan;
        AllocateTask {
            idle: if arms::has(arm, arms::IDLE) { plan.idle } else { Bytes::ZERO },
            files: if arms::has(arm, arms::CACHE) { files.paths.clone() } else { Vec::new() },
            reads: plan.reads,
            step: plan.step,
            most: plan.eat,
            look_every: plan.look_every(arm),
            fill: plan.fill,
            seed: plan.seed,
        }
    }
}

/// How much of these files is in the page cache.
fn cached(files: &[PathBuf]) -> Result<Bytes> {
    let pages: Vec<u64> = files.iter().map(|path| scratch::cached(path)).collect::<Result<_>>()?;
    Ok(Bytes(pages.iter().sum::<u64>().saturating_mul(ramline_kernel::process::page_size())))
}
