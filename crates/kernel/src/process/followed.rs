//! A process that is followed through an open /proc/PID directory, so a reused PID is noticed.

#![expect(unsafe_code, reason = "the clock of another process")]

use std::io::{self, Read, Write};

use ramline_units::Nanos;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, Mode};

use crate::prelude::*;

/// The most that is read of a list of mappings: a process may have 65,530 of them (vm.max_map_count), and more where that was raised.
const LARGEST: u64 = 256 << 20;

/// A process, by its directory.
#[derive(Debug)]
pub struct Followed {
    pid: u32,
    dir: OwnedFd,
    path: PathBuf,
    /// Says when the last of its threads ends; none before Linux 5.3.
    end: Option<OwnedFd>,
}

impl Followed {
    /// Holds on to the process that has this number now.
    ///
    /// # Errors
    /// `Absent` when there is none.
    pub fn open(root: &Root, pid: u32) -> Result<Followed> {
        let path = root.path(format!("/proc/{pid}"));
        let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let dir = openat(CWD, &path, how, Mode::empty()).tried("follow", &path)?;
        // The number may have come to mean another meanwhile: then the directory is of one that has ended.
        let end = super::pidfd(pid);
        Ok(Followed { pid, dir, path, end })
    }

    /// Its number.
    #[must_use]
    pub const fn pid(&self) -> u32 {
        self.pid
    }

    /// One of its files, open for reading.
    pub(super) fn open_file(&self, name: &str) -> Result<File> {
        let file = openat(&self.dir, name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
        file.map(File::from).map_err(|error| self.failed("read", &self.path.join(name), error.into()))
    }

    fn read(&self, name: &str) -> Result<Vec<u8>> {
        let path = self.path.join(name);
        let mut out = Vec::new();
        let file = self.open_file(name)?;
        file.take(LARGEST).read_to_end(&mut out).map_err(|error| self.failed("read", &path, error))?;
        Ok(out)
    }

    /// A process that ended meanwhile is absent.
    fn failed(&self, tried: &str, path: &Path, error: io::Error) -> KernelError {
        match error.raw_os_error() {
            Some(libc::ESRCH | libc::ENOENT) => KernelError::new(tried, path, crate::Cause::Absent),
            _ => KernelError::io(tried, path, error),
        }
    }

    /// Its mappings, as /proc/PID/maps has them; empty for a process without memory.
    ///
    /// # Errors
    /// `Absent` when it has ended, `Denied` when it is another's.
    pub fn maps(&self) -> Result<Vec<u8>> {
        self.read("maps")
    }

    /// Whether it still runs: not ended, not a zombie.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        let stat = self.read("stat").unwrap_or_default();
        let state = stat.iter().rposition(|byte| *byte == b')').and_then(|at| stat.get(at + 2));
        state.is_some_and(|state| !matches!(state, b'Z' | b'X'))
    }

    /// Whether all its threads have ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        match &self.end {
            Some(end) => {
                let now = Timespec { tv_sec: 0, tv_nsec: 0 };
                !self.read("stat").is_ok_and(|stat| !stat.is_empty())
                    || poll(&mut [PollFd::new(end, PollFlags::IN)], Some(&now)).is_ok_and(|ready| ready > 0)
            }
            None => !self.is_alive(),
        }
    }

    /// CPU time of all its threads as long as its parent has not taken notice of its end, to a tick of the kernel's; for one that has ended, of which [`Followed::cpu`] knows no more.
    #[must_use]
    pub fn cpu_at_its_end(&self) -> Option<Nanos> {
        let stat = String::from_utf8_lossy(&self.read("stat").ok()?).into_owned();
        // Fields 14 and 15 (proc_pid_stat(5)), counted behind the name, which may hold blanks.
        let mut words = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
        let mut ticks = || words.next()?.parse::<u64>().ok();
        let ticks = ticks()?.checked_add(ticks()?)?;
        Some(Nanos(ticks.checked_mul(1_000_000_000)? / rustix::param::clock_ticks_per_second().max(1)))
    }

    /// Its name (comm).
    #[must_use]
    pub fn name(&self) -> String {
        String::from_utf8_lossy(&self.read("comm").unwrap_or_default()).trim_end().to_owned()
    }

    /// Clears the accessed bits of all its pages, and what processors remember of them: without the second a page that a processor still knows is not
    /// marked again. The kernel holds the lock of the mappings meanwhile.
    ///
    /// # Errors
    /// `Absent` when it has ended, `Denied` when it is another's.
    pub fn clear_accessed(&self) -> Result<()> {
        self.clear(b"1")
    }

    /// The same of its anonymous memory alone.
    ///
    /// # Errors
    /// As [`Followed::clear_accessed`].
    pub fn clear_accessed_anonymous(&self) -> Result<()> {
        self.clear(b"2")
    }

    fn clear(&self, kind: &[u8; 1]) -> Result<()> {
        let path = self.path.join("clear_refs");
        let file = openat(&self.dir, "clear_refs", OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty());
        let mut file =
            File::from(file.map_err(|error| self.failed("clear the accessed bits by", &path, error.into()))?);
        // 1: CLEAR_REFS_ALL, 2: CLEAR_REFS_ANON, 4: CLEAR_REFS_SOFT_DIRTY, which flushes on every kernel (fs/proc/task_mmu.c).
        for what in [kind, b"4"] {
            file.write_all(what).map_err(|error| self.failed("clear the accessed bits by", &path, error))?;
        }
        Ok(())
    }

    /// CPU time of all its threads; `None` when it has ended.
    #[must_use]
    pub fn cpu(&self) -> Option<Nanos> {
        let pid = libc::pid_t::try_from(self.pid).ok()?;
        let mut clock = 0;
        // SAFETY: the clock's number is written to a variable of ours.
        let found = unsafe { libc::clock_getcpuclockid(pid, &raw mut clock) };
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the time is written to a variable of ours; an unknown clock is an error.
        let read = found == 0 && unsafe { libc::clock_gettime(clock, &raw mut time) } == 0;
        let part = |value: i64| u64::try_from(value).ok();
        let ns = part(time.tv_sec)?.checked_mul(1_000_000_000)?.checked_add(part(time.tv_nsec)?)?;
        (read && self.is_alive()).then_some(Nanos(ns))
    }

    /// Its resident memory.
    ///
    /// # Errors
    /// `Absent` when it has ended.
    pub fn resident(&self) -> Result<Bytes> {
        let text = String::from_utf8_lossy(&self.read("statm")?).into_owned();
        let pages = text.split_whitespace().nth(1).and_then(|word| word.parse::<u64>().ok());
        let pages = pages.ok_or_else(|| KernelError::malformed("read", self.path.join("statm"), &text))?;
        Ok(Bytes(pages.saturating_mul(super::page_size())))
    }
}

/// Waits until one of them ends, or for so long; whether one has.
pub fn wait_for_an_end<'a>(processes: impl Iterator<Item = &'a Followed>, time: Duration) -> bool {
    let mut ends: Vec<PollFd<'_>> =
        processes.filter_map(|one| Some(PollFd::new(one.end.as_ref()?, PollFlags::IN))).collect();
    // A signal ends it early, as an end does.
    poll(&mut ends, Timespec::try_from(time).ok().as_ref()).is_ok_and(|ready| ready > 0)
}

/// The children of a process, of all its threads; empty when it has ended.
///
/// # Errors
/// `Unsupported` on a kernel without CONFIG_PROC_CHILDREN.
pub fn process_children(root: &Root, pid: u32) -> Result<Vec<u32>> {
    let tasks = root.path(format!("/proc/{pid}/task"));
    let mut out = Vec::new();
    for task in std::fs::read_dir(&tasks).into_iter().flatten().flatten() {
        let path = task.path().join("children");
        match read_text(&path) {
            Ok(text) => out.extend(text.split_whitespace().filter_map(|word| word.parse::<u32>().ok())),
            Err(error) if error.is_absent() && task.path().join("stat").exists() => {
                return Err(KernelError::unsupported(
                    "follow the children of",
                    &tasks,
                    "/proc/PID/task/TID/children (CONFIG_PROC_CHILDREN)",
                ));
            }
            Err(_) => {}
        }
    }
    Ok(out)
}

/// From here on processes below this one whose parent ends become our children, so that daemons do not get out of sight.
///
/// # Errors
/// What prctl(2) says.
pub fn adopt_orphans() -> Result<()> {
    let own = rustix::process::getpid();
    rustix::process::set_child_subreaper(Some(own)).tried("adopt the orphans of", "this process")
}
