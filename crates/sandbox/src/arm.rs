//! Arms of an experiment: what is varied between runs, as written on the command line.
//!
//! `as-configured` takes the machine as it is, `no-swap` forbids the group to swap, `swap:S` makes a swap file and sets
//! swappiness S, `zram:S` and `zram:ALG:S` a zram device, `zram+swap:S` a zram device of two units above a swap file,
//! `zswap:S` a swap file behind zswap. The first two touch nothing outside the sandbox; the others make a swap area, which is global
//! except in a virtual machine, and need consent.
//!
//! ```
//! use ramline_sandbox::arm;
//! let parsed = arm::parse("zram:lz4:100")?;
//! assert_eq!(parsed.swappiness, Some(100));
//! assert!(arm::needs_consent(&parsed));
//! # Ok::<(), ramline_sandbox::LabError>(())
//! ```

use ramline_evidence::Arm;
use ramline_model::settings::{self, Knob, Place, Reach};

use crate::fill::Fill;
use crate::prelude::*;

/// What runs without consent.
pub const DEFAULT_ARMS: [&str; 2] = ["as-configured", "no-swap"];

const GRAMMAR: &str = "ramline lab run code-plus-data --arms as-configured,no-swap,swap:60,zram:lz4:100";

/// Reads one arm, without a fill.
///
/// # Errors
/// Another text; swappiness is 0 to 200.
pub fn parse(text: &str) -> Result<Arm> {
    let bad = || LabError::usage(format!("'{text}' is not a setting"), GRAMMAR);
    let words: Vec<&str> = text.split(':').collect();
    let swappiness = |word: &str| swappiness(word).map(Some).ok_or_else(bad);
    let algorithm = |words: &[&str]| match words {
        [] => Ok(None),
        [name] if is_algorithm(name) => Ok(Some((*name).to_owned())),
        _ => Err(bad()),
    };
    let (swap, swappiness) = match words.as_slice() {
        ["as-configured"] => (SwapKind::AsConfigured, None),
        ["no-swap"] => (SwapKind::None, None),
        ["swap", value] => (SwapKind::File, swappiness(value)?),
        ["zswap", value] => (SwapKind::Zswap, swappiness(value)?),
        ["zram", name @ .., value] => (SwapKind::Zram { algorithm: algorithm(name)? }, swappiness(value)?),
        ["zram+swap", name @ .., value] => (SwapKind::ZramOverFile { algorithm: algorithm(name)? }, swappiness(value)?),
        _ => return Err(bad()),
    };
    Ok(Arm { name: text.to_owned(), swap, swappiness, ..Arm::default() })
}

/// As the settings table takes it.
#[must_use]
pub fn swappiness(word: &str) -> Option<u32> {
    settings::parse(Knob::Swappiness, word)?.parse().ok()
}

/// The name goes into a file of the kernel: letters, digits and a hyphen, as all algorithms have.
fn is_algorithm(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// The setting of an arm that has a read-ahead of its own.
pub const READ_AHEAD: &str = "read-ahead";

/// Every arm with every fill and every read-ahead, arms first: `swap:60 text`, `no-swap text`, `swap:60 random`, …; a
/// read-ahead is in the name where there are several: `swap:60 text 8192KiB`.
///
/// # Errors
/// No arm, no fill or no read-ahead.
pub fn cross(arms: &[Arm], fills: &[Fill], read_aheads: &[Bytes]) -> Result<Vec<Arm>> {
    if arms.is_empty() || fills.is_empty() || read_aheads.is_empty() {
        return Err(LabError::usage("an experiment needs at least one setting, one fill and one read-ahead", GRAMMAR));
    }
    let filled =
        |arm: &Arm, fill: &Fill| Arm { name: format!("{} {fill}", arm.name), fill: fill.to_string(), ..arm.clone() };
    let plain: Vec<Arm> = fills.iter().flat_map(|fill| arms.iter().map(move |arm| filled(arm, fill))).collect();
    if read_aheads.len() == 1 {
        return Ok(plain);
    }
    let ahead = |arm: &Arm, size: &Bytes| {
        let size = kib(*size);
        let settings = [(READ_AHEAD.to_owned(), size.clone())].into();
        Arm { name: format!("{} {size}", arm.name), settings, ..arm.clone() }
    };
    Ok(read_aheads.iter().flat_map(|size| plain.iter().map(move |arm| ahead(arm, size))).collect())
}

/// `128KiB`, as on the command line.
#[must_use]
pub fn kib(size: Bytes) -> String {
    format!("{}KiB", size.0 / 1024)
}

/// True when the arm makes or changes something outside its sandbox, be that a group of version 1 or of version 2.
#[must_use]
pub fn needs_consent(arm: &Arm) -> bool {
    let groups = [Place::CgroupV1, Place::CgroupV2];
    knobs(arm).into_iter().any(|knob| groups.iter().any(|place| settings::reach(knob, *place) == Reach::Global))
}

/// What has to be set for the arm; where that is possible is in the settings table.
#[must_use]
pub fn knobs(arm: &Arm) -> Vec<Knob> {
    let own = [
        (arm.swap == SwapKind::None, Knob::SwapLimit),
        (on_zram(&arm.swap), Knob::Zram),
        (on_disk(&arm.swap), Knob::SwapArea),
        (arm.swap == SwapKind::Zswap, Knob::Zswap),
        (arm.swappiness.is_some(), Knob::Swappiness),
    ];
    let own = own.into_iter().filter_map(|(wanted, knob)| wanted.then_some(knob));
    std::iter::once(Knob::MemoryLimit).chain(own).collect()
}

/// The arm needs a swap area on a disk.
#[must_use]
pub const fn on_disk(swap: &SwapKind) -> bool {
    matches!(swap, SwapKind::File | SwapKind::ZramOverFile { .. } | SwapKind::Zswap)
}

/// The arm needs a zram device.
#[must_use]
pub const fn on_zram(swap: &SwapKind) -> bool {
    matches!(swap, SwapKind::Zram { .. } | SwapKind::ZramOverFile { .. })
}

/// The order of runs: round after round, each arm once, the order of arms turned by one place each round so that no arm
/// is always first after the set-up.
#[must_use]
pub fn interleaved(arms: usize, runs: u32) -> Vec<(u32, usize)> {
    let turn = |repetition: u32| usize::try_from(repetition).unwrap_or_default();
    (0..runs).flat_map(|run| (0..arms).map(move |place| (run, (place + turn(run)) % arms.max(1)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arms_are_read_as_written_and_others_are_refused_with_an_example() {
        assert_eq!(parse("swap:0").unwrap().swappiness, Some(0));
        assert_eq!(parse("zram:180").unwrap().swap, SwapKind::Zram { algorithm: None });
        for bad in [
            "",
            "swap",
            "swap:201",
            "swap:-1",
            "swap:x",
            "zram:../../x:60",
            "zram:lz4:60:1",
            "noswap",
            "zswap",
            "zram+swap",
        ] {
            let error = parse(bad).unwrap_err().to_string();
            assert!(error.contains("swap:60") && error.contains(bad), "{error}");
        }
    }

    #[test]
    fn several_read_aheads_are_arms_of_their_own() {
        let arms = [parse("no-swap").unwrap(), parse("swap:60").unwrap()];
        let names = |sizes: &[u64]| -> Vec<String> {
            let sizes: Vec<Bytes> = sizes.iter().map(|kib| Bytes::from_kib(*kib)).collect();
            cross(&arms, &[Fill::Text], &sizes).unwrap().into_iter().map(|arm| arm.name).collect()
        };
        assert_eq!(names(&[128]), ["no-swap text", "swap:60 text"]);
        assert_eq!(names(&[128, 8192])[1..3], ["swap:60 text 128KiB", "no-swap text 8192KiB"]);
        assert!(cross(&arms, &[Fill::Text], &[]).is_err());
    }

    #[test]
    fn only_the_default_arms_need_no_consent() {
        for text in DEFAULT_ARMS {
            assert!(!needs_consent(&parse(text).unwrap()));
        }
        assert!(needs_consent(&parse("swap:60").unwrap()) && needs_consent(&parse("zram:60").unwrap()));
    }

    #[test]
    fn every_arm_runs_once_per_repetition_and_each_is_first_in_turn() {
        let order = interleaved(3, 3);
        assert_eq!(order, [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (1, 0), (2, 2), (2, 0), (2, 1)]);
    }
}
