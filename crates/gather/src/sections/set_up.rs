//! How the system is set up, for a plan: fstab, zram-generator, other managers, /tmp, resume.
//!
//! Everything is read as any user may; what is refused stands in `unseen`.

mod managers;

use std::collections::BTreeMap;

use ramline_kernel::{Root, mount, process};
use ramline_snapshot::configured::Setting;
use ramline_snapshot::mounts;
use ramline_snapshot::setup::{ConfFile, ConfLine, Etc, Generator, SetUp, TmpUnit};

use super::reader::Reader;

/// Where zram-generator's program is, by distribution.
const GENERATORS: [&str; 4] = [
    "/usr/lib/systemd/system-generators/zram-generator",
    "/lib/systemd/system-generators/zram-generator",
    "/usr/local/lib/systemd/system-generators/zram-generator",
    "/etc/systemd/system-generators/zram-generator",
];
/// Where it is configured, the strongest first; drop-ins of all win over the main file in force.
const CONFIGURED: [&str; 4] = ["/etc/systemd", "/run/systemd", "/usr/local/lib/systemd", "/usr/lib/systemd"];
/// Where rules of udev are, the strongest first.
const RULES: [&str; 4] =
    ["/etc/udev/rules.d", "/run/udev/rules.d", "/usr/local/lib/udev/rules.d", "/usr/lib/udev/rules.d"];
/// Where modules and their options are named.
const MODULES: [&str; 6] = [
    "/etc/modules-load.d",
    "/run/modules-load.d",
    "/usr/lib/modules-load.d",
    "/etc/modprobe.d",
    "/run/modprobe.d",
    "/usr/lib/modprobe.d",
];
/// Where units of the administrator's own are.
const OWN_UNITS: [&str; 2] = ["/etc/systemd/system", "/usr/local/lib/systemd/system"];
/// The script of the administrator's own that some systems still run at boot.
const RC_LOCAL: &str = "/etc/rc.local";
/// Where swap files usually are.
const SWAP_FILES: [&str; 5] = ["/swapfile", "/swap.img", "/var/swapfile", "/var/swap", "/swap/swapfile"];
/// What a change of ramline's writes, and nothing else does.
const OWN: [&str; 6] = [
    "/etc/sysctl.d/99-zz-ramline.conf",
    "/etc/modules-load.d/ramline-zram.conf",
    "/etc/modprobe.d/ramline-zram.conf",
    "/etc/udev/rules.d/90-ramline-zram.rules",
    "/etc/systemd/system/ramline-maintain.service",
    "/etc/systemd/system/ramline-maintain.timer",
];
/// More files than any system has in one of these directories.
const MOST: usize = 1000;

/// Reads how the system is set up.
#[must_use]
pub fn set_up(root: &Root) -> SetUp {
    let reader = &Reader::new(root);
    let mut out = SetUp { systemd: reader.exists("/run/systemd/system"), ..SetUp::default() };
    if !root.is_live() {
        // A captured tree has no empty directories of a running system.
        out.systemd |= reader.word("/proc/1/comm").as_deref() == Some("systemd");
    }
    out.etc = etc(reader);
    out.fstab = reader.config_or("/etc/fstab", &mut out.unseen);
    out.generator = generator(reader, &mut out);
    out.tmp = tmp(reader);
    out.resume = resume(reader);
    let crypttab = reader.config_or("/etc/crypttab", &mut out.unseen).unwrap_or_default();
    out.encrypted = lines(&crypttab).filter_map(|(_, line)| Some(line.split_whitespace().next()?.to_owned())).collect();
    out.swap_files = SWAP_FILES.iter().filter(|path| reader.exists(path)).map(|path| (*path).to_owned()).collect();
    out.own = OWN.iter().filter_map(|path| Some(((*path).to_owned(), reader.config(path).ok()?))).collect();
    rules_and_modules(reader, &mut out);
    own_units(reader, &mut out);
    managers::read(reader, &mut out);
    out
}

/// Lines with something in them, counted from 1.
fn lines(text: &str) -> impl Iterator<Item = (u64, &str)> {
    let numbered = (1..).zip(text.lines().map(str::trim));
    numbered.filter(|(_, line)| !line.is_empty() && !line.starts_with(['#', ';']))
}

fn etc(reader: &Reader<'_>) -> Etc {
    if reader.exists("/etc/NIXOS") {
        return Etc::Managed("NixOS".to_owned());
    }
    // Guix keeps its store elsewhere and marks nothing: the links tell.
    let store = |path: &str| {
        let target = std::fs::read_link(reader.root.path(path)).unwrap_or_default();
        target.starts_with("/nix/store") || target.starts_with("/gnu/store")
    };
    if ["/etc/fstab", "/etc/sysctl.d", "/etc/static", "/etc/ssh"].iter().any(|path| store(path)) {
        return Etc::Managed("a store of packages".to_owned());
    }
    let Ok(text) = reader.text("/proc/self/mountinfo") else { return Etc::NotSeen };
    let Ok(mounted) = mounts::parse("/proc/self/mountinfo", &text) else { return Etc::NotSeen };
    let Some(mount) = mounts::holding(&mounted, "/etc/sysctl.d") else { return Etc::NotSeen };
    let read_only = |options: &str| options.split(',').any(|option| option == "ro");
    if read_only(&mount.options) || read_only(&mount.super_options) { Etc::ReadOnly } else { Etc::Writable }
}

fn generator(reader: &Reader<'_>, out: &mut SetUp) -> Generator {
    let program = GENERATORS.iter().find(|path| reader.exists(path)).map(|path| (*path).to_owned());
    let mut read = |path: String| Some(ConfFile { text: reader.config_or(&path, &mut out.unseen)?, path });
    let main = CONFIGURED.iter().map(|dir| format!("{dir}/zram-generator.conf")).find(|path| reader.exists(path));
    let main = main.and_then(&mut read);
    let mut names = BTreeMap::new();
    // Of one name the strongest stands; the names give the order.
    for dir in CONFIGURED.iter().rev().map(|dir| format!("{dir}/zram-generator.conf.d")) {
        let found = reader.names(&dir).into_iter().filter(|name| name.ends_with(".conf")).take(MOST);
        names.extend(found.map(|name| (name.clone(), format!("{dir}/{name}"))));
    }
    Generator { program, main, drop_ins: names.into_values().filter_map(read).collect() }
}

fn tmp(reader: &Reader<'_>) -> TmpUnit {
    const UNITS: [&str; 3] = ["/etc/systemd/system", "/run/systemd/system", "/usr/lib/systemd/system"];
    let linked = |path: &str| std::fs::symlink_metadata(reader.root.path(path)).is_ok();
    let files = UNITS.map(|dir| format!("{dir}/tmp.mount"));
    let masked = std::fs::read_link(reader.root.path(&files[0])).is_ok_and(|to| to.ends_with("dev/null"));
    let wanted = UNITS.iter().map(|dir| format!("{dir}/local-fs.target.wants/tmp.mount"));
    TmpUnit {
        file: files.into_iter().find(|path| !masked && reader.exists(path)),
        enabled_by: wanted.filter(|path| linked(path)).collect(),
        masked,
        limits_users: (reader.root.is_live() && process::uid() == 0).then(|| mount::tmpfs_knows("usrquota", None)),
    }
}

/// The kernel's command line, or the initramfs of Debian, names what is resumed from.
fn resume(reader: &Reader<'_>) -> Option<Setting> {
    let of = |key: &str, value: &str, file: &str, line| {
        let plain = !value.is_empty() && !["none", "auto"].contains(&value);
        plain.then(|| Setting { key: key.to_owned(), value: value.to_owned(), file: file.to_owned(), line })
    };
    let file = "/proc/cmdline";
    let text = reader.word(file).unwrap_or_default();
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    if words.contains(&"noresume") {
        return None;
    }
    let named = words.iter().find_map(|word| of("resume", word.strip_prefix("resume=")?, file, 1));
    named.or_else(|| {
        let file = "/etc/initramfs-tools/conf.d/resume";
        let text = reader.config(file).ok()?;
        lines(&text).find_map(|(line, text)| of("RESUME", text.strip_prefix("RESUME=")?.trim(), file, line))
    })
}

/// Lines about zram, and knobs of `vm` where sysctl.d is not.
fn rules_and_modules(reader: &Reader<'_>, out: &mut SetUp) {
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    for dir in RULES.iter().rev() {
        let found = reader.names(dir).into_iter().filter(|name| name.ends_with(".rules")).take(MOST);
        files.extend(found.map(|name| (name.clone(), format!("{dir}/{name}"))));
    }
    let rules: Vec<String> = files.into_values().collect();
    for path in &rules {
        let Some(text) = reader.config_or(path, &mut out.unseen) else { continue };
        for (line, text) in lines(&text) {
            if text.contains("zram") {
                out.zram_lines.push(ConfLine { file: path.clone(), line, text: text.to_owned() });
            }
            let of = |(key, value)| Setting { key, value, file: path.clone(), line };
            out.others_set.extend(managers::knob_of_rule(text).map(of));
        }
    }
    for dir in MODULES {
        for name in reader.names(dir).into_iter().filter(|name| name.ends_with(".conf")).take(MOST) {
            let path = format!("{dir}/{name}");
            let Some(text) = reader.config_or(&path, &mut out.unseen) else { continue };
            let about = lines(&text).filter(|(_, line)| line.split([' ', '\t']).any(|word| word == "zram"));
            let found = about.map(|(line, text)| ConfLine { file: path.clone(), line, text: text.to_owned() });
            out.zram_lines.extend(found);
        }
    }
}

/// Lines about zram in units and scripts that the administrator has written.
fn own_units(reader: &Reader<'_>, out: &mut SetUp) {
    // A link is another name of a unit that a package brings, or masks one.
    let is_file = |path: &String| std::fs::symlink_metadata(reader.root.path(path)).is_ok_and(|meta| meta.is_file());
    let mut files = Vec::new();
    for dir in OWN_UNITS {
        let units = reader.names(dir).into_iter().take(MOST);
        let units = units.filter(|name| name.ends_with(".service") && !name.starts_with("ramline-"));
        files.extend(units.map(|name| format!("{dir}/{name}")));
    }
    files.push(RC_LOCAL.to_owned());
    for path in files.into_iter().filter(is_file) {
        let Some(text) = reader.config_or(&path, &mut out.unseen) else { continue };
        let about = lines(&text).filter(|(_, line)| line.contains("zram"));
        out.zram_lines.extend(about.map(|(line, text)| ConfLine { file: path.clone(), line, text: text.to_owned() }));
    }
}

#[cfg(test)]
mod tests;
