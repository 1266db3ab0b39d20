//! The groups that have met a limit of theirs, with those above them: cheap enough for a first line.
//!
//! One small file says of each group whether it ever met a limit: `memory.events` of version 2, which counts for all groups below too
//! (since Linux 5.2; with it came `memory.events.local`), so that a branch that never met one costs one read; `memory.failcnt` and its like
//! of version 1, which count for the group alone. Only of groups that did are the other files read; `memory.stat` is dear.
//!
//! Where many did, those are read that wait most, are nearest to their limit, or hold most swap.

mod met;

use std::collections::BTreeSet;

use met::LimitedGroups;
use ramline_snapshot::cgroup::{Group, Version, limit};
use ramline_snapshot::groups::{Groups, in_order};
use ramline_snapshot::pressure::Pressure;

use super::cgroups::{Hierarchy, absent};
use super::groups::group;
use super::reader::Reader;
use crate::prelude::*;

/// A live look ends after this long: a first line is waited for.
const LONGEST: Duration = Duration::from_millis(500);
/// Groups that are read in full, by each order: at a fifth of a millisecond each this is 40 ms.
const READ: usize = 100;

pub fn limited(reader: &Reader<'_>, hierarchy: Option<&Hierarchy>) -> Seen<Groups> {
    let Some((version, mount)) = hierarchy else { return absent(reader) };
    let version = *version;
    reader.timed(|| {
        let mut out = Groups { version: Some(version), complete: true, ..Groups::default() };
        out.recursive_protection = mount.super_options.split(',').any(|o| o == "memory_recursiveprot");
        let own_counts = mount.super_options.split(',').any(|o| o == "memory_localevents");
        let look = LimitReader {
            reader,
            version,
            mount: Path::new(&mount.at),
            until: reader.root.is_live().then(|| reader.ends(LONGEST)),
        };
        let met = LimitedGroups { version, mount: look.mount, own_counts };
        let (met, complete) = met.paths(reader, || late(look.until));
        out.complete = complete;
        let is_met: BTreeSet<&PathBuf> = met.iter().collect();
        for below in look.chosen(&met) {
            let dir = look.mount.join(&below);
            // The top is in the list as that of all others; unless it met a limit, which in a name space it may have, it has none.
            let top = || Group { path: "/".to_owned(), ..Group::default() };
            let read = || group(reader, version, &dir, &below, &mut Groups::default());
            let is_top = below.as_os_str().is_empty() && !is_met.contains(&below);
            out.list.extend(if is_top { Some(top()) } else { read() });
        }
        in_order(&mut out.list);
        out.mount.clone_from(&mount.at);
        out
    })
}

struct LimitReader<'a> {
    reader: &'a Reader<'a>,
    version: Version,
    mount: &'a Path,
    until: Option<Instant>,
}

fn late(until: Option<Instant>) -> bool {
    until.is_some_and(|until| Instant::now() > until)
}

impl LimitReader<'_> {
    fn bytes(&self, file: &Path) -> Option<Bytes> {
        limit("", &self.reader.text(file).ok()?).ok()?.bytes()
    }

    /// What is read in full: all, or the most urgent, with the groups above them.
    fn chosen(&self, met: &[PathBuf]) -> BTreeSet<PathBuf> {
        let mut all: Vec<&PathBuf> = met.iter().collect();
        if all.len() > 2 * READ {
            let mut ranked: Vec<(u64, u64, &PathBuf)> = Vec::with_capacity(all.len());
            for below in met {
                if late(self.until) {
                    break;
                }
                let dir = self.mount.join(below);
                ranked.push((self.urgency(&dir), self.swap(&dir), below));
            }
            ramline_units::sort_by(&mut ranked, |a, b| b.0.cmp(&a.0));
            all = ranked.iter().take(READ).map(|(.., below)| *below).collect();
            ramline_units::sort_by(&mut ranked, |a, b| b.1.cmp(&a.1));
            all.extend(ranked.iter().take(READ).map(|(.., below)| *below));
        }
        all.iter().flat_map(|below| below.ancestors()).map(Path::to_path_buf).collect()
    }

    /// Hundredths of a percent of the last 10 s in which tasks of it waited; of version 1, which does not measure that, how near it is to its
    /// limit, and beyond all that stand still because kills are off.
    fn urgency(&self, dir: &Path) -> u64 {
        if self.version == Version::V2 {
            let text = self.reader.text(dir.join("memory.pressure")).ok();
            let some = text.and_then(|text| Pressure::parse("", &text).ok()?.some);
            return some.map_or(0, |some| hundredths(some.avg10));
        }
        let stuck = self.reader.text(dir.join("memory.oom_control")).is_ok_and(|text| text.contains("under_oom 1"));
        let used = self.bytes(&dir.join("memory.usage_in_bytes"));
        let share = used.zip(self.bytes(&dir.join("memory.limit_in_bytes"))).and_then(|(used, of)| used.share_of(of));
        hundredths(share.unwrap_or_default() * 100.0) + if stuck { 1_000_000 } else { 0 }
    }

    fn swap(&self, dir: &Path) -> u64 {
        if self.version == Version::V2 {
            return self.bytes(&dir.join("memory.swap.current")).map_or(0, |b| b.0);
        }
        let both = self.bytes(&dir.join("memory.memsw.usage_in_bytes"));
        let memory = both.and_then(|_| self.bytes(&dir.join("memory.usage_in_bytes")));
        both.zip(memory).map_or(0, |(both, memory)| both.saturating_sub(memory).0)
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a percentage, and never below zero")]
fn hundredths(percent: f64) -> u64 {
    (percent.max(0.0) * 100.0) as u64
}

#[cfg(test)]
mod tests {
    use ramline_kernel::Root;

    use super::super::cgroups::hierarchy;
    use super::*;

    const MOUNT: &str = "41 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot\n";

    fn paths(counts: &[(&str, u64)], local: bool) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("proc/self")).unwrap();
        std::fs::write(dir.path().join("proc/self/mountinfo"), MOUNT).unwrap();
        for (group, max) in counts {
            let at = dir.path().join("sys/fs/cgroup").join(group);
            std::fs::create_dir_all(&at).unwrap();
            std::fs::write(at.join("memory.current"), "4096\n").unwrap();
            std::fs::write(at.join("memory.events"), format!("low 0\nhigh 0\nmax {max}\noom 0\noom_kill 0\n")).unwrap();
            if local {
                std::fs::write(at.join("memory.events.local"), "max 0\n").unwrap();
            }
        }
        std::fs::write(dir.path().join("sys/fs/cgroup/cgroup.controllers"), "memory\n").unwrap();
        let root = Root::new(dir.path());
        let reader = Reader::new(&root);
        let seen = limited(&reader, hierarchy(&reader).as_ref());
        seen.data().unwrap().list.iter().map(|group| group.path.clone()).collect()
    }

    #[test]
    fn a_group_that_met_its_limit_is_read_with_those_above_it_and_no_other() {
        let tree = [("a", 0), ("b", 7), ("b/met", 7), ("b/not", 0), ("c", 0)];
        assert_eq!(paths(&tree, true), ["/", "/b", "/b/met"]);
        // An old kernel counts in each group for itself: what is below one that never met its limit is looked at.
        assert_eq!(paths(&[("a", 0), ("a/met", 3)], false), ["/", "/a", "/a/met"]);
        assert_eq!(paths(&[("a", 0), ("a/met", 3)], true), [""; 0], "its count would be in the one above");
    }

    #[test]
    fn of_very_many_only_the_most_urgent_are_read() {
        let names: Vec<String> = (0..=3 * READ).map(|n| format!("g{n:04}")).collect();
        let tree: Vec<(&str, u64)> = names.iter().map(|name| (name.as_str(), 1)).collect();
        let read = paths(&tree, true);
        assert!(read.len() <= 2 * READ + 1 && read.len() >= READ, "{}", read.len());
    }
}
