//! The tree of memory control groups, walked level by level, so that a bound cuts leaves and not whole branches.
//!
//! It is slow by nature: reading `memory.stat` makes the kernel bring its counters up to date first, for the
//! group and everything below it, and each file costs an open. So files are not read whose content others tell ([`known`]), and the groups
//! of a level are shared among threads. A capture is read by one, and with every file.

mod again;
mod known;
pub mod level;

use std::ffi::OsStr;

pub use again::GroupCache;
use again::is_at_limit;
use known::{Above, Answer, answer};
use level::shared;
use ramline_snapshot::cgroup::{Group, Version, limit};
use ramline_snapshot::groups::{Groups, in_order, is_kept};
use ramline_snapshot::machine::Machine;
use ramline_snapshot::pressure::Pressure;
use ramline_snapshot::vmstat::Vmstat;

use super::cgroups::{Hierarchy, absent, names};
use super::open::{OpenGroup, OpenGroups};
use super::reader::{NotRead, Reader};
use super::tightest::Tightest;
use crate::prelude::*;

/// More memory control groups than the kernel allows: their numbers have 16 bits (`MEM_CGROUP_ID_MAX`).
const MOST: usize = 65_536;
/// A live walk ends after this long.
const LONGEST: Duration = Duration::from_secs(20);
/// Files that could not be used are named up to this many.
const NAMED: usize = 8;

/// All groups. Of those that are open from an earlier reading, one whose size has not changed since is taken for what it was, but for its pressure.
pub fn groups(reader: &Reader<'_>, hierarchy: Option<&Hierarchy>, machine: &Machine) -> Seen<Groups> {
    walked(reader, hierarchy, machine, |walk, out| walk.all(reader, out))
}

/// The same, of which only those are read that have changed since the last time, and the names of the others.
pub fn again(
    reader: &Reader<'_>,
    hierarchy: Option<&Hierarchy>,
    machine: &Machine,
    known: &mut GroupCache,
) -> (Seen<Groups>, Vec<String>) {
    let mut unchanged = Vec::new();
    let seen = walked(reader, hierarchy, machine, |walk, out| {
        let above = Above::the_top(walk.counts_below(reader));
        unchanged = known.look(walk, above, out);
    });
    (seen, unchanged)
}

fn walked(
    reader: &Reader<'_>,
    hierarchy: Option<&Hierarchy>,
    machine: &Machine,
    look: impl FnOnce(&Walk<'_>, &mut Groups),
) -> Seen<Groups> {
    let Some((version, mount)) = hierarchy else { return absent(reader) };
    let version = *version;
    reader.timed(|| {
        let option = |name: &str| mount.super_options.split(',').any(|o| o == name);
        let mut out = Groups {
            version: Some(version),
            recursive_protection: option("memory_recursiveprot"),
            complete: true,
            ..Groups::default()
        };
        let killed =
            reader.text("/proc/vmstat").ok().and_then(|text| Some(Vmstat::parse("", &text).ok()?.get("oom_kill")? > 0));
        let walk = Walk {
            version,
            mount: Path::new(&mount.at),
            is_live: reader.root.is_live(),
            until: reader.ends(LONGEST),
            kills: killed.unwrap_or(true),
            own_events: option("memory_localevents"),
            batch: again::batch(machine.cpus, machine.page_size.0),
            open: reader.open_groups(),
        };
        walk.open.inspect(|open| open.begin());
        look(&walk, &mut out);
        walk.open.inspect(|open| open.end());
        out.mount.clone_from(&mount.at);
        in_order(&mut out.list);
        out
    })
}

/// A group to be read: its path below the mount, of which the top is the empty one, and what is known of the group above.
type Waiting = (PathBuf, Above);

/// Groups found by one thread.
#[derive(Default)]
struct FoundGroups {
    groups: Groups,
    next: Vec<Waiting>,
    buffer: Vec<u8>,
}

struct Walk<'a> {
    version: Version,
    mount: &'a Path,
    is_live: bool,
    until: Instant,
    /// The kernel has killed a process since boot, or does not tell.
    kills: bool,
    /// `memory.events` counts for each group alone.
    own_events: bool,
    /// What all processors take of a group's counter at once.
    batch: Bytes,
    /// What stays open for the next walk.
    open: Option<&'a OpenGroups>,
}

#[cfg(test)]
impl<'a> Walk<'a> {
    /// Of a tree of version 2 that a test has made.
    fn of_test(mount: &'a Path, open: Option<&'a OpenGroups>) -> Walk<'a> {
        let until = Instant::now() + Duration::from_secs(600);
        let (version, batch) = (Version::V2, Bytes(4096));
        Walk { version, mount, is_live: true, until, kills: false, own_events: false, batch, open }
    }
}

impl Walk<'_> {
    fn all(&self, reader: &Reader<'_>, out: &mut Groups) {
        // On record goes what is read through the reader, and each file.
        let sparing = self.is_live && !reader.is_recording();
        let mut level = vec![(PathBuf::new(), Above::the_top(self.counts_below(reader)))];
        while !level.is_empty() && out.complete {
            let left = MOST - out.list.len();
            out.complete = level.len() <= left;
            level.truncate(left);
            level = if sparing { self.level(&level, out) } else { self.one_by_one(reader, &level, out) };
        }
    }

    fn counts_below(&self, reader: &Reader<'_>) -> bool {
        self.version == Version::V2 || reader.word(&self.top("memory.use_hierarchy")).is_none_or(|t| t == "1")
    }

    fn top(&self, name: &str) -> String {
        self.mount.join(name).to_string_lossy().into_owned()
    }

    fn is_late(&self) -> bool {
        self.is_live && Instant::now() > self.until
    }

    /// Reads a level through the reader; gives the next one.
    fn one_by_one(&self, reader: &Reader<'_>, level: &[Waiting], out: &mut Groups) -> Vec<Waiting> {
        let mut next = Vec::new();
        for (below, above) in level {
            if self.is_late() {
                out.complete = false;
                break;
            }
            let dir = self.mount.join(below);
            match group(reader, self.version, &dir, below, out) {
                Some(group) => out.list.push(group),
                // Only the groups of one machine come and go; what a capture lacks was not there.
                None if self.is_live && !below.as_os_str().is_empty() => {
                    count_lost(&dir, out);
                    continue;
                }
                None => {}
            }
            match reader.directories(&dir) {
                Ok(names) => next.extend(names.iter().map(|name| (below.join(name), *above))),
                Err(NotRead::Absent) => {}
                Err(why) => note(out, &dir, why),
            }
        }
        next
    }

    /// Reads a level with several threads; gives the next one.
    fn level(&self, level: &[Waiting], out: &mut Groups) -> Vec<Waiting> {
        let at_a_time = if self.open.is_some() { level::OPEN_AT_A_TIME } else { level::AT_A_TIME };
        let (found, complete) = shared(level, at_a_time, || self.is_late(), |this, found| self.one(this, found));
        out.complete &= complete;
        let mut next = Vec::new();
        for mut found in found {
            next.append(&mut found.next);
            join(out, found.groups);
        }
        next
    }

    /// Reads one group of this machine, from its open directory.
    fn one(&self, waiting: &Waiting, found: &mut FoundGroups) {
        let (below, above) = waiting;
        if let Some(mut kept) = self.open.and_then(|open| open.take(below)) {
            let before = (found.groups.unreadable, found.groups.unseen.len());
            let made = self.read(below, above, &mut kept, found);
            if !kept.is_gone {
                return self.found(waiting, kept, made, found);
            }
            // Another may have been made under its name.
            found.groups.unreadable = before.0;
            found.groups.unseen.truncate(before.1);
        }
        let path = self.mount.join(below);
        let is_top = below.as_os_str().is_empty();
        match OpenGroup::open(&path) {
            Ok(mut group) => {
                let made = self.read(below, above, &mut group, found);
                self.found(waiting, group, made, found);
            }
            Err(NotRead::Absent) if !is_top => found.groups.vanished += 1,
            Err(NotRead::Absent) => {}
            Err(why) => note(&mut found.groups, &path, why),
        }
    }

    /// What its files say, and the tightest limits on the way up.
    fn read(
        &self,
        below: &Path,
        above: &Above,
        dir: &mut OpenGroup,
        found: &mut FoundGroups,
    ) -> (Option<Group>, Tightest) {
        let FoundGroups { groups: out, buffer, .. } = found;
        let unreadable = out.unreadable;
        if let Some(known) = self.unchanged(above, dir, buffer) {
            return known;
        }
        let mut tightest: Option<Tightest> = None;
        let read = |name: &'static str, files: &BTreeMap<String, String>| {
            tightest = tightest.or_else(|| files.get("memory.stat").map(|stat| Tightest::in_stat(stat)));
            match answer(self.version, name, files, tightest.unwrap_or_default(), above, self.kills) {
                Answer::Is(text) => Ok(text),
                Answer::Without => Err(NotRead::Absent),
                Answer::Read => dir.text(self.version, name, self.open, buffer),
            }
        };
        let made = made(self.version, &self.mount.join(below), below, &mut BTreeMap::new(), out, read);
        let tightest = tightest.unwrap_or_default();
        // What could not be read is to be named each time.
        let is_whole = self.open.is_some() && out.unreadable == unreadable;
        dir.last = made.as_ref().filter(|_| is_whole).map(|group| (group.clone(), tightest));
        (made, tightest)
    }

    /// What was last read of a group whose size is as it was then. At a limit, and below one, the size says nothing: a page goes for each that comes.
    fn unchanged(&self, above: &Above, dir: &mut OpenGroup, buffer: &mut Vec<u8>) -> Option<(Option<Group>, Tightest)> {
        let (mut group, tightest) = dir.last.take()?;
        if above.is_at_limit || is_at_limit(&group, self.batch) {
            return None;
        }
        let mut text = |name| dir.text(self.version, name, self.open, buffer).ok();
        let size = text(again::usage_file(self.version))?.trim_end().parse().ok().map(Bytes);
        let mut limit_of = |name| text(name).and_then(|text| limit("", &text).ok());
        let is_as_before = match self.version {
            Version::V1 => limit_of("memory.limit_in_bytes") == group.max,
            Version::V2 => limit_of("memory.max") == group.max && limit_of("memory.high") == group.high,
        };
        if !is_as_before || size.is_none() || size != group.current {
            return None;
        }
        if self.version == Version::V2 {
            group.pressure = text("memory.pressure").and_then(|text| Pressure::parse("memory.pressure", &text).ok());
        }
        dir.last = Some((group.clone(), tightest));
        Some((Some(group), tightest))
    }

    /// Takes in what was read, and what is below.
    fn found(
        &self,
        (below, above): &Waiting,
        dir: OpenGroup,
        made: (Option<Group>, Tightest),
        found: &mut FoundGroups,
    ) {
        let FoundGroups { groups: out, next, .. } = found;
        let path = self.mount.join(below);
        let (made, tightest) = made;
        if made.is_none() && !below.as_os_str().is_empty() {
            return count_lost(&path, out);
        }
        match dir.dir.directories() {
            Ok(names) if !names.is_empty() => {
                let events_below = !self.own_events && (above.events_below || dir.dir.has("memory.events.local"));
                let mut own = made.as_ref().map_or(*above, |group| above.after(group, tightest, events_below));
                own.is_at_limit |= made.as_ref().is_some_and(|group| is_at_limit(group, self.batch));
                next.extend(names.iter().map(|name| (below.join(name), own)));
            }
            Ok(_) | Err(NotRead::Absent) => {}
            Err(why) => note(out, &path, why),
        }
        out.list.extend(made);
        self.open.inspect(|open| open.keep(below, dir));
    }
}

/// Controllers are given from above: nothing below one without has it either.
fn count_lost(dir: &Path, out: &mut Groups) {
    if dir.exists() {
        out.without_controller += 1;
    } else {
        out.vanished += 1;
    }
}

fn join(all: &mut Groups, mut more: Groups) {
    all.list.append(&mut more.list);
    all.vanished += more.vanished;
    all.without_controller += more.without_controller;
    all.unreadable += more.unreadable;
    let named = NAMED.saturating_sub(all.unseen.len());
    all.unseen.extend(more.unseen.into_iter().take(named));
}

/// A group from the files it has; `None` when it has none.
pub fn group(reader: &Reader<'_>, version: Version, dir: &Path, below: &Path, out: &mut Groups) -> Option<Group> {
    made(version, dir, below, &mut BTreeMap::new(), out, |name, _| reader.text(dir.join(name)))
}

/// The same from what `read` gives; the texts stay in `files`.
fn made(
    version: Version,
    dir: &Path,
    below: &Path,
    files: &mut BTreeMap<String, String>,
    out: &mut Groups,
    mut read: impl FnMut(&'static str, &BTreeMap<String, String>) -> Result<String, NotRead>,
) -> Option<Group> {
    let mut refused = false;
    for name in names(version).iter().copied() {
        match read(name, files) {
            Ok(text) => drop(files.insert(name.to_owned(), text)),
            Err(NotRead::Absent) => {}
            Err(why) => {
                refused = true;
                note(out, &dir.join(name), why);
            }
        }
    }
    // Version 2 has these two in every group, with the controller or without.
    let has_memory = files.keys().any(|name| !["cgroup.stat", "memory.pressure"].contains(&name.as_str()));
    if !has_memory && !refused {
        return None;
    }
    let mut malformed = Vec::new();
    let mut group = Group::from_files_kept(version, &dir.to_string_lossy(), files, is_kept, &mut malformed);
    // The most may have been read a minute ago.
    group.peak = group.peak.map(|peak| group.current.map_or(peak, |current| peak.max(current)));
    out.unreadable += malformed.len() as u64;
    out.unseen.extend(malformed.into_iter().take(NAMED.saturating_sub(out.unseen.len())));
    group.path = path_of(below.as_os_str());
    Some(group)
}

/// The path of a group as text. Names may hold any bytes: what is no text is written as `\xNN`.
fn path_of(below: &OsStr) -> String {
    let mut out = String::from("/");
    for chunk in below.as_encoded_bytes().utf8_chunks() {
        out.push_str(chunk.valid());
        for byte in chunk.invalid() {
            out.push_str(&format!("\\x{byte:02x}"));
        }
    }
    out
}

fn note(out: &mut Groups, path: &Path, why: NotRead) {
    out.unreadable += 1;
    if out.unseen.len() < NAMED {
        let reason = match why {
            NotRead::Unusable(reason) => reason,
            NotRead::Denied => "permission denied".to_owned(),
            NotRead::Absent => "not there".to_owned(),
        };
        out.unseen.push(Unseen::new(path.to_string_lossy(), reason));
    }
}

#[cfg(test)]
mod tests;
