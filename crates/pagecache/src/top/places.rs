//! Where the page cache of a machine can be: one place for every local file system, and the block devices.
//!
//! What is mounted only in other mount namespaces is in the rest.

use std::collections::BTreeMap;
use std::os::unix::fs::FileTypeExt;

use ramline_gather::gather;
use ramline_kernel::{fs, mount};
use ramline_snapshot::Wanted;
use ramline_snapshot::mounts::Mount;

use crate::prelude::*;

/// Where to look.
#[derive(Debug, Default)]
pub struct Places {
    /// File systems and block devices.
    pub paths: Vec<PathBuf>,
    /// What is left out, and why.
    pub passed: Vec<Remark>,
    /// Block devices that may not be opened.
    pub closed: Vec<String>,
}

/// File systems and block devices, and what is left out.
pub fn places(root: &Root) -> Places {
    let (mut paths, passed) = file_systems(root);
    let (open, closed): (Vec<_>, Vec<_>) = devices(root).into_iter().partition(|path| may_ask(path));
    paths.extend(open);
    Places { paths, passed, closed: closed.iter().map(|path| path.to_string_lossy().into_owned()).collect() }
}

/// Those without a size are not set up, and have no pages.
fn devices(root: &Root) -> Vec<PathBuf> {
    let seen = gather(root, Wanted { blocks: true, ..Wanted::NOTHING });
    let disks = seen.blocks.data().into_iter().flatten().filter(|disk| disk.size > Bytes::ZERO);
    let names = disks.flat_map(|disk| std::iter::once(&disk.name).chain(disk.partitions.iter().map(|part| &part.name)));
    names.map(|name| Path::new("/dev").join(name)).collect()
}

/// What may not be opened is known by its sum alone, and is no failure. Only opening tells: access(2) knows nothing of what the
/// device controller of a control group forbids.
fn may_ask(path: &Path) -> bool {
    let is_device = std::fs::metadata(path).is_ok_and(|meta| meta.file_type().is_block_device());
    is_device && std::fs::File::open(path).is_ok()
}

/// Each file system once, where its root is mounted; only parts of it where the root is not.
pub fn file_systems(root: &Root) -> (Vec<PathBuf>, Vec<Remark>) {
    choose(&mount::list(root).unwrap_or_default(), |path| path.exists())
}

fn choose(mounts: &[Mount], exists: impl Fn(&Path) -> bool) -> (Vec<PathBuf>, Vec<Remark>) {
    let mut by_device: BTreeMap<&str, Vec<&Mount>> = BTreeMap::new();
    let mut passed: BTreeMap<String, (u64, &Path)> = BTreeMap::new();
    for (index, mounted) in mounts.iter().enumerate() {
        let covered = mounts.iter().skip(index + 1).any(|later| Path::new(&mounted.at).starts_with(&later.at));
        if covered || fs::has_no_files(&mounted.fs) || in_memory(&mounted.fs) {
            continue;
        }
        let why = if fs::may_hang(&mounted.fs) {
            format!("{}: a server or a program answers for it and may never do so", mounted.fs)
        } else if is_seen_below(mounted, &exists) {
            "overlay: its files are counted where its layers are".to_owned()
        } else {
            by_device.entry(&mounted.dev).or_default().push(mounted);
            continue;
        };
        passed.entry(why).or_insert((0, Path::new(&mounted.at))).0 += 1;
    }
    let mut places = Vec::new();
    for mounted in by_device.into_values() {
        let whole = mounted.iter().filter(|m| m.root == "/").min_by_key(|m| m.at.len());
        match whole {
            Some(whole) => places.push(PathBuf::from(&whole.at)),
            None => places.extend(mounted.into_iter().map(|m| PathBuf::from(&m.at))),
        }
    }
    let passed = passed.into_iter().map(|(text, (files, at))| Remark { text, files, example: Some(name(at)) });
    (places, passed.collect())
}

fn in_memory(kind: &str) -> bool {
    matches!(kind, "tmpfs" | "ramfs" | "devtmpfs" | "hugetlbfs")
}

/// The layers of an overlay are directories of this namespace: then its pages are counted there.
fn is_seen_below(mounted: &Mount, exists: impl Fn(&Path) -> bool) -> bool {
    let layer = || mounted.option("upperdir").or_else(|| mounted.option("lowerdir")?.split(':').next());
    mounted.fs == "overlay" && layer().is_some_and(|dir| exists(Path::new(dir)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mounted(device: &str, subtree: &str, at: &str, fs_type: &str, super_options: &str) -> Mount {
        Mount {
            dev: device.into(),
            at: at.into(),
            root: subtree.into(),
            fs: fs_type.into(),
            source: "x".into(),
            super_options: super_options.into(),
            ..Mount::default()
        }
    }

    #[test]
    fn every_local_file_system_is_walked_once() {
        let mounts = [
            mounted("8:1", "/", "/old", "ext4", ""),
            mounted("8:1", "/", "/", "ext4", ""),
            mounted("8:1", "/home", "/srv/home", "ext4", ""),
            mounted("8:2", "/a", "/a", "xfs", ""),
            mounted("8:2", "/b", "/b", "xfs", ""),
            mounted("0:1", "/", "/run", "tmpfs", ""),
            mounted("0:2", "/", "/proc", "proc", ""),
            mounted("0:3", "/", "/mnt/nas", "nfs4", ""),
            mounted("0:4", "/", "/var/lib/docker/merged", "overlay", "rw,lowerdir=/l,upperdir=/up,workdir=/w"),
            mounted("0:5", "/", "/other", "overlay", "rw,lowerdir=/gone,upperdir=/gone/too"),
        ];
        // The later mount of / covers what was at /old.
        let (places, passed) = choose(&mounts, |path| path == Path::new("/up"));
        let places: Vec<&str> = places.iter().map(|path| path.to_str().unwrap()).collect();
        assert_eq!(places, ["/other", "/", "/a", "/b"]);
        let told: Vec<&str> = passed.iter().map(|remark| remark.text.as_str()).collect();
        assert!(
            told.len() == 2 && told[0].starts_with("nfs4: a server") && told[1].starts_with("overlay:"),
            "{told:?}"
        );
    }
}
