//! `ramline show translate`.

use anyhow::Result;
use clap::Args;
use ramline_snapshot::Wanted;
use ramline_view::ShowTranslate;

use super::{Common, code};
use crate::source::Source;

/// What free, top, htop, btop, sar, docker, kubectl and others would call "used" here, and why
#[derive(Debug, Clone, Args)]
pub struct Translate {}

impl Translate {
    /// Runs the command.
    ///
    /// # Errors
    /// The source cannot be used.
    pub fn run(&self, common: Common, source: &Source) -> Result<u8> {
        let seen = source.snapshot(Wanted { meminfo: true, ..Wanted::NOTHING })?;
        common.format().print(&ShowTranslate::new(&seen), ShowTranslate::text)?;
        Ok(code(&seen))
    }
}
