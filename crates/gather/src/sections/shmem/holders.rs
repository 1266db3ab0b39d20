//! What processes have open or mapped of shared memory.
//!
//! A descriptor is looked at only when its link or its mount says that it is in RAM: to stat a file of a dead server would
//! never return. Its inode then comes from fdinfo, or from a stat of the file itself. Of mappings the table says device and
//! inode; a file without a name is asked through map_files, which the kernel allows to root.

use std::io::{ErrorKind, Read};
use std::os::fd::AsFd;

use ramline_snapshot::shmem::{GraphicsClient, Holder, Object, ObjectKind, Walk, drm_fdinfo};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::ask::{Asker, dev_text, seconds};
use super::spaces::{Space, Spaces, number_in_link};
use crate::held::DELETED;
use crate::mapping::Mapping;
use crate::prelude::*;

/// Objects distinguished; more are counted as not asked.
const OBJECTS: usize = 50_000;
/// Holders named for each.
const NAMED: usize = 4;
/// Who has a System V segment of our name space attached.
#[derive(Debug, Default)]
pub struct Attached {
    pub holders: Vec<Holder>,
    /// Its pages come from a pool of huge pages.
    pub huge: bool,
}

/// Shared memory held by all processes together.
#[derive(Debug, Default)]
pub struct SharedHoldings {
    /// Device and inode of files that have a name.
    pub named: HashSet<(u64, u64)>,
    pub objects: Vec<Object>,
    pub segments: HashMap<i64, Attached>,
    pub graphics: Vec<GraphicsClient>,
    pub walk: Walk,
    index: HashMap<Key, usize>,
    /// By number of the object: the last process seen to hold it.
    last: Vec<u32>,
    clients: HashSet<(String, String, u64)>,
}

/// Kind, device, inode, and for a segment its name space: numbers of segments and of inodes may coincide.
type Key = (ObjectKind, u64, u64, u64);

impl SharedHoldings {
    pub fn look(root: &Root, spaces: &Spaces, asker: &Asker, end: Instant) -> SharedHoldings {
        let (mut held, proc) = (SharedHoldings::default(), root.path("/proc"));
        held.walk.processes_complete = true;
        let own_ipc = fs::read_link(proc.join("self/ns/ipc")).ok().and_then(|link| number_in_link(&link));
        let mut text = Vec::new();
        for pid in pids(root) {
            if Instant::now() > end {
                held.walk.processes_complete = false;
                break;
            }
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let Ok(dir) = rustix::fs::open(proc.join(pid.to_string()), flags, Mode::empty()) else {
                held.walk.vanished += 1;
                continue;
            };
            let mut one = Process { pid, dir, spaces, asker, own_ipc, holder: None };
            let (maps, fds) = (one.maps(&mut held, &mut text), one.fds(&mut held));
            match maps.and(fds) {
                Ok(()) => held.walk.processes += 1,
                // A kernel thread has nothing open or mapped, and refuses all but root.
                Err(Errno::ACCESS | Errno::PERM) if one.is_kernel_thread() => held.walk.processes += 1,
                Err(Errno::ACCESS | Errno::PERM) => held.walk.denied += 1,
                Err(_) => held.walk.vanished += 1,
            }
        }
        let unasked = held.objects.iter().filter(|object| object.uid.is_none()).count();
        held.walk.unasked += u64::try_from(unasked).unwrap_or(u64::MAX);
        held
    }

    /// The object of this key, made by `make` at first sight; `None` when there are too many.
    fn object(&mut self, key: Key, make: impl FnOnce() -> Object) -> Option<usize> {
        if let Some(index) = self.index.get(&key) {
            return Some(*index);
        }
        if self.objects.len() >= OBJECTS {
            self.walk.unasked += 1;
            return None;
        }
        self.objects.push(make());
        self.last.push(0);
        self.index.insert(key, self.objects.len() - 1);
        Some(self.objects.len() - 1)
    }
}

/// One process while it is looked at.
struct Process<'a> {
    pid: u32,
    dir: OwnedFd,
    spaces: &'a Spaces,
    asker: &'a Asker,
    own_ipc: Option<u64>,
    /// Who it is: read when it turns out to hold something.
    holder: Option<Holder>,
}

/// How a process holds a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Open,
    Mapped,
}

impl Process<'_> {
    fn read(&self, name: &str, into: &mut Vec<u8>) -> Result<(), Errno> {
        let fd = rustix::fs::openat(&self.dir, name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        into.clear();
        let denied = |error: std::io::Error| error.kind() == ErrorKind::PermissionDenied;
        let read = fs::File::from(fd).read_to_end(into).map(drop);
        read.map_err(|error| if denied(error) { Errno::ACCESS } else { Errno::SRCH })
    }

    fn maps(&mut self, held: &mut SharedHoldings, text: &mut Vec<u8>) -> Result<(), Errno> {
        self.read("maps", text)?;
        let mut extents: HashMap<Key, u64> = HashMap::new();
        for line in text.split(|b| *b == b'\n') {
            let Some(map) = Mapping::parse(line) else { continue };
            let internal = self.asker.internal_dev == Some(map.dev);
            if map.path.starts_with(b"/SYSV") {
                self.segment(held, &map, internal);
            } else if internal || (self.spaces.is_in_ram(map.dev) && map.path.ends_with(DELETED)) {
                let kind = if internal { internal_kind(map.path) } else { ObjectKind::Deleted };
                *extents.entry((kind, map.dev, map.ino, 0)).or_default() += map.end - map.start;
                self.mapped(held, &map, (kind, map.dev, map.ino, 0));
            } else if self.spaces.is_in_ram(map.dev) {
                held.named.insert((map.dev, map.ino));
            }
        }
        // What could not be asked is at least as long as what is mapped of it.
        for (key, extent) in extents {
            if let Some(object) = held.index.get(&key).and_then(|index| held.objects.get_mut(*index)) {
                object.size = if object.uid.is_none() { object.size.max(Bytes(extent)) } else { object.size };
            }
        }
        Ok(())
    }

    /// A System V segment: inode numbers are segment ids there.
    fn segment(&mut self, held: &mut SharedHoldings, map: &Mapping<'_>, internal: bool) {
        let ipc = rustix::fs::readlinkat(&self.dir, "ns/ipc", Vec::new()).ok();
        let ipc = ipc.and_then(|link| number_in_link(Path::new(link.to_str().ok()?)));
        if ipc == self.own_ipc {
            let Ok(id) = i64::try_from(map.ino) else { return };
            let attached = held.segments.entry(id).or_default();
            attached.huge = !internal;
            if attached.holders.len() < NAMED && attached.holders.iter().all(|h| h.pid != self.pid) {
                attached.holders.push(Holder { mapped: true, ..self.holder() });
            }
        } else if internal {
            self.mapped(held, map, (ObjectKind::Segment, map.dev, map.ino, ipc.unwrap_or(0)));
        }
    }

    fn mapped(&mut self, held: &mut SharedHoldings, map: &Mapping<'_>, key: Key) {
        let link = format!("map_files/{:x}-{:x}", map.start, map.end);
        let mut named = false;
        let (dir, asker) = (self.dir.as_fd(), self.asker);
        let index = held.object(key, || {
            let stat = rustix::fs::statat(dir, link.as_str(), AtFlags::empty()).ok();
            named = key.0 == ObjectKind::Deleted && stat.is_some_and(|stat| stat.st_nlink > 0);
            object(key, map.path, stat, asker, || open(dir, &link))
        });
        self.hold(held, index, named.then_some((map.dev, map.ino)), How::Mapped);
    }

    /// Notes that this process holds an object; one that has a name after all is taken back.
    fn hold(&mut self, held: &mut SharedHoldings, index: Option<usize>, named: Option<(u64, u64)>, how: How) {
        let Some(index) = index else { return };
        if let Some(file) = named {
            held.named.insert(file);
            if held.objects.pop().is_some() {
                held.last.pop();
                held.index.retain(|_, at| *at != index);
            }
            return;
        }
        let again = held.last.get(index) == Some(&self.pid);
        let holder = if again { None } else { Some(self.holder()) };
        let Some(object) = held.objects.get_mut(index) else { return };
        if let Some(holder) = holder {
            object.holder_count += 1;
            if object.holders.len() < NAMED {
                object.holders.push(holder);
            }
            if let Some(last) = held.last.get_mut(index) {
                *last = self.pid;
            }
        }
        if let Some(holder) = object.holders.iter_mut().find(|h| h.pid == self.pid) {
            holder.open |= how == How::Open;
            holder.mapped |= how == How::Mapped;
        }
    }

    fn fds(&mut self, held: &mut SharedHoldings) -> Result<(), Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let dir = rustix::fs::openat(&self.dir, "fd", flags, Mode::empty())?;
        let spaces = self.spaces;
        let space = spaces.for_process(self.pid);
        let mut buffer = Vec::new();
        for entry in rustix::fs::Dir::read_from(&dir)?.flatten() {
            let name = entry.file_name();
            let Ok(link) = rustix::fs::readlinkat(&dir, name, std::mem::take(&mut buffer)) else { continue };
            let path = link.as_bytes();
            if let Some(file) = Candidate::from_path(path, space) {
                self.fd(held, &name.to_string_lossy(), path, file, space);
            }
            buffer = link.into_bytes();
        }
        Ok(())
    }

    fn fd(&mut self, held: &mut SharedHoldings, number: &str, path: &[u8], file: Candidate, space: Option<&Space>) {
        let mut text = Vec::new();
        if file != Candidate::Internal && self.read(&format!("fdinfo/{number}"), &mut text).is_err() {
            return;
        }
        let text = String::from_utf8_lossy(&text);
        if file == Candidate::Graphics {
            return self.graphics(held, &text);
        }
        let field = |name: &str| text.lines().find_map(|l| l.strip_prefix(name)?.trim().parse::<u64>().ok());
        let dev = match (file, field("mnt_id:").and_then(|id| space?.ids.get(&id))) {
            (Candidate::Internal, _) => None,
            (_, Some(Some(dev))) => Some(*dev),
            // The name only looks like one in RAM: it may be of a file system that hangs.
            _ => return,
        };
        if let (Some(dev), Some(ino), false) = (dev, field("ino:"), path.ends_with(DELETED)) {
            held.named.insert((dev, ino));
            return;
        }
        let link = format!("fd/{number}");
        let Ok(stat) = rustix::fs::statat(&self.dir, link.as_str(), AtFlags::empty()) else { return };
        let key = match dev {
            Some(dev) if stat.st_nlink > 0 => {
                held.named.insert((dev, stat.st_ino));
                return;
            }
            Some(dev) => (ObjectKind::Deleted, dev, stat.st_ino, 0),
            None if self.asker.internal_dev == Some(stat.st_dev) => (internal_kind(path), stat.st_dev, stat.st_ino, 0),
            // A memfd of huge pages, or a file that only is named like one.
            None => return,
        };
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return;
        }
        let (dir, asker) = (self.dir.as_fd(), self.asker);
        let index = held.object(key, || object(key, path, Some(stat), asker, || open(dir, &link)));
        // Another process's mapping may have been seen first, and could not be asked.
        if let Some(known) = index.and_then(|index| held.objects.get_mut(index)).filter(|known| known.uid.is_none()) {
            let asked = object(key, path, Some(stat), asker, || open(dir, &link));
            (known.uid, known.size, known.amount, known.age) = (asked.uid, asked.size, asked.amount, asked.age);
        }
        self.hold(held, index, None, How::Open);
    }

    fn graphics(&mut self, held: &mut SharedHoldings, text: &str) {
        let Some(mut client) = drm_fdinfo(text) else { return };
        if held.clients.insert((client.driver.clone(), client.device.clone(), client.client)) {
            client.holder = Holder { open: true, ..self.holder() };
            held.graphics.push(client);
        }
    }

    fn holder(&mut self) -> Holder {
        let who = self.holder.take().unwrap_or_else(|| self.who());
        self.holder.insert(who).clone()
    }

    fn who(&self) -> Holder {
        let mut text = Vec::new();
        let mut holder = Holder { pid: self.pid, ..Holder::default() };
        if self.read("stat", &mut text).is_ok() {
            let stat = String::from_utf8_lossy(&text);
            let (left, right) = stat.rsplit_once(')').unwrap_or_default();
            holder.name = left.split_once('(').map(|(_, name)| name.to_owned()).unwrap_or_default();
            let words: Vec<&str> = right.split_whitespace().collect();
            let ticks = |at: usize| words.get(at).and_then(|w| w.parse::<u64>().ok()).unwrap_or(0);
            holder.asleep = matches!(words.first(), Some(&("S" | "T" | "t")));
            holder.cpu_ticks = ticks(11).saturating_add(ticks(12));
        }
        if self.read("status", &mut text).is_ok() {
            let mut seen = ramline_snapshot::processes::Process::default();
            seen.status(&text);
            holder.uid = seen.uid;
        }
        holder
    }

    fn is_kernel_thread(&self) -> bool {
        let (mut text, mut seen) = (Vec::new(), ramline_snapshot::processes::Process::default());
        self.read("stat", &mut text).is_ok() && seen.stat(&text).is_ok() && seen.kernel_thread
    }
}

fn open(dir: impl AsFd, link: &str) -> Option<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::openat(dir, link, flags, Mode::empty()).ok()
}

fn object(key: Key, path: &[u8], stat: Option<Stat>, asker: &Asker, open: impl FnOnce() -> Option<OwnedFd>) -> Object {
    let name = String::from_utf8_lossy(path.strip_suffix(DELETED).unwrap_or(path)).into_owned();
    let mut out = Object { kind: key.0, name, dev: dev_text(key.1), ino: key.2, ..Object::default() };
    out.amount.count = 1;
    if let Some(stat) = stat {
        let number = |n: i64| u64::try_from(n).unwrap_or(0);
        out.size = Bytes(number(stat.st_size));
        out.uid = Some(stat.st_uid);
        out.amount = asker.amount(Bytes(number(stat.st_blocks).saturating_mul(512)), open);
        // Pages of a mapping are touched without a trace.
        let traced = !matches!(key.0, ObjectKind::SharedAnonymous | ObjectKind::Segment);
        out.age = traced.then(|| asker.age(seconds(stat.st_atime), seconds(stat.st_mtime)));
    }
    out
}

/// Why a descriptor is worth a look.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Candidate {
    /// Named like a file of the kernel's internal tmpfs.
    Internal,
    /// Its path leads into a file system in RAM.
    InRam,
    Graphics,
}

impl Candidate {
    pub fn from_path(path: &[u8], space: Option<&Space>) -> Option<Candidate> {
        match path {
            b"/dev/null" | b"/dev/zero" | b"/dev/random" | b"/dev/urandom" => None,
            _ if path.starts_with(b"/dev/dri/") => Some(Candidate::Graphics),
            _ if path.ends_with(DELETED) && internal_kind(path) != ObjectKind::Other => Some(Candidate::Internal),
            _ if path.first() == Some(&b'/') && space?.in_ram(path) => Some(Candidate::InRam),
            _ => None,
        }
    }
}

/// What a file of the kernel's internal tmpfs is, by the name the kernel gives it.
pub fn internal_kind(path: &[u8]) -> ObjectKind {
    let kinds: [(&[u8], ObjectKind); 5] = [
        (b"/memfd:", ObjectKind::Memfd),
        (b"/dev/zero", ObjectKind::SharedAnonymous),
        (b"/SYSV", ObjectKind::Segment),
        (b"/drm mm object", ObjectKind::Graphics),
        (b"/i915", ObjectKind::Graphics),
    ];
    kinds.iter().find(|(start, _)| path.starts_with(start)).map_or(ObjectKind::Other, |(_, kind)| *kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_descriptors_that_can_be_in_ram_are_looked_at() {
        let mut space = Space::default();
        space.points.insert(b"/".to_vec(), false);
        space.points.insert(b"/dev".to_vec(), true);
        let of = |path: &str| Candidate::from_path(path.as_bytes(), Some(&space));
        assert_eq!(of("socket:[3]"), None);
        assert_eq!(of("/net/dead (deleted)"), None);
        assert_eq!(of("/dev/null"), None);
        assert_eq!(of("/dev/x (deleted)"), Some(Candidate::InRam));
        assert_eq!(of("/memfd:x (deleted)"), Some(Candidate::Internal));
        assert_eq!(of("/memfd:x"), None, "a file of that name on a disk");
        assert_eq!(of("/dev/dri/card0"), Some(Candidate::Graphics));
        assert_eq!(Candidate::from_path(b"/dev/x", None), None);
    }
}
