//! Whose touches are recorded: one process, what we have started, or a control group.

use std::path::PathBuf;

use ramline_kernel::{KernelError, Root, process};

/// Whose touches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// One process.
    Process(u32),
    /// A child of ours, all it has started, and what these leave behind.
    Descendants,
    /// The processes of a control group, by its directory, and of those below it.
    Group(PathBuf),
}

impl Target {
    /// As an error names it.
    #[must_use]
    pub fn shown(&self) -> String {
        match self {
            Target::Process(pid) => format!("process {pid}"),
            Target::Descendants => "a command".to_owned(),
            Target::Group(dir) => dir.display().to_string(),
        }
    }

    /// The processes there are now, known or not. One process stays the only one: its number may come to mean another.
    ///
    /// # Errors
    /// As [`Target::pids`], but of a group that was removed: it has none.
    pub fn arrived(&self, root: &Root) -> Result<Vec<u32>, KernelError> {
        match self {
            Target::Process(_) => Ok(Vec::new()),
            target => match target.pids(root) {
                Err(error) if error.is_absent() => Ok(Vec::new()),
                other => other,
            },
        }
    }

    /// The processes there are now. Of ourselves nothing is recorded.
    ///
    /// # Errors
    /// The group was removed; /proc cannot be read.
    pub fn pids(&self, root: &Root) -> Result<Vec<u32>, KernelError> {
        let own = std::process::id();
        match self {
            Target::Process(pid) => Ok(vec![*pid]),
            Target::Group(dir) => {
                let mut found = ramline_kernel::cgroup::processes_below(root, dir)?;
                found.retain(|pid| *pid != own);
                Ok(found)
            }
            Target::Descendants => {
                let (mut out, mut left) = (Vec::new(), vec![own]);
                while let Some(pid) = left.pop() {
                    let children = process::process_children(root, pid)?;
                    left.extend(&children);
                    out.extend(children);
                }
                Ok(out)
            }
        }
    }
}
