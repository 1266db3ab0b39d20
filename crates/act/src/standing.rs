//! Standing changes: what a plan leaves in force on purpose, over reboots, until it is undone.
//!
//! What the journal of runs is for the lab, this is for `tune`: each change has a file of records in the state directory, begun before anything is
//! done and never pruned. Where the machine stands is not remembered but looked at ([`probe`]): after a power cut between any two steps a change is
//! finished or undone from what is there. A file is written only where it reads as the plan saw it.
//!
//! | a step is | apply | undo |
//! |---|---|---|
//! | as before | taken | passed over |
//! | as after | passed over; where it was so from the start it is not ours | taken back |
//! | neither | refused before anything is done | refused, or left alone when asked to |

mod appending;
mod guard;
mod perform;
mod probe;
mod record;
mod transaction;
mod units;

use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;

use ramline_kernel::{KernelError, input, process};

use appending::RecordFile;
pub use guard::Guard;
pub use probe::{StepState, probe, text};
pub use record::{ChangePhase, FORMAT, FileImage, Head, HeldStep, Record, StandingChange};
pub use transaction::{Applied, Request, Transaction, Undone, left, states};

use crate::{Result, StateDir, journal};

/// A change of a hundred files is shorter.
const LARGEST: u64 = 64 << 20;

/// The records of all standing changes.
#[derive(Debug, Clone)]
pub struct Standing {
    dir: PathBuf,
}

/// A record that cannot be read: what it stands for is not known, so a person must look.
#[derive(Debug)]
pub struct Unreadable {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub error: KernelError,
}

impl Standing {
    /// The standing changes in a state directory.
    #[must_use]
    pub fn new(state: &StateDir) -> Standing {
        Standing { dir: state.standing() }
    }

    /// All changes, oldest first, and the files that cannot be read.
    ///
    /// # Errors
    /// When the directory cannot be listed.
    pub fn list(&self) -> Result<(Vec<StandingChange>, Vec<Unreadable>)> {
        let entries = match std::fs::read_dir(&self.dir) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Default::default()),
            other => other.map_err(|error| KernelError::io("list the changes in", &self.dir, error))?,
        };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.retain(|path| path.extension().is_some_and(|end| end == "jsonl"));
        paths.sort();
        let (mut changes, mut unreadable) = (Vec::new(), Vec::new());
        for path in paths {
            match read(&path) {
                Ok(change) => changes.extend(change),
                Err(error) => unreadable.push(Unreadable { path, error }),
            }
        }
        Ok((changes, unreadable))
    }

    fn path(&self, number: u64) -> PathBuf {
        self.dir.join(format!("{number:06}.jsonl"))
    }

    /// The number of the next change.
    ///
    /// # Errors
    /// When the directory cannot be listed.
    pub fn next(&self) -> Result<u64> {
        let entries = match std::fs::read_dir(&self.dir) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(1),
            other => other.map_err(|error| KernelError::io("list the changes in", &self.dir, error))?,
        };
        let taken = entries.flatten().filter_map(|entry| entry.path().file_stem()?.to_str()?.parse::<u64>().ok()).max();
        Ok(taken.unwrap_or(0).saturating_add(1))
    }

    /// The record of a new change, with its plan in it and synced.
    fn begin(&self, head: &Head) -> Result<RecordFile> {
        let failed = |error| KernelError::io("record the change in", &self.dir, error);
        match std::fs::DirBuilder::new().mode(0o700).create(&self.dir) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => return Err(failed(error).into()),
            _ => self.dir.parent().map_or(Ok(()), process::sync_dir)?,
        }
        let path = self.path(head.number);
        let file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(&path).map_err(failed)?;
        process::sync_dir(&self.dir)?;
        let mut file = RecordFile::new(file, path, head.number, 0);
        file.append(&Record::Planned(head.clone()))?;
        file.reserve(head.steps.len());
        Ok(file)
    }

    /// The record of a change, to go on with it.
    fn reopen(&self, change: &StandingChange) -> Result<RecordFile> {
        let path = self.path(change.head.number);
        let failed = |error| KernelError::io("go on with the record", &path, error);
        drop(journal::open(&path)?);
        let file = OpenOptions::new().append(true).custom_flags(input::CAREFUL).open(&path).map_err(failed)?;
        // A last line that was cut short announced nothing, and the next one must not join it. A whole one is left as it is: the room behind it is kept.
        if file.metadata().map_err(failed)?.len() != change.whole_bytes {
            file.set_len(change.whole_bytes).map_err(failed)?;
        }
        Ok(RecordFile::new(file, path, change.head.number, change.whole_bytes))
    }
}

fn read(path: &std::path::Path) -> std::result::Result<Option<StandingChange>, KernelError> {
    let tried = "read the record of a change";
    let mut bytes = Vec::new();
    journal::open(path)?.take(LARGEST).read_to_end(&mut bytes).map_err(|error| KernelError::io(tried, path, error))?;
    StandingChange::parse(&bytes).map_err(|line| {
        let text = bytes.split(|byte| *byte == b'\n').nth(line - 1).map(String::from_utf8_lossy).unwrap_or_default();
        KernelError::malformed(tried, format!("{}:{line}", path.display()), &text)
            .hint(format!("less {}", path.display()))
    })
}

#[cfg(test)]
mod tests;
