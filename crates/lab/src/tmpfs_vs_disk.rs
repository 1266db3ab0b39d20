//! The experiment tmpfs-vs-disk: the same operations in memory file systems and on a disk.
//!
//! What it is: each operation in a child of its own inside a memory cgroup, with the place made fresh for each run. What it is
//! not: a proof that tmpfs is faster: most of what is compared is the page cache against the page cache, and an fsync on a
//! tmpfs is fast because it does nothing.

use std::time::Duration;

use ramline_evidence::{Arm, RunRecord, Verdict};
use ramline_kernel::cgroup::{Group, Version};
use ramline_kernel::gather::gather;
use ramline_kernel::{Root, swap};
use ramline_snapshot::Wanted;
use ramline_units::{Bytes, Limit};
use serde_json::json;

use crate::error::{LabError, Result};
use crate::experiment::{Bench, Experiment, Series};
use crate::fileops::child::{self, Blind, Ended};
use crate::fileops::ground::{self, Ground, Grounds, Kind, Place};
use crate::fileops::preflight::{self, Found, Needs};
use crate::fileops::pressure::{self, Look};
use crate::fileops::{Op, Task, figures};
use crate::fill::Fill;
use crate::observe;
use crate::params::{Kind as Of, Parameter, Params};
use crate::preflight::PRIORITY;

/// Its name on the command line and in records.
pub const NAME: &str = "tmpfs-vs-disk";

const fn row(name: &'static str, kind: Of, default: Option<&'static str>, help: &'static str) -> Parameter {
    Parameter { name, kind, default, help }
}

/// The row of the table.
pub const EXPERIMENT: Experiment = Experiment {
    name: NAME,
    question: "How much faster is tmpfs than a disk, at what, and where does it not win?",
    how: "The same operations in each place: writing a large file with and without sync, reading it warm and cold, writing it \
          through a mapping, many small files, deleting. Each runs in a process of its own in a memory cgroup, in a place \
          made fresh for the run. User and system time are kept apart and the cost of the loop itself is taken off. The \
          operation pressure puts a file and a program into a group they do not fit into and shows what of each is swapped.",
    needs: "root, a memory cgroup (version 1 or 2), memory for three times the size, a disk with about three times the size free; \
            mke2fs for the arms ext4 and zram, mkfs.xfs for xfs, the zram driver for zram",
    docs: "docs/experiments/tmpfs-vs-disk.md",
    parameters: PARAMETERS,
    figures: &["write", "write-synced", "read-warm"],
    open,
};

const PARAMETERS: &[Parameter] = &[
    row(
        "arms",
        Of::List,
        Some("tmpfs,tmpfs-huge,tmpfs-no-swap,ramfs,ext4,disk"),
        "Places, comma-separated: tmpfs, tmpfs-huge, tmpfs-no-swap, tmpfs-pinned, ramfs, ext4, xfs, disk, zram",
    ),
    row(
        "operations",
        Of::List,
        Some(
            "write,write-synced,write-sync-each,read-warm,read-cold,mapped-write,mapped-synced,files,files-synced,delete-files,delete",
        ),
        "Operations, comma-separated: those of the default, and pressure",
    ),
    row("size", Of::Size, None, "Size of the large file (128MiB; 2GiB with --full)"),
    row("block", Of::Size, Some("128KiB"), "Bytes per call"),
    row("passes", Of::Count(1, 1000), Some("4"), "How often a warm read reads the file"),
    row("files", Of::Count(1, 1_000_000), None, "Small files of 1 KiB (1000; 10000 with --full)"),
    row("syncs", Of::Count(1, 1_000_000), Some("200"), "Blocks written with a sync after each"),
    row(
        "pressure-size",
        Of::Size,
        Some("64MiB"),
        "Size of the file under pressure, and of the program; 1.5 times it is the limit",
    ),
    row("fill", Of::Word(&["zeros", "text", "random"]), Some("text"), "Contents; only zram cares"),
    row("full", Of::Switch, Some("false"), "The sizes of the published comparison"),
    row("timeout", Of::Time, Some("2min"), "When an operation is given up"),
];

const PLAIN: &str = "ramline lab run tmpfs-vs-disk --arms tmpfs,disk";

/// What was asked for.
#[derive(Debug, Clone)]
struct Settings {
    places: Vec<Place>,
    ops: Vec<Op>,
    size: Bytes,
    block: Bytes,
    passes: u64,
    files: u64,
    syncs: u64,
    pressure: Bytes,
    fill: Fill,
    seed: u64,
    runs: u32,
    timeout: Duration,
}

impl Settings {
    fn of(params: &Params) -> Result<Settings> {
        let full = params.switch("full");
        let settings = Settings {
            places: ground::places(params.list("arms"), PLAIN)?,
            ops: operations(params.list("operations"))?,
            size: params.size("size").unwrap_or(if full { Bytes::from_gib(2) } else { Bytes::from_mib(128) }),
            block: params.size("block").unwrap_or(Bytes::from_kib(128)),
            passes: params.count("passes").unwrap_or(4),
            files: params.count("files").unwrap_or(if full { 10_000 } else { 1000 }),
            syncs: params.count("syncs").unwrap_or(200),
            pressure: params.size("pressure-size").unwrap_or(Bytes::from_mib(64)),
            fill: params.text("fill").unwrap_or("text").parse()?,
            seed: params.count("seed").unwrap_or_default(),
            runs: params.count("runs").and_then(|n| u32::try_from(n).ok()).unwrap_or(7),
            timeout: params.time("timeout").unwrap_or(Duration::from_secs(120)),
        };
        settings.check()?;
        Ok(settings)
    }

    fn check(&self) -> Result<()> {
        let wrong = |message: String, hint: &str| Err(LabError::usage(message, format!("{PLAIN} {hint}")));
        if !self.block.0.is_power_of_two() || self.block < Bytes::from_kib(4) {
            return wrong(format!("a block of {} is not a power of two from 4 KiB on", self.block), "--block 128KiB");
        }
        for (name, size) in [("size", self.size), ("pressure-size", self.pressure)] {
            if size < Bytes::from_mib(4) || !size.0.is_multiple_of(self.block.0) {
                let text = format!("--{name}: {size} is not a multiple of the block ({}) from 4 MiB on", self.block);
                return wrong(text, &format!("--{name} 64MiB --block 128KiB"));
            }
        }
        if self.syncs.saturating_mul(self.block.0) > self.size.0 {
            let text =
                format!("{} synced blocks of {} are more than the file of {}", self.syncs, self.block, self.size);
            return wrong(text, &format!("--syncs {}", self.size.0 / self.block.0));
        }
        if self.ops == [Op::ReadCold] && self.places.iter().all(|place| place.kind.is_page_cache_only()) {
            let text = "there is no cold read of a file that has no other copy than the one in memory";
            return wrong(text.to_owned(), "--operations read-warm,read-cold");
        }
        Ok(())
    }

    /// What a place must hold.
    fn content(&self) -> Bytes {
        let most = if self.presses() { self.size.max(self.pressure) } else { self.size };
        most + Bytes(self.files.saturating_mul(8192)) + Bytes::from_mib(32)
    }

    fn presses(&self) -> bool {
        self.ops.contains(&Op::Pressure)
    }

    fn has(&self, kind: Kind) -> bool {
        self.places.iter().any(|place| place.kind == kind)
    }

    /// The limit of the group in which nothing presses.
    fn generous(&self) -> Bytes {
        self.content() + self.size + Bytes::from_mib(128)
    }

    fn tight(&self) -> Bytes {
        Bytes(self.pressure.0 / 2 * 3)
    }

    fn swap_file(&self) -> Bytes {
        Bytes(self.pressure.0.saturating_mul(2)) + Bytes::from_mib(16)
    }

    /// On the disk at once: the images, the directory, the swap file.
    fn scratch(&self) -> Bytes {
        let images = self.places.iter().filter(|place| matches!(place.kind, Kind::Image(_)));
        let images: u64 = images.map(|place| ground::image_size(place.kind, self.content()).0).sum();
        let direct = if self.has(Kind::Disk) { self.content() } else { Bytes::ZERO };
        let swap = if self.presses() { self.swap_file() } else { Bytes::ZERO };
        Bytes(images) + direct + swap
    }

    fn memory(&self) -> Bytes {
        let pool = if self.has(Kind::Zram) { self.content() } else { Bytes::ZERO };
        self.generous() + pool
    }
}

fn operations(names: &[String]) -> Result<Vec<Op>> {
    let known: Vec<&str> = known_operations().collect();
    let one = |name: &String| {
        Op::named(name).filter(|_| known.contains(&name.as_str())).ok_or_else(|| {
            let text = format!("'{}' is not an operation; there are {}", name.escape_debug(), known.join(", "));
            LabError::usage(text, "ramline lab run tmpfs-vs-disk --operations write,read-warm")
        })
    };
    let mut ops: Vec<Op> = Vec::new();
    for op in names.iter().map(one) {
        let op = op?;
        if !ops.contains(&op) {
            ops.push(op);
        }
    }
    // Last: it empties the place.
    ops.sort_by_key(|op| *op == Op::Pressure);
    Ok(ops)
}

fn known_operations() -> impl Iterator<Item = &'static str> {
    let default = PARAMETERS.iter().find(|row| row.name == "operations").and_then(|row| row.default);
    default.unwrap_or_default().split(',').chain(["pressure"])
}

fn open(root: &Root, params: &Params) -> Result<Box<dyn Series>> {
    let settings = Settings::of(params)?;
    let needs = Needs {
        experiment: NAME,
        places: &settings.places,
        scratch: settings.scratch(),
        memory: settings.memory(),
        group: true,
        swap: settings.presses(),
        smaller: "--size 16MiB --files 100 --syncs 50",
        dir: params.path("dir"),
        allow_busy: params.switch("allow-busy"),
    };
    let found = preflight::look(root, &needs)?;
    let arms = settings.places.iter().map(Place::arm).collect();
    Ok(Box::new(TmpfsVsDisk { settings, found, arms, grounds: None }))
}

/// A series of tmpfs-vs-disk.
#[derive(Debug)]
struct TmpfsVsDisk {
    settings: Settings,
    found: Found,
    arms: Vec<Arm>,
    grounds: Option<Grounds>,
}

impl Series for TmpfsVsDisk {
    fn arms(&self) -> &[Arm] {
        &self.arms
    }

    fn runs(&self) -> u32 {
        self.settings.runs
    }

    fn lines(&self) -> Vec<String> {
        let s = &self.settings;
        let names: Vec<&str> = s.ops.iter().map(|op| op.name()).collect();
        let mut lines = vec![
            format!(
                "{} runs: {} places, {} times each, interleaved; each: {}",
                s.places.len() * usize::try_from(s.runs).unwrap_or_default(),
                s.places.len(),
                s.runs,
                names.join(", ")
            ),
            format!(
                "a file of {} in blocks of {}, {} files of 1 KiB, in a memory cgroup limited to {}",
                s.size,
                s.block,
                s.files,
                s.generous()
            ),
            format!(
                "scratch: up to {} below {} ({} on {}), removed afterwards",
                s.scratch(),
                self.found.place.dir.display(),
                self.found.place.fs_type,
                self.found.place.device.as_deref().unwrap_or("no disk named")
            ),
        ];
        lines.extend(self.global().into_iter().map(|what| format!("outside the sandbox: {what}")));
        lines.extend(self.found.doubts.iter().map(|what| format!("doubt: {what}")));
        lines
    }

    fn global(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.settings.presses() {
            lines.push(format!(
                "a swap file of {} with priority {PRIORITY} per run; while it is on, other processes may swap to it too",
                self.settings.swap_file()
            ));
        }
        if self.settings.has(Kind::Zram) {
            let size = ground::image_size(Kind::Zram, self.settings.content());
            lines.push(format!("a zram device of {size} per run, with a file system on it"));
        }
        lines
    }

    fn longest_run(&self) -> Duration {
        self.settings.timeout
    }

    fn prepare(&mut self, bench: &mut Bench<'_>) -> Result<()> {
        let (s, dir) = (&self.settings, &self.found.place.dir);
        bench.progress.step(&format!("making scratch files below {}", dir.display()));
        self.grounds = Some(Grounds::create(dir, &s.places, s.content(), self.found.read_ahead, bench.run)?);
        Ok(())
    }

    fn once(&mut self, arm: &Arm, record: &mut RunRecord, bench: &mut Bench<'_>) -> Result<()> {
        let missing = || LabError::Workload("the scratch place is not prepared".to_owned());
        let place = self.settings.places.iter().find(|place| place.name == arm.name).ok_or_else(missing)?;
        let grounds = self.grounds.as_ref().ok_or_else(missing)?;
        let mut once = Once { settings: &self.settings, found: &self.found, place, grounds, record, bench };
        once.run()
    }
}

/// One run in one place.
struct Once<'a, 'b> {
    settings: &'a Settings,
    found: &'a Found,
    place: &'a Place,
    grounds: &'a Grounds,
    record: &'a mut RunRecord,
    bench: &'a mut Bench<'b>,
}

impl Once<'_, '_> {
    fn run(&mut self) -> Result<()> {
        self.describe();
        // Swap first: the undo goes backwards and empties the group before the area is switched off.
        if self.settings.presses() {
            let file = self.grounds.base().join("swap");
            let file = self.bench.run.make_swap_file(&file, self.settings.swap_file())?;
            self.bench.run.swap_on(&file, Some(PRIORITY))?;
        }
        let ground = self.grounds.lay(self.place, self.bench.root, self.bench.run)?;
        self.record.verified.extend(ground.verified.clone());
        let group = self.group(0, self.settings.generous())?;
        self.record.before = observe::counters(self.bench.root, &group.stat()?);
        self.record.verdict = Verdict::Completed;
        let mut raw = serde_json::Map::new();
        for op in &self.settings.ops {
            if op.needs_a_disk() && self.place.kind.is_page_cache_only() {
                self.note("no cold read: a file here has no copy but the one in memory (or in swap)");
                continue;
            }
            let (ended, seen) =
                if *op == Op::Pressure { self.press(&ground)? } else { (self.perform(*op, &ground, &group)?, None) };
            self.huge(*op);
            self.take(*op, &ended, seen.as_ref());
            raw.insert(op.name().to_owned(), raw_of(&ended, seen.as_ref()));
        }
        self.record.after = observe::counters(self.bench.root, &group.stat()?);
        self.record.detail = Some(json!({ "operations": raw }));
        Ok(())
    }

    fn describe(&mut self) {
        let version = self.found.hierarchy.as_ref().map(ramline_kernel::cgroup::Hierarchy::version);
        let v1 = version == Some(Version::V1);
        self.record.machine.cgroup_version = if v1 { 1 } else { 2 };
        self.record.machine.scratch_fs.clone_from(&self.found.place.fs_type);
        self.record.machine.scratch_disk.clone_from(&self.found.place.device);
        self.record.sandbox = (if v1 { "cgroup-v1" } else { "cgroup-v2" }).to_owned();
        if let Some(size) = self.found.read_ahead {
            self.record.verified.insert("read-ahead of the disk".to_owned(), size.to_string());
        }
        if self.place.kind.is_memory() {
            self.note("fsync protects nothing here: after a crash or a power cut everything is gone, synced or not");
        }
    }

    fn note(&mut self, text: &str) {
        if !self.record.notes.iter().any(|note| note == text) {
            self.record.notes.push(text.to_owned());
        }
    }

    fn group(&mut self, number: u32, limit: Bytes) -> Result<Group> {
        let none = || LabError::Workload("there is no hierarchy of groups".to_owned());
        let hierarchy = self.found.hierarchy.as_ref().ok_or_else(none)?;
        let group = self.bench.run.make_cgroup(hierarchy, self.record.order * 2 + number)?;
        let mut changes = group.set_memory_limit(Limit::At(limit))?;
        if self.place.no_swap {
            match group.set_swap_limit(Limit::At(Bytes::ZERO)) {
                Ok(more) => changes.extend(more),
                // Without swap accounting, but also without swap.
                Err(error) if error.is_unsupported() && swap::areas(self.bench.root)?.is_empty() => {}
                Err(error) => return Err(error.into()),
            }
        }
        for change in changes {
            let name = change.path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            let name = if number == 0 { name } else { format!("{name} under pressure") };
            self.record.verified.insert(name, change.after.unwrap_or_default());
        }
        Ok(group)
    }

    fn task(&self, op: Op, ground: &Ground) -> Task {
        let s = self.settings;
        let count = match op {
            Op::Files | Op::FilesSynced | Op::DeleteFiles => s.files,
            Op::WriteSyncEach => s.syncs,
            _ => s.passes,
        };
        let (size, anonymous) = if op == Op::Pressure { (s.pressure, s.pressure) } else { (s.size, Bytes::ZERO) };
        Task {
            op,
            dir: ground.dir.clone(),
            size,
            block: s.block,
            count,
            anonymous,
            fill: s.fill,
            seed: s.seed,
            observer: std::process::id(),
        }
    }

    fn perform(&mut self, op: Op, ground: &Ground, group: &Group) -> Result<Ended> {
        let task = self.task(op, ground);
        child::perform(self.bench, Some(group), &task, self.settings.timeout, &mut Blind)
    }

    fn press(&mut self, ground: &Ground) -> Result<(Ended, Option<pressure::Seen>)> {
        let limit = self.settings.tight();
        let group = self.group(1, limit)?;
        let task = self.task(Op::Pressure, ground);
        let mut look = Look {
            group: &group,
            limit,
            file: ground.dir.join("large"),
            tmpfs: self.place.kind.is_page_cache_only(),
            zram: ground.zram.as_ref(),
            seen: None,
            samples: Vec::new(),
        };
        let ended = child::perform(self.bench, Some(&group), &task, self.settings.timeout, &mut look)?;
        self.record.samples = look.samples;
        Ok((ended, look.seen))
    }

    /// What huge pages there are now: the option is a wish, and only a file whose size is known before it is written gets them.
    fn huge(&mut self, op: Op) {
        if !matches!(self.place.kind, Kind::Tmpfs { huge: true, .. }) {
            return;
        }
        let seen = gather(self.bench.root, Wanted { meminfo: true, ..Wanted::NOTHING });
        if let Some(size) = seen.meminfo.data().and_then(|meminfo| meminfo.shmem_huge_pages) {
            self.record.verified.insert(format!("{}: in huge pages on the machine", op.name()), size.to_string());
        }
    }

    fn take(&mut self, op: Op, ended: &Ended, seen: Option<&pressure::Seen>) {
        let verdict = match ended {
            Ended::Done(said) => {
                let memory_only = self.place.kind.is_page_cache_only();
                match seen {
                    Some(seen) => self.record.figures.extend(pressure::figures(seen, said, memory_only)),
                    None => self.record.figures.extend(figures::of(op, said)),
                }
                if let Some((pages, before, after)) = said.pages {
                    let text = format!("{before} of {pages} pages before, {after} after");
                    self.record.verified.insert(format!("{}: in memory", op.name()), text);
                    if before == pages && after < pages {
                        self.note(&format!("{}: pages of the file were taken away while it was read", op.name()));
                    }
                }
                return;
            }
            Ended::Killed(why) => Verdict::Killed(format!("{}: {why}", op.name())),
            Ended::Ended(why) => Verdict::Thrashing(format!("{}: {why}", op.name())),
            Ended::Failed(why) => Verdict::Failed(format!("{}: {why}", op.name())),
        };
        let told = match &verdict {
            Verdict::Killed(why) | Verdict::Thrashing(why) | Verdict::Failed(why) => why.clone(),
            Verdict::Completed | Verdict::Unfinished => String::new(),
        };
        self.note(&told);
        self.record.verdict = verdict;
    }
}

fn raw_of(ended: &Ended, seen: Option<&pressure::Seen>) -> serde_json::Value {
    match ended {
        Ended::Done(said) => json!({ "said": said, "seen": seen }),
        Ended::Killed(why) | Ended::Ended(why) | Ended::Failed(why) => json!({ "error": why, "seen": seen }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &str, values: &[&str]) -> Result<Settings> {
        let table = EXPERIMENT.table();
        let mut params = Params::defaults(&table);
        params.set(&table, name, values.iter().map(|value| (*value).to_owned()).collect()).unwrap();
        Settings::of(&params)
    }

    #[test]
    fn the_defaults_make_sense_and_touch_nothing_outside_the_sandbox() {
        let settings = Settings::of(&EXPERIMENT.defaults()).unwrap();
        assert!(!settings.presses() && !settings.has(Kind::Zram));
        assert!(settings.generous() > settings.size + settings.size);
        let full = with("full", &["true"]).unwrap();
        assert_eq!((full.size, full.files), (Bytes::from_gib(2), 10_000));
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_a_command_that_does() {
        let refused = |name: &str, value: &str, told: &str| {
            let error = with(name, &[value]).unwrap_err().to_string();
            assert!(error.contains(told) && error.contains("try: ramline lab run tmpfs-vs-disk"), "{error}");
        };
        refused("block", "3000B", "power of two");
        refused("size", "1MiB", "from 4 MiB on");
        refused("syncs", "1000000", "more than the file");
        refused("operations", "read-hot", "read-warm");
        refused("operations", "in-place", "is not an operation");
        refused("arms", "floppy", "is not an arm");
    }

    #[test]
    fn pressure_comes_last_and_together_the_two_do_not_fit() {
        let settings = with("operations", &["pressure,write"]).unwrap();
        assert_eq!(settings.ops, [Op::Write, Op::Pressure]);
        assert_eq!(settings.pressure + settings.pressure - settings.tight(), Bytes(settings.pressure.0 / 2));
        assert!(settings.scratch() > settings.swap_file());
    }
}
