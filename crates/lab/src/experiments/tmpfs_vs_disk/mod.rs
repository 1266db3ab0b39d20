//! The experiment tmpfs-vs-disk: the same operations in memory file systems and on a disk.
//!
//! What it is: each operation in a child of its own inside a memory cgroup, with the place made fresh for each run. What it is
//! not: a proof that tmpfs is faster: most of what is compared is the page cache against the page cache, and an fsync on a
//! tmpfs is fast because it does nothing.

mod once;
mod settings;

use std::time::Duration;

use ramline_evidence::{Arm, RunRecord};
use ramline_kernel::Root;

use self::once::Once;
use self::settings::Settings;
use crate::experiment::{Bench, Experiment, Series};
use crate::fileops::ground::{self, Grounds, Kind, Place};
use crate::params::{Kind as Of, Parameter, Params, row};
use ramline_sandbox::error::{LabError, Result};
use ramline_sandbox::requirements::{Caller, PRIORITY, Requirements, Resources, consent, scratch_line};

/// Its name on the command line and in records.
pub const NAME: &str = "tmpfs-vs-disk";

/// The row of the table.
pub const EXPERIMENT: Experiment = Experiment {
    name: NAME,
    question: "How much faster is tmpfs than a disk, at what, and where does it not win?",
    how: "The same operations in each place: writing a large file with and without sync, reading it warm and cold, writing it \
          through a mapping, many small files, deleting. Each runs in a process of its own in a memory cgroup, in a place \
          made fresh for the run. User and system time are kept apart and the cost of the loop itself is taken off. The \
          operation pressure puts a file and a program into a group they do not fit into and shows what of each is swapped.",
    needs: "root, a memory cgroup (version 1 or 2), memory for three times the size, a disk with about three times the size free; \
            mke2fs for the settings ext4 and zram, mkfs.xfs for xfs, the zram driver for zram",
    docs: "docs/experiments/tmpfs-vs-disk.md",
    page: include_str!("../../../../../docs/experiments/tmpfs-vs-disk.md"),
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

fn open(root: &Root, params: &Params) -> Result<Box<dyn Series>> {
    let settings = Settings::of(params)?;
    let (command, dir) = (format!("ramline lab run {NAME}"), params.path("dir"));
    let needed = Requirements {
        caller: Caller {
            command: &command,
            smaller: "--size 16MiB --files 100 --syncs 50",
            without_swap: "--operations write,write-synced,read-warm",
        },
        root_for: ground::ROOT_FOR,
        group: true,
        memory: settings.memory(),
        tools: &ground::tools(&settings.places),
        scratch: settings.scratch(),
        swap_priority: settings.presses().then_some(PRIORITY),
        dir: dir.as_deref(),
        allow_busy: params.switch("allow-busy"),
    };
    let found = needed.check(root, ground::unknown_options(&settings.places, PLAIN))?;
    let arms = settings.places.iter().map(Place::arm).collect();
    Ok(Box::new(TmpfsVsDisk { settings, found, arms, grounds: None }))
}

/// A series of tmpfs-vs-disk.
#[derive(Debug)]
struct TmpfsVsDisk {
    settings: Settings,
    found: Resources,
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
            scratch_line(&format!(": up to {}", s.scratch()), &self.found.place),
        ];
        lines.extend(self.global().into_iter().map(|what| format!("outside the sandbox: {what}")));
        lines.extend(self.found.doubts.iter().map(|what| format!("doubt: {what}")));
        lines
    }

    fn global(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.settings.presses() {
            let area = format!("a swap file of {} with priority {PRIORITY} per run", self.settings.swap_file());
            lines.extend(consent::swap_areas(&Root::live(), vec![area]));
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
        let s = &self.settings;
        self.grounds = Some(Grounds::create(&self.found.place, &s.places, s.content(), bench)?);
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
