//! What a series of code-plus-data will do, checked against the machine, for the reader to agree to.

mod unprivileged;

use super::settings::{CODE_UNITS, NAME, Settings};
use crate::prelude::*;

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
            check.extend(arms.iter().find_map(|arm| unknown_algorithm(root, arm, NAME)));
        }
        check.extend(zswap_reasons(root, &arms)?);
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

/// A device that is there tells what this kernel compresses with; without one the kernel tells when ours is made.
pub(crate) fn unknown_algorithm(root: &Root, arm: &Arm, experiment: &str) -> Option<Reason> {
    let (SwapKind::Zram { algorithm: Some(name) } | SwapKind::ZramOverFile { algorithm: Some(name) }) = &arm.swap
    else {
        return None;
    };
    let offered = zram::Device::open(root, *zram::list(root).first()?).algorithms().ok()?;
    let (known, first) = (offered.contains(name), offered.first()?);
    (!known).then(|| {
        // The name of the arm, without what it was crossed with.
        let asked = arm.name.split(' ').next().unwrap_or_default();
        let text = format!("setting {asked}: zram of this kernel has no {name}, but {}", offered.join(", "));
        Reason::new(text, format!("ramline lab run {experiment} --arms {}", asked.replacen(name.as_str(), first, 1)))
    })
}

/// zswap is one for the whole machine: what is not ours must not go into it, and must not be in it.
fn zswap_reasons(root: &Root, arms: &[Arm]) -> Result<Vec<Reason>> {
    let Some(arm) = arms.iter().find(|arm| arm.swap == SwapKind::Zswap) else { return Ok(Vec::new()) };
    let elsewhere = format!("ramline lab run {NAME} --sandbox vm --kernel 6.12 --arms zswap:60");
    let reason = |text: String| vec![Reason::new(format!("setting {}: {text}", arm.name), elsewhere.clone())];
    if zswap::read(root, "enabled").is_none() {
        return Ok(reason("this kernel was built without zswap".to_owned()));
    }
    if let Some(area) = swap::areas(root)?.first() {
        let path = &area.path;
        return Ok(reason(format!("zswap would be switched on for {path} too, and its pages share the pool")));
    }
    Ok(match zswap::pool(root) {
        Ok(Bytes::ZERO) => Vec::new(),
        Ok(pool) => reason(format!("zswap holds {pool} already")),
        Err(error) => reason(format!("its pool cannot be followed: {}", first_line(&error.to_string()))),
    })
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
