//! The tree of memory control groups, walked level by level, so that a bound cuts leaves and not whole branches.
//!
//! It is slow by nature: reading `memory.stat` makes the kernel bring its counters up to date first, for the
//! group and everything below it.

use std::collections::VecDeque;
use std::ffi::OsStr;

use ramline_snapshot::cgroup::{Group, Version};
use ramline_snapshot::groups::{Groups, is_kept};

use super::cgroups::{absent, hierarchy, names};
use super::reader::{NotRead, Reader};
use crate::prelude::*;

/// More groups are not read: at about 2 KiB each this is 40 MiB.
const MOST: usize = 20_000;
/// A live walk ends after this long.
const LONGEST: Duration = Duration::from_secs(20);
/// Files that could not be used are named up to this many.
const NAMED: usize = 8;

pub fn groups(reader: &Reader<'_>) -> Seen<Groups> {
    let Some((version, mount)) = hierarchy(reader) else { return absent(reader) };
    reader.timed(|| {
        let mut out = Groups {
            version: Some(version),
            recursive_protection: mount.super_options.split(',').any(|o| o == "memory_recursiveprot"),
            complete: true,
            ..Groups::default()
        };
        walk(reader, version, Path::new(&mount.at), &mut out);
        out.mount = mount.at;
        in_order(&mut out.list);
        out
    })
}

/// A parent before its children, names in order: the separator comes before every character of a name.
pub fn in_order(list: &mut [Group]) {
    ramline_units::sort_by(list, |a, b| a.path.split('/').cmp(b.path.split('/')));
}

fn walk(reader: &Reader<'_>, version: Version, mount: &Path, out: &mut Groups) {
    let end = reader.ends(LONGEST);
    // Paths below the mount; the root is the empty one.
    let mut waiting = VecDeque::from([PathBuf::new()]);
    while let Some(below) = waiting.pop_front() {
        let late = reader.root.is_live() && Instant::now() > end;
        if out.list.len() >= MOST || late {
            out.complete = false;
            return;
        }
        let dir = mount.join(&below);
        match group(reader, version, &dir, &below, out) {
            Some(group) => out.list.push(group),
            // Only the groups of one machine come and go; what a capture lacks was not there.
            None if reader.root.is_live() && !below.as_os_str().is_empty() => {
                if reader.exists(&dir) {
                    out.without_controller += 1;
                } else {
                    out.vanished += 1;
                }
                // Controllers are given from above: nothing below has it either.
                continue;
            }
            None => {}
        }
        match reader.directories(&dir) {
            Ok(names) => waiting.extend(names.iter().map(|name| below.join(name))),
            Err(NotRead::Absent) => {}
            Err(why) => note(out, &dir, why),
        }
    }
}

/// A group from the files it has; `None` when it has none.
pub fn group(reader: &Reader<'_>, version: Version, dir: &Path, below: &Path, out: &mut Groups) -> Option<Group> {
    let mut files = BTreeMap::new();
    let mut refused = false;
    for name in names(version) {
        let file = dir.join(name);
        match reader.text(&file) {
            Ok(text) => drop(files.insert((*name).to_owned(), text)),
            Err(NotRead::Absent) => {}
            Err(why) => {
                refused = true;
                note(out, &file, why);
            }
        }
    }
    // Version 2 has these two in every group, with the controller or without.
    let has_memory = files.keys().any(|name| !["cgroup.stat", "memory.pressure"].contains(&name.as_str()));
    if !has_memory && !refused {
        return None;
    }
    let mut malformed = Vec::new();
    let mut group = Group::from_files(version, &dir.to_string_lossy(), &files, &mut malformed);
    out.unreadable += malformed.len() as u64;
    out.unseen.extend(malformed.into_iter().take(NAMED.saturating_sub(out.unseen.len())));
    group.stat.retain(|key, _| is_kept(key));
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
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;
    use ramline_kernel::Root;

    const MOUNT: &str = "41 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot\n";

    fn tree() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        std::fs::create_dir_all(at("proc/self")).unwrap();
        std::fs::write(at("proc/self/mountinfo"), MOUNT).unwrap();
        for (group, current) in [("a", 8), ("a/b", 3), ("a-b", 2), ("z", 1)] {
            std::fs::create_dir_all(at("sys/fs/cgroup").join(group)).unwrap();
            std::fs::write(at("sys/fs/cgroup").join(group).join("memory.current"), format!("{current}\n")).unwrap();
        }
        std::fs::write(at("sys/fs/cgroup/cgroup.controllers"), "memory\n").unwrap();
        std::fs::write(at("sys/fs/cgroup/memory.stat"), "anon 5\npgscan 7\n").unwrap();
        dir
    }

    fn seen(dir: &tempfile::TempDir) -> Groups {
        let root = Root::new(dir.path());
        groups(&Reader::new(&root)).data().unwrap().clone()
    }

    #[test]
    fn a_parent_comes_before_its_children_and_only_kept_keys_are_kept() {
        let groups = seen(&tree());
        let paths: Vec<&str> = groups.list.iter().map(|g| g.path.as_str()).collect();
        assert_eq!(paths, ["/", "/a", "/a/b", "/a-b", "/z"]);
        assert!(groups.complete && groups.recursive_protection && groups.mount == "/sys/fs/cgroup");
        assert_eq!(groups.list[0].stat.keys().collect::<Vec<_>>(), ["anon"]);
    }

    #[test]
    fn a_name_of_any_bytes_is_read_and_written_out() {
        let dir = tree();
        let odd = dir.path().join("sys/fs/cgroup").join(OsStr::from_bytes(b"od\xffd\n"));
        std::fs::create_dir(&odd).unwrap();
        std::fs::write(odd.join("memory.current"), "4096\n").unwrap();
        let groups = seen(&dir);
        let found = groups.list.iter().find(|g| g.path.starts_with("/od")).unwrap();
        assert_eq!((found.path.as_str(), found.current.unwrap().0), ("/od\\xffd\n", 4096));
    }

    #[test]
    fn a_link_in_a_capture_is_not_followed_and_a_garbage_file_is_counted() {
        let dir = tree();
        std::os::unix::fs::symlink("/", dir.path().join("sys/fs/cgroup/loop")).unwrap();
        std::fs::write(dir.path().join("sys/fs/cgroup/z/memory.max"), "much\n").unwrap();
        // Without the controller there is still pressure to read: no group of memory.
        std::fs::create_dir(dir.path().join("sys/fs/cgroup/z/bare")).unwrap();
        std::fs::write(dir.path().join("sys/fs/cgroup/z/bare/memory.pressure"), "").unwrap();
        let groups = seen(&dir);
        assert_eq!((groups.list.len(), groups.unreadable, groups.unseen.len()), (5, 1, 1));
    }
}
