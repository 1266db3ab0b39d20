//! `/proc` and `/proc/PID` as open directories: no path is resolved twice, and a process id that is used again is not
//! mistaken for the old process.

use std::io;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::prelude::*;

/// No file of a process that we read is larger; `smaps` of a process with 65,530 mappings has about 45 MiB.
const LARGEST: usize = 64 << 20;

/// Files that are one record of the kernel's `seq_file` (fs/proc/base.c, `single_open` and `ONE`): they come whole.
const ONE_RECORD: [&str; 5] = ["stat", "status", "statm", "cgroup", "smaps_rollup"];

/// `/proc`.
pub struct ProcDir {
    fd: OwnedFd,
    live: bool,
}

/// `/proc/PID`, open.
pub struct PidDir {
    fd: OwnedFd,
    live: bool,
}

/// Why a file gave nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotRead {
    /// The process ended.
    Vanished,
    /// Not for this user.
    Denied,
    /// This kernel, or this capture, has no such file.
    Absent,
    /// Any other error.
    Unusable,
}

impl From<Errno> for NotRead {
    fn from(error: Errno) -> Self {
        match error {
            Errno::SRCH => NotRead::Vanished,
            Errno::ACCESS | Errno::PERM => NotRead::Denied,
            Errno::NOENT | Errno::NOTDIR => NotRead::Absent,
            _ => NotRead::Unusable,
        }
    }
}

/// Ids of all processes, in order; none where there is no /proc.
pub fn pids(root: &Root) -> Vec<u32> {
    ProcDir::open(root).and_then(|proc| proc.pids()).unwrap_or_default()
}

const DIR: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

impl ProcDir {
    pub fn open(root: &Root) -> io::Result<ProcDir> {
        let fd = rustix::fs::open(root.path("/proc"), DIR, Mode::empty())?;
        Ok(ProcDir { fd, live: root.is_live() })
    }

    /// Ids of all processes, in order.
    pub fn pids(&self) -> io::Result<Vec<u32>> {
        let mut pids = Vec::new();
        for entry in Dir::read_from(&self.fd)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            // "007" is no process id of the kernel's.
            if name.first().is_some_and(|b| (b'1'..=b'9').contains(b)) {
                pids.extend(std::str::from_utf8(name).ok().and_then(|n| n.parse::<u32>().ok()));
            }
        }
        pids.sort_unstable();
        pids.dedup();
        Ok(pids)
    }

    /// Reads the three sizes of a process (`statm`) in three system calls: what is looked at to see whether it has changed.
    pub fn sizes<'b>(&self, pid: u32, buffer: &'b mut [u8; 128]) -> Result<&'b [u8], NotRead> {
        let how = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let file = rustix::fs::openat(&self.fd, format!("{pid}/statm"), how, Mode::empty())?;
        let count = rustix::io::read(&file, &mut buffer[..])?;
        Ok(&buffer[..count])
    }

    /// Opens one process.
    pub fn process(&self, pid: u32) -> Result<PidDir, NotRead> {
        let fd = rustix::fs::openat(&self.fd, pid.to_string(), DIR | OFlags::NOFOLLOW, Mode::empty());
        fd.map(|fd| PidDir { fd, live: self.live }).map_err(|e| match NotRead::from(e) {
            NotRead::Absent => NotRead::Vanished,
            other => other,
        })
    }
}

impl PidDir {
    /// Reads a whole file into `buffer`, whose space is reused; returns what was read.
    pub fn read<'b>(&self, name: &str, buffer: &'b mut Vec<u8>) -> Result<&'b [u8], NotRead> {
        let file = self.open(name)?;
        let mut used = 0;
        loop {
            if buffer.len() < used + 2048 {
                buffer.resize((used * 2).max(8192), 0);
            }
            match rustix::io::read(&file, &mut buffer[used..]) {
                Ok(0) => return Ok(&buffer[..used]),
                Ok(count) => {
                    used += count;
                    // A short answer is the end of it: no second read.
                    if used < buffer.len() && ONE_RECORD.contains(&name) {
                        return Ok(&buffer[..used]);
                    }
                }
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            if used > LARGEST {
                return Err(NotRead::Unusable);
            }
        }
    }

    /// Opens one of its files.
    pub fn open(&self, name: &str) -> Result<OwnedFd, NotRead> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let file = rustix::fs::openat(&self.fd, name, flags, Mode::empty())?;
        // A captured tree may hold anything: a device or a FIFO in it must not be read.
        let regular = self.live || rustix::fs::fstat(&file).is_ok_and(|s| FileType::from_raw_mode(s.st_mode).is_file());
        if regular { Ok(file) } else { Err(NotRead::Unusable) }
    }

    /// Where one of its links points.
    pub fn link(&self, name: &str, buffer: Vec<u8>) -> Result<Vec<u8>, NotRead> {
        Ok(rustix::fs::readlinkat(&self.fd, name, buffer)?.into_bytes())
    }

    /// True when the process has not ended.
    pub fn is_there(&self) -> bool {
        rustix::fs::statat(&self.fd, "stat", AtFlags::empty()).is_ok()
    }
}
