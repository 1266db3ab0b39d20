//! The bed of an experiment about files: checks that are the same for all of them.
//!
//! What it is not: a sandbox for memory; groups are made by the experiments, and their files lie in [`crate::own_fs`].

use std::path::{Path, PathBuf};
use std::time::Duration;

use ramline_gather::quiet;
use ramline_kernel::cgroup::Hierarchy;
use ramline_kernel::place::{self, Place};
use ramline_kernel::{Root, process};
use ramline_units::Bytes;

use crate::error::{LabError, Result};
use crate::params::Params;
use crate::preflight::{BUSY_LIMIT, Reason, checks, first_line, margin};

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

/// Files, and what ext4 needs beside them: below 512 MiB an inode of 256 bytes for every 4 KiB, and 2 % that it keeps for itself.
#[must_use]
pub fn image_size(files: Bytes) -> Bytes {
    files + Bytes(files.0 / 8) + Bytes::from_mib(16)
}
