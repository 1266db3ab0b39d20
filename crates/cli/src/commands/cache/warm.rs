//! `ramline cache warm`.

use ramline_pagecache::warm;
use ramline_pagecache::warm::WarmOptions;

use super::verb::{CacheVerb, Named, Walking, code, range, show, tell_beside};
use crate::prelude::*;

/// Bring files into the page cache: only what is missing, in parallel, within what is available without pushing out what is in use
///
/// It stops by itself, with the reason, before memory or the limit of a control group is used up. Afterwards the page cache is asked
/// again. Ctrl-C ends it; what was read stays. Exit status: 7 when something is still missing or failed, 0 otherwise.
#[derive(Debug, Clone, Args)]
pub struct Warm {
    #[command(flatten)]
    named: Named,
    /// Only find out what is missing
    #[arg(long)]
    dry_run: bool,
    /// Read at most this many bytes a second, for example 100MiB
    #[arg(long, value_name = "SIZE")]
    rate: Option<Bytes>,
    /// Only this part of each file
    #[arg(long, value_name = "OFFSET:LENGTH", value_parser = range)]
    range: Option<(u64, u64)>,
    /// Readers at a time, 1 to 16 [default: found out by measuring]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=16))]
    depth: Option<u64>,
    #[command(flatten)]
    walking: Walking,
    #[command(flatten)]
    format: Format,
}

impl CacheVerb for Warm {
    fn run(&self, root: &Root) -> Result<u8> {
        let names = self.named.all()?;
        signals::install();
        let terminal = Terminal::new();
        let options = WarmOptions {
            dry: self.dry_run,
            range: self.range,
            rate: self.rate,
            depth: self.depth,
            progress: Some(&|at| show(&terminal, at)),
        };
        let told = |error: &_| tell_beside(Some(&terminal), error);
        let done = warm::warm(Context { root, tell: &told }, &names, &self.walking.options(), &options);
        drop(terminal);
        let done = done?;
        let partly = done.failed > 0 || done.stopped.is_some() || !done.lost.is_empty() || !done.unknown.is_empty();
        self.format.versioned(&done)?;
        Ok(code(partly))
    }
}
