//! The experiment drop: what `drop_caches` takes and what it leaves, to the page, and that nothing of it is made of nothing.
//!
//! A holder in a memory group keeps five kinds of pages of our own: clean, dirty, mlocked, mapped, tmpfs. They are counted
//! before and after; then the dirty file is written and dropped again; then the limit of the group is brought down, which
//! shows that mapped pages can be reclaimed though a drop leaves them. What it is not: harmless to timings: the caches of the
//! whole machine are dropped, twice a run, so it asks first.

mod holder;
mod steps;

use ramline_evidence::{DropKind, DropRun, DropStage};
use ramline_kernel::drop_caches::{self, Level};

use self::holder::HoldTask;
use self::steps::{Looker, all_there, dropped, figures, press, taken_by_others};
use crate::fileops::loops;
use crate::prelude::*;

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
    reading: include_str!(concat!(env!("OUT_DIR"), "/reading/drop.md")),
    parameters: &[
        row("levels", Kind::List, Some("1,2,3"), "What is written, one setting each: 1 pages, 2 slab objects, 3 both"),
        row("size", Kind::Size, Some("16MiB"), "Size of each of the five files"),
        row("files", Kind::Count(0, 100_000), Some("5000"), "Empty files that are looked at, for the slab caches"),
        row("runs", Kind::Count(1, 100), Some("1"), "Runs of each level, in alternating order; each drops twice"),
    ],
    figures: &["clean kept", "mapped kept", "free gained"],
    child: Some(holder::hold),
    study: Study::Dropped,
    forecast: None,
    open,
};

fn open(root: &Root, params: &Params) -> Result<PlannedSeries> {
    let (size, files) = (params.size("size").unwrap_or_default(), params.count("files").unwrap_or_default());
    let levels = levels(params.list("levels"))?;
    let most = Bytes::from_gib(4);
    let fits = (Bytes::from_mib(4)..=most).contains(&size) && size.0.is_multiple_of(1 << 20);
    let text = format!("files of {size} are not a whole number of MiB from 4 MiB to {most}");
    refuse_if(!fits, NAME, "--size 16MiB", text)?;
    let needed = Requirements {
        smaller: "--size 4MiB --files 0",
        root_for: "a memory cgroup, a loop device and a mount need root",
        group: true,
        memory: Bytes(size.0.saturating_mul(5)) + Bytes::from_mib(16),
        tools: Tool::OWN_FS,
        scratch: image(size, files),
        // Nothing of it is a timing, except that of the drop itself.
        allow_busy: true,
        ..params.requirements(NAME)
    };
    let knob = drop_caches::knob(root);
    let hidden = || {
        let text = format!("{} is not there: a container may hide it", knob.display());
        Reason::new(text, "ls -l /proc/sys/vm/drop_caches")
    };
    let found = needed.check(root, if knob.exists() { Vec::new() } else { vec![hidden()] })?;
    let (runs, longest_run) = (params.runs(), Duration::from_secs(60));
    let arm = |number: String| Arm::named(&format!("level {number}"), &[("drop_caches", &number)]);
    let arms: Vec<Arm> = levels.iter().map(|level| arm(level.number().to_string())).collect();
    let sentences = vec![
        format!("{} levels, {runs} times each; five files of {size} of our own, and {files} empty ones", arms.len()),
        scratch_line(&format!(": {}", image(size, files)), &found.place),
    ];
    let global = global(root, &levels, runs);
    let work = Box::new(DropCaches { size, files, found, made: None });
    Ok(PlannedSeries { arms, runs, sentences, global, doubts: Vec::new(), longest_run, work })
}

fn levels(given: &[String]) -> Result<Vec<Level>> {
    let mut out = Vec::new();
    for text in given {
        let level = text.parse().ok().and_then(Level::from_number).filter(|level| !out.contains(level));
        let wrong = || {
            let text = format!("'{}' is not one of the levels 1, 2 and 3, each once", text.escape_debug());
            LabError::usage(text, format!("ramline lab run {NAME} --levels 1,3"))
        };
        out.push(level.ok_or_else(wrong)?);
    }
    refuse_if(out.is_empty(), NAME, "--levels 1", "there is no level to drop")?;
    Ok(out)
}

fn image(size: Bytes, files: u64) -> Bytes {
    image_size(Bytes(size.0.saturating_mul(4))).max(Bytes(files.saturating_mul(PER_INODE)))
}

/// How much would go, at most: what is mapped and dirty stays, and some of the rest may be in use.
fn global(root: &Root, levels: &[Level], runs: u32) -> Vec<String> {
    let seen = observe::free_gauges(root);
    let drops = |wanted: &[Level]| levels.iter().any(|level| wanted.contains(level));
    let mut out = Vec::new();
    if drops(&[Level::Pages, Level::Both]) {
        let most = (seen.buffers + seen.cached).saturating_sub(seen.shmem);
        out.push(format!("the page cache of the whole machine: at most {most} would go and be read from disks again"));
    }
    if drops(&[Level::Objects, Level::Both]) {
        let most = seen.reclaimable;
        out.push(format!("the slab caches of the whole machine: at most {most} would go and be made again"));
    }
    let times = u64::from(runs).saturating_mul(2).saturating_mul(u64::try_from(levels.len()).unwrap_or(u64::MAX));
    out.push(format!(
        "this is done {times} times; nothing is lost, programs are slower for a while; inside a virtual machine nothing else is"
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
    size: Bytes,
    files: u64,
    found: Resources,
    made: Option<Files>,
}

impl Series for DropCaches {
    fn prepare(&mut self, bench: &mut Bench<'_>) -> Result<()> {
        let DropCaches { size, files, found, .. } = &*self;
        bench.progress.step(&format!("writing files below {}", found.place.dir.display()));
        let fs = OwnFs::create(&found.place.dir, image(*size, *files), Bytes::from_kib(128), bench.run)?;
        let read = [fs.file("clean", *size)?, fs.file("mlocked", *size)?, fs.file("mapped", *size)?];
        let many = fs.at.join("many");
        std::fs::create_dir(&many).map_err(|error| LabError::file("make", &many, error))?;
        for number in 0..*files {
            if number.is_multiple_of(1000) {
                bench.run.check_interrupted()?;
            }
            let path = many.join(format!("empty-{number:06}"));
            std::fs::File::create_new(&path).map_err(|error| LabError::file("make", &path, error))?;
        }
        // A dirty inode cannot be dropped, and what is dirty of all this must not be what is counted later.
        process::sync_file_system(&fs.at)?;
        let tmpfs = bench.run.make_dir(&fs.dir.join("tmpfs"))?;
        self.made = Some(Files { fs, read, many, tmpfs });
        Ok(())
    }

    fn once(&mut self, arm: &Arm, record: &mut RunRecord, bench: &mut Bench<'_>) -> Result<()> {
        let files = prepared(&self.made)?;
        let level = arm.settings.get("drop_caches").and_then(|number| number.parse().ok()).and_then(Level::from_number);
        let level = level.ok_or_else(|| LabError::usage("there is no such level", "ramline lab list"))?;
        self.found.describe(record);
        files.read.iter().try_for_each(|path| scratch::evict(path))?;
        let dirty = files.fs.at.join("dirty");
        loops::remove(&dirty)?;
        bench.run.mount_tmpfs(&files.tmpfs, self.size + Bytes::from_mib(1))?;
        // It cannot swap: pages of tmpfs have nowhere to go.
        let roomy = Bytes(self.size.0.saturating_mul(8)) + Bytes::from_mib(64);
        let group = bench.group(&self.found, Some(roomy), true, record)?;
        let [clean, mlocked, mapped] = files.read.clone();
        let (tmpfs, many, size) = (files.tmpfs.join("file"), files.many.clone(), self.size);
        let task = HoldTask { clean, dirty, mlocked, mapped, tmpfs, many, size };
        self.follow(level, &group, &task, record, bench)
    }
}

impl DropCaches {
    fn follow(
        &self,
        level: Level,
        group: &Group,
        task: &HoldTask,
        record: &mut RunRecord,
        bench: &mut Bench<'_>,
    ) -> Result<()> {
        let begin = Instant::now();
        let mut holder = Supervisor::<()>::from_task(NAME, task, group, bench.run)?;
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
        let pages = self.size.0 / process::page_size();
        let mut run = DropRun { level: level.number(), pages, ..DropRun::default() };
        run.looks.push(looker.look(DropStage::Before, None)?);
        all_there(&run, record);
        bench.progress.phase("dropping");
        let mut took = dropped(bench.root, level)?;
        run.looks.push(looker.look(DropStage::Dropped, Some(took))?);
        if run.cached(DropKind::Dirty, DropStage::Dropped) < Some(pages) {
            let why = "dirty pages went with the drop: another program had them written meanwhile, as a sync of the machine does";
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
        let pressed = || Verdict::Killed("the kernel, when the limit of the group pressed".to_owned());
        record.verdict = if alive { Verdict::Completed } else { pressed() };
        record.figures = figures(&run);
        record.detail = ramline_units::json::tree(&run).ok();
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
