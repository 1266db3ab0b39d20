//! What a series in limited groups needs of the machine, and what it changes outside of them.

use crate::prelude::*;

/// Sizes of the swap of the arms that have one of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SwapSizes {
    /// A swap file, or a zram device alone.
    pub area: Bytes,
    /// A zram device above a swap file: a part that is sure to overflow.
    pub above_file: Bytes,
}

impl SwapSizes {
    /// Size of a zram device.
    #[must_use]
    pub const fn zram(self, swap: &SwapKind) -> Bytes {
        match swap {
            SwapKind::ZramOverFile { .. } => self.above_file,
            _ => self.area,
        }
    }

    /// What the arms write to a disk at once.
    #[must_use]
    pub fn on_disk(self, arms: &[Arm]) -> Bytes {
        if arms.iter().any(|arm| arm::on_disk(&arm.swap)) { self.area } else { Bytes::ZERO }
    }
}

/// Requirements of a series.
pub struct SeriesRequest<'a> {
    /// Its experiment.
    pub name: &'a str,
    /// Its arms.
    pub arms: &'a [Arm],
    /// Limit of the group.
    pub limit: Bytes,
    /// What it writes to the disk at once.
    pub scratch: Bytes,
    /// Where; `None`: wherever there is room.
    pub dir: Option<&'a Path>,
    /// Run although the machine is busy.
    pub allow_busy: bool,
}

impl SeriesRequest<'_> {
    /// Looks at the machine, beside the hierarchy of groups: the scratch place, and what makes the timing doubtful.
    ///
    /// # Errors
    /// /proc cannot be read, or the machine is busy.
    pub fn look(&self, root: &Root, check: &mut Check<'_>) -> Result<(Option<Place>, Vec<String>)> {
        let any = |wanted: fn(&SwapKind) -> bool| self.arms.iter().any(|arm| wanted(&arm.swap));
        let (swap_file, zram) = (any(arm::on_disk), any(arm::on_zram));
        check.panics();
        // Pools are inside the limit.
        check.memory(self.limit, &format!("limit {}", self.limit))?;
        // An ordinary user makes neither file systems nor devices.
        if !is_unprivileged() {
            check.tools(Tool::OWN_FS);
            check.tools(if zram { &[Tool::Zram] } else { &[] });
            check.extend(self.arms.iter().find_map(|arm| unknown_algorithm(root, arm, self.name)));
        }
        check.extend(zswap_reasons(root, self.arms)?);
        let place = check.place(self.scratch, self.dir, swap_file);
        if swap_file || zram {
            check.outranked(PRIORITY - 1)?;
        }
        let doubts = if self.arms.iter().any(arm::needs_consent) {
            check.busy_or_reclaiming(self.allow_busy)?
        } else {
            check.busy(self.allow_busy)?
        };
        Ok((place, doubts))
    }
}

/// What is made or changed outside the sandbox, in sentences; nothing when no consent is needed.
pub fn global(root: &Root, swap: SwapSizes, arms: &[Arm], version: Version) -> Vec<String> {
    let mut areas = Vec::new();
    if arms.iter().any(|arm| arm::on_disk(&arm.swap)) {
        let (size, priority) = (swap.area, PRIORITY - 1);
        areas.push(format!(
            "a swap file of {size} with priority {priority} per run; each run may write several times its size"
        ));
    }
    let mut zram: Vec<Bytes> =
        arms.iter().filter(|arm| arm::on_zram(&arm.swap)).map(|arm| swap.zram(&arm.swap)).collect();
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
pub fn unknown_algorithm(root: &Root, arm: &Arm, experiment: &str) -> Option<Reason> {
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
    let elsewhere = "ramline lab run code-plus-data --sandbox vm --kernel 6.12 --arms zswap:60";
    let reason = |text: String| vec![Reason::new(format!("setting {}: {text}", arm.name), elsewhere)];
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
