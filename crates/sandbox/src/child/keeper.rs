//! A process that puts the limit of a group back when we have died: a service is not left behind at a limit of ours.
//!
//! This binary again, in a session of its own, so that neither our end nor the terminal's ends it. It holds the other end of a pipe; when
//! that closes, by whatever end of ours, it writes the old values, if they are not there already, and ends. The journal has the same
//! values: where this process was killed too, the next ramline puts them back.

use std::io::Read;
use std::process::Child;

use ramline_kernel::cgroup::{Existing, Setting};

use crate::prelude::*;

/// The kind of child; it outlives us.
pub const KIND: &str = super::entry::OUTLIVES;
/// More than it takes; an emulator's bound is set by the same call.
const ADDRESS_SPACE: Bytes = Bytes::from_gib(4);

#[derive(Debug, Serialize, Deserialize)]
struct Task {
    dir: PathBuf,
    before: Vec<Setting>,
}

/// The process, in the child.
///
/// # Errors
/// The values cannot be put back.
pub fn main(task: Value) -> Result<()> {
    let Task { dir, before } = super::task(task)?;
    let mut nothing = Vec::new();
    // Until the pipe closes.
    std::io::stdin().lock().read_to_end(&mut nothing).ok();
    match Existing::open(&dir) {
        Ok(group) => Ok(group.restore(&Root::live(), &before).map(drop)?),
        // Gone with its service.
        Err(_) => Ok(()),
    }
}

/// The running process; dropping it lets it look once more and end.
#[derive(Debug)]
pub struct Keeper(Child);

impl Keeper {
    /// Starts it.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(group: &Existing, before: &[Setting]) -> Result<Keeper> {
        let task = Task { dir: group.dir().to_owned(), before: before.to_vec() };
        let mut command = super::command(KIND, &task)?;
        command.stdout(Stdio::null());
        process::in_own_session(&mut command, ADDRESS_SPACE);
        let child = command.spawn().map_err(|error| KernelError::io("start", "ramline", error))?;
        Ok(Keeper(child))
    }

    /// Ends it without a last look: the limit stays as it is.
    pub fn release(mut self) {
        self.0.kill().ok();
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        drop(self.0.wait());
    }
}
