//! `--set KEY=VALUE`: what a value is, and whether the kernel has such a setting, before anything is done.

use ramline_advice::planning::nearest_setting;
use ramline_gather::{vm_setting, vm_settings};
use ramline_snapshot::sysctl::VmSettings;

use crate::prelude::*;

/// `vm.swappiness=60`.
pub fn value(text: &str) -> Result<(String, i64), String> {
    let wrong = || format!("'{}' is no setting; try: vm.swappiness=60", text.escape_debug());
    let (key, value) = text.split_once('=').ok_or_else(wrong)?;
    let key = key.trim();
    let others = || {
        format!(
            "'{}' is no setting of memory: --set takes those below vm. (sysctl sets the others)",
            key.escape_debug()
        )
    };
    // `kernel.panic`: a name of the kernel's that is not below vm.
    let is_other = !key.starts_with("vm.") && key.contains('.');
    let name = key.strip_prefix("vm.").ok_or_else(|| if is_other { others() } else { wrong() })?;
    let value: i64 = value.trim().parse().map_err(|_| wrong())?;
    let knob = |knob| ramline_model::settings::parse(knob, &value.to_string()).is_some();
    let fits = match name {
        "swappiness" => knob(ramline_model::settings::Knob::Swappiness),
        "page-cluster" => knob(ramline_model::settings::Knob::PageCluster),
        "watermark_scale_factor" => knob(ramline_model::settings::Knob::WatermarkScale),
        _ => value >= 0,
    };
    if fits {
        Ok((format!("vm.{name}"), value))
    } else {
        Err(format!("the kernel takes no {value} for vm.{name}; try: ramline explain {name}"))
    }
}

/// The texts of the settings that a snapshot does not hold, by name; empty where one cannot be read.
///
/// # Errors
/// This kernel has no such setting; the nearest name is given.
pub fn look_up(source: &Source, set: &[(String, i64)]) -> Result<Vec<(String, String)>> {
    if set.is_empty() || matches!(source.kind(), SourceKind::File(_)) {
        return Ok(Vec::new());
    }
    let root = source.kernel_root()?;
    let names = vm_settings(&root);
    let mut others = Vec::new();
    for (key, value) in set {
        let name = key.strip_prefix("vm.").unwrap_or(key);
        if !names.is_empty() && !names.iter().any(|known| known == name) {
            let (text, other) = match nearest_setting(name, &names) {
                Some(near) => (format!("; nearest: vm.{near}"), format!("--set vm.{near}={value}")),
                None => (String::new(), "sysctl -a --pattern '^vm'".to_owned()),
            };
            let hint = if text.is_empty() { other } else { format!("ramline tune plan {other}") };
            return Err(Failure::usage(format!("this kernel has no setting {key}{text}\n  try: {hint}")).into());
        }
        if !VmSettings::KEYS.contains(&name) && names.iter().any(|known| known == name) {
            others.push((name.to_owned(), vm_setting(&root, name).unwrap_or_default()));
        }
    }
    Ok(others)
}

/// Adds them to what was seen.
pub fn add(snapshot: &mut Snapshot, others: Vec<(String, String)>) {
    if let Some(settings) = snapshot.settings.data_mut() {
        others.iter().for_each(|(name, text)| settings.put(name, text));
    }
}
