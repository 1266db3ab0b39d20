//! `ramline show maps`.

use anyhow::Result;
use clap::Args;
use ramline_snapshot::Wanted;
use ramline_view::ShowMaps;

use super::{Common, code};
use crate::source::Source;

/// Mapped files by address range: code apart from data, who shares them, what re-reading them would cost
#[derive(Debug, Clone, Args)]
pub struct Maps {}

impl Maps {
    /// Runs the command.
    ///
    /// # Errors
    /// The source cannot be used.
    pub fn run(&self, common: Common, source: &Source) -> Result<u8> {
        let seen = source.snapshot(Wanted { meminfo: true, ..Wanted::NOTHING })?;
        common.format().print(&ShowMaps::new(&seen), ShowMaps::text)?;
        Ok(code(&seen))
    }
}
