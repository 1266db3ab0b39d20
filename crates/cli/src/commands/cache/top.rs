//! `ramline cache top`.

use std::io::IsTerminal;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use ramline_kernel::Root;
use ramline_pagecache::{Context, top, walk};
use ramline_view::CacheTop;

use super::{code, tell};
use crate::duration;
use crate::output::Format;
use crate::progress::Terminal;

/// What fills the page cache of the whole machine: directories, files, who has them open; also files nobody has open
///
/// Every local file system is walked once and each file asked, so the answer takes as long as listing all files does; on a terminal a first answer
/// comes after 2.5 s and the exact one follows. Nothing is read but names and attributes, which are themselves cached (as metadata, by the
/// kernel). File systems that a server or a program answers for are passed over. Files in memory are those of `ramline show tmpfs`.
/// Exit status: 7 when part of the answer is missing, 0 otherwise.
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
    #[command(flatten)]
    format: Format,
}

/// A person waits so long for a first answer.
const FIRST: Duration = Duration::from_millis(2500);

impl Top {
    /// Runs the command.
    ///
    /// # Errors
    /// Stdout cannot be written.
    pub fn run(&self, root: &Root) -> Result<u8> {
        let watched = std::io::stdout().is_terminal() && !self.format.is_json();
        let walking = walk::Options { threads: self.threads.map_or(0, usize::from), ..walk::Options::default() };
        let options = top::Options { rows: self.top, walking, within: self.within, first: watched.then_some(FIRST) };
        let context = Context { root, tell: &tell };
        let progress = Terminal::in_a_pipe("asking the files of all local file systems");
        let seen = top::top(context, &options, &|first| {
            // What cannot be written now cannot be written at the end either, and is told then.
            self.format.print(&CacheTop::new(first.clone()), CacheTop::text).ok();
        });
        drop(progress);
        let partly = seen.failed > 0 || seen.named.unknown > 0 || !seen.complete;
        self.format.print(&CacheTop::new(seen), CacheTop::text)?;
        Ok(code(partly))
    }
}
