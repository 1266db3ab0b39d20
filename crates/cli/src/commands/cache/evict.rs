//! `ramline cache evict`.

use ramline_pagecache::evict;
use ramline_pagecache::evict::EvictOptions;

use super::verb::{CacheVerb, Named, Walking, code, range, tell};
use crate::prelude::*;

/// Take files out of the page cache, and say why what stays does: dirty, mapped by whom, locked, in memory
///
/// Only the files named lose pages, never others. What left is proven by counting before and after. Nothing is lost: the kernel begins to
/// write dirty pages when it is asked to drop them, and drops those that are on the disk by then (often all of a small file, which is
/// said); the others stay, unless --sync waits for them. Exit status: 7 when something stays, could not be proven or failed, 0 otherwise.
#[derive(Debug, Clone, Args)]
pub struct Evict {
    #[command(flatten)]
    named: Named,
    /// Wait until dirty pages are written, so that all of them can go
    #[arg(long)]
    sync: bool,
    /// Only find out what would go and what would stay
    #[arg(long)]
    dry_run: bool,
    /// Only this part of each file
    #[arg(long, value_name = "OFFSET:LENGTH", value_parser = range)]
    range: Option<(u64, u64)>,
    /// Files of which something stays that are listed
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    #[command(flatten)]
    walking: Walking,
    #[command(flatten)]
    format: Format,
}

impl CacheVerb for Evict {
    fn run(&self, root: &Root) -> Result<u8> {
        let names = self.named.all()?;
        // Who asks later who took these pages out finds this process gone: its name stays in what was recorded.
        ramline_kernel::process::name_thread(ramline_pagecache::trace::EVICTS);
        let options = EvictOptions { dry: self.dry_run, sync: self.sync, range: self.range, top: self.top };
        let done = evict::evict(Context { root, tell: &tell }, &names, &self.walking.options(), &options);
        let partly = done.failed > 0 || done.after.0 > 0 || !done.unproven.is_empty();
        self.format.versioned(&done)?;
        Ok(code(partly))
    }
}
