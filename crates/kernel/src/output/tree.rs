//! A directory with all that is in it, which takes its place when it is complete.

use std::ffi::OsString;

use rustix::fs::{AtFlags, Dir, FileType, FlockOperation, Mode, fchmod, flock, fstat, mkdirat, renameat, statat};

use super::place::{failed, open_dir, refused, split};
use super::staged::{is_at, is_locked, is_mounted, owned_like, slots};
use crate::error::Cause;
use crate::input::by_descriptor;
use crate::prelude::*;

/// How a directory is opened to be listed.
const LISTED: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const IN_USE: &str = "the directory is not empty";

/// The place holds something already, which is left as it is.
#[must_use]
pub fn is_in_use(error: &KernelError) -> bool {
    matches!(&error.cause, Cause::Refused { rule, .. } if rule == IN_USE)
}

/// A directory that is being filled; removed with all that is in it unless it takes its place.
#[derive(Debug)]
pub struct Tree {
    path: PathBuf,
    parent: OwnedFd,
    name: OsString,
    staged: OsString,
    // Open, and locked: a command at work.
    open: OwnedFd,
    // Of the directory whose place it takes, or of a new one.
    mode: u32,
    placed: bool,
}

impl Tree {
    /// Makes the directory beside its place, for the owner alone. `ours` are the names a tree of ours may hold at its top: by them, by
    /// owner and lock, one that a killed command has left is known and removed.
    ///
    /// # Errors
    /// The place is taken by something else than an empty directory, or cannot be written.
    pub fn make(path: &Path, ours: &[&str]) -> Result<Tree> {
        let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let (dir, name) = split(&real);
        if name.is_empty() {
            return Err(refused(path, "it names no new directory"));
        }
        let parent = open_dir(dir).map_err(|error| failed(path, error))?;
        let old = may_be_replaced(&parent, name, path)?;
        for slot in slots(name) {
            remove_left_over(&parent, &slot, ours);
            match mkdirat(&parent, &slot, Mode::from_raw_mode(0o777)) {
                Ok(()) => {}
                Err(Errno::EXIST) => continue,
                Err(error) => return Err(failed(path, error)),
            }
            let open = openat(&parent, &slot, LISTED, Mode::empty()).map_err(|error| failed(path, error))?;
            if !is_locked(&open) && is_at(&open, &parent, &slot) {
                let (path, name) = (path.to_owned(), name.to_owned());
                let new = fstat(&open).map_err(|error| failed(&path, error))?;
                let mode = old.as_ref().map_or(new.st_mode, |old| old.st_mode) & 0o777;
                let tree = Tree { path, parent, name, staged: slot, open, mode, placed: false };
                // While it is filled no other user looks into it.
                fchmod(&tree.open, Mode::from_raw_mode(0o700)).map_err(|error| failed(&tree.path, error))?;
                let rule = "the new directory could not have the owner of the old one";
                old.map_or(Ok(()), |old| owned_like(&tree.open, &new, &old, &tree.path, rule))?;
                return Ok(tree);
            }
        }
        Err(refused(path, "other commands are writing it"))
    }

    /// Where it will be, as it was named.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where it is filled: a name for this process alone.
    #[must_use]
    pub fn dir(&self) -> PathBuf {
        let own = by_descriptor(&self.open);
        if own.exists() { own } else { split(&self.path).0.join(&self.staged) }
    }

    /// Puts it in its place, with the mode and owner of the directory that was there.
    ///
    /// # Errors
    /// The place has been taken meanwhile.
    pub fn place(mut self) -> Result<()> {
        fchmod(&self.open, Mode::from_raw_mode(self.mode)).map_err(|error| failed(&self.path, error))?;
        may_be_replaced(&self.parent, &self.name, &self.path)?;
        let moved = renameat(&self.parent, &self.staged, &self.parent, &self.name);
        moved.map_err(|error| failed(&self.path, error))?;
        self.placed = true;
        Ok(())
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        if !self.placed {
            drop(std::fs::remove_dir_all(by_descriptor(&self.parent).join(&self.staged)));
        }
    }
}

/// Nothing is there, or an empty directory, which a rename replaces: that one.
fn may_be_replaced(parent: &OwnedFd, name: &OsStr, path: &Path) -> Result<Option<Stat>> {
    let stat = match statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => return Ok(None),
        other => other.map_err(|error| failed(path, error))?,
    };
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
        return Err(refused(path, "it is no directory"));
    }
    if is_mounted(parent, name) {
        return Err(refused(path, "something is mounted on it, so that it cannot be replaced: name a directory in it"));
    }
    let names = names(parent, name).map_err(|error| failed(path, error))?;
    if names.is_empty() { Ok(Some(stat)) } else { Err(refused(path, IN_USE)) }
}

fn names(parent: &OwnedFd, name: &OsStr) -> rustix::io::Result<Vec<Vec<u8>>> {
    let names =
        Dir::new(openat(parent, name, LISTED, Mode::empty())?)?.map(|entry| Ok(entry?.file_name().to_bytes().to_vec()));
    names.filter(|name| !name.as_ref().is_ok_and(|name| matches!(name.as_slice(), b"." | b".."))).collect()
}

fn remove_left_over(parent: &OwnedFd, slot: &OsStr, ours: &[&str]) {
    let Ok(open) = openat(parent, slot, LISTED, Mode::empty()) else { return };
    let own = rustix::fs::fstat(&open).is_ok_and(|stat| stat.st_uid == process::uid());
    let known = || {
        names(parent, slot).is_ok_and(|names| names.iter().all(|name| ours.iter().any(|our| our.as_bytes() == name)))
    };
    if own && known() && flock(&open, FlockOperation::NonBlockingLockExclusive).is_ok() && is_at(&open, parent, slot) {
        drop(std::fs::remove_dir_all(by_descriptor(parent).join(slot)));
    }
}
