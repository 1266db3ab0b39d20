//! The processes: one cheap pass over /proc, and walks of page tables where they were asked for.

use ramline_snapshot::mounts;
use ramline_snapshot::processes::Around;

use super::reader::Reader;
use crate::prelude::*;
use crate::processes::{Captured, Depth, ProcessCache, StartedTasks, deep, pass, place_swapped, within};

/// Page-table walks beyond the cheap pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Walking {
    /// None.
    #[default]
    Never,
    /// Those that can change the answer, for so long, added up over threads.
    Within(Nanos),
    /// Every process, however large; of many likely forks, eight.
    Deep,
    /// Every process.
    Every,
}

pub fn processes(reader: &Reader<'_>, walking: Walking) -> Seen<Processes> {
    let path = "/proc";
    if !reader.root.is_live() && !reader.exists(path) {
        return Seen::Absent { path: path.to_owned() };
    }
    let captured = reader.meta().map(|meta| Captured {
        programs: meta.programs.clone(),
        denied: meta.denied.clone(),
        page: Some(meta.machine.page_size),
    });
    let mut failed = None;
    let seen = reader.timed(|| {
        let (before, newest) = (totals(reader), StartedTasks::newest(reader.root));
        let depth = if walking == Walking::Every { Depth::Walk } else { Depth::Cheap };
        let pass = match pass(reader.root, depth, captured.as_ref(), reader.is_recording(), reader.end) {
            Ok(pass) => pass,
            Err(error) => {
                failed = Some(error);
                return Processes::default();
            }
        };
        let mut found = pass.found;
        if found.list.is_empty() && found.missed == Default::default() && !reader.root.is_live() {
            failed = Some(std::io::ErrorKind::NotFound.into());
        }
        reader.record(pass.texts);
        found.missed.hidden = hidden(reader);
        found.users = users(reader, &found);
        around(reader, before, newest, &mut found);
        if let Some(meta) = reader.meta() {
            found.missed.nested = meta.nested;
            return found;
        }
        let root = reader.root;
        let mut bound = None;
        match walking {
            Walking::Never => return found,
            Walking::Within(budget) => {
                let left = reader.end.map(|end| Nanos::from(end.saturating_duration_since(Instant::now())));
                within(root, &mut found, *bound.insert(left.map_or(budget, |left| left.min(budget))));
            }
            Walking::Deep => deep(root, &mut found),
            Walking::Every => {}
        }
        if rustix::process::geteuid().is_root() {
            place_swapped(root, &mut found, bound);
        }
        around(reader, before, newest, &mut found);
        found
    });
    match failed {
        Some(error) if error.kind() == std::io::ErrorKind::PermissionDenied => Seen::Denied { path: path.to_owned() },
        Some(_) => Seen::Absent { path: "/proc/PID".to_owned() },
        None => seen,
    }
}

/// The processes, of which only those are read that have changed since the last time.
pub fn again(reader: &Reader<'_>, known: &mut ProcessCache) -> Seen<Processes> {
    reader.timed(|| {
        let before = totals(reader);
        let mut found = known.look(reader.root).map(|pass| pass.found).unwrap_or_default();
        found.missed.hidden = hidden(reader);
        found.users = users(reader, &found);
        around(reader, before, None, &mut found);
        found
    })
}

type Totals = Option<(Bytes, Bytes)>;

/// The sums before and now, and what began in between.
fn around(reader: &Reader<'_>, before: Totals, newest: Option<u32>, found: &mut Processes) {
    let mut begun = newest.map(|newest| StartedTasks::after(reader.root, newest));
    begun.iter_mut().for_each(StartedTasks::look);
    let after = totals(reader);
    begun.iter_mut().for_each(StartedTasks::look);
    found.missed.begun = begun.as_ref().map_or(0, StartedTasks::count);
    let (anon_begun, mapped_begun) = begun.and_then(StartedTasks::most).unzip();
    let around = before.zip(after).map(|((anon_before, mapped_before), (anon_after, mapped_after))| Around {
        anon_before,
        anon_after,
        mapped_before,
        mapped_after,
        anon_begun,
        mapped_begun,
    });
    found.around = around;
}

/// AnonPages and Mapped.
fn totals(reader: &Reader<'_>) -> Totals {
    let path = "/proc/meminfo";
    let seen = Meminfo::parse(path, &reader.text(path).ok()?).ok()?;
    seen.anon_pages.zip(seen.mapped)
}

/// True when /proc does not list other users' processes for us.
fn hidden(reader: &Reader<'_>) -> bool {
    if reader.meta().map_or_else(|| rustix::process::geteuid().is_root(), |meta| meta.machine.root) {
        return false;
    }
    let path = "/proc/self/mountinfo";
    let mounts = reader.text(path).ok().and_then(|text| mounts::parse(path, &text).ok()).unwrap_or_default();
    // The last one mounted there is the one that is seen.
    let proc = mounts.iter().rfind(|m| m.fs == "proc" && m.at == "/proc");
    let options = proc.map(|m| m.super_options.as_str()).unwrap_or_default();
    // By number before 5.8, by name since.
    const HIDING: [&str; 4] = ["hidepid=2", "hidepid=invisible", "hidepid=4", "hidepid=ptraceable"];
    options.split(',').any(|option| HIDING.contains(&option))
}

/// Names of the users that run processes. The file itself does not belong into a capture.
fn users(reader: &Reader<'_>, found: &Processes) -> std::collections::BTreeMap<u32, String> {
    if let Some(meta) = reader.meta() {
        return meta.users.clone();
    }
    let text = std::fs::read(reader.root.path("/etc/passwd")).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let name = |line: &str| {
        let mut fields = line.split(':');
        let (name, uid) = (fields.next()?.to_owned(), fields.nth(1)?.parse().ok()?);
        found.list.iter().any(|p| p.uid == uid).then_some((uid, name))
    };
    text.lines().filter_map(name).collect()
}
