//! Finding the files of a command: a watched run, then one from cold after which what is in the page cache is what it needs.
//!
//! What it is not: complete for files that others open for the command, or that were open before it started.

use std::time::SystemTime;

use ramline_kernel::FileKey;
use ramline_kernel::opened::Opened;

use super::{FileSet, Member};
use crate::prelude::*;
use ramline_sandbox::child::command::{self, CommandRun, Ran};

/// No experiment with more files than this: evicting them before each run would take longer than the runs.
const MOST: usize = 100_000;

impl FileSet {
    /// The files of a command and the parts of them it needs: those that `list` names, one a line, or else those it is seen to
    /// open. Runs it twice (once with a list); returns the second run, which was a cold one.
    ///
    /// # Errors
    /// It cannot be traced (not root), it fails by itself, or a file cannot be evicted or counted.
    pub fn from_command(order: CommandRun<'_>, list: Option<&Path>, run: &mut Run) -> Result<(FileSet, Ran)> {
        let root = &run.root().clone();
        let mut set = match list {
            Some(list) => FileSet::from_files(&names_in(list)?)?,
            None => {
                let mut opened = Opened::new(root)?;
                command::run(root, order, Some(&mut opened), run)?.must_succeed(order.argv)?;
                FileSet::from_opened(&opened)?
            }
        };
        set.refuse_too_many()?;
        set.evict()?;
        let began = SystemTime::now();
        let mut opened = if list.is_none() { Some(Opened::new(root)?) } else { None };
        let ran = command::run(root, order, opened.as_mut(), run)?;
        ran.must_succeed(order.argv)?;
        if let Some(opened) = &opened {
            set.join(FileSet::from_opened(opened)?);
        }
        set.learn(began)?;
        set.find_what_stays(root)?;
        Ok((set, ran))
    }

    /// The files that a watched command was seen to open.
    ///
    /// # Errors
    /// Events were lost, or there are more than an experiment can evict before each run.
    pub fn opened_by(opened: &Opened) -> Result<FileSet> {
        let set = FileSet::from_opened(opened)?;
        set.refuse_too_many()?;
        Ok(set)
    }

    fn refuse_too_many(&self) -> Result<()> {
        if self.members.len() > MOST {
            let text = format!("the command opens {} files, more than {MOST}", self.members.len());
            return Err(LabError::refused(vec![text], "ramline lab describe cold-warm"));
        }
        Ok(())
    }

    fn from_opened(opened: &Opened) -> Result<FileSet> {
        let mut set = FileSet::default();
        for (key, path) in &opened.files {
            let found = input::open("read", path).ok().filter(|file| FileKey::from_file(file).ok() == Some(*key));
            match found.map(|file| residency::lives_in_memory(&file)) {
                None => set.gone += 1,
                Some(Ok(false)) => set.members.push(Member { path: path.clone(), key: *key, needed: Vec::new() }),
                Some(_) => set.in_memory += 1,
            }
        }
        if opened.lost {
            let why = "the kernel dropped events: not all files of the command are known";
            return Err(LabError::Workload(why.to_owned()));
        }
        Ok(set)
    }

    fn join(&mut self, other: FileSet) {
        for member in other.members {
            if !self.members.iter().any(|known| known.key == member.key) {
                self.members.push(member);
            }
        }
        self.in_memory = self.in_memory.max(other.in_memory);
        self.gone = self.gone.max(other.gone);
    }

    /// After a run from cold: what is there now is what is needed. What the command changed in it is no need of its.
    fn learn(&mut self, began: SystemTime) -> Result<()> {
        let mut kept = Vec::new();
        for mut member in std::mem::take(&mut self.members) {
            let Ok(file) = input::open("read", &member.path) else {
                self.gone += 1;
                continue;
            };
            if file.metadata().and_then(|meta| meta.modified()).is_ok_and(|at| at >= began) {
                self.written += 1;
                continue;
            }
            member.needed = residency::present(&file, &member.path)?;
            kept.push(member);
        }
        self.members = kept;
        Ok(())
    }
}

/// The file names in a list, one a line.
fn names_in(list: &Path) -> Result<Vec<PathBuf>> {
    let text = input::read_named_text("read the list of files", list, input::DOCUMENT)?;
    let names: Vec<PathBuf> = text.lines().map(str::trim).filter(|line| !line.is_empty()).map(PathBuf::from).collect();
    if names.is_empty() {
        return Err(LabError::usage(format!("{} names no file", list.display()), "ramline lab describe cold-warm"));
    }
    Ok(names)
}
