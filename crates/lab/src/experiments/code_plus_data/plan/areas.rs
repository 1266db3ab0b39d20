//! What arms with a zram device or zswap of their own need of the kernel.

use ramline_evidence::{Arm, SwapKind};
use ramline_kernel::{Root, swap, zram, zswap};
use ramline_units::Bytes;

use super::super::settings::NAME;
use ramline_sandbox::error::{Result, first_line};
use ramline_sandbox::requirements::Reason;

/// A device that is there tells what this kernel compresses with; without one the kernel tells when ours is made.
pub fn unknown_algorithm(root: &Root, arm: &Arm) -> Option<Reason> {
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
        Reason::new(text, format!("ramline lab run {NAME} --arms {}", asked.replacen(name.as_str(), first, 1)))
    })
}

/// zswap is one for the whole machine: what is not ours must not go into it, and must not be in it.
pub fn zswap(root: &Root, arms: &[Arm]) -> Result<Vec<Reason>> {
    let Some(arm) = arms.iter().find(|arm| arm.swap == SwapKind::Zswap) else { return Ok(Vec::new()) };
    let elsewhere = format!("ramline lab run {NAME} --sandbox vm --kernel 6.12 --arms zswap:60");
    let reason = |text: String| vec![Reason::new(format!("setting {}: {text}", arm.name), elsewhere.clone())];
    if zswap::read(root, "enabled").is_none() {
        return Ok(reason("this kernel was built without zswap".to_owned()));
    }
    if let Some(area) = swap::areas(root)?.first() {
        let path = area.path.display();
        return Ok(reason(format!("zswap would be switched on for {path} too, and its pages share the pool")));
    }
    Ok(match zswap::pool(root) {
        Ok(Bytes::ZERO) => Vec::new(),
        Ok(pool) => reason(format!("zswap holds {pool} already")),
        Err(error) => reason(format!("its pool cannot be followed: {}", first_line(&error.to_string()))),
    })
}
