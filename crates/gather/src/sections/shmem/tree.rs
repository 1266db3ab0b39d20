//! The files of file systems in RAM: one pass over all of them, in memory that does not grow with their number.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;

use ramline_snapshot::shmem::{AgeTotal, Amount, File, Filesystem, Shmem};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;

use super::ask::{Asker, dev_text, seconds};
use super::spaces::{Spaces, Way};
use crate::prelude::*;

/// Entries of each list.
pub const LISTED: usize = 100;
/// Users distinguished.
pub const USERS: usize = 1000;
/// Inodes looked at, all file systems together.
const INODES: u64 = 2_000_000;
/// Directories waiting to be read: their names are kept.
const PENDING: usize = 100_000;

const TMPFS_MAGIC: i64 = 0x0102_1994;
const RAMFS_MAGIC: i64 = 0x8584_58f6;

const HOUR: u64 = 3600 * 1_000_000_000;
/// Bounds of the ages: an hour, a day, a week, a month.
const AGES: [u64; 4] = [HOUR, 24 * HOUR, 7 * 24 * HOUR, 30 * 24 * HOUR];

pub struct Forest<'a> {
    asker: &'a Asker,
    /// Files that processes hold; `None` where not all could be asked.
    held: Option<&'a HashSet<(u64, u64)>>,
    loops: HashSet<String>,
    end: Instant,
    inodes: u64,
    pub unreached: u64,
    pub users: HashMap<u32, Amount>,
    ages: [Amount; AGES.len() + 1],
    unowned: Amount,
    largest: Largest<File>,
    largest_unowned: Largest<File>,
}

impl<'a> Forest<'a> {
    pub fn new(asker: &'a Asker, held: Option<&'a HashSet<(u64, u64)>>, loops: Vec<String>, end: Instant) -> Self {
        Forest {
            asker,
            held,
            loops: loops.into_iter().collect(),
            end,
            inodes: 0,
            unreached: 0,
            users: HashMap::new(),
            ages: [Amount::default(); AGES.len() + 1],
            unowned: Amount::default(),
            largest: Largest::new(LISTED),
            largest_unowned: Largest::new(LISTED),
        }
    }

    /// Every file system that can be entered; largest first.
    pub fn walk(&mut self, proc: &Path, spaces: &Spaces) -> Vec<Filesystem> {
        self.unreached = u64::try_from(spaces.unreached.len()).unwrap_or(u64::MAX);
        let mut out: Vec<Filesystem> = Vec::new();
        for (dev, way) in &spaces.ways {
            match self.filesystem(proc, *dev, way, spaces) {
                Some(filesystem) => out.push(filesystem),
                None => self.unreached += 1,
            }
        }
        let size = |f: &Filesystem| f.used.unwrap_or_default().max(f.found.all());
        ramline_units::sort_by(&mut out, |a, b| size(b).cmp(&size(a)).then_with(|| a.at.cmp(&b.at)));
        out
    }

    /// What the walk found, into its place.
    pub fn finish(self, out: &mut Shmem) {
        let bounds = AGES.iter().map(|bound| Some(Nanos(*bound))).chain([None]);
        out.ages = bounds.zip(self.ages).map(|(within, amount)| AgeTotal { within, amount }).collect();
        out.unowned = self.held.map(|_| self.unowned);
        out.files = self.largest.into_vec();
        out.unowned_files = self.largest_unowned.into_vec();
    }

    /// `None` when what the path leads to is not this file system.
    fn filesystem(&mut self, proc: &Path, dev: u64, way: &Way, spaces: &Spaces) -> Option<Filesystem> {
        let root = way.via.map_or_else(|| PathBuf::from("/"), |pid| proc.join(pid.to_string()).join("root"));
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = rustix::fs::open(&root, flags, Mode::empty()).ok()?;
        let inside = way.at.strip_prefix("/").unwrap_or(&way.at);
        let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS | ResolveFlags::BENEATH;
        let top = open_below(root.as_fd(), inside, flags, resolve).ok()?;
        if rustix::fs::fstat(&top).ok()?.st_dev != dev {
            return None;
        }
        let kind = rustix::fs::fstatfs(&top).ok()?.f_type & 0xffff_ffff;
        let ramfs = kind == RAMFS_MAGIC;
        if kind != TMPFS_MAGIC && !ramfs {
            return None;
        }
        let space = rustix::fs::fstatvfs(&top).ok().filter(|s| s.f_blocks > 0 && !ramfs);
        let mut out = Filesystem {
            dev: dev_text(dev),
            fs: way.fs.clone(),
            at: way.at.to_string_lossy().into_owned(),
            via: way.via,
            in_shmem: !ramfs,
            used: space.map(|s| Bytes(s.f_blocks.saturating_sub(s.f_bfree).saturating_mul(s.f_frsize))),
            complete: true,
            ..Filesystem::default()
        };
        let parts = spaces.parts.get(&dev).into_iter().flatten().map(PathBuf::as_path).collect();
        let parents = way.covered.iter().filter_map(|inside| inside.parent()).collect();
        let tree = Tree { top, dev, way, parts, parents, in_shmem: !ramfs };
        self.descend(&tree, &mut out);
        Some(out)
    }

    fn descend(&mut self, tree: &Tree<'_>, out: &mut Filesystem) {
        let mut linked: HashSet<u64> = HashSet::new();
        let mut pending: Vec<PathBuf> = vec![PathBuf::new()];
        while let Some(inside) = pending.pop() {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let dir = match open_below(tree.top.as_fd(), &inside, flags, Tree::STAY) {
                Ok(dir) if rustix::fs::fstat(&dir).is_ok_and(|stat| stat.st_dev == tree.dev) => dir,
                // Another file system is mounted there.
                Ok(_) | Err(Errno::XDEV) => continue,
                Err(_) => {
                    out.refused += 1;
                    continue;
                }
            };
            out.inodes += 1;
            let Ok(entries) = rustix::fs::Dir::read_from(&dir) else {
                out.refused += 1;
                continue;
            };
            let covered = tree.parents.contains(inside.as_path());
            for entry in entries.flatten() {
                let name = entry.file_name();
                if matches!(name.to_bytes(), b"." | b"..") {
                    continue;
                }
                self.inodes += 1;
                if self.inodes > INODES || (self.inodes.is_multiple_of(64) && Instant::now() > self.end) {
                    out.complete = false;
                    return;
                }
                let path = || inside.join(OsStr::from_bytes(name.to_bytes()));
                match entry.file_type() {
                    FileType::Directory if pending.len() < PENDING => pending.push(path()),
                    FileType::Directory => out.complete = false,
                    // Sockets, pipes and devices hold no pages.
                    FileType::RegularFile | FileType::Symlink if covered && tree.way.covered.contains(&path()) => {}
                    FileType::RegularFile | FileType::Symlink => {
                        let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
                        match rustix::fs::statat(&dir, name, flags) {
                            Ok(stat) if stat.st_dev != tree.dev => {}
                            Ok(stat) if stat.st_nlink > 1 && !linked.insert(stat.st_ino) => {}
                            Ok(stat) => self.file(tree, out, &stat, &path, || open_file(&dir, name)),
                            Err(_) => out.refused += 1,
                        }
                    }
                    _ => out.inodes += 1,
                }
            }
        }
    }

    fn file(
        &mut self,
        tree: &Tree<'_>,
        out: &mut Filesystem,
        stat: &Stat,
        inside: &dyn Fn() -> PathBuf,
        open: impl FnOnce() -> Option<OwnedFd>,
    ) {
        out.inodes += 1;
        let number = |n: i64| u64::try_from(n).unwrap_or(0);
        let allocated = Bytes(number(stat.st_blocks).saturating_mul(512));
        // A link's target cannot be asked; pages of a ramfs are always in RAM.
        let amount = if tree.in_shmem {
            self.asker.amount(allocated, open)
        } else {
            Amount { count: 1, resident: allocated, ..Amount::default() }
        };
        out.found.add(amount);
        if !tree.in_shmem {
            return;
        }
        if self.users.contains_key(&stat.st_uid) || self.users.len() < USERS * 10 {
            self.users.entry(stat.st_uid).or_default().add(amount);
        }
        let age = self.asker.age(seconds(stat.st_atime), seconds(stat.st_mtime));
        let bucket = AGES.iter().position(|bound| age.0 <= *bound).unwrap_or(AGES.len());
        if let Some(total) = self.ages.get_mut(bucket) {
            total.add(amount);
        }
        let held = self.held.map(|held| held.contains(&(tree.dev, stat.st_ino)) || self.kernel_holds(tree, inside));
        let size = amount.all().0;
        let make = || File {
            path: tree.way.at.join(inside()).to_string_lossy().into_owned(),
            dev: dev_text(tree.dev),
            ino: stat.st_ino,
            size: Bytes(number(stat.st_size)),
            amount,
            uid: stat.st_uid,
            age: Some(age),
            held,
        };
        if held == Some(false) {
            self.unowned.add(amount);
            if self.largest_unowned.takes(size) {
                self.largest_unowned.add(size, make());
            }
        }
        if self.largest.takes(size) {
            self.largest.add(size, make());
        }
    }

    /// A loop device is made of it, or it is mounted over another file.
    fn kernel_holds(&self, tree: &Tree<'_>, inside: &dyn Fn() -> PathBuf) -> bool {
        if self.loops.is_empty() && tree.parts.is_empty() {
            return false;
        }
        let inside = inside();
        tree.parts.contains(inside.as_path())
            || tree.way.at.join(inside).to_str().is_some_and(|path| self.loops.contains(path))
    }
}

/// One file system while it is walked.
struct Tree<'a> {
    top: OwnedFd,
    dev: u64,
    way: &'a Way,
    /// Paths inside that are mounted elsewhere by themselves.
    parts: HashSet<&'a Path>,
    /// Directories with a mount point in them.
    parents: HashSet<&'a Path>,
    in_shmem: bool,
}

impl Tree<'_> {
    /// Never out of the file system, whatever is renamed or mounted meanwhile.
    const STAY: ResolveFlags = ResolveFlags::NO_SYMLINKS
        .union(ResolveFlags::NO_MAGICLINKS)
        .union(ResolveFlags::BENEATH)
        .union(ResolveFlags::NO_XDEV);
}

fn open_below(top: BorrowedFd<'_>, inside: &Path, flags: OFlags, resolve: ResolveFlags) -> Result<OwnedFd, Errno> {
    let inside = if inside.as_os_str().is_empty() { Path::new(".") } else { inside };
    match rustix::fs::openat2(top, inside, flags, Mode::empty(), resolve) {
        // Before 5.6, or forbidden by a sandbox.
        Err(Errno::NOSYS | Errno::PERM) => rustix::fs::openat(top, inside, flags | OFlags::NOFOLLOW, Mode::empty()),
        other => other,
    }
}

fn open_file(dir: impl AsFd, name: &std::ffi::CStr) -> Option<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::openat(dir, name, flags, Mode::empty()).ok()
}

/// Keeps at most `room` things by size: the largest of many, in the memory of the few that are kept.
pub struct Largest<T> {
    room: usize,
    /// By size and, of the same size, the first last.
    kept: BTreeMap<(u64, u64), T>,
    left: u64,
}

impl<T> Largest<T> {
    pub const fn new(room: usize) -> Self {
        Largest { room, kept: BTreeMap::new(), left: u64::MAX }
    }

    /// True when a thing of this size would be kept: only then it is worth making. Nothing of size 0 is.
    pub fn takes(&self, size: u64) -> bool {
        let smallest = self.kept.first_key_value().map(|((size, _), _)| *size);
        size > 0 && (self.kept.len() < self.room || smallest.is_some_and(|smallest| smallest < size))
    }

    pub fn add(&mut self, size: u64, thing: T) {
        if self.takes(size) {
            if self.kept.len() >= self.room {
                self.kept.pop_first();
            }
            self.left -= 1;
            self.kept.insert((size, self.left), thing);
        }
    }

    /// Largest first.
    pub fn into_vec(self) -> Vec<T> {
        self.kept.into_values().rev().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_largest_are_kept_largest_first() {
        let mut kept = Largest::new(3);
        for size in [5, 1, 9, 0, 7, 3, 8] {
            kept.add(size, size);
        }
        assert!(!kept.takes(7) && kept.takes(8));
        assert_eq!(kept.into_vec(), [9, 8, 7]);
        assert!(!Largest::<u8>::new(3).takes(0));
    }
}
