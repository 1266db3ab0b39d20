//! One run at a time: a lock on a file, which the kernel lets go when its holder ends, however it ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ramline_kernel::{KernelError, Root, input};

use crate::{ActError, Owner, Result, StateDir};

/// The lock, held until the last clone is dropped.
#[derive(Debug, Clone)]
pub struct RunLock {
    held: Arc<Held>,
}

#[derive(Debug)]
struct Held {
    state: StateDir,
    owner: Owner,
    // The kernel releases the lock when this closes.
    _file: File,
}

impl RunLock {
    /// Takes the lock.
    ///
    /// # Errors
    /// [`ActError::Busy`] naming the process that holds it.
    pub fn take(state: &StateDir, root: &Root) -> Result<RunLock> {
        let path = state.lock_file();
        let failed = |error| KernelError::io("lock", &path, error);
        let owner = Owner::current(root)?;
        let mut options = OpenOptions::new();
        // The directory is private and checked: nobody else can have put a link there.
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let mut file = options.custom_flags(input::CAREFUL).open(&path).map_err(failed)?;
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(KernelError::refused("lock", &path, "it is no file", "")
                .hint(format!("rm {}", path.display()))
                .into());
        }
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let holder = holder(&mut file);
                let dead = holder.as_ref().is_some_and(|owner| !owner.is_alive(root));
                if !(dead && released(&file)) {
                    return Err(ActError::Busy { pid: holder.map_or(0, |owner| owner.pid), lock: path });
                }
            }
            Err(TryLockError::Error(error)) => return Err(failed(error).into()),
        }
        // Who holds it is a courtesy for the message above; the lock itself is the kernel's.
        let text = serde_json::to_string(&owner).map_err(|error| failed(error.into()))?;
        // It is written over the last holder's, and a full disk is no reason to refuse: a way back may be what needs the lock.
        let written = file.rewind().and_then(|()| file.write_all(text.as_bytes()));
        match written.and_then(|()| file.set_len(u64::try_from(text.len()).unwrap_or_default())) {
            Err(error) if error.kind() == std::io::ErrorKind::StorageFull => {}
            other => other.map_err(failed)?,
        }
        Ok(RunLock { held: Arc::new(Held { state: state.clone(), owner, _file: file }) })
    }

    /// Refuses where another run is alive, without taking anything: for what only reads, and would disturb it.
    ///
    /// # Errors
    /// [`ActError::Busy`] naming the process that holds the lock.
    pub fn none_held(state: &StateDir, root: &Root) -> Result<()> {
        let path = state.lock_file();
        let Ok(mut file) = input::open("lock", &path) else { return Ok(()) };
        if let Err(TryLockError::WouldBlock) = file.try_lock_shared()
            && let Some(owner) = holder(&mut file).filter(|owner| owner.is_alive(root))
        {
            return Err(ActError::Busy { pid: owner.pid, lock: path });
        }
        Ok(())
    }

    /// The directory it locks.
    #[must_use]
    pub fn state(&self) -> &StateDir {
        &self.held.state
    }

    /// Who holds it: this process.
    #[must_use]
    pub fn owner(&self) -> &Owner {
        &self.held.owner
    }
}

/// Takes a lock whose holder is dead. A child that was forked and has not begun its program yet has the files of its parent: killed in that
/// moment, a run is gone while its locks are held until the child is gone too (entering a control group can take it tens of milliseconds).
pub(crate) fn released(file: &File) -> bool {
    let begin = Instant::now();
    while file.try_lock().is_err() {
        if begin.elapsed() > Duration::from_secs(2) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

fn holder(file: &mut File) -> Option<Owner> {
    let mut text = String::new();
    file.take(4096).read_to_string(&mut text).ok()?;
    ramline_units::json::parse(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_run_is_refused_and_told_the_pid_of_the_first() {
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::open(&dir.path().join("state")).unwrap();
        let root = Root::live();
        let first = RunLock::take(&state, &root).unwrap();
        let refused = RunLock::take(&state, &root).unwrap_err();
        assert_eq!(refused.busy_pid(), Some(std::process::id()));
        assert_eq!(RunLock::none_held(&state, &root).unwrap_err().busy_pid(), Some(std::process::id()));
        drop(first);
        RunLock::none_held(&state, &root).unwrap();
        RunLock::take(&state, &root).unwrap();
    }

    #[test]
    fn a_lock_that_outlives_its_dead_holder_for_a_moment_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::open(&dir.path().join("state")).unwrap();
        std::fs::write(state.lock_file(), r#"{"pid":999999999,"start":1,"boot_id":"none"}"#).unwrap();
        let child = File::open(state.lock_file()).unwrap();
        child.lock().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(100));
                child.unlock().unwrap();
            });
            RunLock::take(&state, &Root::live()).unwrap();
        });
    }
}
