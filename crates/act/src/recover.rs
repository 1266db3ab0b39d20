//! Undoing what dead runs have left: after `kill -9`, a crash, a power cut.

use std::path::Path;

use ramline_kernel::{KernelError, Root};

use crate::journal::{self, Contents, Journal, Phase};
use crate::undo::{Context, Outcome, undo};
use crate::{ActError, Result, RunLock, StateDir};

/// What a recovery did.
#[derive(Debug, Default)]
pub struct Report {
    /// Runs that had something left, oldest first.
    pub runs: Vec<RunReport>,
}

/// What was done about one run.
#[derive(Debug)]
pub struct RunReport {
    /// Its name.
    pub run: String,
    /// The process it was.
    pub pid: u32,
    /// What was removed or put back.
    pub removed: Vec<String>,
    /// What is there but not ours any more, with the reason.
    pub left_alone: Vec<String>,
    /// What could not be undone; it stays in the journal for the next recovery.
    pub errors: Vec<KernelError>,
}

impl Report {
    /// True when nothing is left.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.runs.iter().all(|run| run.errors.is_empty())
    }

    /// True when there was nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }
}

/// Removes what dead runs have left, and says in sentences what that was.
///
/// # Errors
/// [`ActError::LeftBehind`] when something stays: nothing new is started on top of it.
pub fn clean_up(lock: &RunLock, root: &Root) -> Result<Vec<String>> {
    let report = recover(lock.state(), root)?;
    let stays = |left: &RunReport, error: &KernelError| {
        let text = error.to_string();
        format!("what process {} had left cannot be removed: {}", left.pid, text.lines().next().unwrap_or_default())
    };
    let reasons: Vec<String> =
        report.runs.iter().flat_map(|left| left.errors.iter().map(|error| stays(left, error))).collect();
    if !reasons.is_empty() {
        return Err(ActError::LeftBehind { reasons });
    }
    let removed = report.runs.iter().filter(|left| !left.removed.is_empty());
    Ok(removed.map(|left| format!("removed what process {} had left: {}", left.pid, left.removed.join(", "))).collect())
}

/// Undoes, in reverse, all pending steps of all runs whose process is dead. After a reboot only files and directories
/// are left to remove. A run that is alive is not touched.
///
/// # Errors
/// When the journals cannot be listed; errors of single steps are in the report. A record nobody can read is reported once:
/// when all others are undone its journal is set aside under the ending `.unreadable`.
pub fn recover(state: &StateDir, root: &Root) -> Result<Report> {
    let mut report = Report::default();
    for path in journal::list(state)? {
        let contents = match journal::is_settled(&path)
            .and_then(|settled| if settled { Ok(None) } else { journal::read(&path).map(Some) })
        {
            Ok(None) => continue,
            Ok(Some(contents)) => contents,
            // Not ours, or not readable: nothing in it is done, and the others are undone all the same.
            Err(ActError::Kernel(error)) => {
                report.runs.push(RunReport { errors: vec![error], ..nothing(&path) });
                continue;
            }
            Err(error) => return Err(error),
        };
        let Some(owner) = contents.entries.last().map(|entry| entry.owner.clone()) else {
            if let Some(mut run) = unreadable(&path, &contents) {
                // A run that is just writing its first record has no whole line yet, and is not here.
                set_aside(&path, &mut run);
                report.runs.push(run);
            }
            continue;
        };
        if owner.is_alive(root) {
            continue;
        }
        let run = contents.entries.last().map(|entry| entry.run.clone()).unwrap_or_default();
        let mut run = RunReport { run, pid: owner.pid, removed: vec![], left_alone: vec![], errors: vec![] };
        let Some((mut journal, contents)) = Journal::reopen(&path)? else {
            let held = "a process that cannot be seen from here holds its journal, so it is taken to be alive";
            run.left_alone.push(format!("run {}: {held}", run.run));
            report.runs.push(run);
            continue;
        };
        run.errors.extend(malformed(&path, &contents));
        let same_boot = owner.is_this_boot(root);
        for pending in contents.pending().iter().rev() {
            let context = Context { root, same_boot, intended_ms: pending.intended_ms };
            let what = pending.step.describe();
            let note = match undo(&pending.step, context) {
                Ok(Outcome::Removed) => {
                    run.removed.push(what);
                    None
                }
                Ok(Outcome::AlreadyGone) => None,
                Ok(Outcome::LeftAlone(reason)) => {
                    run.left_alone.push(format!("{what}: {reason}"));
                    Some(reason)
                }
                Err(error) => {
                    run.errors.push(error);
                    continue;
                }
            };
            // A full disk: what is undone stays undone, and the next recovery finds it gone.
            if let Err(error) = journal.append(pending.number, &pending.step, Phase::Undone, note.as_deref()) {
                match error {
                    ActError::Kernel(error) => run.errors.push(error),
                    other => return Err(other),
                }
            }
        }
        if !contents.malformed.is_empty() && run.errors.len() == contents.malformed.len() {
            set_aside(&path, &mut run);
        } else if run.errors.is_empty() {
            journal.end();
        }
        report.runs.push(run);
    }
    Ok(report)
}

/// Reported once; kept under another name.
fn set_aside(path: &Path, run: &mut RunReport) {
    if let Err(ActError::Kernel(error)) = journal::set_aside(path) {
        run.errors.push(error);
    }
}

/// One error for each record nobody can read: what it announced is not known, so a person must look.
fn malformed(path: &Path, contents: &Contents) -> Vec<KernelError> {
    let error = |(line, text): &(usize, String)| {
        let object = format!("{}:{line}", path.display());
        KernelError::malformed("read the journal record", object, text)
            .hint(format!("less {}", journal::aside(path).display()))
    };
    contents.malformed.iter().map(error).collect()
}

/// A journal without one readable record: there is no owner to judge by, and nothing is guessed. An empty one is a run
/// that ended before its first step.
fn unreadable(path: &Path, contents: &Contents) -> Option<RunReport> {
    let errors = malformed(path, contents);
    (!errors.is_empty()).then(|| RunReport { errors, ..nothing(path) })
}

/// Of a run of which only the name of its journal is known.
fn nothing(path: &Path) -> RunReport {
    let run = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    RunReport { run, pid: 0, removed: vec![], left_alone: vec![], errors: vec![] }
}
