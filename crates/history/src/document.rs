//! A snapshot as named texts: a section is a text of its name, and so is each process (`process PID`) and each group (`group PATH`), so that
//! of a thousand processes only those are written that have changed.

use std::collections::BTreeSet;

use ramline_snapshot::Snapshot;
use ramline_snapshot::processes::Process;
use serde_json::Map;

use crate::texts::Texts;

/// Before the name of a process.
const PROCESS: &str = "process ";
/// Before the name of a group.
const GROUP: &str = "group ";

/// Puts a snapshot's sections into `texts`; what was not read stays as it is there.
///
/// # Errors
/// A section cannot be written as JSON.
pub fn from_snapshot(snapshot: &mut Snapshot, texts: &mut Texts) -> Result<(), serde_json::Error> {
    from_changes(snapshot, texts, &BTreeSet::new(), &BTreeSet::new())
}

/// The same, without the processes and groups that are as they were: their texts stay. These groups need not be in the snapshot.
///
/// # Errors
/// A section cannot be written as JSON.
pub fn from_changes(
    snapshot: &mut Snapshot,
    texts: &mut Texts,
    processes: &BTreeSet<u32>,
    groups: &BTreeSet<String>,
) -> Result<(), serde_json::Error> {
    let all = snapshot.processes.data_mut().map(|all| std::mem::take(&mut all.list));
    let changed = snapshot.groups.data_mut().map(|all| std::mem::take(&mut all.list));
    snapshot.each_section_json(|name, json| {
        texts.insert(name.to_owned(), json);
    })?;
    if let Some(list) = &all {
        let names: BTreeSet<String> = list.iter().map(|process| process.pid.to_string()).collect();
        texts.retain(|name, _| name.strip_prefix(PROCESS).is_none_or(|pid| names.contains(pid)));
        for process in list {
            let name = format!("{PROCESS}{}", process.pid);
            if !processes.contains(&process.pid) || !texts.contains_key(&name) {
                texts.insert(name, serde_json::to_string(process)?);
            }
        }
    }
    if let Some(list) = &changed {
        let new: BTreeSet<&str> = list.iter().map(|group| group.path.as_str()).collect();
        let is_there = |path: &str| groups.contains(path) || new.contains(path);
        texts.retain(|name, _| name.strip_prefix(GROUP).is_none_or(is_there));
        for group in list {
            texts.insert(format!("{GROUP}{}", group.path), serde_json::to_string(group)?);
        }
    }
    if let (Some(list), Some(place)) = (all, snapshot.processes.data_mut()) {
        place.list = list;
    }
    if let (Some(list), Some(place)) = (changed, snapshot.groups.data_mut()) {
        place.list = list;
    }
    Ok(())
}

/// The snapshot that texts are of.
///
/// # Errors
/// A text is no JSON, or the whole no snapshot of a known version.
pub fn to_snapshot(from: &str, texts: &Texts) -> Result<Snapshot, ramline_snapshot::LoadError> {
    let not = |name: &str, error: &serde_json::Error| ramline_snapshot::LoadError::NotJson {
        path: format!("{from}, {name}"),
        cause: error.to_string(),
    };
    let (mut document, mut processes, mut groups) = (Map::new(), Vec::new(), Vec::new());
    for (name, text) in texts {
        // Most of it is these: read as what they are at once.
        if name.starts_with(PROCESS) {
            processes.push(serde_json::from_str(text).map_err(|error| not(name, &error))?);
        } else if name.starts_with(GROUP) {
            groups.push(serde_json::from_str(text).map_err(|error| not(name, &error))?);
        } else {
            document.insert(name.clone(), serde_json::from_str(text).map_err(|error| not(name, &error))?);
        }
    }
    let mut snapshot = Snapshot::from_document(from, document)?;
    if let Some(data) = snapshot.processes.data_mut() {
        ramline_units::sort_by_key(&mut processes, |process: &Process| process.pid);
        data.list = processes;
    }
    if let Some(data) = snapshot.groups.data_mut() {
        ramline_snapshot::groups::in_order(&mut groups);
        data.list = groups;
    }
    Ok(snapshot)
}
