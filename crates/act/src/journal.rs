//! The journal: one file per run, one JSON line per record, synced before the step it announces is taken.
//!
//! What it is not: a log for people. A line cut short by a crash was never synced, so its step was never taken.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use ramline_kernel::input::{self, Looked};
use ramline_kernel::{KernelError, process};
use serde::{Deserialize, Serialize};

use crate::lock::released;
use crate::{Owner, Result, StateDir, Step};

/// Finished journals kept for questions afterwards.
const KEEP: usize = 20;

/// How far a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// About to be taken; may or may not have happened.
    Intend,
    /// Taken; the step now holds what only became known by taking it.
    Done,
    /// Undone, or found to be gone.
    Undone,
    /// It and all steps of the run before it stay for good.
    Kept,
    /// Nothing of the run is left to undo: its last record.
    Ended,
}

/// One record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The run; also the name of the file.
    pub run: String,
    /// The process that started the run.
    pub owner: Owner,
    /// Counts records.
    pub seq: u64,
    /// Counts steps; the records of one step share it.
    pub number: u64,
    /// Milliseconds since 1970.
    pub time_ms: u64,
    /// How far it is.
    pub phase: Phase,
    /// What it is.
    pub step: Step,
    /// Why it was undone or left alone, where that needs saying.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A journal open for appending. It is locked while open, so that no other process recovers a run that is alive.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    run: String,
    owner: Owner,
    seq: u64,
    appended: u64,
    /// Bytes up to the end of the last record that was written whole.
    good: u64,
    /// What lies beyond could not be cut off yet.
    torn: bool,
    crash_after: Option<u64>,
    /// The step of the last record.
    last: Option<(u64, Step)>,
}

impl Journal {
    /// Starts the journal of a new run. With `crash_after`, this process kills itself as soon as so many records have been
    /// synced: how the tests prove that every moment is recoverable.
    ///
    /// # Errors
    /// When the file cannot be made and synced.
    pub fn create(state: &StateDir, owner: &Owner, crash_after: Option<u64>) -> Result<Journal> {
        let dir = state.journals();
        let mut time = now_ms();
        let (file, run, path) = loop {
            // Digits of fixed width: names in order are runs in order. Two runs of a process in one millisecond differ by it.
            let run = format!("{time:013}-{}", owner.pid);
            let path = dir.join(format!("{run}.jsonl"));
            match OpenOptions::new().append(true).create_new(true).mode(0o600).open(&path) {
                Ok(file) => break (file, run, path),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => time += 1,
                Err(error) => return Err(KernelError::io("start the journal", path, error).into()),
            }
        };
        file.try_lock().map_err(|error| KernelError::io("lock the journal", &path, error.into()))?;
        file.sync_all().map_err(|error| KernelError::io("sync the journal", &path, error))?;
        process::sync_dir(&dir)?;
        Ok(Journal {
            file,
            path,
            run,
            owner: owner.clone(),
            seq: 0,
            appended: 0,
            good: 0,
            torn: false,
            crash_after,
            last: None,
        })
    }

    /// Opens the journal of a dead run to go on with it; `None` when somebody holds it all the same.
    pub(crate) fn reopen(path: &Path) -> Result<Option<(Journal, Contents)>> {
        let failed = |error| KernelError::io("open the journal", path, error);
        drop(open(path)?);
        let file =
            OpenOptions::new().append(true).read(true).custom_flags(input::CAREFUL).open(path).map_err(failed)?;
        if !released(&file) {
            return Ok(None);
        }
        let contents = read(path)?;
        let Some(last) = contents.entries.last() else { return Ok(None) };
        // What a crash left of a last line announced a step that was never taken; cut it, or the next line would join it.
        file.set_len(contents.whole_bytes).map_err(failed)?;
        let journal = Journal {
            path: path.to_owned(),
            run: last.run.clone(),
            owner: last.owner.clone(),
            seq: last.seq.saturating_add(1),
            appended: 0,
            good: contents.whole_bytes,
            torn: false,
            crash_after: None,
            last: Some((last.number, last.step.clone())),
            file,
        };
        Ok(Some((journal, contents)))
    }

    /// Appends a record, syncs it, and returns its time in milliseconds since 1970.
    ///
    /// # Errors
    /// When it cannot be written: then the step must not be taken.
    pub fn append(&mut self, number: u64, step: &Step, phase: Phase, note: Option<&str>) -> Result<u64> {
        let entry = Entry {
            run: self.run.clone(),
            owner: self.owner.clone(),
            seq: self.seq,
            number,
            time_ms: now_ms(),
            phase,
            step: step.clone(),
            note: note.map(str::to_owned),
        };
        let path = self.path.clone();
        let failed = |error| KernelError::io("append to the journal", &path, error);
        let mut line = serde_json::to_vec(&entry).map_err(|error| failed(error.into()))?;
        line.push(b'\n');
        self.cut_torn().map_err(failed)?;
        let written = self.file.write_all(&line).and_then(|()| self.file.sync_data());
        if let Err(error) = written {
            // A part of a line (the disk is full) would make this record and the next one unreadable for ever.
            self.torn = true;
            // Should it fail, the next record tries again before it is written; this error is the one to report.
            drop(self.cut_torn());
            return Err(failed(error).into());
        }
        self.good += u64::try_from(line.len()).unwrap_or_default();
        self.seq = self.seq.saturating_add(1);
        self.appended += 1;
        self.last = Some((number, entry.step));
        if self.crash_after == Some(self.appended) {
            process::kill_self();
        }
        Ok(entry.time_ms)
    }

    fn cut_torn(&mut self) -> std::io::Result<()> {
        if self.torn {
            self.file.set_len(self.good)?;
            self.torn = false;
        }
        Ok(())
    }

    /// The last record: nothing is left. Should it not be written, the others say the same.
    pub(crate) fn end(&mut self) {
        if let Some((number, step)) = self.last.take() {
            drop(self.append(number, &step, Phase::Ended, None));
        }
    }

    /// How many records this process has appended.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.appended
    }

    /// The name of the run.
    #[must_use]
    pub fn run(&self) -> &str {
        &self.run
    }
}

/// The records of a journal.
#[derive(Debug, Default)]
pub struct Contents {
    /// Those that can be read, in order.
    pub entries: Vec<Entry>,
    /// Complete lines that cannot be read (not the one cut short), by number and text.
    pub malformed: Vec<(usize, String)>,
    /// Bytes of the complete lines.
    pub whole_bytes: u64,
}

/// A step that is not undone yet.
#[derive(Debug, Clone)]
pub struct Pending {
    /// Which step of the run.
    pub number: u64,
    /// What was done.
    pub step: Step,
    /// When it was announced, in milliseconds since 1970.
    pub intended_ms: u64,
}

impl Contents {
    /// From the bytes of a journal; a last line without its end is left out.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Contents {
        let mut contents = Contents::default();
        for (index, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let Some(text) = line.strip_suffix(b"\n") else { break };
            contents.whole_bytes += u64::try_from(line.len()).unwrap_or_default();
            match ramline_units::json::parse_bytes(text) {
                Ok(entry) => contents.entries.push(entry),
                // After a power cut a file system may leave zeros where the last record should be.
                Err(_) if text.iter().all(|byte| *byte == 0) => {}
                Err(_) => contents.malformed.push((index + 1, String::from_utf8_lossy(text).into_owned())),
            }
        }
        contents
    }

    /// Steps intended or done and not undone, in the order they were taken.
    #[must_use]
    pub fn pending(&self) -> Vec<Pending> {
        let mut pending: Vec<Pending> = Vec::new();
        for entry in &self.entries {
            match entry.phase {
                Phase::Intend => {
                    pending.push(Pending { number: entry.number, step: entry.step.clone(), intended_ms: entry.time_ms })
                }
                Phase::Done => match pending.iter_mut().find(|known| known.number == entry.number) {
                    Some(known) => known.step = entry.step.clone(),
                    // Its announcement cannot be read; it was taken all the same.
                    None => pending.push(Pending {
                        number: entry.number,
                        step: entry.step.clone(),
                        intended_ms: entry.time_ms,
                    }),
                },
                Phase::Undone => pending.retain(|known| known.number != entry.number),
                Phase::Kept | Phase::Ended => pending.clear(),
            }
        }
        pending
    }
}

/// Reads a journal.
pub(crate) fn read(path: &Path) -> Result<Contents> {
    let mut bytes = Vec::new();
    let file = open(path)?.take(LARGEST + 1);
    { file }.read_to_end(&mut bytes).map_err(|error| KernelError::io("read the journal", path, error))?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > LARGEST) {
        let rule = "no journal is so long";
        return Err(KernelError::refused("read the journal", path, rule, format!("at most {LARGEST} bytes")).into());
    }
    Ok(Contents::parse(&bytes))
}

/// The longest series has thousands of records of a few hundred bytes.
const LARGEST: u64 = 64 << 20;

/// Opens a journal, which must be a file of ours that nobody else can have written.
pub(crate) fn open(path: &Path) -> std::result::Result<File, KernelError> {
    let (tried, failed) = ("read the journal", |error| KernelError::io("read the journal", path, error));
    let looked = Looked::at(path, false).map_err(failed)?;
    if !looked.is_own_file() {
        let rule = "it must be a file of ours that no other user can write to";
        let what = format!("it is {}, of user {}", input::kind_name(looked.kind()), looked.stat.st_uid);
        return Err(KernelError::refused(tried, path, rule, what).hint(format!("ls -l {}", path.display())));
    }
    looked.open().map_err(failed)
}

/// Whether nothing of it is left to undo. Most journals are of finished runs, some of thousands of records, and every `show` asks all of
/// them: the last record tells, where there is one of the end. Else all are read, and one that nobody can read leaves it unsettled.
pub(crate) fn is_settled(path: &Path) -> Result<bool> {
    if last(path)?.is_some_and(|entry| matches!(entry.phase, Phase::Kept | Phase::Ended)) {
        return Ok(true);
    }
    let contents = read(path)?;
    Ok(contents.malformed.is_empty() && contents.pending().is_empty())
}

/// The last record, unless it is longer than records are.
fn last(path: &Path) -> Result<Option<Entry>> {
    const MOST: u64 = 4096;
    let failed = |error| KernelError::io("read the journal", path, error);
    let file = open(path)?;
    let from = file.metadata().map_err(failed)?.len().saturating_sub(MOST);
    let mut tail = Vec::new();
    (&file).seek(SeekFrom::Start(from)).and_then(|_| (&file).take(MOST).read_to_end(&mut tail)).map_err(failed)?;
    let mut lines = tail.strip_suffix(b"\n").unwrap_or_default().rsplit(|byte| *byte == b'\n');
    Ok(lines.next().and_then(|line| ramline_units::json::parse_bytes(line).ok()))
}

/// Puts a journal with records nobody can read out of the way: it has been reported, all that can be read in it is undone,
/// and it must not be reported for ever. It is kept for a person to look at.
pub(crate) fn set_aside(path: &Path) -> Result<()> {
    let to = aside(path);
    Ok(std::fs::rename(path, &to).map_err(|error| KernelError::io("set aside the journal", path, error))?)
}

/// Where [`set_aside`] puts a journal.
pub(crate) fn aside(path: &Path) -> PathBuf {
    path.with_extension("unreadable")
}

/// All journals of a state directory, oldest first.
pub(crate) fn list(state: &StateDir) -> Result<Vec<PathBuf>> {
    let dir = state.journals();
    let entries = match std::fs::read_dir(&dir) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(|error| KernelError::io("list the journals in", &dir, error))?,
    };
    let mut paths: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "jsonl"))
        .collect();
    paths.sort();
    Ok(paths)
}

/// Removes finished journals but the last 20. An unfinished or unreadable one is never removed.
pub(crate) fn prune(state: &StateDir) -> Result<()> {
    let mut finished = Vec::new();
    for path in list(state)? {
        let done = is_settled(&path).unwrap_or(false);
        // A run that has just begun is finished in this sense; its lock says otherwise.
        let alive = open(&path).is_ok_and(|file| file.try_lock_shared().is_err());
        if done && !alive {
            finished.push(path);
        }
    }
    let surplus = finished.len().saturating_sub(KEEP);
    for path in finished.into_iter().take(surplus) {
        std::fs::remove_file(&path).map_err(|error| KernelError::io("remove the old journal", &path, error))?;
    }
    Ok(())
}

pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
