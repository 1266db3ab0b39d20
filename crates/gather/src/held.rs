//! Which files processes have open or mapped, by device and inode, and which of them have no name any more.
//!
//! Without root other users' processes are not seen, but counted. A file that a server or a program
//! answers for (NFS, FUSE) is not looked at, because a server that is gone never answers. A file system whose mappings name another
//! device than stat(2) does (btrfs) is known by its open descriptors only.

use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::rc::Rc;

use ramline_kernel::limits::Limited;
use ramline_kernel::{FileKey, loopdev, mount};
use ramline_snapshot::processes::cgroup_path;

use crate::layers::{Layers, Space};
use crate::mappers::name_of;
use crate::mapping::Mapping;
use crate::prelude::*;

/// Who holds files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Process id; 0 is the kernel, with a loop device.
    pub pid: u32,
    /// Its name.
    pub name: String,
    /// Its group, as /proc/PID/cgroup names it: that of version 2, or of the memory controller.
    pub group: Option<String>,
}

/// A file without a name that is open or mapped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nameless {
    /// What it is.
    pub key: FileKey,
    /// What it was called.
    pub was: PathBuf,
    /// Where it can be opened: a link below /proc.
    pub link: PathBuf,
}

/// Files held by processes and loop devices.
#[derive(Debug, Default)]
pub struct HeldFiles {
    /// Processes that hold at least one file, and loop devices.
    pub holders: Vec<Holder>,
    /// Files, each with its holders as places in that list.
    pub files: HashMap<FileKey, Vec<u32>>,
    /// Those without a name, once each; shared memory is not among them.
    pub nameless: Vec<Nameless>,
    /// Processes that this user may not look at.
    pub denied: u64,
}

/// What the kernel puts behind the name of a file without one.
pub(crate) const DELETED: &[u8] = b" (deleted)";
/// Names of the kernel's own files in memory, which are shared memory and not page cache of a disk.
const IN_MEMORY: [&[u8]; 4] = [b"/memfd:", b"/SYSV", b"/dev/zero", b"/drm mm object"];

/// Looks at all processes.
#[must_use]
pub fn held(root: &Root) -> HeldFiles {
    let mut out = HeldFiles::default();
    // Layers of containers stay open meanwhile.
    Limited::OpenFiles.raise();
    let remote = mount::Remote::read(root);
    let (mut known, mut layers) = (HashSet::new(), Layers::default());
    for pid in pids(root) {
        let dir = root.path(format!("/proc/{pid}"));
        let space = layers.for_process(&dir);
        let mut one = One { dir, remote: &remote, space, keys: HashSet::new(), nameless: vec![] };
        match one.maps().and_then(|()| one.descriptors()) {
            Err(ErrorKind::PermissionDenied) => out.denied += 1,
            // It ended meanwhile.
            Err(_) => continue,
            Ok(()) => {}
        }
        if one.keys.is_empty() {
            continue;
        }
        out.hold(Holder { pid, name: name_of(&one.dir), group: group(&one.dir) }, one.keys);
        out.nameless.extend(one.nameless.into_iter().filter(|file| known.insert(file.key)));
    }
    loops(root, &remote, &mut out);
    out
}

/// The kernel holds the file behind a loop device, and no process needs to.
fn loops(root: &Root, remote: &mount::Remote, out: &mut HeldFiles) {
    for number in loopdev::list(root) {
        let behind = loopdev::LoopDevice::open(root, number).backing_file().filter(|path| !remote.holds(path));
        // A deleted one has no name to find it by.
        if let Some(meta) = behind.and_then(|path| fs::metadata(root.path(path)).ok()).filter(fs::Metadata::is_file) {
            out.hold(Holder { pid: 0, name: format!("/dev/loop{number}"), group: None }, [FileKey::from(&meta)]);
        }
    }
}

impl HeldFiles {
    fn hold(&mut self, holder: Holder, keys: impl IntoIterator<Item = FileKey>) {
        let Ok(place) = u32::try_from(self.holders.len()) else { return };
        self.holders.push(holder);
        keys.into_iter().for_each(|key| self.files.entry(key).or_default().push(place));
    }
}

/// One process while it is looked at.
struct One<'a> {
    dir: PathBuf,
    remote: &'a mount::Remote,
    /// Overlays that it sees.
    space: Option<Rc<Space>>,
    keys: HashSet<FileKey>,
    nameless: Vec<Nameless>,
}

type ReadResult = std::result::Result<(), ErrorKind>;

impl One<'_> {
    fn maps(&mut self) -> ReadResult {
        let text = fs::read(self.dir.join("maps")).map_err(|error| error.kind())?;
        for line in text.split(|byte| *byte == b'\n') {
            let Some(map) = Mapping::parse(line).filter(|map| map.path.starts_with(b"/")) else { continue };
            let Some(key) = map.key() else { continue };
            let key = self.below(key, map.path);
            if self.keys.insert(key) && map.path.ends_with(DELETED) {
                let link = self.dir.join(format!("map_files/{:x}-{:x}", map.start, map.end));
                self.without_name(key, map.path, link);
            }
        }
        Ok(())
    }

    fn descriptors(&mut self) -> ReadResult {
        let entries = fs::read_dir(self.dir.join("fd")).map_err(|error| error.kind())?;
        for link in entries.flatten().map(|entry| entry.path()) {
            let Ok(target) = fs::read_link(&link) else { continue };
            // Sockets, pipes and the like have no path; devices are no files.
            if !target.is_absolute() || target.starts_with("/dev") || self.remote.holds(&target) {
                continue;
            }
            let Some(meta) = fs::metadata(&link).ok().filter(fs::Metadata::is_file) else { continue };
            let key = self.below(FileKey::from(&meta), target.as_os_str().as_bytes());
            self.keys.insert(key);
            if meta.nlink() == 0 {
                self.without_name(key, target.as_os_str().as_bytes(), link);
            }
        }
        Ok(())
    }

    /// The file whose pages they are: of one on an overlay that in its layer.
    fn below(&self, key: FileKey, path: &[u8]) -> FileKey {
        let path = Path::new(std::ffi::OsStr::from_bytes(path));
        self.space.as_ref().and_then(|space| space.below(key, path)).unwrap_or(key)
    }

    fn without_name(&mut self, key: FileKey, path: &[u8], link: PathBuf) {
        let was = path.strip_suffix(DELETED).unwrap_or(path);
        if IN_MEMORY.iter().all(|start| !was.starts_with(start)) {
            let was = PathBuf::from(std::ffi::OsStr::from_bytes(was));
            self.nameless.push(Nameless { key, was, link });
        }
    }
}

/// The group of a process for memory, by its directory.
pub(crate) fn group(dir: &Path) -> Option<String> {
    let text = read_text(&dir.join("cgroup")).ok()?;
    cgroup_path(text.as_bytes()).map(|path| String::from_utf8_lossy(path).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::Write;

    #[test]
    fn an_open_file_is_held_by_us_and_one_without_a_name_can_be_opened_again() {
        let dir = tempfile::tempdir_in("/var/tmp").unwrap();
        let path = dir.path().join("gone");
        let mut file = File::create(&path).unwrap();
        file.write_all(b"still here").unwrap();
        fs::remove_file(&path).unwrap();
        let key = FileKey::from_file(&file).unwrap();
        let seen = held(&Root::live());
        let pids: Vec<u32> = seen.files[&key].iter().map(|place| seen.holders[*place as usize].pid).collect();
        assert_eq!(pids, [std::process::id()]);
        let again = seen.nameless.iter().find(|file| file.key == key).unwrap();
        assert_eq!(
            (again.was.as_path(), fs::read(&again.link).unwrap().as_slice()),
            (path.as_path(), &b"still here"[..])
        );
    }

    #[test]
    fn the_group_is_that_of_the_memory_controller_or_of_version_2() {
        let dir = tempfile::tempdir().unwrap();
        let of = |text: &str| {
            fs::write(dir.path().join("cgroup"), text).unwrap();
            group(dir.path())
        };
        assert_eq!(of("5:cpu,memory:/a\n0::/b\n").as_deref(), Some("/a"));
        assert_eq!(of("5:cpu:/a\n0::/b\n").as_deref(), Some("/b"));
        assert_eq!(of("garbage"), None);
    }
}
