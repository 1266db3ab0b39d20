//! Requirements, looked at before anything is made: all that is missing is told at once, with the numbers.
//!
//! What it is not: a promise. While a run goes on the watchdog looks again.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use ramline_evidence::{Arm, SwapKind};
use ramline_kernel::cgroup::Hierarchy;
use ramline_kernel::place::{self, Place};
use ramline_kernel::{Root, process, quiet, swap, zram};
use ramline_units::Bytes;

use crate::arm;
use crate::error::{LabError, Result};
use crate::settings::{CODE_UNITS, Settings};

/// Priority of the areas we make: the highest there is, so that nothing outranks them.
pub const PRIORITY: i32 = 32767;
/// A machine busier than this gives no timing worth having.
pub const BUSY_LIMIT: f64 = 0.5;
/// Where scratch files may go, in this order, when nobody says.
const PLACES: [&str; 4] = ["/var/tmp", "/var/lib", "/home", "/root"];

/// What a run will do, for the reader to agree to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// What was asked for.
    pub settings: Settings,
    /// Arms with fills, in order.
    pub arms: Vec<Arm>,
    /// Where scratch files go.
    pub place: Place,
    /// The hierarchy the sandbox is made in.
    pub hierarchy: Hierarchy,
    /// What is written to the disk at once: code file and swap files, in bytes.
    pub scratch: Bytes,
    /// What it may take from memory at most: the limit (pools are inside it) and the watchdog's margin.
    pub memory: Bytes,
    /// What is made or changed outside the sandbox; nothing when no consent is needed.
    pub global: Vec<String>,
    /// What makes the timing doubtful but not impossible.
    pub doubts: Vec<String>,
}

impl Plan {
    /// True when something outside the sandbox is touched.
    #[must_use]
    pub fn needs_consent(&self) -> bool {
        !self.global.is_empty()
    }

    /// The plan in sentences, printed before anything is done.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let settings = &self.settings;
        let runs = self.arms.len().saturating_mul(usize::try_from(settings.runs).unwrap_or(usize::MAX));
        let mut lines = vec![
            format!(
                "{runs} runs: {} arms, {} times each, interleaved; each at most {} s of rounds",
                self.arms.len(),
                settings.runs,
                settings.timeout.as_secs()
            ),
            format!(
                "in a memory cgroup limited to {}; the workload wants {}: {} too much",
                settings.limit(),
                settings.demand(),
                settings.demand() - settings.limit()
            ),
            format!(
                "scratch: up to {} below {} ({} on {}), removed afterwards",
                self.scratch,
                self.place.dir.display(),
                self.place.fs_type,
                self.place.device.as_deref().unwrap_or("no disk named")
            ),
        ];
        lines.extend(self.global.iter().map(|what| format!("outside the sandbox: {what}")));
        lines.extend(self.doubts.iter().map(|what| format!("doubt: {what}")));
        lines
    }
}

/// The watchdog's margin: below this much MemAvailable no run begins and none goes on.
#[must_use]
pub fn margin(mem_total: Bytes) -> Bytes {
    Bytes(mem_total.0 / 50).max(Bytes::from_mib(256))
}

/// Looks at the machine and says what would be done.
///
/// # Errors
/// `Refused` with every reason; nothing has been touched.
pub fn plan(root: &Root, settings: &Settings) -> Result<Plan> {
    settings.check()?;
    let arms = arm::cross(&settings.arms, &settings.fills)?;
    let mut reasons = Vec::new();
    if process::uid() != 0 {
        reasons.push("a memory cgroup, a loop device and a mount need root".to_owned());
    }
    let hierarchy = Hierarchy::detect(root).map_err(|error| reasons.push(error.to_string())).ok();
    if let Some(hierarchy) = &hierarchy {
        reasons.extend(hierarchy.parent().err().map(|error| error.to_string()));
    }
    let total = ramline_kernel::gather::gather(
        root,
        ramline_snapshot::Wanted { meminfo: true, ..ramline_snapshot::Wanted::NOTHING },
    )
    .mem_total();
    let memory = settings.limit() + margin(total.unwrap_or_default());
    let available = swap::mem_available(root)?;
    if available < memory {
        reasons
            .push(format!("memory: {memory} needed (limit {} and a margin), {available} available", settings.limit()));
    }
    if !has_mke2fs() {
        reasons.push("the program mke2fs is not installed (apt install e2fsprogs)".to_owned());
    }
    let scratch = scratch_needed(settings, &arms);
    let place = match &settings.dir {
        Some(dir) => judge(dir, scratch),
        None => choose(scratch),
    };
    let place = place.map_err(|mut why| reasons.append(&mut why)).ok();
    reasons.extend(outranked(root, &arms)?);
    if arms.iter().any(|arm| matches!(arm.swap, SwapKind::Zram { .. })) && !zram::has_control(root) {
        reasons.push("zram: the driver is not loaded (modprobe zram)".to_owned());
    }
    let quiet = quiet::look(root, Duration::from_millis(300))?;
    if quiet.cpu_busy > BUSY_LIMIT && !settings.allow_busy {
        reasons.push(format!(
            "the machine is busy: {:.0} % of the CPU time, at most {:.0} % allowed",
            quiet.cpu_busy * 100.0,
            BUSY_LIMIT * 100.0
        ));
    }
    match (reasons.is_empty(), hierarchy, place) {
        (true, Some(hierarchy), Some(place)) => Ok(Plan {
            global: global(settings, &arms, &hierarchy),
            settings: settings.clone(),
            arms,
            place,
            hierarchy,
            scratch,
            memory,
            doubts: quiet.disturbance(0.25).into_iter().collect(),
        }),
        _ => Err(LabError::Refused {
            reasons,
            hint: "sudo ramline lab run code-plus-data --unit 16MiB --dir /var/tmp".to_owned(),
        }),
    }
}

/// Same places as where the file system is made.
fn has_mke2fs() -> bool {
    ["mke2fs", "/sbin/mke2fs", "/usr/sbin/mke2fs"].iter().any(|program| {
        std::process::Command::new(program)
            .arg("-V")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok()
    })
}

/// The image with the code file, and one swap file at a time.
fn scratch_needed(settings: &Settings, arms: &[Arm]) -> Bytes {
    let swap = if arms.iter().any(|arm| arm.swap == SwapKind::File) { settings.swap_size() } else { Bytes::ZERO };
    image_size(settings) + swap
}

/// Code, and what ext4 needs beside it.
#[must_use]
pub fn image_size(settings: &Settings) -> Bytes {
    let code = settings.units(CODE_UNITS);
    code + Bytes(code.0 / 16) + Bytes::from_mib(8)
}

/// Whether `dir` can hold the scratch files.
fn judge(dir: &Path, scratch: Bytes) -> std::result::Result<Place, Vec<String>> {
    let place = place::describe(dir).map_err(|error| vec![error.to_string()])?;
    let mut reasons: Vec<String> =
        place.refuse_unless_disk("place scratch files in").err().map(|error| error.to_string()).into_iter().collect();
    // Twice, so that the disk is never left full by us.
    let needed = Bytes(scratch.0.saturating_mul(2));
    if place.available < needed {
        reasons.push(format!("disk: {needed} free needed in {}, {} available", dir.display(), place.available));
    }
    if reasons.is_empty() { Ok(place) } else { Err(reasons) }
}

fn choose(scratch: Bytes) -> std::result::Result<Place, Vec<String>> {
    let mut reasons = Vec::new();
    for dir in PLACES.map(PathBuf::from) {
        match judge(&dir, scratch) {
            Ok(place) => return Ok(place),
            Err(mut why) => reasons.append(&mut why),
        }
    }
    Err(reasons)
}

/// Areas that would be used before ours: then an arm would measure somebody else's swap.
fn outranked(root: &Root, arms: &[Arm]) -> Result<Vec<String>> {
    if !arms.iter().any(|arm| matches!(arm.swap, SwapKind::File | SwapKind::Zram { .. })) {
        return Ok(Vec::new());
    }
    let areas = swap::areas(root)?;
    Ok(areas
        .iter()
        .filter(|area| area.priority >= i64::from(PRIORITY))
        .map(|area| {
            format!(
                "swap: {} has priority {}, which would be used beside or before the area of an arm",
                area.path.display(),
                area.priority
            )
        })
        .collect())
}

fn global(settings: &Settings, arms: &[Arm], hierarchy: &Hierarchy) -> Vec<String> {
    let mut lines = Vec::new();
    if arms.iter().any(|arm| arm.swap == SwapKind::File) {
        lines.push(format!(
            "a swap file of {} with priority {PRIORITY} per run; while it is on, other processes may swap to it too; each run may write several times its size",
            settings.swap_size()
        ));
    }
    if arms.iter().any(|arm| matches!(arm.swap, SwapKind::Zram { .. })) {
        lines.push(format!("a zram device of {} with swap priority {PRIORITY} per run", settings.swap_size()));
    }
    if hierarchy.version() == ramline_kernel::cgroup::Version::V2 && arms.iter().any(|arm| arm.swappiness.is_some()) {
        lines.push(
            "vm.swappiness of the whole machine, put back after each run (cgroup v2 has none per group)".to_owned(),
        );
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fill::Fill;

    #[test]
    fn a_memory_file_system_is_refused_with_its_name() {
        let reasons = judge(Path::new("/proc"), Bytes::from_mib(1)).unwrap_err();
        assert!(reasons[0].contains("/proc is proc"), "{reasons:?}");
    }

    #[test]
    fn too_little_disk_is_refused_with_the_numbers() {
        let reasons = judge(Path::new("."), Bytes(u64::MAX / 4)).unwrap_err();
        assert!(reasons.iter().any(|why| why.starts_with("disk: ") && why.contains("available")), "{reasons:?}");
    }

    #[test]
    fn only_arms_with_swap_of_their_own_need_room_for_it() {
        let settings = Settings::default();
        let arms = |text: &str| arm::cross(&[arm::parse(text).unwrap()], &[Fill::Text]).unwrap();
        let code = Bytes::from_mib(96 + 6 + 8);
        assert_eq!(scratch_needed(&settings, &arms("no-swap")), code);
        assert_eq!(scratch_needed(&settings, &arms("swap:60")), code + Bytes::from_mib(512));
    }

    #[test]
    fn the_margin_grows_with_the_machine() {
        assert_eq!(margin(Bytes::from_gib(2)), Bytes::from_mib(256));
        assert_eq!(margin(Bytes::from_gib(100)), Bytes::from_gib(2));
    }
}
