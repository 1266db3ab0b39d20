//! `ramline cache save`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use ramline_kernel::{Root, signals};
use ramline_pagecache::{Context, save};
use ramline_view::CacheSave;

use super::{Walking, code, tell};
use crate::output::Format;

/// Save the hot set: which parts of which files are in the page cache now, to be read again after a reboot (cache restore)
///
/// Kept are names and page numbers, never contents. FILE is written beside the old one and then takes its place, whole or not at all.
/// A save is refused when it finds less than half of what FILE holds while a restore of it has not come to its end, or in the first
/// ten minutes after a start: that would be the hot set of a machine that is still warming up. What is in memory anyhow (tmpfs) and
/// what a server answers for (NFS, FUSE) is left out. Exit status: 7 when files could not be asked or looked at, 0 otherwise.
#[derive(Debug, Clone, Args)]
pub struct Save {
    /// The hot set's file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Files and directories, with everything below [default: every file system of a local disk]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Save also while the page cache is half warm
    #[arg(long)]
    force: bool,
    /// Only find out what would be saved
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    walking: Walking,
    #[command(flatten)]
    format: Format,
}

impl Save {
    /// Runs the command.
    ///
    /// # Errors
    /// Refused while half warm; FILE cannot be written or is something else.
    pub fn run(&self, root: &Root) -> Result<u8> {
        signals::install();
        let options = save::Options { dry: self.dry_run, force: self.force };
        let context = Context { root, tell: &tell };
        let done = save::save(context, &self.file, &self.paths, &self.walking.options(), options)?;
        let partly = done.failed > 0 || !done.unknown.is_empty();
        self.format.print(&CacheSave::new(done), CacheSave::text)?;
        Ok(code(partly))
    }
}
