//! `ramline show processes`.

use anyhow::Result;
use clap::Args;
use ramline_snapshot::Wanted;
use ramline_view::ShowProcesses;

use super::{Common, code};
use crate::source::Source;

/// Who holds memory: by program, user, control group; page tables are walked only within a budget
#[derive(Debug, Clone, Args)]
pub struct Processes {}

impl Processes {
    /// Runs the command.
    ///
    /// # Errors
    /// The source cannot be used.
    pub fn run(&self, common: Common, source: &Source) -> Result<u8> {
        let seen = source.snapshot(Wanted { meminfo: true, ..Wanted::NOTHING })?;
        common.format().print(&ShowProcesses::new(&seen), ShowProcesses::text)?;
        Ok(code(&seen))
    }
}
