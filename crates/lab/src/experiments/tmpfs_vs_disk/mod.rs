//! The experiment tmpfs-vs-disk: the same operations in memory file systems and on a disk.
//!
//! What it is: each operation in a child of its own inside a memory cgroup, with the place made fresh for each run. What it is
//! not: a proof that tmpfs is faster: most of what is compared is the page cache against the page cache, and an fsync on a
//! tmpfs is fast because it does nothing.

mod once;

use self::once::Once;
use crate::fileops::Op;
use crate::fileops::ground::{self, GroundPlace, Grounds, PlaceKind};
use crate::prelude::*;

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
    reading: include_str!(concat!(env!("OUT_DIR"), "/reading/tmpfs-vs-disk.md")),
    parameters: PARAMETERS,
    figures: &["write", "write-synced", "read-warm"],
    child: None,
    study: Study::Series,
    forecast: None,
    open,
};

const PARAMETERS: &[Parameter] = &[
    row(
        "arms",
        Kind::List,
        Some("tmpfs,tmpfs-huge,tmpfs-no-swap,ramfs,ext4,disk"),
        "Places, comma-separated: tmpfs, tmpfs-huge, tmpfs-no-swap, tmpfs-pinned, ramfs, ext4, xfs, disk, zram",
    ),
    row(
        "operations",
        Kind::List,
        Some(
            "write,write-synced,write-sync-each,read-warm,read-cold,mapped-write,mapped-synced,files,files-synced,delete-files,delete",
        ),
        "Operations, comma-separated: those of the default, and pressure",
    ),
    params::size("size", "Size of the large file (128MiB; 2GiB with --full)"),
    row("block", Kind::Size, Some("128KiB"), "Bytes per call"),
    row("passes", Kind::Count(1, 1000), Some("4"), "How often a warm read reads the file"),
    row("files", Kind::Count(1, 1_000_000), None, "Small files of 1 KiB (1000; 10000 with --full)"),
    row("syncs", Kind::Count(1, 1_000_000), Some("200"), "Blocks written with a sync after each"),
    row(
        "pressure-size",
        Kind::Size,
        Some("64MiB"),
        "Size of the file under pressure, and of the program; 1.5 times it is the limit",
    ),
    row("fill", Kind::Word(&["zeros", "text", "random"]), Some("text"), "Contents; only zram cares"),
    row("full", Kind::Switch, Some("false"), "The sizes of the published comparison"),
    row("timeout", Kind::Time, Some("2min"), "When an operation is given up"),
];

const PLAIN: &str = "ramline lab run tmpfs-vs-disk --arms tmpfs,disk";

/// The same as the experiment and its first option.
const EXAMPLE: &str = "tmpfs-vs-disk --arms tmpfs,disk";

fn open(root: &Root, params: &Params) -> Result<PlannedSeries> {
    let settings = Settings::from_params(params)?;
    let needed = Requirements {
        smaller: "--size 16MiB --files 100 --syncs 50",
        without_swap: "--operations write,write-synced,read-warm",
        root_for: ground::ROOT_FOR,
        group: true,
        memory: settings.memory(),
        tools: &ground::tools(&settings.places),
        scratch: settings.scratch(),
        swap_priority: settings.presses().then_some(PRIORITY),
        ..params.requirements(NAME)
    };
    let found = needed.check(root, ground::unknown_options(&settings.places, PLAIN))?;
    let (runs, arms) = (params.runs(), settings.places.iter().map(GroundPlace::arm).collect());
    let Settings { size, block, files, .. } = settings;
    let names: Vec<&str> = settings.ops.iter().map(|op| op.name()).collect();
    let sentences = vec![
        format!("{}; each: {}", counted(settings.places.len(), "places", runs), names.join(", ")),
        format!(
            "a file of {size} in blocks of {block}, {files} files of 1 KiB, in a memory cgroup limited to {}",
            settings.generous()
        ),
        scratch_line(&format!(": up to {}", settings.scratch()), &found.place),
    ];
    let area = || format!("a swap file of {} with priority {PRIORITY} per run", settings.swap_file());
    let mut global = consent::swap_areas(root, settings.presses().then(area).into_iter().collect());
    if settings.has(PlaceKind::Zram) {
        let size = ground::image_size(PlaceKind::Zram, settings.content());
        global.push(format!("a zram device of {size} per run, with a file system on it"));
    }
    let (doubts, longest_run) = (found.doubts.clone(), settings.timeout);
    let work = Box::new(TmpfsVsDisk { settings, found, grounds: None });
    Ok(PlannedSeries { arms, runs, sentences, global, doubts, longest_run, work })
}

struct TmpfsVsDisk {
    settings: Settings,
    found: Resources,
    grounds: Option<Grounds>,
}

impl Series for TmpfsVsDisk {
    fn prepare(&mut self, bench: &mut Bench<'_>) -> Result<()> {
        let s = &self.settings;
        self.grounds = Some(Grounds::create(&self.found.place, &s.places, s.content(), bench)?);
        Ok(())
    }

    fn once(&mut self, arm: &Arm, record: &mut RunRecord, bench: &mut Bench<'_>) -> Result<()> {
        let (place, grounds) = (GroundPlace::for_arm(arm)?, prepared(&self.grounds)?);
        Once { settings: &self.settings, found: &self.found, place, grounds, record, bench }.run()
    }
}

/// What was asked for.
#[derive(Debug, Clone)]
struct Settings {
    places: Vec<GroundPlace>,
    ops: Vec<Op>,
    size: Bytes,
    block: Bytes,
    passes: u64,
    files: u64,
    syncs: u64,
    pressure: Bytes,
    fill: Fill,
    seed: u64,
    timeout: Duration,
}

impl Settings {
    fn from_params(params: &Params) -> Result<Settings> {
        let full = params.switch("full");
        let settings = Settings {
            places: ground::places(params.list("arms"), PLAIN)?,
            ops: operations(params.list("operations"))?,
            size: params.size("size").unwrap_or(if full { Bytes::from_gib(2) } else { Bytes::from_mib(128) }),
            block: params.size("block").unwrap_or_default(),
            passes: params.count("passes").unwrap_or_default(),
            files: params.count("files").unwrap_or(if full { 10_000 } else { 1000 }),
            syncs: params.count("syncs").unwrap_or_default(),
            pressure: params.size("pressure-size").unwrap_or_default(),
            fill: params.text("fill").unwrap_or_default().parse()?,
            seed: params.count("seed").unwrap_or_default(),
            timeout: params.time("timeout").unwrap_or_default(),
        };
        settings.check()?;
        Ok(settings)
    }

    fn check(&self) -> Result<()> {
        let Settings { block, size, syncs, .. } = *self;
        let text = format!("a block of {block} is not a power of two from 4 KiB on");
        refuse_if(!block.0.is_power_of_two() || block < Bytes::from_kib(4), EXAMPLE, "--block 128KiB", text)?;
        for (name, size) in [("size", size), ("pressure-size", self.pressure)] {
            let fits = size >= Bytes::from_mib(4) && size.0.is_multiple_of(block.0);
            let text = format!("--{name}: {size} is not a multiple of the block ({block}) from 4 MiB on");
            refuse_if(!fits, EXAMPLE, &format!("--{name} 64MiB --block 128KiB"), text)?;
        }
        let most = size.0 / block.0;
        let text = format!("{syncs} synced blocks of {block} are more than the file of {size}");
        refuse_if(syncs.saturating_mul(block.0) > size.0, EXAMPLE, &format!("--syncs {most}"), text)?;
        let nothing = self.ops == [Op::ReadCold] && self.places.iter().all(|place| place.kind.is_page_cache_only());
        let text = "there is no cold read of a file that has no other copy than the one in memory";
        refuse_if(nothing, EXAMPLE, "--operations read-warm,read-cold", text)
    }

    /// What a place must hold.
    fn content(&self) -> Bytes {
        let most = if self.presses() { self.size.max(self.pressure) } else { self.size };
        most + Bytes(self.files.saturating_mul(8192)) + Bytes::from_mib(32)
    }

    fn presses(&self) -> bool {
        self.ops.contains(&Op::Pressure)
    }

    fn has(&self, kind: PlaceKind) -> bool {
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
        let direct = if self.has(PlaceKind::Disk) { self.content() } else { Bytes::ZERO };
        let swap = if self.presses() { self.swap_file() } else { Bytes::ZERO };
        ground::images(&self.places, self.content()) + direct + swap
    }

    fn memory(&self) -> Bytes {
        let pool = if self.has(PlaceKind::Zram) { self.content() } else { Bytes::ZERO };
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
    ramline_units::sort_by_key(&mut ops, |op| *op == Op::Pressure);
    Ok(ops)
}

fn known_operations() -> impl Iterator<Item = &'static str> {
    let default = PARAMETERS.iter().find(|row| row.name == "operations").and_then(|row| row.default);
    default.unwrap_or_default().split(',').chain(["pressure"])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &str, values: &[&str]) -> Result<Settings> {
        let table = EXPERIMENT.table();
        let mut params = Params::defaults(&table);
        params.set(&table, name, values.iter().map(|value| (*value).to_owned()).collect()).unwrap();
        Settings::from_params(&params)
    }

    #[test]
    fn the_defaults_make_sense_and_touch_nothing_outside_the_sandbox() {
        let settings = Settings::from_params(&EXPERIMENT.defaults()).unwrap();
        assert!(!settings.presses() && !settings.has(PlaceKind::Zram));
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
        refused("arms", "floppy", "is not a setting");
    }

    #[test]
    fn pressure_comes_last_and_together_the_two_do_not_fit() {
        let settings = with("operations", &["pressure,write"]).unwrap();
        assert_eq!(settings.ops, [Op::Write, Op::Pressure]);
        assert_eq!(
            (settings.pressure + settings.pressure).saturating_sub(settings.tight()),
            Bytes(settings.pressure.0 / 2)
        );
        assert!(settings.scratch() > settings.swap_file());
    }
}
