//! `ramline cache top`.

use std::io::IsTerminal;

use ramline_pagecache::top;
use ramline_pagecache::top::TopOptions;
use ramline_snapshot::cache::Top as Seen;

use super::verb::{CacheVerb, Failures, code};
use crate::prelude::*;
use crate::watch;

/// What fills the page cache of the whole machine: directories, files, who has them open; also files that no process has open
///
/// Every local file system is walked once and each file asked, so the answer takes as long as listing all files does; on a terminal a first answer
/// comes after 2.5 s and the exact one follows, elsewhere stderr says after 3 s how far it is. Nothing is read but names and attributes,
/// which are themselves cached (as metadata, by the kernel). File systems that a server or a program answers for are passed over. Files in
/// memory are those of `ramline show tmpfs`. Exit status: 7 when part of the answer is missing, 0 otherwise; 0 when --watch is interrupted.
#[derive(Debug, Clone, Args)]
pub struct Top {
    /// Rows of each list
    #[arg(long, value_name = "N", default_value_t = 15)]
    top: usize,
    /// Answer after so long with what was seen by then
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    within: Option<Duration>,
    /// Threads [default: one a processor, 2 to 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    /// Refresh this many seconds after each answer, until Ctrl-C [default: 2]
    #[arg(long, value_name = "SECONDS", value_parser = duration::parse, num_args = 0..=1, default_missing_value = "2")]
    watch: Option<Duration>,
    #[command(flatten)]
    format: Format,
}

/// A person waits so long for a first answer.
const FIRST: Duration = Duration::from_millis(2500);

impl CacheVerb for Top {
    fn run(&self, root: &Root) -> Result<u8> {
        let Some(every) = self.watch else {
            let seen = self.look(root, true);
            let partly = seen.failed > 0 || seen.named.unknown > 0 || !seen.complete;
            self.format.versioned(&seen)?;
            return Ok(code(partly));
        };
        let mut first = true;
        watch::repeat(every, || {
            let seen = self.look(root, std::mem::take(&mut first));
            self.format.shown(&Versioned::new(&seen), exit::DONE, |style| seen.text(style))
        })
    }
}

impl Top {
    /// With `waited` it is the first answer: how far it is is shown.
    fn look(&self, root: &Root, waited: bool) -> Seen {
        let on_terminal = std::io::stdout().is_terminal() && !self.format.is_json();
        let so_far = Arc::new(RunningCount::default());
        let walking = WalkOptions {
            threads: self.threads.map_or(0, usize::from),
            so_far: Some(Arc::clone(&so_far)),
            ..WalkOptions::default()
        };
        let first = (waited && on_terminal).then_some(FIRST);
        let options = TopOptions { rows: self.top, walking, within: self.within, first };
        let terminal = waited.then(|| Terminal::look(&so_far));
        let failures = Failures::default();
        let told = |error: &_| failures.tell(terminal.as_ref(), error);
        let seen = top::top(Context { root, tell: &told }, &options, &|seen| {
            // What cannot be written now cannot be written at the end either, and is told then.
            let print = || drop(self.format.versioned(seen));
            terminal.iter().for_each(|terminal| terminal.aside(print));
        });
        failures.finish(terminal.as_ref(), "sudo ramline cache top");
        seen
    }
}
