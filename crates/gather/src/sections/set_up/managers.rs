//! Who else makes swap or sets knobs: zram-tools, systemd-swap, rpi-swap and their like, tuned, rules of udev.

use ramline_snapshot::configured::{Configured, Setting};
use ramline_snapshot::setup::{Manager, SetUp, UnitLink};

use super::super::reader::Reader;

/// By name, and the unit that does it.
const MANAGERS: [(&str, &str); 7] = [
    ("zram-tools", "zramswap.service"),
    ("zram-config", "zram-config.service"),
    ("systemd-swap", "systemd-swap.service"),
    ("rpi-swap", "rpi-setup-loop@.service"),
    ("zramd", "zramd.service"),
    ("zram-swap", "zram-swap.service"),
    ("dphys-swapfile", "dphys-swapfile.service"),
];
const UNITS: [&str; 4] =
    ["/etc/systemd/system", "/run/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"];
/// Where a unit is switched on from.
const WANTS: [&str; 4] = ["multi-user.target.wants", "swap.target.wants", "sysinit.target.wants", "basic.target.wants"];
/// Where tuned's profiles are, the strongest first.
const PROFILES: [&str; 4] = ["/etc/tuned/profiles", "/etc/tuned", "/usr/lib/tuned/profiles", "/usr/lib/tuned"];
/// A profile that includes others does so a few deep.
const DEEP: usize = 8;

pub fn read(reader: &Reader<'_>, out: &mut SetUp) {
    for (name, unit) in MANAGERS {
        out.managers.extend(manager(reader, name, unit));
    }
    let tuned = manager(reader, "tuned", "tuned.service").filter(|tuned| !tuned.enabled_by.is_empty());
    let profile = tuned.as_ref().and_then(|_| reader.config("/etc/tuned/active_profile").ok());
    out.managers.extend(tuned);
    let mut found = Vec::new();
    for name in profile.unwrap_or_default().split_ascii_whitespace() {
        profile_lines(reader, name, 0, &mut found);
    }
    // A profile is put into force before the rules of udev see another device, and behind sysctl.d unless it yields to that.
    found.append(&mut out.others_set);
    out.others_set = found;
    let main = reader.config("/etc/tuned/tuned-main.conf").unwrap_or_default();
    let mut said = main.lines().filter_map(|line| line.trim().strip_prefix("reapply_sysctl")?.trim().strip_prefix('='));
    out.tuned_yields = said.next_back().is_none_or(|value| !["0", "false", "False"].contains(&value.trim()));
}

fn manager(reader: &Reader<'_>, name: &str, unit: &str) -> Option<Manager> {
    let link = |path: String| {
        let at = reader.root.path(&path);
        std::fs::symlink_metadata(&at).ok()?;
        // A tree that was captured may have files in the place of links.
        let target = std::fs::read_link(at).map(|target| target.display().to_string()).unwrap_or_default();
        Some(UnitLink { path, target })
    };
    UNITS.iter().find(|dir| reader.exists(format!("{dir}/{unit}")))?;
    let links = UNITS[..2].iter().flat_map(|dir| WANTS.map(|wants| format!("{dir}/{wants}/{unit}")));
    Some(Manager { name: name.to_owned(), unit: unit.to_owned(), enabled_by: links.filter_map(link).collect() })
}

/// What a profile and those it includes say in `[sysctl]`; those included come first.
fn profile_lines(reader: &Reader<'_>, name: &str, deep: usize, out: &mut Vec<Setting>) {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if deep > DEEP || name.is_empty() || !name.chars().all(plain) {
        return;
    }
    let path = PROFILES.iter().map(|dir| format!("{dir}/{name}/tuned.conf")).find(|path| reader.exists(path));
    let Some((path, text)) = path.and_then(|path| Some((path.clone(), reader.config(&path).ok()?))) else { return };
    let (mut section, mut own) = (String::new(), String::new());
    for line in text.lines() {
        let bare = line.trim();
        if let Some(named) = bare.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            named.clone_into(&mut section);
        }
        let included = bare.strip_prefix("include").and_then(|rest| rest.trim_start().strip_prefix('='));
        for name in included.filter(|_| section == "main").unwrap_or_default().split(',') {
            profile_lines(reader, name.trim(), deep + 1, out);
        }
        // Every line keeps its number.
        own.push_str(if section == "sysctl" && !bare.starts_with('[') { line } else { "" });
        own.push('\n');
    }
    let mut read = Configured::default();
    read.read(&path, &own);
    out.append(&mut read.settings);
}

/// `SYSCTL{vm.swappiness}="150"`, `sysctl -w vm.swappiness=150` and `echo 150 > /proc/sys/vm/swappiness` in a rule of udev.
pub fn knob_of_rule(rule: &str) -> Option<(String, String)> {
    let plain = |text: &str| -> String {
        text.chars().take_while(|c| c.is_ascii_alphanumeric() || "_-".contains(*c)).collect()
    };
    let digits = |text: &str| -> String { text.chars().take_while(char::is_ascii_digit).collect() };
    let ends = |text: &str| -> String {
        let bare = text.trim_end().trim_end_matches('>').trim_end();
        let from = bare.rfind(|c: char| !c.is_ascii_digit()).map_or(0, |at| at + 1);
        bare[from..].to_owned()
    };
    let after = |mark: &str| rule.split_once(mark).map(|(_, rest)| rest);
    let found = if let Some(rest) = after("SYSCTL{vm.").or_else(|| after("SYSCTL{vm/")) {
        let key = plain(rest);
        let value = digits(rest[key.len()..].trim_start_matches(['}', '=', '"', ' ']));
        (key, value)
    } else if let Some((before, rest)) = rule.split_once("/proc/sys/vm/") {
        (plain(rest), ends(before))
    } else {
        let rest = after("vm.")?;
        let key = plain(rest);
        let value = digits(rest[key.len()..].strip_prefix('=')?);
        (key, value)
    };
    (!found.0.is_empty() && !found.1.is_empty()).then(|| (format!("vm.{}", found.0), found.1))
}
