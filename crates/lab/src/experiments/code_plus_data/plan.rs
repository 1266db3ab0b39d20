//! What a series of code-plus-data will do, checked against the machine, for the reader to agree to.

mod areas;
mod unprivileged;

use ramline_evidence::{Arm, SwapKind};
use ramline_kernel::cgroup::{Hierarchy, Version};
use ramline_kernel::place::Place;
use ramline_kernel::{Root, zswap};
use ramline_units::Bytes;

use super::settings::{CODE_UNITS, NAME, Settings};
use ramline_sandbox::arm;
use ramline_sandbox::error::Result;
use ramline_sandbox::own_fs::image_size;
use ramline_sandbox::requirements::{Caller, Check, PRIORITY, Tool, consent, is_unprivileged, scratch_line};

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
pub struct CodePlusDataPlan {
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
    /// What is made or changed outside the sandbox; nothing when no consent is needed.
    pub global: Vec<String>,
    /// What makes the timing doubtful but not impossible.
    pub doubts: Vec<String>,
}

impl CodePlusDataPlan {
    /// Looks at the machine and says what would be done.
    ///
    /// # Errors
    /// The settings make no sense, or `Refused` with every reason; nothing has been touched.
    pub fn checked(root: &Root, settings: &Settings) -> Result<CodePlusDataPlan> {
        settings.check()?;
        let (arms, mut settings) = (settings.crossed()?, settings.clone());
        let any = |wanted: fn(&SwapKind) -> bool| arms.iter().any(|arm| wanted(&arm.swap));
        let (swap_file, zram) = (any(arm::on_disk), any(arm::on_zram));
        let scratch = scratch_needed(&settings, &arms);
        let smaller = if settings.unit > Bytes::from_mib(16) { "--unit 16MiB" } else { "--unit 4MiB" };
        let command = format!("ramline lab run {NAME}");
        let caller = Caller { command: &command, smaller, without_swap: "--arms as-configured,no-swap" };
        let mut check = Check::new(root, caller);
        let hierarchy = check.hierarchy();
        if is_unprivileged() {
            check.extend(unprivileged::reasons(hierarchy.as_ref(), &settings));
        }
        check.panics();
        // Pools are inside the limit.
        check.memory(settings.limit(), &format!("limit {}", settings.limit()))?;
        // An ordinary user makes neither file systems nor devices.
        if !is_unprivileged() {
            check.tools(Tool::OWN_FS);
            check.tools(if zram { &[Tool::Zram] } else { &[] });
            check.extend(arms.iter().find_map(|arm| areas::unknown_algorithm(root, arm)));
        }
        check.extend(areas::zswap(root, &arms)?);
        let place = check.place(scratch, settings.dir.as_deref(), swap_file);
        if swap_file || zram {
            check.outranked(PRIORITY - 1)?;
        }
        let doubts = if arms.iter().any(arm::needs_consent) {
            check.busy_or_reclaiming(settings.allow_busy)?
        } else {
            check.busy(settings.allow_busy)?
        };
        let mut ground = Ground::OwnFs;
        if let Some(place) = place.as_ref().filter(|_| is_unprivileged()) {
            match unprivileged::read_ahead(root, &settings, place) {
                Ok(read_ahead) => {
                    ground = Ground::Plain { read_ahead };
                    settings.read_aheads = vec![read_ahead];
                }
                Err(reason) => check.extend([reason]),
            }
        }
        let (hierarchy, place) = check.conclude(hierarchy.zip(place))?;
        let global = global(root, &settings, &arms, hierarchy.version());
        Ok(CodePlusDataPlan { settings, arms, place, ground, hierarchy, scratch, global, doubts })
    }

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
            scratch_line(&format!(": up to {}", self.scratch), &self.place),
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

/// The image with the code file, and one swap file at a time.
fn scratch_needed(settings: &Settings, arms: &[Arm]) -> Bytes {
    let swap = if arms.iter().any(|arm| arm::on_disk(&arm.swap)) { settings.swap_size() } else { Bytes::ZERO };
    image_size(settings.units(CODE_UNITS)) + swap
}

fn global(root: &Root, settings: &Settings, arms: &[Arm], version: Version) -> Vec<String> {
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
    let mut lines = consent::swap_areas(root, areas);
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
    if arms.iter().any(|arm| arm.swappiness.is_some()) {
        lines.extend(consent::swappiness(Some(version)));
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
        let code = Bytes::from_mib(96 + 12 + 16);
        assert_eq!(scratch_needed(&settings, &arms("no-swap")), code);
        assert_eq!(scratch_needed(&settings, &arms("swap:60")), code + Bytes::from_mib(512));
    }
}
