//! What file operations need, looked at before anything is made.
//!
//! What it is not: a look at values; whoever calls has checked those.

use std::path::PathBuf;
use std::time::Duration;

use ramline_gather::gather;
use ramline_gather::quiet;
use ramline_kernel::cgroup::Hierarchy;
use ramline_kernel::mount::{self, Journalled};
use ramline_kernel::place;
use ramline_kernel::{Root, memory_room, process, zram};
use ramline_snapshot::Wanted;
use ramline_units::Bytes;

use super::ground::{Kind, Place};
use crate::error::{LabError, Result};
use crate::preflight::{BUSY_LIMIT, Reason, checks, margin};

/// What a series asks for.
#[derive(Debug, Clone)]
pub struct Needs<'a> {
    /// The experiment.
    pub experiment: &'a str,
    /// Its places.
    pub places: &'a [Place],
    /// On the disk at once.
    pub scratch: Bytes,
    /// In memory at once.
    pub memory: Bytes,
    /// A memory cgroup is made.
    pub group: bool,
    /// A swap file is made.
    pub swap: bool,
    /// Options that make it smaller.
    pub smaller: &'a str,
    /// Scratch place; `None`: chosen.
    pub dir: Option<PathBuf>,
    /// A busy machine is taken too.
    pub allow_busy: bool,
}

/// What was found.
#[derive(Debug, Clone)]
pub struct Found {
    /// Where scratch files go.
    pub place: place::Place,
    /// Read-ahead of the disk below it.
    pub read_ahead: Option<Bytes>,
    /// The hierarchy groups are made in.
    pub hierarchy: Option<Hierarchy>,
    /// What makes timing doubtful but not impossible.
    pub doubts: Vec<String>,
}

/// Looks at everything.
///
/// # Errors
/// `Refused` with all that is missing, the most fundamental first.
pub fn look(root: &Root, needs: &Needs<'_>) -> Result<Found> {
    let run = format!("ramline lab run {}", needs.experiment);
    let mut reasons: Vec<Reason> = Vec::new();
    if process::uid() != 0 {
        let text = "mounting file systems needs root";
        reasons.push(Reason { privilege: true, ..Reason::new(text, format!("sudo {run}")) });
    }
    let mut hierarchy = None;
    if needs.group {
        reasons.extend(checks::panics(ramline_kernel::panic_on_oom(root)));
        hierarchy = checks::hierarchy(root, &mut reasons);
    }
    let needed = needs.memory + margin(checks::mem_total(root));
    let room = memory_room(root)?;
    if room < needed {
        let text = format!("memory: {needed} needed ({} and a margin), {room} can be taken", needs.memory);
        reasons.push(Reason::new(text, format!("{run} {}", needs.smaller)));
    }
    reasons.extend(programs(root, needs, &run));
    let place = choose(needs, &run, &mut reasons);
    if needs.swap {
        reasons.extend(checks::outranking(root)?.into_iter().map(|text| {
            let plain = format!("{run} --operations write,write-synced,read-warm");
            Reason::new(text, plain)
        }));
    }
    let seen = quiet::look(root, Duration::from_millis(300))?;
    if seen.cpu_busy > BUSY_LIMIT && !needs.allow_busy {
        let per_cent = |share: f64| share * 100.0;
        let text = format!(
            "the machine is busy: {:.0} % of the CPU time, at most {:.0} % allowed",
            per_cent(seen.cpu_busy),
            per_cent(BUSY_LIMIT)
        );
        reasons.push(Reason::new(text, format!("{run} --allow-busy")));
    }
    let doubts = seen.disturbance(BUSY_LIMIT / 2.0).into_iter().collect();
    match (place, reasons.first()) {
        (Some(place), None) => Ok(Found { read_ahead: read_ahead(root, &place), place, hierarchy, doubts }),
        (_, first) => Err(LabError::Refused {
            hint: first.map_or_else(|| run.clone(), |reason| reason.hint.clone()),
            privilege: reasons.iter().any(|reason| reason.privilege),
            reasons: reasons.into_iter().map(|reason| reason.text).collect(),
        }),
    }
}

fn programs(root: &Root, needs: &Needs<'_>, run: &str) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let has = |kind: Kind| needs.places.iter().any(|place| place.kind == kind);
    let images = has(Kind::Image(Journalled::Ext4)) || has(Kind::Image(Journalled::Xfs));
    if (has(Kind::Image(Journalled::Ext4)) || has(Kind::Zram)) && !Journalled::Ext4.has_program() {
        reasons.push(Reason::new("the program mke2fs is not installed", "sudo apt install e2fsprogs"));
    }
    if has(Kind::Image(Journalled::Xfs)) && !Journalled::Xfs.has_program() {
        reasons.push(Reason::new("setting xfs: the program mkfs.xfs is not installed", "sudo apt install xfsprogs"));
    }
    if images && !root.path("/dev/loop-control").exists() {
        reasons.push(Reason::new("there are no loop devices: /dev/loop-control is missing", "sudo modprobe loop"));
    }
    if has(Kind::Zram) && !zram::has_control(root) {
        reasons.push(Reason::new("setting zram: the driver is not loaded", "sudo modprobe zram"));
    }
    if process::uid() == 0 {
        for place in needs.places {
            let Kind::Tmpfs { huge, noswap } = place.kind else { continue };
            let unknown = (noswap && !mount::tmpfs_knows("noswap", None))
                || (huge && !mount::tmpfs_knows("huge", Some("within_size")));
            if unknown {
                let option = if noswap { "noswap (Linux 6.4)" } else { "huge=within_size (huge pages)" };
                let text = format!("setting {}: the tmpfs of this kernel has no option {option}", place.name);
                reasons.push(Reason::new(text, format!("{run} --arms tmpfs,disk")));
            }
        }
    }
    reasons
}

fn choose(needs: &Needs<'_>, run: &str, reasons: &mut Vec<Reason>) -> Option<place::Place> {
    let dirs = match &needs.dir {
        Some(dir) => vec![dir.clone()],
        None => checks::PLACES.map(PathBuf::from).to_vec(),
    };
    let mut why = Vec::new();
    for dir in dirs {
        match checks::judge(&dir, needs.scratch, needs.swap) {
            Ok(place) => return Some(place),
            Err(more) => why.extend(more.into_iter().map(|reason| {
                let smaller = reason.text.starts_with("disk:");
                let hint = if smaller { needs.smaller.to_owned() } else { "--dir /var/tmp".to_owned() };
                Reason { hint: format!("{run} {hint}"), ..reason }
            })),
        }
    }
    reasons.extend(why);
    None
}

fn read_ahead(root: &Root, place: &place::Place) -> Option<Bytes> {
    let seen = gather(root, Wanted { blocks: true, ..Wanted::NOTHING });
    let name = place.device.as_ref()?;
    seen.blocks.data()?.iter().find(|block| block.name == *name)?.read_ahead
}
