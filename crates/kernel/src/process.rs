//! Processes: who they are (pid and start time), what they hold, ending them; children that die with us.
//!
//! The list of the machine's processes is a section of the snapshot.
//!
//! ```
//! use ramline_kernel::process;
//! let root = ramline_kernel::Root::live();
//! let me = std::process::id();
//! let start = process::start_time(&root, me)?;
//! assert!(process::is_same_process(&root, me, start));
//! assert!(!process::is_same_process(&root, me, start + 1));
//! # Ok::<(), ramline_kernel::KernelError>(())
//! ```

#![expect(unsafe_code, reason = "pre_exec")]

mod followed;
mod kept_memory;
mod usage;
mod work;

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};

use ramline_snapshot::processes::Process;
use rustix::process::{
    Pid, PidfdFlags, Resource, Rlimit, Signal, getppid, kill_process, kill_process_group, pidfd_open,
    pidfd_send_signal, set_parent_process_death_signal, setrlimit, setsid,
};

use crate::input;
use crate::prelude::*;
use crate::sys::{FNV1A, fnv1a};
pub use crate::sys::{boottime, monotonic, page_size, restore_link, sync_dir, sync_file_system};
pub use followed::{Followed, adopt_orphans, process_children, wait_for_an_end};
pub use kept_memory::{KeptMemory, MemoryKeeper};
pub(crate) use usage::wait_for;
pub use usage::{Usage, own_usage, poll_with_usage, preemptions, wait_at_most, wait_with_usage};
pub use work::{Work, work};

/// The effective user.
#[must_use]
pub fn uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// The user whose number stands for all that a user namespace does not know (/proc/sys/kernel/overflowuid, as it is unless changed).
pub const UNKNOWN_USER: u32 = 65534;

/// False in a user namespace that knows some users only: files of the others look like [`UNKNOWN_USER`]'s.
#[must_use]
pub fn knows_all_users() -> bool {
    let map = crate::kernel_file::read_text(Path::new("/proc/self/uid_map")).unwrap_or_default();
    map.split_whitespace().eq(["0", "0", "4294967295"])
}

/// Names this thread, at most 15 bytes, as others see it in /proc, also while it ends and its command line is gone. Where the kernel
/// refuses, it keeps its name.
pub fn name_thread(name: &str) {
    if let Ok(name) = std::ffi::CString::new(name) {
        rustix::thread::set_name(&name).ok();
    }
}

/// The id of this boot.
///
/// # Errors
/// When /proc/sys/kernel/random/boot_id cannot be read.
pub fn boot_id(root: &Root) -> Result<String> {
    Ok(read_text(&root.path("/proc/sys/kernel/random/boot_id"))?.trim().to_owned())
}

/// Identifies this machine: a hash of /etc/machine-id, which is itself not to be passed on (machine-id(5)). `None`
/// where there is none.
#[must_use]
pub fn machine(root: &Root) -> Option<String> {
    let id = read_text(&root.path("/etc/machine-id")).ok()?;
    let id = id.trim();
    let hash = fnv1a(fnv1a(FNV1A, b"ramline"), id.as_bytes());
    (!id.is_empty() && id != "uninitialized").then(|| format!("{hash:016x}"))
}

/// The program that is running, to start it again as a worker.
///
/// # Errors
/// When /proc/self/exe cannot be read.
pub fn own_exe() -> Result<PathBuf> {
    std::env::current_exe().tried("find", "/proc/self/exe")
}

/// Files that this program is mapped from: its own, and those of its libraries.
///
/// # Errors
/// When /proc/self/maps cannot be read.
pub fn own_files() -> Result<BTreeSet<PathBuf>> {
    let text = input::read_text("read", Path::new("/proc/self/maps"), input::DOCUMENT)?;
    let paths = text.lines().filter_map(|line| line.find('/').map(|at| PathBuf::from(&line[at..])));
    Ok(paths.filter(|path| path.is_file()).collect())
}

/// Starts a program that outlives us and our terminal: in a session of its own, without input or output.
///
/// # Errors
/// When it cannot be started.
pub fn spawn_detached(program: &str, words: &[&str]) -> Result<()> {
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).current_dir("/");
    // SAFETY: setsid(2) is async-signal-safe and touches no memory of ours.
    unsafe { command.pre_exec(|| rustix::process::setsid().map(drop).map_err(Into::into)) };
    command.spawn().map(drop).tried("start", program)
}

/// Reads /proc/PID/stat: identity, state, parent, start and major faults.
///
/// # Errors
/// `Absent` when there is no such process.
pub fn stat(root: &Root, pid: u32) -> Result<Process> {
    let path = root.path(format!("/proc/{pid}/stat"));
    // A process that ends while its file is read gives ESRCH.
    let text = read_text(&path).map_err(|error| match error.errno() {
        Some(libc::ESRCH) => KernelError::new("read", &path, crate::Cause::Absent),
        _ => error,
    })?;
    let mut process = Process::default();
    process.stat(text.as_bytes()).map_err(|_| KernelError::malformed("read", &path, &text))?;
    Ok(process)
}

/// Start of a process in clock ticks after boot; with the pid and the boot id it names a process for good.
///
/// # Errors
/// `Absent` when there is no such process.
pub fn start_time(root: &Root, pid: u32) -> Result<u64> {
    stat(root, pid).map(|stat| stat.started_ticks)
}

/// True when `pid` is alive (not a zombie) and is the process that started at `start`.
#[must_use]
pub fn is_same_process(root: &Root, pid: u32, start: u64) -> bool {
    stat(root, pid).is_ok_and(|stat| stat.started_ticks == start && !matches!(stat.state, 'Z' | 'X'))
}

/// Memory of a process from /proc/PID/statm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    /// Resident, all kinds.
    pub rss: Bytes,
    /// Of it, file-backed and shmem.
    pub shared: Bytes,
}

/// Reads /proc/PID/statm.
///
/// # Errors
/// `Absent` when there is no such process.
pub fn memory(root: &Root, pid: u32) -> Result<Memory> {
    let path = root.path(format!("/proc/{pid}/statm"));
    let text = read_text(&path)?;
    let pages: Vec<u64> = text.split_whitespace().map_while(|word| word.parse().ok()).collect();
    let [_, rss, shared, ..] = pages[..] else { return Err(KernelError::malformed("read", &path, &text)) };
    let bytes = |pages: u64| Bytes(pages.saturating_mul(page_size()));
    Ok(Memory { rss: bytes(rss), shared: bytes(shared) })
}

/// SIGKILL to `pid`, only if it is the process that started at `start`. Returns whether a signal was sent.
///
/// # Errors
/// `Denied` when it is not ours.
pub fn kill_pid(root: &Root, pid: u32, start: u64) -> Result<bool> {
    // Opened first, checked second: from here on the number cannot come to mean another process.
    let handle = pidfd(pid);
    if !is_same_process(root, pid, start) {
        return Ok(false);
    }
    match kill_through(handle.as_ref(), pid) {
        Err(Errno::SRCH) if handle.is_some() => Ok(false),
        done => done.map(|()| true).tried("kill", format!("process {pid}")),
    }
}

/// A handle on a process; `None` when it is gone or the kernel has none.
pub(crate) fn pidfd(pid: u32) -> Option<OwnedFd> {
    pidfd_open(number(pid).ok()?, PidfdFlags::empty()).ok()
}

/// SIGKILL through a handle; without one (a kernel before 5.3, a filter of system calls, no descriptor left) by the number.
pub(crate) fn kill_through(handle: Option<&OwnedFd>, pid: u32) -> rustix::io::Result<()> {
    handle.map_or_else(|| kill(pid), |handle| pidfd_send_signal(handle, Signal::KILL))
}

fn number(pid: u32) -> rustix::io::Result<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or(Errno::SRCH)
}

/// SIGKILL by number of the process; the caller has made sure that it is the right one.
pub(crate) fn kill(pid: u32) -> rustix::io::Result<()> {
    kill_process(number(pid)?, Signal::KILL)
}

/// SIGKILL to all processes in the group that `child`, not waited for yet, leads.
///
/// # Errors
/// When none of them is ours to kill.
pub fn kill_led_by(child: &Child) -> Result<()> {
    // The leader was not waited for, so its number is not used again.
    let done = number(child.id()).and_then(|pid| kill_process_group(pid, Signal::KILL));
    done.tried("kill the group of", format!("process {}", child.id()))
}

/// Asks a child of ours, not waited for yet, to end (SIGTERM). One that has ended already is none to ask.
pub fn ask_to_end(child: &Child) {
    number(child.id()).and_then(|pid| kill_process(pid, Signal::TERM)).ok();
}

/// Kills this process as `kill -9` would: for fault injection. Nothing is cleaned up.
pub fn kill_self() -> ! {
    kill(std::process::id()).ok();
    // SIGKILL cannot be handled; should the call have failed, end all the same without running destructors.
    std::process::abort();
}

/// Waits until the process is gone (or a zombie); false when it is still there after `limit`.
#[must_use]
pub fn wait_gone(root: &Root, pid: u32, start: u64, limit: Duration) -> bool {
    let begin = Instant::now();
    while is_same_process(root, pid, start) {
        if begin.elapsed() > limit {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

/// Asks the kernel to kill this process when its parent **thread** ends, and ends it now when that has happened already:
/// call at the very start of a child with the pid of the expected parent.
///
/// # Errors
/// When prctl fails, or the parent is gone (`Absent`).
pub fn die_with_parent(parent: u32) -> Result<()> {
    set_death_signal(parent).map_err(|error| KernelError::io("tie this process to", format!("process {parent}"), error))
}

/// Async-signal-safe: only two system calls.
fn set_death_signal(parent: u32) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // Between fork and prctl the parent may have died without the signal coming.
    let same = number(parent).is_ok_and(|parent| getppid() == Some(parent));
    if same { Ok(()) } else { Err(Errno::SRCH.into()) }
}

/// Starts a child that dies with the calling **thread** (keep it alive) and is inside `group` before its first
/// instruction of its own, so that all it touches is charged there. `group` is the file its number is written to
/// ([`crate::cgroup::Group::procs_file`]).
///
/// # Errors
/// When the program cannot be started or the group cannot be entered.
pub fn spawn_tied(command: &mut Command, group: Option<&Path>) -> Result<Child> {
    let program = command.get_program().to_owned();
    let open = |path| OpenOptions::new().write(true).open(path).tried("open", path);
    let entry = group.map(open).transpose()?;
    let parent = std::process::id();
    // SAFETY: between fork and exec only prctl, getppid and write are called, all async-signal-safe; nothing allocates.
    unsafe {
        command.pre_exec(move || {
            set_death_signal(parent)?;
            // "0" is the writing process itself, in both versions of cgroups.
            entry.as_ref().map_or(Ok(()), |mut entry| entry.write_all(b"0"))
        });
    }
    command.spawn().tried("start", program)
}

/// Makes the program `command` starts the leader of a session of its own, out of reach of the terminal's signals, with at most
/// `address_space` of addresses and no core dump: for one that is large and not ours, as an emulator is.
pub fn in_own_session(command: &mut Command, address_space: Bytes) {
    let limit = |most: u64| Rlimit { current: Some(most), maximum: Some(most) };
    // SAFETY: between fork and exec only setsid and setrlimit are called, both async-signal-safe; nothing allocates.
    unsafe {
        command.pre_exec(move || {
            setsid()?;
            setrlimit(Resource::As, limit(address_space.0))?;
            Ok(setrlimit(Resource::Core, limit(0))?)
        });
    }
}

/// Prefers this process when the kernel must kill one: `adjust` up to 1000 (raising needs no privilege).
///
/// # Errors
/// When the file cannot be written.
pub fn prefer_oom_kill(root: &Root, adjust: u16) -> Result<()> {
    crate::write::write_knob(&root.path("/proc/self/oom_score_adj"), &adjust.min(1000).to_string()).map(drop)
}

/// Keeps this process from being killed for memory as long as others are left: `adjust` down to -1000 (lowering needs `CAP_SYS_RESOURCE`).
///
/// # Errors
/// When the file cannot be written.
pub fn avoid_oom_kill(root: &Root, adjust: i16) -> Result<()> {
    crate::write::write_knob(&root.path("/proc/self/oom_score_adj"), &adjust.max(-1000).to_string()).map(drop)
}

/// Keeps all that this process touches in memory, now and later.
///
/// # Errors
/// What mlockall(2) says: without `CAP_IPC_LOCK` only RLIMIT_MEMLOCK may be locked.
pub fn lock_all() -> Result<()> {
    use rustix::mm::{MlockAllFlags, mlockall};
    let all = MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT;
    mlockall(all).tried("lock into memory", "this process")
}

/// Keeps what this process has touched so far, and what it touches later of mappings it has now, in memory; mappings made later stay as
/// they are. So that under pressure only what a workload maps is taken, not its own tables.
///
/// # Errors
/// What mlockall(2) says.
pub fn lock_present() -> Result<()> {
    use rustix::mm::{MlockAllFlags, mlockall};
    mlockall(MlockAllFlags::CURRENT | MlockAllFlags::ONFAULT).tried("lock into memory", "this process")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    #[test]
    fn this_program_is_among_the_files_it_is_mapped_from() {
        let files = own_files().unwrap();
        assert!(files.contains(&own_exe().unwrap()), "{files:?}");
    }

    #[test]
    fn a_command_with_blanks_and_parentheses_does_not_shift_the_fields() {
        let text = "12 (a) b (c) S 1 12 12 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 777 9";
        let mut seen = Process::default();
        seen.stat(text.as_bytes()).unwrap();
        assert_eq!((seen.state, seen.parent, seen.major_faults, seen.started_ticks), ('S', 1, Some(3), 777));
    }

    #[test]
    fn a_process_is_killed_only_when_pid_and_start_agree() {
        let root = Root::live();
        let mut child = spawn_tied(Command::new("sleep").arg("60"), None).unwrap();
        let start = start_time(&root, child.id()).unwrap();
        assert!(!kill_pid(&root, child.id(), start + 1).unwrap());
        assert!(is_same_process(&root, child.id(), start));
        assert!(kill_pid(&root, child.id(), start).unwrap());
        assert!(wait_gone(&root, child.id(), start, Duration::from_secs(5)));
        let (status, _) = wait_with_usage(&child).unwrap();
        assert_eq!(status.signal(), Some(libc::SIGKILL));
        drop(child.try_wait());
    }

    #[test]
    fn a_tied_child_dies_with_the_thread_that_started_it() {
        let root = Root::live();
        let (pid, start, child) = std::thread::spawn(move || {
            let child = spawn_tied(Command::new("sleep").arg("60"), None).unwrap();
            let start = start_time(&Root::live(), child.id()).unwrap();
            (child.id(), start, child)
        })
        .join()
        .unwrap();
        assert!(wait_gone(&root, pid, start, Duration::from_secs(5)));
        wait_with_usage(&child).unwrap();
    }
}
