//! Which files a command opens: those of the command itself, of all it starts, and of no other process.
//!
//! The command runs in a mount namespace of its own (the same mounts, copied), and fanotify(7) watches the mounts of that
//! namespace only. So every open and every exec through a path is seen, also of children that live for a millisecond, and no
//! event is anybody else's. Not seen are files that were open before, that another process opens for the command
//! (a daemon), or that are reached through a mount made while it runs. Needs root.

#![expect(unsafe_code, reason = "fanotify, and unshare in the child")]

use std::collections::BTreeMap;
use std::ffi::CString;
use std::io;
use std::os::fd::FromRawFd;
use std::os::unix::process::CommandExt;

use crate::prelude::*;
use crate::sys::{c_path, new_fd};
use crate::{FileKey, fs};

/// Who listens for opened files.
#[derive(Debug)]
pub struct Opened {
    group: OwnedFd,
    mounts: Vec<CString>,
    /// The regular files that were opened, by their paths at that moment.
    pub files: BTreeMap<FileKey, PathBuf>,
    /// Events were lost: then the list is not complete.
    pub lost: bool,
    // While it is open the namespace is there, and paths of its mounts are whole.
    namespace: Option<File>,
}

/// Bytes of `struct fanotify_event_metadata`.
const EVENT: usize = 24;

impl Opened {
    /// Begins to listen; nothing is watched before [`Opened::watch`].
    ///
    /// # Errors
    /// `Denied` without CAP_SYS_ADMIN, `Unsupported` on a kernel without fanotify.
    pub fn new(root: &Root) -> Result<Opened> {
        let flags = libc::FAN_CLASS_NOTIF | libc::FAN_CLOEXEC | libc::FAN_NONBLOCK | libc::FAN_UNLIMITED_QUEUE;
        let files = libc::O_RDONLY | libc::O_CLOEXEC | libc::O_LARGEFILE | libc::O_NOATIME;
        // SAFETY: fanotify_init takes integers and gives a descriptor of our own.
        let group = unsafe { new_fd(libc::fanotify_init(flags, files.cast_unsigned()).into()) };
        let group = group.tried("watch which files are opened with", "fanotify")?;
        let mounts = mount::list(root)?
            .iter()
            .filter(|mounted| !fs::has_no_files(&mounted.fs))
            .map(|mounted| c_path("watch", Path::new(&mounted.at)))
            .collect::<Result<Vec<CString>>>()?;
        Ok(Opened { group, mounts, files: BTreeMap::new(), lost: false, namespace: None })
    }

    /// Makes what `command` starts run in a mount namespace of its own, watched from its first instruction.
    pub fn watch(&self, command: &mut Command) {
        let (group, mounts) = (self.group.as_raw_fd(), self.mounts.clone());
        // SAFETY: between fork and exec only unshare and fanotify_mark are called, both plain system calls; nothing allocates.
        unsafe {
            command.pre_exec(move || {
                check(libc::unshare(libc::CLONE_NEWNS))?;
                for at in &mounts {
                    let how = libc::FAN_MARK_ADD | libc::FAN_MARK_MOUNT;
                    let result = libc::fanotify_mark(group, how, libc::FAN_OPEN, libc::AT_FDCWD, at.as_ptr());
                    // One that is hidden below another, or that cannot be watched, is passed over; the top cannot be.
                    if result != 0 && at.to_bytes() == b"/" {
                        return Err(io::Error::last_os_error());
                    }
                }
                Ok(())
            });
        }
    }

    /// Keeps the namespace of the started command until this is dropped: paths are then known also after its end.
    ///
    /// # Errors
    /// When the process is gone.
    pub fn hold(&mut self, root: &Root, pid: u32) -> Result<()> {
        let path = root.path(format!("/proc/{pid}/ns/mnt"));
        self.namespace = Some(File::open(&path).tried("open", path)?);
        Ok(())
    }

    /// Takes in what was opened since the last call; `keep` false forgets it. Call it often: what waits is held by the kernel.
    ///
    /// # Errors
    /// When the events cannot be read.
    pub fn take_in(&mut self, keep: bool) -> Result<()> {
        let (mut buffer, mut refused) = ([0; 4096], 0);
        loop {
            match rustix::io::read(&self.group, &mut buffer) {
                Ok(0) | Err(Errno::AGAIN) => return Ok(()),
                Ok(got) => self.events(&buffer[..got], keep),
                Err(Errno::INTR) => {}
                // The file of one event could not be opened for us (ETXTBSY, EACCES of a network file system): it is dropped.
                Err(error) if !matches!(error, Errno::MFILE | Errno::NFILE | Errno::NOMEM) && refused < 10_000 => {
                    (self.lost, refused) = (true, refused + 1);
                }
                Err(error) => return Err(error).tried("read the events of", "fanotify"),
            }
        }
    }

    /// The kernel writes whole events (linux/fanotify.h): length, four numbers, mask, descriptor, process.
    fn events(&mut self, mut left: &[u8], keep: bool) {
        while let Some((event, _)) = left.split_first_chunk::<EVENT>() {
            let word = |at: usize| i32::from_ne_bytes([event[at], event[at + 1], event[at + 2], event[at + 3]]);
            let (length, fd) = (word(0), word(16));
            let mask = u64::from_ne_bytes(event[8..16].try_into().unwrap_or_default());
            if fd >= 0 {
                // SAFETY: a descriptor the kernel opened for us with this event.
                let file = unsafe { File::from_raw_fd(fd) };
                if keep {
                    self.remember(&file);
                }
            }
            self.lost |= mask & libc::FAN_Q_OVERFLOW != 0;
            left = left.get(usize::try_from(length).unwrap_or(EVENT).max(EVENT)..).unwrap_or_default();
        }
    }

    fn remember(&mut self, file: &File) {
        let Ok(meta) = file.metadata() else { return };
        let key = FileKey::from(&meta);
        if !meta.is_file() || self.files.contains_key(&key) {
            return;
        }
        if let Ok(path) = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())) {
            self.files.insert(key, path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_and_its_short_lived_children_are_seen_and_nobody_else() {
        // Without CAP_SYS_ADMIN, or without fanotify, this refuses too.
        // SAFETY: integers only, and a descriptor of our own.
        let able = unsafe { new_fd(libc::fanotify_init(libc::FAN_CLASS_NOTIF | libc::FAN_CLOEXEC, 0).into()) };
        if ramline_testkit::skip_if(able.is_err(), "files that a command opens", "needs root, and fanotify") {
            return;
        }
        let mut opened = Opened::new(&Root::live()).unwrap();
        let dir = tempfile::tempdir_in(".").unwrap();
        let name = |name: &str| {
            let path = dir.path().canonicalize().unwrap().join(name);
            std::fs::write(&path, name).unwrap();
            path
        };
        let (theirs, ours) = (name("theirs"), name("ours"));
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("(cat {}; true) >/dev/null; true", theirs.display()));
        opened.watch(&mut command);
        let mut child = command.spawn().unwrap();
        drop(File::open(&ours).unwrap());
        assert!(child.wait().unwrap().success());
        opened.take_in(true).unwrap();
        let seen: Vec<&PathBuf> = opened.files.values().collect();
        assert!(seen.contains(&&theirs), "{seen:?}");
        assert!(seen.iter().any(|path| path.ends_with("cat") || path.ends_with("coreutils")), "{seen:?}");
        assert!(!seen.contains(&&ours) && !opened.lost, "{seen:?}");
    }
}
