//! The files that make zram swap at every boot, with zram-generator and without it.
//!
//! Without it four files do: a module that is loaded, with one device; a udev rule that sets the algorithm before the size, since a sized device
//! keeps its algorithm, and hands the device to systemd; a unit bound to the device that formats it and switches it on at a priority.
//! The order of steps serves both directions: units and rules are read again behind the edits when they are made, and behind them when undone.

use ramline_units::Bytes;

use crate::edit::{LeftAlone, OWN, ini};
use crate::{ServiceVerb, Step};

/// A zram device as swap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZramSetUp {
    /// Its number.
    pub number: u32,
    /// Its compressor; `None` leaves it to the kernel.
    pub algorithm: Option<String>,
    /// Its size, uncompressed.
    pub size: Bytes,
    /// Its priority among the swap areas.
    pub priority: i32,
}

/// Where zram-generator is configured.
pub const GENERATOR_CONF: &str = "/etc/systemd/zram-generator.conf";
/// The key of a section by which machines with more RAM get no device.
const RAM_LIMIT: &str = "host-memory-limit";
const MODULES: &str = "/etc/modules-load.d/ramline-zram.conf";
const OPTIONS: &str = "/etc/modprobe.d/ramline-zram.conf";
const RULE: &str = "/etc/udev/rules.d/90-ramline-zram.rules";
const UNITS: &str = "/etc/systemd/system";

/// What zram-generator makes of a section, in the order in which it is started: the second needs the first, and in newer versions the first ends with it.
#[must_use]
pub fn generator_units(section: &str) -> Vec<String> {
    vec![format!("systemd-zram-setup@{section}.service"), format!("dev-{section}.swap")]
}

/// Steps for a machine with zram-generator. `conf` is its configuration as it is, `unsized` a device that is there and has no size.
///
/// # Errors
/// A configuration with a line it does not know.
pub fn with_generator(set_up: &ZramSetUp, conf: Option<&str>) -> Result<Vec<Step>, LeftAlone> {
    let section = format!("zram{}", set_up.number);
    let (size, priority) = (format!("{}", set_up.size.0.div_ceil(1 << 20)), set_up.priority.to_string());
    let mut keys = vec![("zram-size", &*size), ("swap-priority", &*priority)];
    if let Some(algorithm) = &set_up.algorithm {
        keys.insert(1, ("compression-algorithm", algorithm));
    }
    // Of more RAM than this there would be no device: not what the reader of a plan for this machine wants.
    if conf.is_some_and(|conf| ini::get(conf, &section, RAM_LIMIT).is_some()) {
        keys.push((RAM_LIMIT, "none"));
    }
    let after = ini::set(conf, &section, &keys)?;
    let mut steps = vec![
        Step::ReloadUnits,
        Step::EditFile { path: GENERATOR_CONF.into(), before: conf.map(str::to_owned), after: Some(after) },
        Step::ReloadUnits,
    ];
    let start = |unit| Step::Service { unit, verb: ServiceVerb::Start };
    steps.extend(generator_units(&section).into_iter().map(start));
    Ok(steps)
}

/// Steps for a machine with systemd and udev and without zram-generator. `loaded` says that the module is there already.
#[must_use]
pub fn without_generator(set_up: &ZramSetUp, loaded: bool) -> Vec<Step> {
    let ZramSetUp { number, algorithm, size, priority } = set_up;
    let device = format!("zram{number}");
    let unit = format!("ramline-{device}.service");
    let file = |path: &str, text: String| Step::EditFile { path: path.into(), before: None, after: Some(text) };
    let chosen = algorithm.as_ref().map_or(String::new(), |name| format!("ATTR{{comp_algorithm}}=\"{name}\", "));
    let rule = format!(
        "{OWN}ACTION==\"add|change\", SUBSYSTEM==\"block\", KERNEL==\"{device}\", ATTR{{initstate}}==\"0\", \
         {chosen}ATTR{{disksize}}=\"{}\", TAG+=\"systemd\"\n",
        size.0
    );
    let service = format!(
        "{OWN}[Unit]\nDescription=Compressed swap in RAM on /dev/{device}\nBindsTo=dev-{device}.device\nAfter=dev-{device}.device\n\
         DefaultDependencies=no\nConflicts=umount.target\nBefore=umount.target swap.target\n\n\
         [Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/sbin/mkswap --label ramline /dev/{device}\n\
         ExecStart=/sbin/swapon --priority {priority} /dev/{device}\nExecStop=/sbin/swapoff /dev/{device}\n\n\
         [Install]\nWantedBy=swap.target\n"
    );
    let wants = format!("{UNITS}/swap.target.wants");
    let mut steps = vec![
        Step::ReloadUnits,
        Step::ReloadRules,
        file(MODULES, format!("{OWN}zram\n")),
        file(OPTIONS, format!("{OWN}options zram num_devices={}\n", number.saturating_add(1))),
        file(RULE, rule),
        file(&format!("{UNITS}/{unit}"), service),
        Step::MakeDirectory { path: wants.clone() },
        Step::Link { path: format!("{wants}/{unit}"), before: None, after: Some(format!("{UNITS}/{unit}")) },
        Step::ReloadUnits,
        Step::ReloadRules,
    ];
    if !loaded {
        steps.push(Step::LoadModule { name: "zram".into() });
    }
    steps.push(Step::SizeZram { device, algorithm: algorithm.clone(), size: *size });
    steps.push(Step::Service { unit, verb: ServiceVerb::Start });
    steps
}

/// Steps for this boot alone, without a file: the device is sized, formatted and switched on.
#[must_use]
pub fn for_this_boot(set_up: &ZramSetUp, loaded: bool) -> Vec<Step> {
    let ZramSetUp { number, algorithm, size, priority } = set_up;
    let device = format!("zram{number}");
    let mut steps = Vec::new();
    if !loaded {
        steps.push(Step::LoadModule { name: "zram".into() });
    }
    steps.push(Step::SizeZram { device: device.clone(), algorithm: algorithm.clone(), size: *size });
    steps.push(Step::FormatZram { device: device.clone() });
    steps.push(Step::SwapOn { path: format!("/dev/{device}"), priority: Some(*priority) });
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set_up() -> ZramSetUp {
        ZramSetUp { number: 0, algorithm: Some("zstd".into()), size: Bytes::from_mib(512), priority: 100 }
    }

    #[test]
    fn the_rule_sets_the_algorithm_before_the_size() {
        let steps = without_generator(&set_up(), true);
        let rule = steps.iter().find_map(|step| match step {
            Step::EditFile { path, after, .. } if path == RULE => after.clone(),
            _ => None,
        });
        let rule = rule.unwrap();
        assert!(rule.find("comp_algorithm").unwrap() < rule.find("disksize").unwrap());
        assert!(rule.contains("ATTR{disksize}=\"536870912\""), "{rule}");
    }

    #[test]
    fn an_algorithm_left_to_the_kernel_is_named_nowhere() {
        let kernels = ZramSetUp { algorithm: None, ..set_up() };
        for steps in [without_generator(&kernels, true), with_generator(&kernels, None).unwrap()] {
            assert!(!format!("{steps:?}").contains("algorithm ="), "{steps:?}");
            assert!(!format!("{steps:?}").contains("comp_algorithm"), "{steps:?}");
        }
        let lines: Vec<String> = for_this_boot(&kernels, false).iter().map(Step::line).collect();
        assert_eq!(
            lines,
            [
                "load module zram",
                "size zram0: 512.0 MiB, the kernel's own algorithm",
                "mkswap /dev/zram0",
                "swapon /dev/zram0 at priority 100"
            ]
        );
    }

    #[test]
    fn units_are_read_again_behind_the_edits_in_both_directions() {
        for steps in [without_generator(&set_up(), false), with_generator(&set_up(), None).unwrap()] {
            let edit = |step: &Step| matches!(step, Step::EditFile { .. } | Step::Link { .. });
            let (first, last) = (steps.iter().position(edit).unwrap(), steps.iter().rposition(edit).unwrap());
            assert!(steps[..first].contains(&Step::ReloadUnits) && steps[last..].contains(&Step::ReloadUnits));
            assert!(matches!(steps.last(), Some(Step::Service { .. })));
        }
    }

    #[test]
    fn the_generator_gets_its_section_and_other_sections_stay() {
        let steps = with_generator(&set_up(), Some("[zram1]\nzram-size = 1\n")).unwrap();
        let Step::EditFile { after: Some(after), .. } = &steps[1] else { panic!("{steps:?}") };
        assert_eq!(
            after,
            "[zram1]\nzram-size = 1\n\n[zram0]\nzram-size = 512\ncompression-algorithm = zstd\nswap-priority = 100\n"
        );
    }

    #[test]
    fn a_section_for_small_machines_only_holds_for_this_one_too() {
        let steps = with_generator(&set_up(), Some("[zram0]\nhost-memory-limit = 128\n")).unwrap();
        let Step::EditFile { after: Some(after), .. } = &steps[1] else { panic!("{steps:?}") };
        assert!(after.starts_with("[zram0]\nhost-memory-limit = none\nzram-size = 512\n"), "{after}");
    }
}
