//! Without root: what an ordinary user may have, in a group of version 2 that was given to him, and what stands against it.
//!
//! The group comes from systemd (`Delegate=yes`); which knobs it has is in the settings table. There is no loop device: the code
//! lies on the scratch place itself and is read with the read-ahead of its disk, which is recorded. What it is not: less of a
//! sandbox; limits, watchdog and journal are the same.

use ramline_model::settings::{self as table, Reach};

use super::super::settings::{NAME, Settings};
use crate::prelude::*;

/// Gives ramline a group of its own.
const SCOPE: &str = "systemd-run --user --scope -p Delegate=yes ramline lab run";

/// What needs root of that which is asked for.
pub fn reasons(hierarchy: Option<&Hierarchy>, settings: &Settings) -> Vec<Reason> {
    if hierarchy.is_some_and(|found| found.version() == Version::V1) {
        let text = "a memory cgroup of version 1, which this machine has, needs root: only version 2 can be delegated";
        return vec![Reason::privilege(text, format!("sudo ramline lab run {NAME}"))];
    }
    let mut reasons: Vec<Reason> = settings
        .arms
        .iter()
        .filter_map(|arm| {
            let knob = arm::knobs(arm)
                .into_iter()
                .find(|knob| table::reach(*knob, table::Place::Delegated) == Reach::Impossible)?;
            let text = format!("setting {} needs root: {}", arm.name, why(knob));
            Some(Reason::privilege(text, format!("{SCOPE} {NAME} --arms {}", arm::DEFAULT_ARMS.join(","))))
        })
        .collect();
    if settings.read_aheads.len() > 1 {
        let text = "several read-aheads need root: they are set at a loop device, which only root can make";
        reasons.push(Reason::privilege(text, format!("{SCOPE} {NAME}")));
    }
    reasons
}

fn why(knob: Knob) -> &'static str {
    match knob {
        Knob::SwapArea => "it makes a swap area, and those belong to the machine",
        Knob::Zram => "it makes a zram device, and those belong to the machine",
        Knob::Swappiness => "version 2 has no swappiness per group, only that of the machine",
        _ => "it sets something of the whole machine",
    }
}

/// What the code is read with: the read-ahead of the disk, whatever it is, unless another was asked for.
pub fn read_ahead(root: &Root, settings: &Settings, place: &Place) -> std::result::Result<Bytes, Reason> {
    let disk = place.device.as_deref().unwrap_or("its disk");
    let asked = settings.read_aheads.first().copied().unwrap_or_default();
    let unknown = || {
        let text = format!("read-ahead: with what {} ({}) is read is not known", place.dir.display(), place.fs_type);
        Reason::new(text, format!("{SCOPE} {NAME} --dir /var/tmp"))
    };
    let has = place.read_ahead(root).ok_or_else(unknown)?;
    other(asked, has, disk).map_or(Ok(has), Err)
}

/// The default is no wish.
fn other(asked: Bytes, has: Bytes, disk: &str) -> Option<Reason> {
    (asked != has && !Settings::default().read_aheads.contains(&asked)).then(|| {
        let (asked, has) = (arm::kib(asked), arm::kib(has));
        let text = format!("a read-ahead of {asked} needs root: without, the code is read with that of {disk}, {has}");
        Reason::privilege(text, format!("{SCOPE} {NAME} --read-ahead {has}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(arms: &[&str]) -> Vec<Reason> {
        let arms = arms.iter().map(|text| arm::parse(text).unwrap()).collect();
        reasons(None, &Settings { arms, ..Settings::default() })
    }

    #[test]
    fn arms_that_touch_the_machine_are_named_with_those_that_do_not() {
        assert_eq!(refused(&["as-configured", "no-swap"]), []);
        let all = refused(&["no-swap", "swap:60", "zram:60", "zram+swap:60", "zswap:60"]);
        assert_eq!(all.len(), 4);
        assert!(all[0].text.starts_with("setting swap:60 needs root: it makes a swap area"), "{all:?}");
        assert!(all[1].text.contains("zram:60 needs root: it makes a zram device"), "{all:?}");
        for reason in all {
            assert!(reason.privilege && reason.hint.ends_with("--arms as-configured,no-swap"), "{reason:?}");
            assert!(reason.hint.starts_with("systemd-run --user --scope -p Delegate=yes"), "{reason:?}");
        }
    }

    #[test]
    fn the_read_ahead_is_that_of_the_disk_and_another_is_not_promised() {
        let (small, large) = (Bytes::from_kib(128), Bytes::from_kib(4096));
        assert_eq!((other(small, small, "vda"), other(small, large, "vda")), (None, None), "the default is no wish");
        assert_eq!(other(large, large, "vda"), None);
        let reason = other(large, small, "vda").unwrap();
        assert!(
            reason.text.contains("4096KiB needs root") && reason.text.contains("that of vda, 128KiB"),
            "{reason:?}"
        );
        let several = Settings { read_aheads: vec![small, large], ..Settings::default() };
        assert!(reasons(None, &several)[0].text.contains("several read-aheads need root"));
    }
}
