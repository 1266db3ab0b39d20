//! Requirements, looked at before anything is made: all that is missing is told at once, with the numbers.
//!
//! What it is not: a promise. While a run goes on the watchdog looks again.

pub(crate) mod checks;
mod user;

use ramline_evidence::{Arm, SwapKind};
use ramline_kernel::cgroup::Hierarchy;
use ramline_kernel::place::Place;
use ramline_kernel::{Root, zswap};
use ramline_units::Bytes;

use crate::arm;
use crate::error::{LabError, Result};
use crate::neighbours;
use crate::settings::{CODE_UNITS, Settings};

/// Priority of the areas we make: the highest there is, so that nothing outranks them.
pub const PRIORITY: i32 = 32767;
/// A machine busier than this gives no timing worth having.
pub const BUSY_LIMIT: f64 = 0.5;

/// What the code file lies on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ground {
    /// An ext4 image on a loop device, whose read-ahead is set.
    OwnFs,
    /// The scratch place itself, read with the read-ahead of its disk: without root.
    Plain {
        /// Of the disk.
        read_ahead: Bytes,
    },
}

/// What a run will do, for the reader to agree to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// What was asked for.
    pub settings: Settings,
    /// Arms with fills, in order.
    pub arms: Vec<Arm>,
    /// Where scratch files go.
    pub place: Place,
    /// What the code file lies on there.
    pub ground: Ground,
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
                "{runs} runs: {} settings, {} times each, interleaved; each at most {} s of rounds",
                self.arms.len(),
                settings.runs,
                settings.timeout.as_secs()
            ),
            format!(
                "in a memory cgroup limited to {}; the workload wants {}: {} too much",
                settings.limit(),
                settings.demand(),
                settings.demand().saturating_sub(settings.limit())
            ),
            format!(
                "scratch: up to {} below {} ({} on {}), removed afterwards",
                self.scratch,
                self.place.dir.display(),
                self.place.fs_type,
                self.place.device.as_deref().unwrap_or("no disk named")
            ),
        ];
        if let Ground::Plain { read_ahead } = self.ground {
            lines.push(format!(
                "without root: the groups lie below {}; the code is read with the read-ahead of {}, {}",
                self.hierarchy.parent().unwrap_or_default().display(),
                self.place.device.as_deref().unwrap_or("its disk"),
                arm::kib(read_ahead)
            ));
        }
        lines.extend(self.global.iter().map(|what| format!("outside the sandbox: {what}")));
        lines.extend(self.doubts.iter().map(|what| format!("doubt: {what}")));
        lines
    }
}

/// The watchdog's margin: with less memory to take than this no run begins and none goes on.
#[must_use]
pub fn margin(mem_total: Bytes) -> Bytes {
    Bytes(mem_total.0 / 50).max(Bytes::from_mib(256))
}

/// A reason not to begin, and the one command that helps against it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// What is missing, with the numbers.
    pub text: String,
    /// A complete command.
    pub hint: String,
    /// What is missing is privilege.
    pub privilege: bool,
}

impl Reason {
    pub(crate) fn new(text: impl Into<String>, hint: impl Into<String>) -> Reason {
        Reason { text: text.into(), hint: hint.into(), privilege: false }
    }
}

/// What would be done, and what stands against it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assessment {
    /// The plan, where the machine offers a place and a hierarchy for one.
    pub plan: Option<Plan>,
    /// Why it cannot begin; the most fundamental first.
    pub reasons: Vec<Reason>,
}

impl Assessment {
    /// The plan, when nothing stands against it.
    ///
    /// # Errors
    /// `Refused` with every reason, and the hint of the first.
    pub fn into_plan(self) -> Result<Plan> {
        match (self.plan, self.reasons.first()) {
            (Some(plan), None) => Ok(plan),
            (_, first) => Err(LabError::Refused {
                hint: first.map_or_else(|| "ramline show".to_owned(), |reason| reason.hint.clone()),
                privilege: self.reasons.iter().any(|reason| reason.privilege),
                reasons: self.reasons.into_iter().map(|reason| reason.text).collect(),
            }),
        }
    }
}

/// Looks at the machine and says what would be done.
///
/// # Errors
/// `Refused` with every reason; nothing has been touched.
pub fn plan(root: &Root, settings: &Settings) -> Result<Plan> {
    assess(root, settings)?.into_plan()
}

/// The same with plan and reasons side by side.
///
/// # Errors
/// The settings make no sense, or /proc cannot be read.
pub fn assess(root: &Root, settings: &Settings) -> Result<Assessment> {
    settings.check()?;
    let arms = settings.crossed()?;
    let (scratch, total) = (scratch_needed(settings, &arms), checks::mem_total(root));
    let memory = settings.limit() + margin(total);
    let mut reasons: Vec<Reason> = Vec::new();
    let hierarchy = checks::hierarchy(root, &mut reasons);
    if user::is_one() {
        reasons.extend(user::reasons(hierarchy.as_ref(), settings));
    }
    reasons.extend(checks::panics(ramline_kernel::panic_on_oom(root)));
    reasons.extend(checks::memory(ramline_kernel::memory_room(root)?, memory, settings));
    reasons.extend(checks::programs(root, &arms));
    reasons.extend(checks::zswap(root, &arms)?);
    let place = checks::place(settings, &arms, scratch, &mut reasons);
    reasons.extend(checks::outranked(root, &arms)?);
    let doubts = checks::quiet(root, settings, &arms, &mut reasons)?;
    let plan = hierarchy.zip(place).map(|(hierarchy, place)| {
        let (ground, settings) = if user::is_one() {
            user::ground(root, settings.clone(), &place, &mut reasons)
        } else {
            (Ground::OwnFs, settings.clone())
        };
        let global = global(root, &settings, &arms, &hierarchy);
        Plan { settings, arms, place, ground, hierarchy, scratch, memory, global, doubts }
    });
    Ok(Assessment { plan, reasons })
}

/// An error in one line, without its hint.
#[must_use]
pub fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

/// The image with the code file, and one swap file at a time.
fn scratch_needed(settings: &Settings, arms: &[Arm]) -> Bytes {
    let swap = if arms.iter().any(|arm| arm::on_disk(&arm.swap)) { settings.swap_size() } else { Bytes::ZERO };
    image_size(settings) + swap
}

/// Code, and what ext4 needs beside it.
#[must_use]
pub fn image_size(settings: &Settings) -> Bytes {
    let code = settings.units(CODE_UNITS);
    code + Bytes(code.0 / 16) + Bytes::from_mib(8)
}

fn global(root: &Root, settings: &Settings, arms: &[Arm], hierarchy: &Hierarchy) -> Vec<String> {
    let mut areas = Vec::new();
    if arms.iter().any(|arm| arm::on_disk(&arm.swap)) {
        let (size, priority) = (settings.swap_size(), PRIORITY - 1);
        areas.push(format!(
            "a swap file of {size} with priority {priority} per run; each run may write several times its size"
        ));
    }
    let mut zram: Vec<Bytes> =
        arms.iter().filter(|arm| arm::on_zram(&arm.swap)).map(|arm| settings.zram_size(&arm.swap)).collect();
    zram.sort_unstable();
    zram.dedup();
    areas.extend(zram.iter().map(|size| format!("a zram device of {size} with swap priority {PRIORITY} per run")));
    let mut lines = neighbours::of_swap(root, areas);
    if arms.iter().any(|arm| arm.swap == SwapKind::Zswap) {
        lines.push("zswap of the whole machine is switched on for each run, and put back".to_owned());
    }
    let others = |arm: &Arm| arm.swap != SwapKind::Zswap && (arm::on_disk(&arm.swap) || arm::on_zram(&arm.swap));
    if zswap::is_on(root) && arms.iter().any(others) {
        lines.push(
            "zswap of the whole machine, which is on, is off during runs of the other settings, and put back"
                .to_owned(),
        );
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
    use ramline_sandbox::fill::Fill;

    #[test]
    fn only_arms_with_swap_of_their_own_need_room_for_it() {
        let settings = Settings::default();
        let arms = |text: &str| arm::cross(&[arm::parse(text).unwrap()], &[Fill::Text], &settings.read_aheads).unwrap();
        let code = Bytes::from_mib(96 + 6 + 8);
        assert_eq!(scratch_needed(&settings, &arms("no-swap")), code);
        assert_eq!(scratch_needed(&settings, &arms("swap:60")), code + Bytes::from_mib(512));
    }

    #[test]
    fn the_margin_grows_with_the_machine() {
        assert_eq!(margin(Bytes::from_gib(2)), Bytes::from_mib(256));
        assert_eq!(margin(Bytes::from_gib(100)), Bytes::from_gib(2));
    }

    #[test]
    fn a_refusal_gives_the_hint_of_its_first_reason_and_all_reasons() {
        let reasons =
            vec![Reason { privilege: true, ..Reason::new("not root", "sudo x") }, Reason::new("busy", "wait")];
        let error = Assessment { plan: None, reasons }.into_plan().unwrap_err();
        assert!(matches!(&error, LabError::Refused { privilege: true, hint, .. } if hint == "sudo x"), "{error}");
        // To root it is the same without sudo.
        let hint = ramline_kernel::error::for_this_user("sudo x").unwrap();
        let end = format!("- not root\n  - busy\n  try: {hint}");
        assert!(error.to_string().ends_with(&end), "{error}");
    }
}
