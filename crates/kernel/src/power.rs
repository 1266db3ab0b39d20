//! Whether the machine runs on its battery, by /sys/class/power_supply.
//!
//! A supply with `online` 1 that is no battery is the mains. Where only a battery is known, one that discharges tells; those of mice and the like
//! (`scope` Device) say nothing about the machine.

use crate::prelude::*;

/// True on battery; false on the mains, and where there is no battery.
#[must_use]
pub fn on_battery(root: &Root) -> bool {
    let Ok(entries) = std::fs::read_dir(root.path("/sys/class/power_supply")) else { return false };
    let (mut batteries, mut mains, mut online, mut discharging) = (0, 0, false, false);
    for dir in entries.flatten().map(|entry| entry.path()) {
        let word = |name: &str| read_text(&dir.join(name)).ok().map(|text| text.trim().to_owned());
        if word("scope").as_deref() == Some("Device") {
            continue;
        }
        match word("type").as_deref() {
            Some("Battery") => {
                batteries += 1;
                discharging |= word("status").as_deref() == Some("Discharging");
            }
            Some(_) => {
                if let Some(state) = word("online") {
                    mains += 1;
                    // 2 is a programmable supply.
                    online |= state != "0";
                }
            }
            None => {}
        }
    }
    match (batteries, mains) {
        (0, _) => false,
        (_, 0) => discharging,
        _ => !online,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn supplies(all: &[(&str, &[(&str, &str)])]) -> bool {
        let tree = tempfile::tempdir().unwrap();
        for (name, files) in all {
            let dir = tree.path().join("sys/class/power_supply").join(name);
            std::fs::create_dir_all(&dir).unwrap();
            for (file, text) in *files {
                std::fs::write(dir.join(file), format!("{text}\n")).unwrap();
            }
        }
        on_battery(&Root::new(tree.path()))
    }

    #[test]
    fn a_machine_is_on_battery_when_its_mains_are_off_and_a_mouse_is_no_machine() {
        let battery = |status| ("BAT0", [("type", "Battery"), ("status", status)]);
        let (full, empty) = (battery("Charging"), battery("Discharging"));
        let mains = |online| ("AC", [("type", "Mains"), ("online", online)]);
        assert!(!supplies(&[]));
        assert!(!supplies(&[(full.0, &full.1), (mains("1").0, &mains("1").1)]));
        assert!(supplies(&[(empty.0, &empty.1), (mains("0").0, &mains("0").1)]));
        assert!(supplies(&[(empty.0, &empty.1)]));
        let mouse = [("type", "Battery"), ("scope", "Device"), ("status", "Discharging")];
        assert!(!supplies(&[("mouse", &mouse)]));
    }
}
