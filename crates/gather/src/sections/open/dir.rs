//! A control group as an open directory: no path is resolved for each of its files, and what is read is of one group, also when another
//! is made under its name meanwhile.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use rustix::fs::{AtFlags, Dir, Mode, OFlags};
use rustix::io::Errno;

use super::super::not_read::NotRead;
use crate::prelude::*;

/// More than the kernel gives of any file of a group: `memory.stat` is a page at most.
const WHOLE: usize = 16 << 10;

#[derive(Debug)]
pub struct GroupDir(OwnedFd);

impl GroupDir {
    pub fn open(path: &Path) -> Result<GroupDir, NotRead> {
        let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        rustix::fs::open(path, how, Mode::empty()).map(GroupDir).map_err(classify)
    }

    /// One of its files, open.
    pub fn file(&self, name: &str) -> Result<OwnedFd, NotRead> {
        let how = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        rustix::fs::openat(&self.0, name, how, Mode::empty()).map_err(classify)
    }

    /// Text of one of its files.
    pub fn text(&self, name: &str, buffer: &mut Vec<u8>) -> Result<String, NotRead> {
        GroupDir::read(&self.file(name)?, buffer)
    }

    /// Text of an open file, from its start. Each is one record of the kernel's `seq_file`, which comes whole: a short answer is the last one.
    pub fn read(file: &OwnedFd, buffer: &mut Vec<u8>) -> Result<String, NotRead> {
        buffer.resize(WHOLE, 0);
        loop {
            match rustix::io::pread(file, &mut buffer[..], 0) {
                Ok(count) if count < WHOLE => return Ok(String::from_utf8_lossy(&buffer[..count]).into_owned()),
                Ok(_) => return Err(NotRead::Unusable(format!("larger than {} KiB", WHOLE >> 10))),
                Err(Errno::INTR) => {}
                Err(error) => return Err(classify(error)),
            }
        }
    }

    pub fn has(&self, name: &str) -> bool {
        rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// Names of the groups in it. A directory of the kernel's without any has two links: itself and its name (`kernfs_refresh_inode`).
    pub fn directories(&self) -> Result<Vec<OsString>, NotRead> {
        if rustix::fs::fstat(&self.0).is_ok_and(|stat| stat.st_nlink == 2) {
            return Ok(Vec::new());
        }
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.0).map_err(classify)? {
            let entry = entry.map_err(classify)?;
            let name = entry.file_name().to_bytes();
            if entry.file_type().is_dir() && name != b"." && name != b".." {
                names.push(OsString::from_vec(name.to_vec()));
            }
        }
        Ok(names)
    }
}

/// `NODEV` is a file of a group that was removed after its directory was opened.
fn classify(error: Errno) -> NotRead {
    match error {
        Errno::NOENT | Errno::NOTDIR | Errno::NODEV => NotRead::Absent,
        Errno::ACCESS | Errno::PERM => NotRead::Denied,
        error => NotRead::Unusable(std::io::Error::from(error).to_string()),
    }
}
