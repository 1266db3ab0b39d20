//! The bed of an experiment about files: checks that are the same for all of them, and a scratch ext4 of its own.
//!
//! What it is not: a sandbox for memory; groups are made by the experiments. The ext4 lies in an image on a loop device with
//! direct I/O, so a page of a file is in memory once, and the read-ahead of that device can be set without touching the host's.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ramline_act::Run;
use ramline_kernel::cgroup::Hierarchy;
use ramline_kernel::place::{self, Place};
use ramline_kernel::{Root, loopdev, process, quiet, residency};
use ramline_units::Bytes;

use crate::error::{LabError, Result};
use crate::params::Params;
use crate::preflight::{BUSY_LIMIT, Reason, checks, first_line, margin};
use crate::scratch;

/// Where scratch files may go, in this order, when nobody says.
const PLACES: [&str; 4] = ["/var/tmp", "/var/lib", "/home", "/root"];
/// How long the machine is looked at before the series and before each run.
const LOOK: Duration = Duration::from_millis(200);

/// What an experiment about files wants of the machine.
#[derive(Debug, Clone, Copy)]
pub struct Need<'a> {
    /// Its name, for hints.
    pub experiment: &'a str,
    /// Scratch on a disk.
    pub disk: Bytes,
    /// Memory beside the margin.
    pub memory: Bytes,
    /// An option that makes it smaller.
    pub smaller: &'a str,
}

/// What was found.
#[derive(Debug, Clone)]
pub struct Found {
    /// For scratch files.
    pub place: Place,
    /// For groups.
    pub hierarchy: Hierarchy,
    /// What makes timing doubtful.
    pub doubts: Vec<String>,
}

/// Looks at the machine; `reasons` are those the experiment has found itself.
///
/// # Errors
/// `Refused` with every reason; nothing has been touched.
pub fn look(root: &Root, params: &Params, need: Need<'_>, mut reasons: Vec<Reason>) -> Result<Found> {
    let run = format!("ramline lab run {}", need.experiment);
    if process::uid() != 0 {
        let text = "memory cgroups, loop devices and mounts need root";
        reasons.insert(0, Reason { privilege: true, ..Reason::new(text, format!("sudo {run}")) });
    }
    reasons.extend(checks::panics(ramline_kernel::panic_on_oom(root)));
    let hierarchy = checks::hierarchy(root, &mut reasons);
    let (room, needed) = (ramline_kernel::memory_room(root)?, need.memory + margin(checks::mem_total(root)));
    if room < needed {
        let text = format!("memory: {needed} needed ({} and a margin), {room} can be taken", need.memory);
        reasons.push(Reason::new(text, format!("{run} {}", need.smaller)));
    }
    reasons.extend(checks::programs(root, &[]));
    let place = choose(params, need, &run, &mut reasons);
    let seen = quiet::look(root, LOOK)?;
    if seen.cpu_busy > BUSY_LIMIT && !params.switch("allow-busy") {
        let (busy, most) = (seen.cpu_busy * 100.0, BUSY_LIMIT * 100.0);
        let text = format!("the machine is busy: {busy:.0} % of the CPU time, at most {most:.0} % allowed");
        reasons.push(Reason::new(text, format!("{run} --allow-busy")));
    }
    match (place, hierarchy, reasons.first()) {
        (Some(place), Some(hierarchy), None) => {
            Ok(Found { place, hierarchy, doubts: seen.disturbance(BUSY_LIMIT / 2.0).into_iter().collect() })
        }
        (_, _, first) => Err(LabError::Refused {
            hint: first.map_or(run, |reason| reason.hint.clone()),
            privilege: reasons.iter().any(|reason| reason.privilege),
            reasons: reasons.into_iter().map(|reason| reason.text).collect(),
        }),
    }
}

fn choose(params: &Params, need: Need<'_>, run: &str, reasons: &mut Vec<Reason>) -> Option<Place> {
    let dirs = params.path("dir").map_or_else(|| PLACES.map(PathBuf::from).to_vec(), |dir| vec![dir]);
    let mut why = Vec::new();
    for dir in dirs {
        match judge(&dir, need.disk) {
            Ok(place) => return Some(place),
            Err(text) => why.push(Reason::new(text, format!("{run} --dir /var/tmp"))),
        }
    }
    reasons.append(&mut why);
    None
}

fn judge(dir: &Path, scratch: Bytes) -> std::result::Result<Place, String> {
    let text = |error: ramline_kernel::KernelError| first_line(&error.to_string());
    let place = place::describe(dir).map_err(text)?;
    let tried = "place scratch files in";
    place.refuse_unless_disk(tried).and_then(|()| place::refuse_unless_private(tried, dir)).map_err(text)?;
    // Twice, so that the disk is never left full by us.
    let needed = Bytes(scratch.0.saturating_mul(2));
    if place.available < needed {
        return Err(format!("disk: {needed} free needed in {}, {} available", dir.display(), place.available));
    }
    Ok(place)
}

/// What disturbs the machine just now.
///
/// # Errors
/// /proc cannot be read.
pub fn disturbance(root: &Root) -> Result<Option<String>> {
    let why = quiet::look(root, LOOK)?.disturbance(BUSY_LIMIT / 2.0);
    Ok(why.map(|why| format!("the machine was not quiet before the run: {why}")))
}

/// A scratch ext4.
#[derive(Debug)]
pub struct Bed {
    dir: PathBuf,
    at: PathBuf,
    device: loopdev::LoopDevice,
}

impl Bed {
    /// Makes directory, image, loop device and mount, through the journal; `size` is what files may take in it.
    ///
    /// # Errors
    /// The first step that fails.
    pub fn make(place: &Place, size: Bytes, read_ahead: Bytes, run: &mut Run) -> Result<Bed> {
        let dir = scratch::own_dir(&place.dir, run)?;
        let image = run.make_image_file(&dir.join("image"), image_size(size))?;
        run.mkfs_ext4(&image)?;
        let device = run.attach_loop(&image, loopdev::Options::default())?;
        // Before the mount: a file takes the read-ahead of its device when it is opened.
        run.set_knob(&device.read_ahead_knob(), &(read_ahead.0 / 1024).to_string())?;
        let at = run.make_dir(&dir.join("mnt"))?;
        run.mount_ext4(device.node(), &at, false)?;
        Ok(Bed { dir, at, device })
    }

    /// The private directory on the disk that was chosen.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The root of the scratch file system.
    #[must_use]
    pub fn at(&self) -> &Path {
        &self.at
    }

    /// The loop device below it.
    #[must_use]
    pub fn device(&self) -> &loopdev::LoopDevice {
        &self.device
    }

    /// Makes a file of random bytes in it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn file(&self, name: &str, size: Bytes) -> Result<PathBuf> {
        let path = self.at.join(name);
        let failed = |error| LabError::file("write", &path, error);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).map_err(failed)?;
        scratch::code_bytes(&mut file, size).and_then(|()| file.sync_all()).map_err(failed)?;
        Ok(path)
    }

    /// What was asked of the device and what it does, by name.
    #[must_use]
    pub fn verified(&self) -> Vec<(String, String)> {
        let knob = ramline_kernel::write::read_knob(&self.device.read_ahead_knob());
        let direct = self.device.direct_io().map_or("unknown".to_owned(), |direct| direct.to_string());
        vec![
            ("scratch read-ahead KiB".to_owned(), knob.unwrap_or_else(|| "unknown".to_owned())),
            ("scratch direct I/O".to_owned(), direct),
        ]
    }
}

/// Files, and what ext4 needs beside them: below 512 MiB an inode of 256 bytes for every 4 KiB, and 2 % that it keeps for itself.
#[must_use]
pub fn image_size(files: Bytes) -> Bytes {
    files + Bytes(files.0 / 8) + Bytes::from_mib(16)
}

/// Pages of a file in the page cache.
///
/// # Errors
/// When it cannot be opened or counted.
pub fn cached(path: &Path) -> Result<u64> {
    let file = File::open(path).map_err(|error| LabError::file("open", path, error))?;
    Ok(residency::of(&file, path)?.cached)
}

/// Drops a file from the page cache and proves it.
///
/// # Errors
/// When pages stay.
pub fn evict(path: &Path) -> Result<()> {
    let file = File::open(path).map_err(|error| LabError::file("open", path, error))?;
    let evicted = residency::evict(&file, path)?;
    if evicted.after.cached == 0 {
        return Ok(());
    }
    let (left, all) = (evicted.after.cached, evicted.before.cached);
    Err(LabError::Workload(format!("{left} of {all} cached pages of {} could not be evicted", path.display())))
}
