//! The experiment drop: what `drop_caches` takes and what it leaves, to the page, and that nothing of it is made of nothing.
//!
//! A holder in a memory group keeps five kinds of pages of our own: clean, dirty, mlocked, mapped, tmpfs. They are counted
//! before and after; then the dirty file is written and dropped again; then the limit of the group is brought down, which
//! shows that mapped pages can be reclaimed though a drop leaves them. What it is not: harmless to timings: the caches of the
//! whole machine are dropped, twice a run, so it asks first.

mod holder;
mod look;
mod steps;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use ramline_evidence::{Arm, DropKind, DropRun, DropStage, RunRecord, Verdict};
use ramline_kernel::cgroup::Group;
use ramline_kernel::drop_caches::{self, Level};
use ramline_kernel::{Root, process};
use ramline_units::{Bytes, Limit, Nanos};

use self::holder::HoldTask;
pub use self::holder::hold;
use self::look::Looker;
use self::steps::{all_there, dropped, figures, press, taken_by_others};
use crate::experiment::{Bench, Experiment, Series};
use crate::params::{Kind, Params, row};
use ramline_sandbox::child::{self, Event, Reach, Supervisor};
use ramline_sandbox::error::{LabError, Result};
use ramline_sandbox::own_fs::{OwnFs, image_size};
use ramline_sandbox::requirements::{Caller, Reason, Requirements, Resources, Tool, scratch_line};
use ramline_sandbox::{group, observe, scratch};

/// Its name on the command line and in records.
pub const NAME: &str = "drop";

/// ext4 makes an inode for each so many bytes of a small file system.
const PER_INODE: u64 = 20 << 10;
/// How long the holder may take to bring its pages in.
const PATIENCE: Duration = Duration::from_secs(30);

/// The row of the table.
pub const EXPERIMENT: Experiment = Experiment {
    name: NAME,
    question: "What does dropping caches take, what does it leave, and does it make any memory?",
    how: "A program in a memory cgroup holds five files of its own: one read once, one written but not yet on the disk, one mapped \
          and locked, one mapped, one in tmpfs. Their pages are counted, /proc/sys/vm/drop_caches is written, they are counted \
          again. Then the dirty file is written to the disk and caches are dropped once more; then the group's limit is lowered. \
          The columns of free and the slab caches of the machine are written down each time.",
    needs: "root, a memory cgroup (version 1 or 2), mke2fs, a disk with twice the files free; consent, since it drops the caches of \
            the whole machine: there is no way to drop those of a group alone. In a virtual machine no program of the host is slowed",
    docs: "docs/experiments/drop.md",
    page: include_str!("../../../../../docs/experiments/drop.md"),
    parameters: &[
        row("levels", Kind::List, Some("1,2,3"), "What is written, one setting each: 1 pages, 2 slab objects, 3 both"),
        row("size", Kind::Size, Some("16MiB"), "Size of each of the five files"),
        row("files", Kind::Count(0, 100_000), Some("5000"), "Empty files that are looked at, for the slab caches"),
        row("runs", Kind::Count(1, 100), Some("1"), "Runs of each level, in alternating order; each drops twice"),
    ],
    figures: &["clean kept", "mapped kept", "free gained"],
    open,
};

struct Plan {
    arms: Vec<(Arm, Level)>,
    size: Bytes,
    files: u64,
    runs: u32,
    found: Resources,
    global: Vec<String>,
}

fn open(root: &Root, params: &Params) -> Result<Box<dyn Series>> {
    let size = params.size("size").unwrap_or(Bytes::from_mib(16));
    let files = params.count("files").unwrap_or(5000);
    let levels = levels(params.list("levels"))?;
    let most = Bytes::from_gib(4);
    if size < Bytes::from_mib(4) || size > most || !size.0.is_multiple_of(1 << 20) {
        let text = format!("files of {size} are not a whole number of MiB from 4 MiB to {most}");
        return Err(LabError::usage(text, format!("ramline lab run {NAME} --size 16MiB")));
    }
    let (command, dir) = (format!("ramline lab run {NAME}"), params.path("dir"));
    let needed = Requirements {
        caller: Caller { command: &command, smaller: "--size 4MiB --files 0", ..Caller::default() },
        root_for: "a memory cgroup, a loop device and a mount need root",
        group: true,
        memory: Bytes(size.0.saturating_mul(5)) + Bytes::from_mib(16),
        tools: Tool::OWN_FS,
        scratch: image(size, files),
        dir: dir.as_deref(),
        // Nothing of it is a timing, except that of the drop itself.
        allow_busy: true,
        ..Requirements::default()
    };
    let knob = drop_caches::knob(root);
    let hidden = || {
        let text = format!("{} is not there: a container may hide it", knob.display());
        Reason::new(text, "ls -l /proc/sys/vm/drop_caches")
    };
    let found = needed.check(root, if knob.exists() { Vec::new() } else { vec![hidden()] })?;
    let runs = params.count("runs").and_then(|n| u32::try_from(n).ok()).unwrap_or(1);
    let arms: Vec<(Arm, Level)> = levels
        .into_iter()
        .map(|level| {
            let number = level.number().to_string();
            (Arm::named(&format!("level {number}"), &[("drop_caches", &number)]), level)
        })
        .collect();
    let global = global(root, &arms, runs);
    let arms_only = arms.iter().map(|(arm, _)| arm.clone()).collect();
    Ok(Box::new(DropCaches { plan: Plan { arms, size, files, runs, found, global }, arms: arms_only, files: None }))
}

fn levels(given: &[String]) -> Result<Vec<Level>> {
    let mut out = Vec::new();
    for text in given {
        let level = text.parse().ok().and_then(Level::of).filter(|level| !out.contains(level));
        let bad = || {
            let text = format!("'{}' is not one of the levels 1, 2 and 3, each once", text.escape_debug());
            LabError::usage(text, format!("ramline lab run {NAME} --levels 1,3"))
        };
        out.push(level.ok_or_else(bad)?);
    }
    if out.is_empty() {
        return Err(LabError::usage("there is no level to drop", format!("ramline lab run {NAME} --levels 1")));
    }
    Ok(out)
}

fn image(size: Bytes, files: u64) -> Bytes {
    image_size(Bytes(size.0.saturating_mul(4))).max(Bytes(files.saturating_mul(PER_INODE)))
}

/// How much would go, at most: what is mapped and dirty stays, and some of the rest may be in use.
fn global(root: &Root, arms: &[(Arm, Level)], runs: u32) -> Vec<String> {
    let seen = observe::free_gauges(root);
    let drops = |wanted: &[Level]| arms.iter().any(|(_, level)| wanted.contains(level));
    let mut out = Vec::new();
    if drops(&[Level::Pages, Level::Both]) {
        let most = (seen.buffers + seen.cached).saturating_sub(seen.shmem);
        out.push(format!("the page cache of the whole machine: at most {most} would go and be read from disks again"));
    }
    if drops(&[Level::Objects, Level::Both]) {
        out.push(format!(
            "the slab caches of the whole machine: at most {} would go and be made again",
            seen.reclaimable
        ));
    }
    let times = u64::from(runs).saturating_mul(2).saturating_mul(u64::try_from(arms.len()).unwrap_or(u64::MAX));
    out.push(format!(
        "this is done {times} times; nothing is lost, programs are slower for a while; inside a virtual machine nobody else is"
    ));
    out
}

struct Files {
    fs: OwnFs,
    /// Clean, mlocked, mapped.
    read: [PathBuf; 3],
    many: PathBuf,
    tmpfs: PathBuf,
}

struct DropCaches {
    plan: Plan,
    arms: Vec<Arm>,
    files: Option<Files>,
}

impl Series for DropCaches {
    fn arms(&self) -> &[Arm] {
        &self.arms
    }

    fn runs(&self) -> u32 {
        self.plan.runs
    }

    fn lines(&self) -> Vec<String> {
        let Plan { arms, size, files, runs, found, global } = &self.plan;
        let mut lines = vec![
            format!(
                "{} levels, {runs} times each; five files of {size} of our own, and {files} empty ones",
                arms.len()
            ),
            scratch_line(&format!(": {}", image(*size, *files)), &found.place),
        ];
        lines.extend(global.iter().map(|what| format!("outside the sandbox: {what}")));
        lines
    }

    fn global(&self) -> Vec<String> {
        self.plan.global.clone()
    }

    fn longest_run(&self) -> Duration {
        Duration::from_secs(60)
    }

    fn prepare(&mut self, bench: &mut Bench<'_>) -> Result<()> {
        let Plan { size, files, found, .. } = &self.plan;
        bench.progress.step(&format!("writing files below {}", found.place.dir.display()));
        let fs = OwnFs::create(&found.place.dir, image(*size, *files), Bytes::from_kib(128), bench.run)?;
        let read = [fs.file("clean", *size)?, fs.file("mlocked", *size)?, fs.file("mapped", *size)?];
        let many = fs.at().join("many");
        std::fs::create_dir(&many).map_err(|error| LabError::file("make", &many, error))?;
        for number in 0..*files {
            if number.is_multiple_of(1000) {
                bench.run.check_interrupted()?;
            }
            let path = many.join(format!("empty-{number:06}"));
            std::fs::File::create_new(&path).map_err(|error| LabError::file("make", &path, error))?;
        }
        // A dirty inode cannot be dropped, and what is dirty of all this must not be what is counted later.
        process::sync_file_system(fs.at())?;
        let tmpfs = bench.run.make_dir(&fs.dir().join("tmpfs"))?;
        self.files = Some(Files { fs, read, many, tmpfs });
        Ok(())
    }

    fn once(&mut self, arm: &Arm, record: &mut RunRecord, bench: &mut Bench<'_>) -> Result<()> {
        let files = self.files.as_ref().ok_or_else(|| LabError::Workload("the files are not there".to_owned()))?;
        let level = self.plan.arms.iter().find(|(other, _)| other.name == arm.name).map(|(_, level)| *level);
        let level = level.ok_or_else(|| LabError::usage("there is no such level", "ramline lab list"))?;
        self.plan.found.describe(record);
        files.read.iter().try_for_each(|path| scratch::evict(path))?;
        let dirty = files.fs.at().join("dirty");
        match std::fs::remove_file(&dirty) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(LabError::file("remove", &dirty, error));
            }
            _ => {}
        }
        bench.run.mount_tmpfs(&files.tmpfs, self.plan.size + Bytes::from_mib(1))?;
        let group = self.group(record, bench)?;
        let [clean, mlocked, mapped] = files.read.clone();
        let task = HoldTask {
            clean,
            dirty,
            mlocked,
            mapped,
            tmpfs: files.tmpfs.join("file"),
            many: files.many.clone(),
            size: self.plan.size,
        };
        self.follow(level, &group, &task, record, bench)
    }
}

impl DropCaches {
    /// A group that cannot swap: pages of tmpfs have nowhere to go.
    fn group(&self, record: &mut RunRecord, bench: &mut Bench<'_>) -> Result<Group> {
        let group = self.plan.found.make_group(record.order, bench.run)?;
        let roomy = Bytes(self.plan.size.0.saturating_mul(8)) + Bytes::from_mib(64);
        let mut changes = group.set_memory_limit(Limit::At(roomy))?;
        changes.extend(group::forbid_swap(bench.root, &group)?);
        record.verified.extend(group::verified(changes));
        record.before = observe::counters(bench.root, &group.stat()?);
        Ok(group)
    }

    fn follow(
        &self,
        level: Level,
        group: &Group,
        task: &HoldTask,
        record: &mut RunRecord,
        bench: &mut Bench<'_>,
    ) -> Result<()> {
        let begin = Instant::now();
        let mut holder: Supervisor<()> =
            Supervisor::start(&mut child::command(NAME, task)?, Some(group), bench.run)?.reaching(Reach::Group);
        bench.progress.phase("bringing five kinds of pages in");
        loop {
            match holder.next_event()? {
                Event::Waiting(()) => break,
                Event::Tick if begin.elapsed() > PATIENCE => {
                    let why = format!("the pages were not there within {} s", PATIENCE.as_secs());
                    holder.stop(Verdict::Thrashing(why))?;
                }
                Event::Ended(end) => {
                    record.verdict = end.verdict(None, "the group was out of memory");
                    return Ok(());
                }
                Event::Tick | Event::Report(()) => {}
            }
        }
        holder.must_be_in(group)?;
        record.fill = Nanos(u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX));
        let looker = Looker::new(bench.root, group, task);
        let pages = self.plan.size.0 / process::page_size();
        let mut run = DropRun { level: level.number(), pages, ..DropRun::default() };
        run.looks.push(looker.look(DropStage::Before, None)?);
        all_there(&run, record);
        bench.progress.phase("dropping");
        let mut took = dropped(bench.root, level)?;
        run.looks.push(looker.look(DropStage::Dropped, Some(took))?);
        if run.cached(DropKind::Dirty, DropStage::Dropped) < Some(pages) {
            let why =
                "dirty pages went with the drop: somebody had them written meanwhile, as a sync of the machine does";
            record.notes.push(why.to_owned());
        }
        record.notes.extend(taken_by_others(bench.root, level, &run));
        bench.progress.phase("writing dirty pages, and dropping again");
        looker.write_dirty()?;
        took = dropped(bench.root, level)?;
        run.looks.push(looker.look(DropStage::Written, Some(took))?);
        bench.run.check_interrupted()?;
        bench.progress.phase("pressing with the group's limit");
        press(group, &looker, record)?;
        let alive = group.pids()?.contains(&holder.pid());
        run.looks.push(looker.look(DropStage::Pressed, None)?);
        record.after = observe::counters(bench.root, &group.stat()?);
        holder.resume();
        holder.wait()?;
        if !run.agreed() {
            record.notes.push("cachestat and mincore did not count the same pages; both are in the record".to_owned());
        }
        record.verdict = if alive {
            Verdict::Completed
        } else {
            Verdict::Killed("the kernel, when the limit of the group pressed".to_owned())
        };
        record.figures = figures(&run);
        record.detail = serde_json::to_value(&run).ok();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_1_2_and_3_each_once() {
        let of = |texts: &[&str]| levels(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&["3", "1"]).unwrap(), [Level::Both, Level::Pages]);
        for bad in [&["4"][..], &["1", "1"], &["x"], &[]] {
            assert!(of(bad).unwrap_err().to_string().contains("ramline lab run drop --levels 1"), "{bad:?}");
        }
    }

    #[test]
    fn the_image_has_room_for_the_files_and_for_the_inodes() {
        let size = Bytes::from_mib(16);
        assert!(image(size, 0) > Bytes::from_mib(64));
        assert!(image(size, 50_000) >= Bytes(50_000 * PER_INODE));
    }
}
