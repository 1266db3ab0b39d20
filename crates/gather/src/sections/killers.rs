//! User-space out-of-memory killers: found by the name of a running process, read from its arguments and files.

use ramline_snapshot::killers::{Earlyoom, Killers, Oomd, Watched};

use super::reader::Reader;
use crate::prelude::*;

/// Where systemd looks for `oomd.conf`, the weakest first; drop-ins of all come after the main files.
const OOMD: [&str; 4] = ["/usr/lib/systemd", "/usr/local/lib/systemd", "/run/systemd", "/etc/systemd"];
/// Where unit files and their drop-ins are, the weakest first; `.control` is what `systemctl set-property` writes.
const UNITS: [&str; 5] = [
    "/usr/lib/systemd/system",
    "/run/systemd/system",
    "/etc/systemd/system",
    "/run/systemd/system.control",
    "/etc/systemd/system.control",
];
/// Unit files and drop-ins that are opened at most; a system has some hundred.
const MOST: usize = 5000;

pub fn killers(reader: &Reader<'_>, processes: Option<&Processes>) -> Seen<Killers> {
    reader.timed(|| {
        let (earlyoom, oomd) = running(reader, processes);
        Killers {
            earlyoom: earlyoom.and_then(|pid| {
                let path = format!("/proc/{pid}/cmdline");
                Some(Earlyoom::from_cmdline(&path, &reader.text(&path).ok()?))
            }),
            oomd: oomd.then(|| oomd_of(reader)),
        }
    })
}

/// earlyoom's process id, and whether systemd-oomd runs.
fn running(reader: &Reader<'_>, processes: Option<&Processes>) -> (Option<u32>, bool) {
    let named: Vec<(u32, String)> = match processes {
        Some(seen) if !seen.list.is_empty() => seen.list.iter().map(|p| (p.pid, p.name.clone())).collect(),
        _ => {
            let pids = reader.names("/proc").into_iter().filter_map(|name| name.parse().ok());
            // Not on record: of all the processes two matter.
            let name = |pid: u32| Some((pid, reader.peek(&format!("/proc/{pid}/comm")).ok()?.trim_end().to_owned()));
            pids.filter_map(name).collect()
        }
    };
    let find = |wanted: &str| named.iter().find(|(_, name)| name == wanted).map(|(pid, _)| *pid);
    let (earlyoom, oomd) = (find("earlyoom"), find("systemd-oomd"));
    for pid in [earlyoom, oomd].into_iter().flatten() {
        // So that a capture without the other processes finds these again.
        drop(reader.text(format!("/proc/{pid}/comm")));
    }
    (earlyoom, oomd.is_some())
}

fn oomd_of(reader: &Reader<'_>) -> Oomd {
    let mut out = Oomd { source: "/etc/systemd/oomd.conf and oomd.conf.d".to_owned(), ..Oomd::default() };
    // A main file hides the weaker ones, a drop-in those of its name.
    let main = OOMD.iter().rev().map(|dir| format!("{dir}/oomd.conf")).find(|file| reader.exists(file));
    let mut drop_ins = BTreeMap::new();
    for dir in OOMD {
        let dir = format!("{dir}/oomd.conf.d");
        drop_ins.extend(conf(reader, &dir).map(|name| (name.clone(), format!("{dir}/{name}"))));
    }
    for file in main.into_iter().chain(drop_ins.into_values()) {
        if let Some(text) = reader.config_or(&file, &mut out.unseen) {
            out.read(&file, &text);
        }
    }
    // A capture without any directory of units tells nothing of them, unless it was made where none asks.
    let seen = UNITS.iter().any(|dir| reader.exists(dir)) || reader.meta().is_some_and(|meta| meta.units_seen);
    if seen || reader.root.is_live() {
        out.watched = Some(watched(reader));
    } else {
        out.unseen.push(Unseen::new(UNITS[0], "not there, so which units systemd-oomd watches is not known"));
    }
    out
}

fn conf(reader: &Reader<'_>, dir: &str) -> impl Iterator<Item = String> {
    reader.names(dir).into_iter().filter(|name| name.ends_with(".conf"))
}

/// Units whose files speak of ManagedOOM. A file in a stronger place hides its namesake.
fn watched(reader: &Reader<'_>) -> Vec<Watched> {
    let mut units: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    let mut opened = 0;
    for dir in UNITS {
        for name in reader.names(dir) {
            let (unit, files): (&str, Vec<String>) = match name.strip_suffix(".d") {
                Some(unit) => {
                    (unit, conf(reader, &format!("{dir}/{name}")).map(|file| format!("{name}/{file}")).collect())
                }
                None => (&name, vec![name.clone()]),
            };
            if ![".slice", ".service", ".scope"].iter().any(|kind| unit.ends_with(kind)) {
                continue;
            }
            for file in files {
                opened += 1;
                let path = format!("{dir}/{file}");
                let text = if opened > MOST { None } else { reader.peek(&path).ok() };
                // The unit file itself comes before its drop-ins.
                let rank = file.strip_prefix(&format!("{unit}.d/")).map_or_else(String::new, str::to_owned);
                let of_unit = units.entry(unit.to_owned()).or_default();
                of_unit.remove(&rank);
                // Only what matters goes into a capture.
                if text.is_some_and(|text| text.contains("ManagedOOM")) {
                    of_unit.insert(rank, path);
                }
            }
        }
    }
    let read = |(unit, files): (String, BTreeMap<String, String>)| {
        let texts: Vec<String> = files.values().filter_map(|path| reader.config(path).ok()).collect();
        Watched::from_texts(&unit, texts.iter().map(String::as_str))
    };
    units.into_iter().map(read).filter(|unit| unit.swap || unit.pressure).collect()
}
