//! `ramline cache restore`.

use ramline_pagecache::restore;
use ramline_pagecache::restore::RestoreOptions;
use ramline_pagecache::warm::WarmOptions;

use super::verb::{CacheVerb, code, show, tell_beside};
use crate::prelude::*;

/// Read a saved hot set into the page cache again: only what is missing, what serves most readers first
///
/// First come files that were mapped by a process when the set was saved (programs, libraries), then small files before large. Files
/// that have changed since (length, time, inode) are named and left alone. It stops by itself before memory or the limit of a control
/// group is used up; what was read by then stays. Exit status: 7 when it ended early or something failed, 0 otherwise.
#[derive(Debug, Clone, Args)]
pub struct Restore {
    /// The hot set's file, as cache save wrote it
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Only find out what is missing
    #[arg(long)]
    dry_run: bool,
    /// Read at most this many bytes a second, for example 100MiB
    #[arg(long, value_name = "SIZE")]
    rate: Option<Bytes>,
    /// Readers at a time, 1 to 16 [default: found out by measuring]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=16))]
    depth: Option<u64>,
    /// Take also the hot set of another machine that has the same files: names, lengths and times must agree, not inodes
    #[arg(long)]
    other_machine: bool,
    #[command(flatten)]
    format: Format,
}

impl CacheVerb for Restore {
    fn run(&self, root: &Root) -> Result<u8> {
        signals::install();
        let terminal = Terminal::new();
        let told = |error: &_| tell_beside(Some(&terminal), error);
        let progress = |at: &_| show(&terminal, at);
        let (rate, depth) = (self.rate, self.depth);
        let reading = WarmOptions { dry: self.dry_run, range: None, rate, depth, progress: Some(&progress) };
        let options = RestoreOptions { other_machine: self.other_machine, reading };
        let done = restore::restore(Context { root, tell: &told }, &self.file, &options);
        drop(terminal);
        let done = done?;
        let partly = done.failed > 0 || done.stopped.is_some() || done.lost > 0;
        self.format.versioned(&done)?;
        Ok(code(partly))
    }
}
