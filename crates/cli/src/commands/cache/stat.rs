//! `ramline cache stat`.

use std::io::{ErrorKind, Write};

use ramline_pagecache::stat;
use ramline_pagecache::stat::StatOptions;

use super::verb::{CacheVerb, Failures, Named, Walking, code};
use crate::prelude::*;

/// How much of files is in the page cache: resident, dirty, evicted; files, whole trees, block devices
///
/// Nothing is read or changed, and no file is opened but to ask the kernel. Of files whose residency the kernel does not tell this user
/// nothing is guessed: they are listed as unknown, with the reason. Sizes are those of this moment. Exit status: 7 when a file could
/// not be opened or its residency is not known, 1 (3 for want of permission) when nothing of what was named could be, 0 otherwise.
#[derive(Debug, Clone, Args)]
pub struct Stat {
    #[command(flatten)]
    named: Named,
    /// Sum up by directory, the most resident first
    #[arg(long)]
    du: bool,
    /// With --du: directories down to this depth below each path
    #[arg(long, value_name = "N", default_value_t = 1, requires = "du")]
    depth: u32,
    /// Show where in each file of the table its pages are
    #[arg(long)]
    map: bool,
    /// Rows of a table: the files with the most in the page cache; files that were named are always shown
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    #[command(flatten)]
    walking: Walking,
    /// Print one line of JSON a file as it is seen, in no order; no table and no sums
    #[arg(long, conflicts_with_all = ["json", "du", "map"])]
    ndjson: bool,
    #[command(flatten)]
    format: Format,
}

/// Parts of a file in its map.
const PARTS: u64 = 96;

impl CacheVerb for Stat {
    fn run(&self, root: &Root) -> Result<u8> {
        let names = self.named.all()?;
        let lines = |text: &[u8]| {
            let mut out = std::io::stdout().lock();
            match out.write_all(text).and_then(|()| out.flush()) {
                // Nobody reads any more.
                Err(error) if error.kind() == ErrorKind::BrokenPipe => std::process::exit(0),
                Err(error) => {
                    ramline_kernel::stdio::tell(&format!("ramline: cannot write the answer: {error}"));
                    std::process::exit(1);
                }
                Ok(()) => {}
            }
        };
        let options = StatOptions {
            top: if self.ndjson { 0 } else { self.top },
            depth: self.du.then_some(self.depth),
            map: self.map.then_some(PARTS),
            lines: self.ndjson.then_some(&lines),
        };
        // Lines go out while the walk goes on: they say themselves how far it is.
        let so_far = Arc::new(RunningCount::default());
        let terminal = (!self.ndjson).then(|| Terminal::look(&so_far));
        let failures = Failures::default();
        let told = |error: &_| failures.tell(terminal.as_ref(), error);
        let seen = stat::stat(Context { root, tell: &told }, &names, &self.walking.counted(&so_far), &options);
        failures.finish(terminal.as_ref(), "sudo ramline cache stat PATH");
        drop(terminal);
        // The kernel answers the owner of a file, and root.
        if seen.total.unknown > 0 && seen.total.files == 0 && ramline_kernel::process::uid() != 0 {
            let again = ramline_units::command_line(crate::retry::given());
            ramline_kernel::stdio::tell(&format!(
                "ramline: only root may see how much of other users' files is cached\n  try: sudo {again}"
            ));
        }
        let code = match seen.total {
            // Nothing at all could be told.
            total if total.files + total.unknown == 0 && seen.failed > 0 && seen.directories_read == 0 => {
                if seen.failed == seen.denied { exit::PRIVILEGE } else { exit::FAILED }
            }
            total => code(seen.failed > 0 || total.unknown > 0),
        };
        if !self.ndjson {
            self.format.print(&Versioned::new(&seen), |style| Rows(&seen, self.top).text(style))?;
        }
        Ok(code)
    }
}
