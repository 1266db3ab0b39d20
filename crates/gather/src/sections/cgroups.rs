//! The memory hierarchy: where it is mounted, which version, the root group, our own, and the limits between.

use ramline_snapshot::cgroup::{Cgroups, Group, Version, limit};
use ramline_snapshot::mounts::{self, Mount};
use ramline_units::Limit;

use super::reader::Reader;
use crate::prelude::*;

// What others may be known from comes first.
const V1_FILES: &[&str] = &[
    "memory.stat",
    "memory.usage_in_bytes",
    "memory.limit_in_bytes",
    "memory.memsw.usage_in_bytes",
    "memory.memsw.limit_in_bytes",
    "memory.swappiness",
    "memory.oom_control",
    "memory.failcnt",
    "memory.memsw.failcnt",
    "memory.max_usage_in_bytes",
    "memory.kmem.usage_in_bytes",
    "memory.kmem.tcp.usage_in_bytes",
];
const V2_FILES: &[&str] = &[
    "memory.stat",
    "memory.current",
    "memory.max",
    "memory.high",
    "memory.low",
    "memory.min",
    "memory.peak",
    "memory.swap.current",
    "memory.swap.max",
    "memory.zswap.current",
    "memory.zswap.max",
    "memory.events",
    "memory.pressure",
    "cgroup.stat",
];

/// The root group and our own.
pub fn cgroups(reader: &Reader<'_>, hierarchy: Option<&Hierarchy>) -> Seen<Cgroups> {
    let Some((version, mount)) = hierarchy else { return absent(reader) };
    let version = *version;
    let own_path = reader.text("/proc/self/cgroup").ok().and_then(|text| own_path(&text, version, &mount.root));
    reader.timed(|| {
        let mut unseen = Vec::new();
        let own_path = own_path.filter(|path| path != "/");
        let own = own_path.as_ref().map(|path| group(reader, version, &mount.at, path, &mut unseen));
        Cgroups {
            version,
            effective_max: effective(reader, version, &mount.at, own_path.as_deref().unwrap_or("/")),
            root: group(reader, version, &mount.at, "/", &mut unseen),
            own,
            unseen,
        }
    })
}

/// Why there is no group to be seen on a machine whose kernel could show them.
const SWITCHED_OFF: &str = "the memory controller of control groups, which is switched off (/proc/cgroups: memory, enabled 0; by the kernel parameter \
     cgroup_disable=memory, or on a Raspberry Pi for want of cgroup_enable=memory)";

/// What is said where there is none.
pub fn absent<T>(reader: &Reader<'_>) -> Seen<T> {
    let what = "a mounted cgroup hierarchy with the memory controller";
    // `memory 0 1 0`: its last number says whether it is on.
    let is_off = |line: &str| line.split_ascii_whitespace().next() == Some("memory") && line.trim_end().ends_with('0');
    if reader.text("/proc/cgroups").is_ok_and(|text| text.lines().any(is_off)) {
        return Seen::Absent { path: SWITCHED_OFF.to_owned() };
    }
    let path = match MOUNT_TABLES.iter().any(|path| reader.exists(path)) {
        true => what.to_owned(),
        false => format!("{}, and so {what}", MOUNT_TABLES[0]),
    };
    Seen::Absent { path }
}

/// The table of mounts, and what an old or partial capture has in its place: `/proc/mounts` lacks the root of a mount, which is taken as the whole.
const MOUNT_TABLES: [&str; 3] = ["/proc/self/mountinfo", "/proc/self/mounts", "/proc/mounts"];

/// Where systemd and its forerunners mount it: for a capture without any table.
const USUAL: [(Version, &str, &str); 3] = [
    (Version::V1, "/sys/fs/cgroup/memory", "memory.usage_in_bytes"),
    (Version::V2, "/sys/fs/cgroup", "memory.stat"),
    (Version::V1, "/cgroup/memory", "memory.usage_in_bytes"),
];

/// The mount that carries the memory controller.
pub type Hierarchy = (Version, Mount);

/// The mount that carries the memory controller, of the mounts where they were read already.
pub fn hierarchy_in(reader: &Reader<'_>, mounts: Option<&[Mount]>) -> Option<Hierarchy> {
    let known = mounts.and_then(|mounts| choose(reader, mounts).map(|(version, mount)| (version, mount.clone())));
    known.or_else(|| hierarchy(reader))
}

/// The mount that carries the memory controller: of 20,000 mounts only those of groups are looked at.
pub fn hierarchy(reader: &Reader<'_>) -> Option<Hierarchy> {
    let mut tables = MOUNT_TABLES.iter().filter_map(|path| {
        let lines = |text: String| text.split_inclusive('\n').filter(|line| line.contains(" cgroup")).collect();
        let text: String = reader.text(path).ok().map(lines)?;
        let mounts = mounts::parse(*path, &text).ok().unwrap_or_default();
        Some(if mounts.is_empty() { mounts::parse_short(&text) } else { mounts })
    });
    match tables.next() {
        Some(mounts) => choose(reader, &mounts).map(|(version, mount)| (version, mount.clone())),
        None => usual(reader),
    }
}

fn usual(reader: &Reader<'_>) -> Option<(Version, Mount)> {
    let there = |(_, at, file): &&(Version, &str, &str)| reader.exists(format!("{at}/{file}"));
    let (version, at, _) = USUAL.iter().find(there)?;
    let fs = if *version == Version::V1 { "cgroup" } else { "cgroup2" };
    Some((*version, Mount { at: (*at).to_owned(), root: "/".to_owned(), fs: fs.to_owned(), ..Mount::default() }))
}

/// A version 2 mount beside a version 1 one may not have the controller.
fn choose<'a>(reader: &Reader<'_>, mounts: &'a [Mount]) -> Option<(Version, &'a Mount)> {
    let v1 = mounts.iter().find(|m| m.fs == "cgroup" && m.super_options.split(',').any(|o| o == "memory"));
    let has_memory = |m: &&Mount| {
        let controllers = reader.word(&format!("{}/cgroup.controllers", m.at));
        controllers.is_some_and(|c| c.split_ascii_whitespace().any(|c| c == "memory"))
    };
    let v2 = || mounts.iter().filter(|m| m.fs == "cgroup2").find(has_memory);
    v1.map(|m| (Version::V1, m)).or_else(|| v2().map(|m| (Version::V2, m)))
}

/// Our group below the mount, from `/proc/self/cgroup`.
fn own_path(text: &str, version: Version, mount_root: &str) -> Option<String> {
    let path = text.lines().find_map(|line| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        let ours = match version {
            Version::V1 => controllers.split(',').any(|c| c == "memory"),
            Version::V2 => controllers.is_empty(),
        };
        ours.then_some(path)
    })?;
    let below = if mount_root == "/" { path } else { path.strip_prefix(mount_root).unwrap_or("/") };
    Some(if below.is_empty() { "/".to_owned() } else { below.to_owned() })
}

/// The files of a group.
pub const fn names(version: Version) -> &'static [&'static str] {
    match version {
        Version::V1 => V1_FILES,
        Version::V2 => V2_FILES,
    }
}

fn group(reader: &Reader<'_>, version: Version, mount: &str, path: &str, unseen: &mut Vec<Unseen>) -> Group {
    let dir = format!("{mount}{}", path.trim_end_matches('/'));
    let mut files = BTreeMap::new();
    for name in names(version) {
        // Version 1 answers some files with EOPNOTSUPP when swap accounting is off.
        let text = reader.text_or(format!("{dir}/{name}"), unseen);
        files.extend(text.map(|text| ((*name).to_owned(), text)));
    }
    let mut group = Group::from_files(version, &dir, &files, unseen);
    path.clone_into(&mut group.path);
    group
}

/// The tightest limit from our group up to the root.
fn effective(reader: &Reader<'_>, version: Version, mount: &str, own: &str) -> Limit {
    let file = if version == Version::V1 { "memory.limit_in_bytes" } else { "memory.max" };
    let own = own.trim_end_matches('/');
    let ways = std::iter::successors(Some(own), |path| path.rfind('/').map(|cut| &path[..cut]));
    let limits = ways.filter_map(|path| {
        let name = format!("{mount}{path}/{file}");
        limit(&name, &reader.text(&name).ok()?).ok()?.bytes()
    });
    limits.min().map_or(Limit::Max, Limit::At)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_group_is_found_under_either_version_and_below_a_shifted_mount() {
        let v1 = "9:name=systemd:/\n4:memory:/a/b\n0::/x\n";
        assert_eq!(own_path(v1, Version::V1, "/").as_deref(), Some("/a/b"));
        assert_eq!(own_path(v1, Version::V2, "/").as_deref(), Some("/x"));
        assert_eq!(own_path(v1, Version::V1, "/a").as_deref(), Some("/b"));
        assert_eq!(own_path(v1, Version::V1, "/a/b").as_deref(), Some("/"));
        assert_eq!(own_path("garbage", Version::V2, "/"), None);
    }
}
