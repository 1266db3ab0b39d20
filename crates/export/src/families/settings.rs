//! Settings as facts, with who sets them.

use ramline_snapshot::configured::Configured;
use ramline_snapshot::sysctl::VmSettings;

use crate::family::{Family, Kind, Unit, family};

const INFO: (Kind, Unit) = (Kind::Info, Unit::None);

/// The file and line that the value in force is from; a file that says something else did not set it.
fn set_by(configured: Option<&Configured>, key: &str, now: i64) -> String {
    let Some(configured) = configured else { return String::new() };
    match configured.for_key(key).last() {
        Some(last) if last.value == now.to_string() => format!("{}:{}", last.file, last.line),
        Some(last) => format!("not {}:{}, which sets {}", last.file, last.line, last.value),
        None => "no sysctl file".to_owned(),
    }
}

pub const FAMILIES: &[Family] = &[family(
    "ramline_setting",
    INFO,
    "swappiness",
    "A setting below /proc/sys/vm, its value, and the sysctl file and line that sets it.",
    |seen, out| {
        let Some(settings) = seen.snapshot.settings.data() else { return };
        for key in VmSettings::KEYS {
            let (name, value) = (format!("vm.{key}"), settings.get(key));
            let set_by = value.map(|now| set_by(seen.snapshot.configured.data(), &name, now)).unwrap_or_default();
            let text = value.map(|now| now.to_string()).unwrap_or_default();
            out.with(&[("name", &name), ("value", &text), ("set_by", &set_by)], value.map(|_| 1u64));
        }
    },
)];
