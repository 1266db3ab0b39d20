//! What an experiment with a scratch file system and a memory group needs, looked at before anything is made.
//!
//! What it is not: the preflight of code-plus-data, whose units and arms say more; the single looks are the same.

use std::path::{Path, PathBuf};

use ramline_gather::quiet;
use ramline_kernel::cgroup::Hierarchy;
use ramline_kernel::place::{self, Place};
use ramline_kernel::{Root, process, swap};
use ramline_units::Bytes;

use crate::error::{LabError, Result};
use crate::preflight::{self, Assessment, BUSY_LIMIT, PRIORITY, Reason, checks};

/// Where scratch files may go, in this order, when nobody says.
const PLACES: [&str; 4] = ["/var/tmp", "/var/lib", "/home", "/root"];
const LOOK: std::time::Duration = std::time::Duration::from_millis(300);

/// What is asked of the machine.
#[derive(Debug, Clone, Copy)]
pub struct Need<'a> {
    /// The experiment, for the commands that are proposed.
    pub name: &'a str,
    /// What it may take from memory at most, without the watchdog's margin.
    pub memory: Bytes,
    /// Which options would make it need less memory or disk.
    pub smaller: &'a str,
    /// What is written to the scratch place at once.
    pub scratch: Bytes,
    /// A swap area is made there.
    pub swap_file: bool,
    /// The place that was named.
    pub dir: Option<&'a Path>,
    /// A busy machine will do.
    pub allow_busy: bool,
}

/// What the machine offers.
#[derive(Debug, Clone)]
pub struct Offer {
    /// Where scratch files go.
    pub place: Place,
    /// Where the group is made.
    pub hierarchy: Hierarchy,
    /// What makes a timing doubtful.
    pub doubts: Vec<String>,
}

impl Need<'_> {
    /// Looks at everything.
    ///
    /// # Errors
    /// `Refused` with every reason and its numbers; nothing has been touched.
    pub fn look(&self, root: &Root) -> Result<Offer> {
        let mut reasons = Vec::new();
        if process::uid() != 0 {
            let text = "a memory cgroup, a loop device and a mount need root";
            reasons.push(Reason { privilege: true, ..Reason::new(text, self.command("sudo ", "")) });
        }
        reasons.extend(checks::panics(ramline_kernel::panic_on_oom(root)));
        let hierarchy = checks::hierarchy(root, &mut reasons);
        reasons.extend(self.memory(ramline_kernel::memory_room(root)?, preflight::margin(checks::mem_total(root))));
        if !checks::has_mke2fs() {
            reasons.push(Reason::new("the program mke2fs is not installed", "sudo apt install e2fsprogs"));
        }
        if !root.path("/dev/loop-control").exists() {
            reasons.push(Reason::new("there are no loop devices: /dev/loop-control is missing", "sudo modprobe loop"));
        }
        let place = self.place(&mut reasons);
        reasons.extend(self.outranked(root)?);
        let seen = quiet::look(root, LOOK)?;
        if seen.cpu_busy > BUSY_LIMIT && !self.allow_busy {
            let (busy, most) = (seen.cpu_busy * 100.0, BUSY_LIMIT * 100.0);
            let text = format!("the machine is busy: {busy:.0} % of the CPU time, at most {most:.0} % allowed");
            reasons.push(Reason::new(text, self.command("", "--allow-busy")));
        }
        match hierarchy.zip(place).filter(|_| reasons.is_empty()) {
            Some((hierarchy, place)) => {
                let doubts = seen.disturbance(BUSY_LIMIT / 2.0).into_iter().collect();
                Ok(Offer { place, hierarchy, doubts })
            }
            None => Err(refusal(reasons)),
        }
    }

    fn command(&self, before: &str, options: &str) -> String {
        format!("{before}ramline lab run {} {options}", self.name).trim_end().to_owned()
    }

    fn memory(&self, room: Bytes, margin: Bytes) -> Option<Reason> {
        let needed = self.memory + margin;
        (room < needed).then(|| {
            let text = format!(
                "memory: {needed} needed ({} and a margin of {margin} for everybody else), {room} can be taken",
                self.memory
            );
            Reason::new(text, self.command("", self.smaller))
        })
    }

    fn place(&self, reasons: &mut Vec<Reason>) -> Option<Place> {
        let dirs = self.dir.map_or_else(|| PLACES.map(PathBuf::from).to_vec(), |dir| vec![dir.to_owned()]);
        let mut why = Vec::new();
        for dir in dirs {
            match self.judge(&dir) {
                Ok(place) => return Some(place),
                Err(mut more) => why.append(&mut more),
            }
        }
        reasons.append(&mut why);
        None
    }

    fn judge(&self, dir: &Path) -> std::result::Result<Place, Vec<Reason>> {
        let tried = "place scratch files in";
        let told = |error: &ramline_kernel::KernelError| {
            let reason = Reason::new(preflight::first_line(&error.to_string()), self.command("", "--dir /var/tmp"));
            Reason { privilege: error.is_denied(), ..reason }
        };
        let place = place::describe(dir).map_err(|error| vec![told(&error)])?;
        let refused = [place.refuse_unless_disk(tried).err(), place::refuse_unless_private(tried, dir).err()];
        let mut reasons: Vec<Reason> = refused.iter().flatten().map(told).collect();
        if self.swap_file && place.fs_type == "btrfs" {
            let text = format!("swap: {} is btrfs, where a swap file would be copied on write", dir.display());
            reasons.push(Reason::new(text, self.command("", "--arms no-swap")));
        }
        // Twice, so that the disk is never left full by us.
        let needed = Bytes(self.scratch.0.saturating_mul(2));
        if place.available < needed {
            let text = format!("disk: {needed} free needed in {}, {} available", dir.display(), place.available);
            reasons.push(Reason::new(text, self.command("", self.smaller)));
        }
        if reasons.is_empty() { Ok(place) } else { Err(reasons) }
    }

    /// Areas that would be used before ours: then an arm would measure somebody else's swap.
    fn outranked(&self, root: &Root) -> Result<Vec<Reason>> {
        if !self.swap_file {
            return Ok(Vec::new());
        }
        let before = swap::areas(root)?.into_iter().filter(|area| area.priority >= i64::from(PRIORITY));
        let reason = |path: &Path| {
            let path = path.display();
            let text =
                format!("swap: {path} has priority {PRIORITY}, so it is used beside or before the area of a setting");
            Reason::new(text, self.command("", "--arms no-swap"))
        };
        Ok(before.map(|area| reason(&area.path)).collect())
    }
}

fn refusal(reasons: Vec<Reason>) -> LabError {
    match (Assessment { plan: None, reasons }).into_plan() {
        Err(error) => error,
        Ok(_) => LabError::usage("there is nothing to run", "ramline lab list"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEED: Need<'_> = Need {
        name: "eat-memory",
        memory: Bytes::from_mib(256),
        smaller: "--limit 64MiB",
        scratch: Bytes::from_mib(1),
        swap_file: false,
        dir: None,
        allow_busy: true,
    };

    #[test]
    fn too_little_memory_is_told_with_the_numbers_and_a_smaller_limit() {
        let margin = Bytes::from_mib(100);
        assert_eq!(NEED.memory(Bytes::from_mib(356), margin), None);
        let reason = NEED.memory(Bytes::from_mib(300), margin).unwrap();
        assert!(reason.text.contains("356.0 MiB needed") && reason.text.contains("300.0 MiB can be taken"));
        assert_eq!(reason.hint, "ramline lab run eat-memory --limit 64MiB");
    }

    #[test]
    fn a_memory_file_system_is_no_scratch_place() {
        let reasons = NEED.judge(Path::new("/proc")).unwrap_err();
        assert!(reasons[0].text.contains("/proc is proc"), "{reasons:?}");
    }

    #[test]
    fn too_little_disk_is_told_with_the_numbers() {
        let reasons = Need { scratch: Bytes(u64::MAX / 4), ..NEED }.judge(Path::new(".")).unwrap_err();
        assert!(reasons.iter().any(|why| why.text.starts_with("disk: ") && why.text.contains("available")));
    }
}
