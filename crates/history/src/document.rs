//! A snapshot as named texts: a section is a text of its name, and so is each process (`process PID`) and each group (`group PATH`), so that
//! of a thousand processes only those are written that have changed.

use ramline_snapshot::{Seen, Snapshot};
use serde_json::{Map, Value};

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
    let processes = snapshot.processes.data_mut().map(|all| std::mem::take(&mut all.list));
    let groups = snapshot.groups.data_mut().map(|all| std::mem::take(&mut all.list));
    snapshot.each_section_json(|name, json| {
        texts.insert(name.to_owned(), json);
    })?;
    if let Some(list) = &processes {
        one_each(texts, PROCESS, list.iter().map(|process| (process.pid.to_string(), process)))?;
    }
    if let Some(list) = &groups {
        one_each(texts, GROUP, list.iter().map(|group| (group.path.clone(), group)))?;
    }
    if let (Some(list), Some(all)) = (processes, snapshot.processes.data_mut()) {
        all.list = list;
    }
    if let (Some(list), Some(all)) = (groups, snapshot.groups.data_mut()) {
        all.list = list;
    }
    Ok(())
}

fn one_each<T: serde::Serialize>(
    texts: &mut Texts,
    prefix: &str,
    list: impl Iterator<Item = (String, T)>,
) -> Result<(), serde_json::Error> {
    let mut now = Texts::new();
    for (name, one) in list {
        now.insert(format!("{prefix}{name}"), serde_json::to_string(&one)?);
    }
    texts.retain(|name, _| !name.starts_with(prefix) || now.contains_key(name));
    texts.extend(now);
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
        let value: Value = serde_json::from_str(text).map_err(|error| not(name, &error))?;
        if name.starts_with(PROCESS) {
            processes.push(value);
        } else if name.starts_with(GROUP) {
            groups.push(value);
        } else {
            document.insert(name.clone(), value);
        }
    }
    let mut fill = |section: &str, list: Vec<Value>| {
        if let Some(place) = document.get_mut(section).and_then(|s| s.get_mut("data")?.get_mut("list")) {
            *place = Value::Array(list);
        }
    };
    processes.sort_by_key(|process| process.get("pid").and_then(Value::as_u64));
    fill("processes", processes);
    fill("groups", groups);
    let mut snapshot = Snapshot::from_document(from, document)?;
    if let Seen::Seen { data, .. } = &mut snapshot.groups {
        ramline_snapshot::groups::in_order(&mut data.list);
    }
    Ok(snapshot)
}
