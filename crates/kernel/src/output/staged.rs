//! A regular file that takes its place, or that of an older one, when it is complete.

use std::ffi::OsString;
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{
    Access, AtFlags, CWD, FileType, FlockOperation, Gid, Mode, Uid, accessat, fchmod, fchown, flock, fstat, linkat,
    renameat, statat, unlinkat,
};

use super::place::{Counted, Format, failed, is_shared, open_dir, refused, split};
use crate::input::by_descriptor;
use crate::prelude::*;
use crate::sys::{FNV1A, fnv1a};

/// Names tried for what needs one for a moment.
const SLOTS: u32 = 8;
/// The longest name most file systems take.
const NAME_MAX: usize = 255;

/// A file that is not in its place yet.
#[derive(Debug)]
pub struct Staged {
    // The directory itself: whatever its name means later, the file comes here.
    dir: OwnedFd,
    name: OsString,
    format: Format,
    /// Without a name; `None` where the file system has no such files: then one is made when there is something to write.
    unnamed: Option<File>,
}

/// A file with a name of ours, locked; removed unless it has taken its place.
struct Named<'a> {
    dir: &'a OwnedFd,
    name: OsString,
    placed: bool,
}

impl Drop for Named<'_> {
    fn drop(&mut self) {
        if !self.placed {
            // The next command that writes the same file tries again.
            unlinkat(self.dir, &self.name, AtFlags::empty()).ok();
        }
    }
}

impl Staged {
    /// Checks `real`, where the links of `path` lead, and makes the file that will take its place.
    pub fn new(path: &Path, real: &Path, format: Format) -> Result<Staged> {
        let (dir, name) = split(real);
        let at = open_dir(dir).map_err(|error| failed(path, error))?;
        if name.len() > NAME_MAX {
            return Err(failed(path, Errno::NAMETOOLONG));
        }
        let old = look(&at, name, path)?;
        let mut staged = Staged { dir: at, name: name.to_owned(), format, unnamed: None };
        staged.remove_left_over(old.as_ref());
        let (file, named) = staged.make(old.is_some(), path)?;
        like(&file, old.as_ref(), path)?;
        // With a name it would be left behind by a kill while the command works: that it can be made is known now.
        let unnamed = named.is_none().then_some(file);
        drop(named);
        staged.unnamed = unnamed;
        Ok(staged)
    }

    /// Fills the file and puts it in place.
    pub fn write(self, path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<u64> {
        let mut staged = self;
        let (file, named) = match staged.unnamed.take() {
            Some(file) => (file, None),
            None => staged.make(look(&staged.dir, &staged.name, path)?.is_some(), path)?,
        };
        let mut out = Counted { out: BufWriter::new(&file), bytes: 0 };
        fill(&mut out).and_then(|()| out.flush()).map_err(|error| failed(path, error))?;
        let bytes = out.bytes;
        drop(out);
        file.sync_all().map_err(|error| failed(path, error))?;
        staged.place(&file, named, path)?;
        Ok(bytes)
    }

    /// A new file in the directory, and its name where it has one. One that `replaces` another gets the mode of that later.
    fn make(&self, replaces: bool, path: &Path) -> Result<(File, Option<Named<'_>>)> {
        let mode = Mode::from_raw_mode(if replaces { 0o600 } else { self.format.mode });
        let plain = OFlags::WRONLY | OFlags::CLOEXEC;
        match openat(&self.dir, ".", plain | OFlags::TMPFILE, mode) {
            // Linked by its number, or not at all.
            Ok(fd) if by_descriptor(&fd).exists() => return Ok((File::from(fd), None)),
            Ok(_) => {}
            // As kernels and file systems without it answer.
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT | Errno::NOSYS) => {}
            Err(error) => return Err(failed(path, error)),
        }
        for slot in slots(&self.name) {
            let create = plain | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
            match openat(&self.dir, &slot, create, mode) {
                Ok(fd) => {
                    let named = Named { dir: &self.dir, name: slot, placed: false };
                    if !is_locked(&fd) && is_at(&fd, &self.dir, &named.name) {
                        return Ok((File::from(fd), Some(named)));
                    }
                }
                Err(Errno::EXIST) => {}
                Err(error) => return Err(failed(path, error)),
            }
        }
        Err(refused(path, "other commands are writing it"))
    }

    fn place(&self, file: &File, named: Option<Named<'_>>, path: &Path) -> Result<()> {
        // What is there now: it may have become something else while the command worked.
        let old = look(&self.dir, &self.name, path)?;
        like(file, old.as_ref(), path)?;
        match (named, old) {
            (None, None) => match self.link(file, &self.name) {
                Err(Errno::EXIST) => {
                    let old = look(&self.dir, &self.name, path)?;
                    like(file, old.as_ref(), path)?;
                    self.replace(file, path)
                }
                other => other.map_err(|error| failed(path, error)),
            },
            (None, Some(_)) => self.replace(file, path),
            (Some(named), _) => self.rename(named, path),
        }?;
        // The file is whole and in its place; a directory that cannot be synced takes nothing from that.
        if let Ok(dir) = openat(&self.dir, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()) {
            rustix::fs::fsync(dir).ok();
        }
        Ok(())
    }

    /// A link cannot take the place of a file, a rename can: so it gets a name first.
    fn replace(&self, file: &File, path: &Path) -> Result<()> {
        flock(file, FlockOperation::NonBlockingLockExclusive).ok();
        for slot in slots(&self.name) {
            match self.link(file, &slot) {
                Ok(()) => return self.rename(Named { dir: &self.dir, name: slot, placed: false }, path),
                Err(Errno::EXIST) => {}
                Err(error) => return Err(failed(path, error)),
            }
        }
        Err(refused(path, "other commands are writing it"))
    }

    fn rename(&self, mut named: Named<'_>, path: &Path) -> Result<()> {
        let moved = renameat(&self.dir, &named.name, &self.dir, &self.name);
        named.placed = moved.is_ok();
        moved.map_err(|error| failed(path, error))
    }

    fn link(&self, file: &File, name: &OsStr) -> rustix::io::Result<()> {
        linkat(CWD, by_descriptor(file), &self.dir, name, AtFlags::SYMLINK_FOLLOW)
    }

    /// Removes what killed commands left: of us, not locked, and beginning as such a document does.
    fn remove_left_over(&self, old: Option<&Stat>) {
        // What root has begun to put in the place of a user's file is that user's already.
        let given = old.map(|old| old.st_uid).filter(|_| process::uid() == 0);
        for slot in slots(&self.name) {
            if self.is_left_over(&slot, given) {
                unlinkat(&self.dir, &slot, AtFlags::empty()).ok();
            }
        }
    }

    fn is_left_over(&self, name: &OsStr, given: Option<u32>) -> bool {
        let Ok(seen) = statat(&self.dir, name, AtFlags::SYMLINK_NOFOLLOW) else { return false };
        if FileType::from_raw_mode(seen.st_mode) != FileType::RegularFile
            || !(seen.st_uid == process::uid() || Some(seen.st_uid) == given)
            || seen.st_nlink != 1
        {
            return false;
        }
        let how = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let Ok(fd) = openat(&self.dir, name, how, Mode::empty()) else { return false };
        let same = fstat(&fd).is_ok_and(|stat| (stat.st_dev, stat.st_ino) == (seen.st_dev, seen.st_ino));
        if !same || flock(&fd, FlockOperation::NonBlockingLockExclusive).is_err() {
            return false;
        }
        let (mut begin, length) = (Vec::new(), self.format.begins.len());
        let read = File::from(fd).take(u64::try_from(length).unwrap_or(0)).read_to_end(&mut begin);
        read.is_ok() && self.format.begins.starts_with(&begin)
    }
}

/// `.NAME.ramline-0` and so on; of a name that is too long for that, a number that goes with it.
pub fn slots(name: &OsStr) -> impl Iterator<Item = OsString> + use<> {
    // A dot, ".ramline-" and a digit.
    const ADDED: usize = 12;
    let mut base = OsString::from(".");
    if name.len() + ADDED <= NAME_MAX {
        base.push(name);
    } else {
        // Two long names of one directory that share it share the slots.
        base.push(format!("{:016x}", fnv1a(FNV1A, name.as_bytes())));
    }
    (0..SLOTS).map(move |slot| {
        let mut name = base.clone();
        name.push(format!(".ramline-{slot}"));
        name
    })
}

/// Takes the lock; true where another command holds it. Where there are no locks (some file systems, a container's filter) it is free.
pub fn is_locked(file: &impl AsFd) -> bool {
    flock(file, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK)
}

/// The name leads to the open file.
pub fn is_at(file: &impl AsFd, dir: &OwnedFd, name: &OsStr) -> bool {
    let (open, at) = (fstat(file), statat(dir, name, AtFlags::SYMLINK_NOFOLLOW));
    open.ok().zip(at.ok()).is_some_and(|(open, at)| (open.st_dev, open.st_ino) == (at.st_dev, at.st_ino))
}

/// The file that will be replaced; `None` when there is none.
fn look(dir: &OwnedFd, name: &OsStr, path: &Path) -> Result<Option<Stat>> {
    let old = match statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => return Ok(None),
        other => other.map_err(|error| failed(path, error))?,
    };
    if FileType::from_raw_mode(old.st_mode) != FileType::RegularFile {
        return Err(refused(path, "it has become something else than a file meanwhile"));
    }
    accessat(dir, name, Access::WRITE_OK, AtFlags::EACCESS).map_err(|error| failed(path, error))?;
    let above = fstat(dir).map_err(|error| failed(path, error))?;
    let own = process::uid();
    if is_shared(&above) && own != 0 && old.st_uid != own && above.st_uid != own {
        return Err(refused(path, "it is of another user, in a directory where only the owner may replace it"));
    }
    if is_mounted(dir, name) {
        return Err(refused(path, "something is mounted on it, so that it cannot be replaced"));
    }
    Ok(Some(old))
}

/// A file that is mounted by itself, as containers do with single files. Before Linux 5.8 the kernel says so only in the end.
pub fn is_mounted(dir: &OwnedFd, name: &OsStr) -> bool {
    let flags = AtFlags::SYMLINK_NOFOLLOW;
    rustix::fs::statx(dir, name, flags, rustix::fs::StatxFlags::empty())
        .is_ok_and(|seen| seen.stx_attributes.contains(rustix::fs::StatxAttributes::MOUNT_ROOT))
}

/// Gives a new file owner and mode of the one it replaces.
fn like(file: &File, old: Option<&Stat>, path: &Path) -> Result<()> {
    let Some(old) = old else { return Ok(()) };
    let now = fstat(file).map_err(|error| failed(path, error))?;
    owned_like(file, &now, old, path, "the new file could not have the owner of the old one")?;
    fchmod(file, Mode::from_raw_mode(old.st_mode & 0o777)).map_err(|error| failed(path, error))
}

/// Gives the owner of `old` to what is open; `rule` says that it could not be done.
pub fn owned_like(open: &impl AsFd, now: &Stat, old: &Stat, path: &Path, rule: &str) -> Result<()> {
    if (now.st_uid, now.st_gid) == (old.st_uid, old.st_gid) {
        return Ok(());
    }
    fchown(open, Some(Uid::from_raw(old.st_uid)), Some(Gid::from_raw(old.st_gid)))
        .map_err(|_| KernelError::refused("write", path, rule, format!("user {}, group {}", old.st_uid, old.st_gid)))
}
