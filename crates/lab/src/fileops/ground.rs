//! The places file operations are made in: tmpfs of several kinds, ramfs, a disk directly, images on it, a zram device.
//!
//! What it is: each made fresh for its run, through the journal, and read back. What it is not: comparable by name alone; the
//! image arms have a loop device (direct I/O) between file system and disk, the directory on the disk has not.

use ramline_kernel::loopdev::LoopDevice;
use ramline_kernel::mount::{self, Journalled, Tmpfs};

use super::loops::{Sync, write_blocks};
use crate::prelude::*;
use ramline_sandbox::own_fs;

/// What a place is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaceKind {
    /// tmpfs; with huge pages, kept out of swap.
    Tmpfs {
        /// `huge=within_size`, else `huge=never`.
        huge: bool,
        /// The mount option noswap.
        noswap: bool,
    },
    /// ramfs.
    Ramfs,
    /// A directory on the scratch disk.
    Disk,
    /// A file system in an image on that disk, behind a loop device with direct I/O.
    Image(Journalled),
    /// ext4 on a zram device.
    Zram,
}

impl PlaceKind {
    /// All of it is memory: nothing survives a crash.
    #[must_use]
    pub const fn is_memory(self) -> bool {
        !matches!(self, PlaceKind::Disk | PlaceKind::Image(_))
    }

    /// Its files have no copy but the one in the page cache (and in swap).
    #[must_use]
    pub const fn is_page_cache_only(self) -> bool {
        matches!(self, PlaceKind::Tmpfs { .. } | PlaceKind::Ramfs)
    }
}

/// A place by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroundPlace {
    /// As an arm is named.
    pub name: &'static str,
    /// What it is made of.
    pub kind: PlaceKind,
    /// The workload's group may not swap.
    pub no_swap: bool,
    /// In a few words.
    pub what: &'static str,
}

/// All there are.
pub const PLACES: &[GroundPlace] = &[
    place("tmpfs", PlaceKind::Tmpfs { huge: false, noswap: false }, "tmpfs, huge=never"),
    place("tmpfs-huge", PlaceKind::Tmpfs { huge: true, noswap: false }, "tmpfs, huge=within_size"),
    GroundPlace {
        no_swap: true,
        ..place("tmpfs-no-swap", PlaceKind::Tmpfs { huge: false, noswap: false }, "tmpfs, in a group that may not swap")
    },
    place("tmpfs-pinned", PlaceKind::Tmpfs { huge: false, noswap: true }, "tmpfs with the mount option noswap"),
    place("ramfs", PlaceKind::Ramfs, "ramfs"),
    place("ext4", PlaceKind::Image(Journalled::Ext4), "ext4 in an image on the disk"),
    place("xfs", PlaceKind::Image(Journalled::Xfs), "XFS in an image on the disk"),
    place("disk", PlaceKind::Disk, "a directory on the disk"),
    place("zram", PlaceKind::Zram, "ext4 on a zram device"),
];

const fn place(name: &'static str, kind: PlaceKind, what: &'static str) -> GroundPlace {
    GroundPlace { name, kind, no_swap: false, what }
}

/// The places of these names.
///
/// # Errors
/// One that is none, or none at all; `example` is a command that works.
pub fn places(names: &[String], example: &str) -> Result<Vec<GroundPlace>> {
    let one = |name: &String| {
        PLACES.iter().find(|place| place.name == name).copied().ok_or_else(|| {
            let all: Vec<&str> = PLACES.iter().map(|place| place.name).collect();
            format!("'{}' is not a setting; there are {}", name.escape_debug(), all.join(", "))
        })
    };
    let wrong = |text: String| LabError::usage(text, example);
    let found: Vec<GroundPlace> = names.iter().map(|name| one(name).map_err(wrong)).collect::<Result<_>>()?;
    if found.is_empty() {
        return Err(wrong("an experiment needs at least one setting".to_owned()));
    }
    if let Some((_, twice)) = found.iter().enumerate().find(|(index, place)| found[..*index].contains(place)) {
        return Err(wrong(format!("the setting {} stands there twice", twice.name)));
    }
    Ok(found)
}

impl GroundPlace {
    /// The place of an arm.
    ///
    /// # Errors
    /// It is that of no place.
    pub fn for_arm(arm: &Arm) -> Result<&'static GroundPlace> {
        let none = || LabError::Workload(format!("there is no place {}", arm.name));
        PLACES.iter().find(|place| place.name == arm.name).ok_or_else(none)
    }

    /// As an arm of a series.
    #[must_use]
    pub fn arm(&self) -> Arm {
        Arm::named(self.name, &[("place", self.what)])
    }
}

/// What needs root, for any of them.
pub const ROOT_FOR: &str = "mounting file systems needs root";

/// The programs and drivers these places take, each once.
#[must_use]
pub fn tools(places: &[GroundPlace]) -> Vec<Tool> {
    let mut tools = Vec::new();
    for place in places {
        let its = match place.kind {
            PlaceKind::Image(kind) => [Tool::Mkfs(kind), Tool::Loop],
            PlaceKind::Zram => [Tool::Mkfs(Journalled::Ext4), Tool::Zram],
            PlaceKind::Tmpfs { .. } | PlaceKind::Ramfs | PlaceKind::Disk => continue,
        };
        tools.extend(its.into_iter().filter(|tool| !tools.contains(tool)).collect::<Vec<_>>());
    }
    tools
}

/// The places whose mount options this kernel does not have; `otherwise` is a command without them.
#[must_use]
pub fn unknown_options(places: &[GroundPlace], otherwise: &str) -> Vec<Reason> {
    let unknown = |place: &GroundPlace| {
        let PlaceKind::Tmpfs { huge, noswap } = place.kind else { return None };
        let option = if noswap && !mount::tmpfs_knows("noswap", None) {
            "noswap (Linux 6.4)"
        } else if huge && !mount::tmpfs_knows("huge", Some("within_size")) {
            "huge=within_size (huge pages)"
        } else {
            return None;
        };
        let text = format!("setting {}: the tmpfs of this kernel has no option {option}", place.name);
        Some(Reason::new(text, otherwise))
    };
    // Only root can try them.
    if is_unprivileged() { Vec::new() } else { places.iter().filter_map(unknown).collect() }
}

/// As of any image, and a journal; the smallest image XFS takes is 300 MiB.
#[must_use]
pub fn image_size(kind: PlaceKind, content: Bytes) -> Bytes {
    const JOURNAL: Bytes = Bytes::from_mib(48);
    let least = if kind == PlaceKind::Image(Journalled::Xfs) { Bytes::from_mib(320) } else { Bytes::from_mib(64) };
    (own_fs::image_size(content) + JOURNAL).max(least)
}

/// All images of these places.
#[must_use]
pub fn images(places: &[GroundPlace], content: Bytes) -> Bytes {
    let images = places.iter().filter(|place| matches!(place.kind, PlaceKind::Image(_)));
    images.map(|place| image_size(place.kind, content)).sum()
}

/// What all runs share: a private directory on the disk, and in it the images.
#[derive(Debug)]
pub struct Grounds {
    /// The private directory on the disk.
    pub base: PathBuf,
    content: Bytes,
    loops: Vec<(PlaceKind, LoopDevice)>,
}

/// A place that is there.
#[derive(Debug)]
pub struct Ground {
    /// Where to work.
    pub dir: PathBuf,
    /// As read back, by name.
    pub verified: BTreeMap<String, String>,
    /// The device below, for its pool.
    pub zram: Option<zram::Device>,
}

impl Grounds {
    /// Makes the directory below `scratch` and an image for each place that has one, with all its blocks written once and the
    /// read-ahead of the disk below. `content` is what a place must hold.
    ///
    /// # Errors
    /// The first step that fails; `run` undoes what was made.
    pub fn create(scratch: &Place, places: &[GroundPlace], content: Bytes, bench: &mut Bench<'_>) -> Result<Grounds> {
        bench.progress.step(&format!("making scratch files below {}", scratch.dir.display()));
        let (run, read_ahead) = (&mut *bench.run, scratch.read_ahead(bench.root));
        let base = scratch::own_dir(&scratch.dir, run)?;
        let mut loops: Vec<(PlaceKind, LoopDevice)> = Vec::new();
        for place in places {
            let PlaceKind::Image(_) = place.kind else { continue };
            let size = image_size(place.kind, content);
            let image = run.make_image_file(&base.join(format!("{}.img", place.name)), size)?;
            write_through(&image, size)?;
            let device = run.attach_loop(&image)?;
            if let Some(size) = read_ahead {
                run.set_knob(&device.read_ahead_knob(), &(size.0 / 1024).to_string())?;
            }
            loops.push((place.kind, device));
        }
        Ok(Grounds { base, content, loops })
    }

    /// Makes the place fresh.
    ///
    /// # Errors
    /// The first step that fails; what was made is undone with the run.
    pub fn prepare(&self, place: &GroundPlace, root: &Root, run: &mut Run) -> Result<Ground> {
        let path = self.base.join("at");
        let mut verified = BTreeMap::new();
        let mut device = None;
        // Twice: a file that was removed counts until the last who has it open lets go.
        let room = Bytes(self.content.0.saturating_mul(2));
        let dir = if place.kind == PlaceKind::Disk { run.make_tree(&path)? } else { run.make_dir(&path)? };
        match place.kind {
            PlaceKind::Disk => {}
            PlaceKind::Tmpfs { huge, noswap } => run.mount_tmpfs_with(&dir, Tmpfs { size: room, huge, noswap })?,
            PlaceKind::Ramfs => run.mount_ramfs(&dir)?,
            PlaceKind::Image(fs) => {
                let none = || LabError::Workload(format!("the image of {} is not prepared", place.name));
                let (_, below) = self.loops.iter().find(|(kind, _)| *kind == place.kind).ok_or_else(none)?;
                run.mkfs_on_device(below.node(), fs)?;
                run.mount_device(below.node(), &dir, fs)?;
                let direct = below.direct_io().map_or("unknown".to_owned(), |direct| direct.to_string());
                verified.insert("direct I/O below the image".to_owned(), direct);
                let knob = ramline_kernel::write::read_knob(&below.read_ahead_knob());
                verified.insert("read-ahead KiB".to_owned(), knob.unwrap_or_else(|| "unknown".to_owned()));
            }
            PlaceKind::Zram => {
                let below = run.hot_add_zram()?;
                let size = image_size(place.kind, self.content);
                // Were nothing compressible, the pool would still not grow beyond what was asked for.
                below.set_mem_limit(Limit::At(size))?;
                below.set_disksize(size)?;
                run.mkfs_on_device(below.node(), Journalled::Ext4)?;
                run.mount_device(below.node(), &dir, Journalled::Ext4)?;
                let algorithm = below.algorithms()?.first().cloned().unwrap_or_default();
                verified.insert("zram algorithm".to_owned(), algorithm);
                device = Some(below);
            }
        }
        let mounted = mount::containing(root, &dir);
        if let Some(mounted) = mounted {
            verified.insert("file system".to_owned(), mounted.fs);
            verified.insert("options".to_owned(), mounted.super_options);
        }
        Ok(Ground { dir, verified, zram: device })
    }
}

/// Blocks that were never written are slower to write the first time.
fn write_through(path: &Path, size: Bytes) -> Result<()> {
    let failed = |error| LabError::file("write", path, error);
    let mut file = OpenOptions::new().read(true).write(true).open(path).map_err(failed)?;
    write_blocks(&mut file, &vec![0; 1 << 20], size.0, Sync::Never).map_err(failed)?;
    // Direct I/O is told apart from the page cache of the image by leaving nothing in it.
    residency::evict(&file, path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_by_name_and_others_refused_with_what_there_is() {
        let names = |names: &[&str]| -> Vec<String> { names.iter().map(|name| (*name).to_owned()).collect() };
        let found = places(&names(&["ramfs", "tmpfs-no-swap"]), "x").unwrap();
        assert!(found[0].kind == PlaceKind::Ramfs && found[1].no_swap);
        for (bad, told) in [(&["floppy"][..], "zram"), (&[], "at least one"), (&["disk", "disk"], "twice")] {
            let error = places(&names(bad), "ramline lab run tmpfs-vs-disk").unwrap_err().to_string();
            assert!(error.contains(told) && error.contains("try: ramline lab run"), "{error}");
        }
    }

    #[test]
    fn xfs_gets_the_least_it_takes() {
        assert_eq!(image_size(PlaceKind::Image(Journalled::Xfs), Bytes::from_mib(1)), Bytes::from_mib(320));
        assert_eq!(image_size(PlaceKind::Image(Journalled::Ext4), Bytes::from_mib(80)), Bytes::from_mib(154));
    }
}
