//! What experiments with a command of the reader's have in common: is the machine fit, where may files go, how much may be used.
//!
//! What it is not: an experiment's own requirements; those it checks itself.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ramline_act::Run;
use ramline_gather::quiet;
use ramline_kernel::cgroup::{Group, Hierarchy, Version};
use ramline_kernel::place::{self, Place};
use ramline_kernel::{KernelError, Root, memory_room, process};
use ramline_units::{Bytes, Limit};

use crate::error::{LabError, Result};
use crate::preflight::{self, BUSY_LIMIT, Reason, checks};

/// Where scratch files may go, in this order, when nobody says.
const PLACES: [&str; 4] = ["/var/tmp", "/var/lib", "/home", "/root"];
/// How long the machine is looked at.
const LOOK: Duration = Duration::from_millis(300);

/// A reason from an error of the kernel.
#[must_use]
pub fn reason(error: &KernelError, otherwise: &str) -> Reason {
    let hint = error.try_hint.clone().unwrap_or_else(|| otherwise.to_owned());
    Reason { privilege: error.is_denied(), ..Reason::new(preflight::first_line(&error.to_string()), hint) }
}

/// Refuses a busy machine unless that is allowed; returns what is doubtful.
///
/// # Errors
/// /proc cannot be read.
pub fn busy(root: &Root, allowed: bool, experiment: &str, reasons: &mut Vec<Reason>) -> Result<Vec<String>> {
    let seen = quiet::look(root, LOOK)?;
    if seen.cpu_busy > BUSY_LIMIT && !allowed {
        let (busy, limit) = (seen.cpu_busy * 100.0, BUSY_LIMIT * 100.0);
        let text = format!("the machine is busy: {busy:.0} % of the CPU time, at most {limit:.0} % allowed");
        reasons.push(Reason::new(text, format!("ramline lab run {experiment} --allow-busy")));
    }
    Ok(seen.disturbance(BUSY_LIMIT / 2.0).into_iter().collect())
}

/// A directory on a disk that nobody else can write to, with twice `needed` free.
#[must_use]
pub fn scratch(dir: Option<PathBuf>, needed: Bytes, experiment: &str, reasons: &mut Vec<Reason>) -> Option<Place> {
    let dirs = dir.map_or_else(|| PLACES.map(PathBuf::from).to_vec(), |dir| vec![dir]);
    let mut why = Vec::new();
    for dir in dirs {
        match judge(&dir, needed, experiment) {
            Ok(place) => return Some(place),
            Err(reason) => why.push(reason),
        }
    }
    reasons.append(&mut why);
    None
}

fn judge(dir: &Path, needed: Bytes, experiment: &str) -> std::result::Result<Place, Reason> {
    let elsewhere = format!("ramline lab run {experiment} --dir /var/tmp");
    let tried = "place scratch files in";
    let failed = |error: KernelError| reason(&error, &elsewhere);
    let place = place::describe(dir).map_err(failed)?;
    place.refuse_unless_disk(tried).map_err(failed)?;
    place::refuse_unless_private(tried, dir).map_err(failed)?;
    let twice = Bytes(needed.0.saturating_mul(2));
    if place.available < twice {
        let text = format!("disk: {twice} free needed in {}, {} available", dir.display(), place.available);
        return Err(Reason::new(text, elsewhere));
    }
    Ok(place)
}

/// What a group without a limit of its own is limited to all the same, so that a command cannot hurt the machine: what can be
/// taken, less the watchdog's margin.
///
/// # Errors
/// /proc cannot be read.
pub fn most(root: &Root) -> Result<Bytes> {
    Ok(memory_room(root)?.saturating_sub(preflight::margin(checks::mem_total(root))))
}

/// A fresh group for one run, limited. What is left of memory limits it when `limit` is not given.
///
/// # Errors
/// It cannot be made or limited; the journal undoes it.
pub fn group(
    root: &Root,
    hierarchy: &Hierarchy,
    limit: Option<Bytes>,
    n: u32,
    run: &mut Run,
) -> Result<(Group, Bytes)> {
    let limit = match limit {
        Some(limit) => limit,
        None => most(root)?,
    };
    let group = run.make_cgroup(hierarchy, n)?;
    group.set_memory_limit(Limit::At(limit))?;
    Ok((group, limit))
}

/// The word for a record.
#[must_use]
pub fn sandbox(hierarchy: Option<&Hierarchy>) -> (&'static str, u32) {
    match hierarchy.map(Hierarchy::version) {
        Some(Version::V1) => ("cgroup-v1", 1),
        Some(Version::V2) => ("cgroup-v2", 2),
        None => ("none", 0),
    }
}

/// Nothing stands against it, or all that does.
///
/// # Errors
/// `Refused` with every reason and the hint of the first.
pub fn judged(reasons: Vec<Reason>) -> Result<()> {
    let Some(first) = reasons.first() else { return Ok(()) };
    Err(LabError::Refused {
        hint: first.hint.clone(),
        privilege: reasons.iter().any(|reason| reason.privilege),
        reasons: reasons.into_iter().map(|reason| reason.text).collect(),
    })
}

/// Root is needed for this.
#[must_use]
pub fn root_for(what: &str, experiment: &str) -> Option<Reason> {
    (process::uid() != 0).then(|| Reason {
        privilege: true,
        ..Reason::new(format!("{what} needs root"), format!("sudo ramline lab run {experiment}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memory_file_system_and_a_full_disk_are_refused_with_the_numbers() {
        assert!(judge(Path::new("/proc"), Bytes(1), "x").unwrap_err().text.contains("is proc"));
        if let Err(reason) = judge(Path::new("/var/tmp"), Bytes(u64::MAX / 4), "cold-warm") {
            println!("{reason:?}");
            assert!(reason.hint.contains("cold-warm") || reason.hint.contains("--dir"), "{reason:?}");
        }
    }

    #[test]
    fn all_reasons_are_told_and_the_first_gives_the_hint() {
        assert!(judged(Vec::new()).is_ok());
        let error = judged(vec![Reason::new("a", "do b"), Reason::new("c", "do d")]).unwrap_err().to_string();
        assert!(error.contains("- a\n  - c\n  try: do b"), "{error}");
    }
}
