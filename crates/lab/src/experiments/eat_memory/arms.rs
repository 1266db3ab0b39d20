//! Arms of eat-memory: parts joined by `+`.
//!
//! `cache+swap:60` reads the files before and has a swap file of its own at swappiness 60; `idle` writes data first that nobody
//! looks at again; `no-limit` leaves the group without a limit, and the child ends at `--eat`.

use crate::prelude::*;

/// Its name on the command line and in records.
pub const NAME: &str = "eat-memory";

/// Files are read before.
pub const CACHE: &str = "cache";
/// Data is written before that is not looked at again.
pub const IDLE: &str = "idle";
/// The group has no limit.
pub const NO_LIMIT: &str = "no-limit";

/// Whether the arm has that part.
pub fn has(arm: &Arm, part: &str) -> bool {
    arm.settings.contains_key(part)
}

/// Reads one arm.
pub fn parse(text: &str) -> Result<Arm> {
    let bad = |why: &str| {
        let hint = format!("ramline lab run {NAME} --arms no-swap,cache+no-swap,idle+cache+swap:60");
        LabError::usage(format!("'{}' is not a setting: {why}", text.escape_debug()), hint)
    };
    let mut arm = Arm { name: text.to_owned(), ..Arm::default() };
    let (mut settings, mut swap) = (BTreeMap::new(), None);
    for part in text.split('+') {
        let twice = match part.split_once(':') {
            None if [CACHE, IDLE, NO_LIMIT].contains(&part) => {
                settings.insert(part.to_owned(), "yes".to_owned()).is_some()
            }
            None if part == "no-swap" => swap.replace(SwapKind::None).is_some(),
            None if part == "as-configured" => swap.replace(SwapKind::AsConfigured).is_some(),
            Some(("swap", value)) => {
                let value = ramline_sandbox::arm::swappiness(value).ok_or_else(|| bad("swappiness is 0 to 200"))?;
                arm.swappiness = Some(value);
                swap.replace(SwapKind::File).is_some()
            }
            _ => return Err(bad(&format!("it has a part '{}'", part.escape_debug()))),
        };
        if twice {
            return Err(bad("it says the same thing twice"));
        }
    }
    if settings.contains_key(NO_LIMIT) && swap == Some(SwapKind::File) {
        return Err(bad("without a limit nothing presses, so nothing would be swapped"));
    }
    (arm.settings, arm.swap) = (settings, swap.unwrap_or_default());
    Ok(arm)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_may_stand_in_any_order_and_each_once() {
        let arm = parse("swap:60+cache+idle").unwrap();
        assert_eq!((arm.swap.clone(), arm.swappiness), (SwapKind::File, Some(60)));
        assert!(has(&arm, CACHE) && has(&arm, IDLE) && !has(&arm, NO_LIMIT));
        assert_eq!(parse("cache").unwrap().swap, SwapKind::AsConfigured);
        for (text, why) in [
            ("", "part ''"),
            ("cache+cache", "twice"),
            ("no-swap+swap:60", "twice"),
            ("swap:201", "0 to 200"),
            ("zram:60", "part 'zram:60'"),
            ("no-limit+swap:60", "nothing presses"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(why) && error.contains("try: ramline lab run eat-memory --arms"), "{error}");
        }
    }
}
