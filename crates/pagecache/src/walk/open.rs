//! Opening for a walk: without a trace on the file, and never another directory than the one that was met.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use ramline_kernel::FileKey;
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, fstat, openat, openat2};
use rustix::io::Errno;

use super::Place;

/// Without touching the time of the last access, where that is allowed.
pub fn open_quietly(dir: impl AsFd, name: &CStr, how: OFlags) -> rustix::io::Result<OwnedFd> {
    match openat(&dir, name, how | OFlags::NOATIME, Mode::empty()) {
        Err(Errno::PERM) => openat(&dir, name, how, Mode::empty()),
        other => other,
    }
}

/// Opens a directory by its path, if it still is that one.
pub fn open_same(place: &Place, follow: bool) -> rustix::io::Result<OwnedFd> {
    let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let fd = match below(place, how).filter(|_| !follow) {
        Some(opened) => opened?,
        None => open_quietly(CWD, &c_string(&place.path)?, how)?,
    };
    // Another one has the name by now.
    if FileKey::from(&fstat(&fd)?) != place.key { Err(Errno::STALE) } else { Ok(fd) }
}

/// From what was named, through no link: somebody may have put one there. `None` where the kernel cannot (before 5.6), or is forbidden to.
fn below(place: &Place, how: OFlags) -> Option<rustix::io::Result<OwnedFd>> {
    let named = place.path.ancestors().nth(usize::try_from(place.depth).ok()?)?;
    let rest = place.path.strip_prefix(named).ok().filter(|rest| !rest.as_os_str().is_empty())?;
    let (named, rest) = (c_string(named).ok()?, c_string(rest).ok()?);
    let top = match open_quietly(CWD, &named, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC) {
        Ok(top) => top,
        Err(error) => return Some(Err(error)),
    };
    let open = |how| openat2(&top, &rest, how, Mode::empty(), ResolveFlags::NO_SYMLINKS);
    match open(how | OFlags::NOATIME).or_else(|_| open(how)) {
        Err(Errno::NOSYS | Errno::PERM) => None,
        other => Some(other),
    }
}

fn c_string(path: &Path) -> rustix::io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| Errno::INVAL)
}
