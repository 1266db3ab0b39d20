//! `ramline cache watch`.

use ramline_pagecache::trace::{self, Watching};

use super::recording::journalled;
use super::verb::{CacheVerb, Walking, code, tell};
use crate::prelude::*;

/// How much of files is in the page cache over time, and who took them out: for which file, by age (DAMON), or on request (root)
///
/// Looks are printed to stderr as they are taken; the answer comes at the end (Ctrl-C ends it too). Exit status: 7 when records were lost,
/// so that counts are lower bounds, 0 otherwise.
#[derive(Debug, Clone, Args)]
pub struct Watch {
    /// Files, directories (with everything below), block devices
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
    /// How long [default: until Ctrl-C]
    #[arg(long = "for", value_name = "TIME", value_parser = duration::parse)]
    time: Option<Duration>,
    /// Between two looks at what is there
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "1s")]
    every: Duration,
    /// Rows of the table of files
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    #[command(flatten)]
    walking: Walking,
    #[command(flatten)]
    format: Format,
}

impl CacheVerb for Watch {
    fn run(&self, root: &Root) -> Result<u8> {
        let looked = |look: &_| ramline_kernel::stdio::tell(&cache::look(look));
        let how = Watching { lasts: self.time, every: self.every, looked: &looked };
        let context = Context { root, tell: &tell };
        let walking = self.walking.options();
        let watched = journalled(root, "watch PATH", |run| trace::watch(context, run, &self.paths, &walking, &how))?;
        let lost = watched.recorded.lost > 0;
        self.format.print(&Versioned::new(&watched), |style| Rows(&watched, self.top).text(style))?;
        Ok(code(lost))
    }
}
