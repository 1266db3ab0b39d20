//! A record that is being written, line by line, each synced.
//!
//! Room for the way back is kept behind its end from the start, so that a full disk does not close it. Where there is none all the same, a change is undone
//! without being written down: what is there is looked at, not remembered, so that an undo that was not recorded can be done again.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use ramline_kernel::{KernelError, process, scratch};

use super::record::Record;
use crate::{ActError, Result};

/// What the records of one step on its way back take, with the words of an error in one of them.
const STEP: u64 = 512;
/// And those of the change itself: kept, undone and why, ended.
const CHANGE: u64 = 4096;

/// A record that is being written.
#[derive(Debug)]
pub(super) struct RecordFile {
    file: File,
    path: PathBuf,
    /// Of the change.
    pub(super) number: u64,
    /// Bytes of whole lines.
    len: u64,
    /// Why the way back is not written down any more.
    unwritten: Option<ActError>,
    /// For tests: this process kills itself when so many more records are written.
    pub(super) crash_after: Option<u64>,
}

impl RecordFile {
    pub(super) fn new(file: File, path: PathBuf, number: u64, len: u64) -> RecordFile {
        RecordFile { file, path, number, len, unwritten: None, crash_after: None }
    }

    /// Keeps room for the way back of so many steps. A file system that cannot is no obstacle: then the way back may go unwritten.
    pub(super) fn reserve(&self, steps: usize) {
        let steps = u64::try_from(steps).unwrap_or(u64::MAX);
        scratch::reserve_behind(&self.file, self.len, steps.saturating_mul(STEP).saturating_add(CHANGE)).ok();
    }

    /// Appends a line and syncs it.
    pub(super) fn append(&mut self, record: &Record) -> Result<()> {
        let failed = |error| KernelError::io("append to the record", &self.path, error);
        let mut line = serde_json::to_vec(record).map_err(|error| failed(error.into()))?;
        line.push(b'\n');
        if let Err(error) = self.file.write_all(&line).and_then(|()| self.file.sync_data()) {
            // Half a line must not be joined by the next one.
            self.file.set_len(self.len).ok();
            return Err(failed(error).into());
        }
        self.len = self.len.saturating_add(u64::try_from(line.len()).unwrap_or_default());
        if let Some(left) = &mut self.crash_after {
            *left = left.saturating_sub(1);
            if *left == 0 {
                process::kill_self();
            }
        }
        Ok(())
    }

    /// Appends a line of the way back, which goes on where that fails.
    pub(super) fn note(&mut self, record: &Record) {
        if self.unwritten.is_none() {
            self.unwritten = self.append(record).err();
        }
    }

    /// Writes down that all is undone: once more from `begun` on where something before was not. Gives what could not be written.
    pub(super) fn end(&mut self, begun: &Record, ended: &Record) -> Option<ActError> {
        if self.unwritten.take().is_some()
            && let Err(error) = self.append(begun)
        {
            return Some(error);
        }
        let failed = self.append(ended).err();
        if failed.is_none() {
            // What was kept behind the end is free again.
            self.file.set_len(self.len).ok();
        }
        failed
    }
}
