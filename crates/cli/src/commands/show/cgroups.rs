//! `ramline show cgroups`.

use anyhow::Result;
use clap::Args;
use ramline_snapshot::Wanted;
use ramline_view::ShowCgroups;

use super::{Common, code};
use crate::source::Source;

/// The tree of memory control groups: where each one's charge goes, and what could be reclaimed
#[derive(Debug, Clone, Args)]
pub struct Cgroups {}

impl Cgroups {
    /// Runs the command.
    ///
    /// # Errors
    /// The source cannot be used.
    pub fn run(&self, common: Common, source: &Source) -> Result<u8> {
        let seen = source.snapshot(Wanted { meminfo: true, ..Wanted::NOTHING })?;
        common.format().print(&ShowCgroups::new(&seen), ShowCgroups::text)?;
        Ok(code(&seen))
    }
}
