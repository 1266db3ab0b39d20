//! Files of containers by the layer that holds their pages.
//!
//! A file on overlayfs has no page cache of its own: its pages are those of the file in the upper or a lower directory. Since Linux 6.8 /proc/PID/maps and
//! stat(2) name the overlay's device, so that a file that a container maps looks like none that a walk over the disk finds. What is below is
//! found by the path, in the layers that the mount table of the process names, the upper one first as overlayfs does.
//!
//! Worked example: a container maps /bin/sh, its mount table says `/ ... overlay lowerdir=/var/lib/containers/l/A:/var/lib/containers/l/B,upperdir=U`. U has no bin/sh
//! and l/A does: the pages are those of /var/lib/containers/l/A/bin/sh.

use std::collections::hash_map::Entry;
use std::rc::Rc;

use ramline_kernel::FileKey;
use ramline_snapshot::mounts::{self, Mount};
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, fstat, major, open, openat2};

use crate::prelude::*;

/// More layers than overlayfs takes (`OVL_MAX_STACK`).
const MOST: usize = 501;

/// Overlays, by name spaces of mounts.
#[derive(Default)]
pub struct Layers {
    by_space: HashMap<PathBuf, Rc<Space>>,
    open: OpenLayers,
}

/// Directories of layers, which many overlays share.
#[derive(Default)]
struct OpenLayers(HashMap<String, Option<Rc<OwnedFd>>>);

impl OpenLayers {
    /// `None` where it cannot be opened.
    fn open(&mut self, path: &str) -> Option<Rc<OwnedFd>> {
        if let Some(known) = self.0.get(path) {
            return known.clone();
        }
        let how = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = open(path, how, Mode::empty()).ok().map(Rc::new);
        self.0.insert(path.to_owned(), opened.clone());
        opened
    }
}

/// One name space.
pub struct Space {
    mounts: Vec<Mount>,
    overlays: Vec<Overlay>,
}

/// One mount of overlayfs: its upper directory and its lower ones, in the order in which a name is looked for.
struct Overlay {
    at: PathBuf,
    layers: Vec<Rc<OwnedFd>>,
}

impl Layers {
    /// The overlays that a process sees; `None` where it sees none.
    pub fn for_process(&mut self, dir: &Path) -> Option<Rc<Space>> {
        let name = fs::read_link(dir.join("ns/mnt")).ok()?;
        let space = match self.by_space.entry(name) {
            Entry::Occupied(known) => Rc::clone(known.get()),
            Entry::Vacant(new) => {
                let text = read_text(&dir.join("mountinfo")).unwrap_or_default();
                Rc::clone(new.insert(Rc::new(Space::parse(&text, &mut self.open))))
            }
        };
        (!space.overlays.is_empty()).then_some(space)
    }
}

impl Space {
    fn parse(text: &str, open: &mut OpenLayers) -> Space {
        let mounts = text.lines().filter_map(|line| mounts::parse("", line).ok()?.pop());
        let mounts: Vec<Mount> = if text.contains(" - overlay ") { mounts.collect() } else { Vec::new() };
        let overlays =
            mounts.iter().filter(|mount| mount.fs == "overlay").filter_map(|mount| Overlay::new(mount, open)).collect();
        Space { mounts, overlays }
    }

    /// The file that holds the pages of one, whose device and path are as the process sees them; `None` where it is on no overlay, or cannot be found.
    pub fn below(&self, key: FileKey, path: &Path) -> Option<FileKey> {
        // An overlay has no disk: its device has no number of its own.
        if major(key.device) != 0 {
            return None;
        }
        let mount = mounts::holding(&self.mounts, path).filter(|mount| mount.fs == "overlay")?;
        let overlay = self.overlays.iter().rev().find(|overlay| overlay.at == Path::new(&mount.at))?;
        overlay.file(path.strip_prefix(&overlay.at).ok()?)
    }
}

impl Overlay {
    /// `None` where a layer cannot be opened, or is named by a path that means nothing here: a relative one, or one that overlayfs has escaped.
    fn new(mount: &Mount, open: &mut OpenLayers) -> Option<Overlay> {
        let options = || mount.super_options.split(',');
        let each = |key: &'static str| options().filter_map(move |option| option.strip_prefix(key));
        // By the new mount interface each lower layer is an option of its own; `::` begins those that hold data alone.
        let lower = each("lowerdir=").flat_map(|all| all.split(':')).chain(each("lowerdir+=")).chain(each("datadir+="));
        let paths: Vec<&str> = each("upperdir=").chain(lower).filter(|path| !path.is_empty()).take(MOST).collect();
        let named = paths.iter().all(|path| path.starts_with('/') && !path.contains('\\'));
        // Where a part of it is mounted, the paths begin further down.
        if !named || mount.root != "/" {
            return None;
        }
        // Without one of them a file would be taken for that of a layer below.
        let layers = paths.iter().map(|path| open.open(path)).collect::<Option<Vec<_>>>()?;
        Some(Overlay { at: PathBuf::from(&mount.at), layers })
    }

    fn file(&self, path: &Path) -> Option<FileKey> {
        let mut found = self.layers.iter().filter_map(|layer| regular(layer, path));
        let first = found.next()?;
        // With `metacopy` the upper file has owner, mode and size, and its data is below.
        let holds = |(_, length, blocks): &(FileKey, i64, i64)| *length == 0 || *blocks > 0;
        if holds(&first) {
            return Some(first.0);
        }
        Some(found.find(holds).unwrap_or(first).0)
    }
}

/// A regular file in a layer, with length and blocks: no link in the way, nothing mounted there, and nothing outside.
fn regular(layer: &OwnedFd, path: &Path) -> Option<(FileKey, i64, i64)> {
    let how = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let within = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    let file = openat2(layer, path, how, Mode::empty(), within).ok()?;
    let stat = fstat(&file).ok()?;
    (FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile)
        .then(|| (FileKey::from(&stat), stat.st_size, stat.st_blocks))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> tempfile::TempDir {
        let dir = tempfile::tempdir_in("/var/tmp").unwrap();
        for (path, text) in [("up/a", "upper"), ("low/a", "lower"), ("low/bin/b", "b"), ("lowest/c", "c")] {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        dir
    }

    fn table(dir: &Path, options: &str) -> Space {
        let options = options.replace("DIR", dir.to_str().unwrap());
        Space::parse(
            &format!(
                "1 0 0:39 / / rw - overlay overlay rw,{options}\n2 1 0:5 / /proc rw - proc proc rw\n3 1 8:1 /v /data rw - ext4 /dev/sda1 rw\n"
            ),
            &mut OpenLayers::default(),
        )
    }

    /// The device is that of the overlay, the inode any.
    const SEEN: FileKey = FileKey { device: 39, inode: 7 };

    #[test]
    fn a_file_of_an_overlay_is_that_of_the_first_layer_that_has_it() {
        let dir = tree();
        let key = |path: &str| Some(FileKey::from(&fs::metadata(dir.path().join(path)).unwrap()));
        for options in [
            "lowerdir=DIR/low:DIR/lowest,upperdir=DIR/up,workdir=DIR/w",
            "lowerdir+=DIR/low,lowerdir+=DIR/lowest,upperdir=DIR/up",
        ] {
            let space = table(dir.path(), options);
            let below = |path: &str| space.below(SEEN, Path::new(path));
            assert_eq!(below("/a"), key("up/a"));
            assert_eq!(below("/bin/b"), key("low/bin/b"));
            assert_eq!((below("/c"), below("/none"), below("/bin")), (key("lowest/c"), None, None));
        }
    }

    #[test]
    fn what_is_no_overlay_or_cannot_be_named_is_left_as_it_is() {
        let dir = tree();
        let space = table(dir.path(), "lowerdir=DIR/low,upperdir=DIR/up");
        let on_disk = FileKey { device: rustix::fs::makedev(8, 1), inode: 7 };
        assert_eq!(space.below(on_disk, Path::new("/a")), None);
        assert_eq!((space.below(SEEN, Path::new("/data/a")), space.below(SEEN, Path::new("/proc/a"))), (None, None));
        assert_eq!(table(dir.path(), "lowerdir=low,upperdir=DIR/up").below(SEEN, Path::new("/a")), None, "relative");
        std::os::unix::fs::symlink("/etc/hostname", dir.path().join("up/out")).unwrap();
        assert_eq!(space.below(SEEN, Path::new("/out")), None, "no way out of a layer");
    }
}
