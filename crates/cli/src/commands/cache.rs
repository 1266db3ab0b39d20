//! `ramline cache`: files in the page cache.

mod evict;
mod pin;
mod recording;
mod restore;
mod run;
mod save;
mod service;
mod stat;
mod top;
mod trace;
mod warm;
mod watch;

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use clap::{Args, Subcommand};
use ramline_kernel::{KernelError, Root};
use ramline_pagecache::walk::WalkOptions;
use ramline_pagecache::warm::Progress;
use ramline_pagecache::{Glob, SoFar};
use ramline_view::cache;

use crate::exit;
use crate::progress::Terminal;
use crate::source::Source;

/// Files in the page cache: what is there, taking it out, bringing it in, who uses it and who pushes it out
#[derive(Debug, Args)]
pub struct Cache {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Stat(stat::Stat),
    Top(top::Top),
    Evict(evict::Evict),
    Warm(warm::Warm),
    Save(save::Save),
    Restore(restore::Restore),
    Run(run::Run),
    Pin(pin::Pin),
    Trace(trace::Trace),
    Watch(watch::Watch),
}

/// What a verb does.
trait CacheVerb {
    /// Runs the command.
    ///
    /// # Errors
    /// Nothing of what was named could be looked at, stdout cannot be written, or as the verb says.
    fn run(&self, root: &Root) -> Result<u8>;
}

impl Cache {
    /// Runs the command.
    ///
    /// # Errors
    /// The source is no running machine; those of the verb.
    pub fn run(&self, source: &Source) -> Result<u8> {
        let (name, verb): (_, &dyn CacheVerb) = match &self.verb {
            Verb::Stat(verb) => ("stat", verb),
            Verb::Top(verb) => ("top", verb),
            Verb::Evict(verb) => ("evict", verb),
            Verb::Warm(verb) => ("warm", verb),
            Verb::Save(verb) => ("save", verb),
            Verb::Restore(verb) => ("restore", verb),
            Verb::Run(verb) => ("run", verb),
            Verb::Pin(verb) => ("pin", verb),
            Verb::Trace(verb) => ("trace", verb),
            Verb::Watch(verb) => ("watch", verb),
        };
        source.must_be_live(&format!("cache {name}"))?;
        verb.run(&source.kernel_root()?)
    }
}

/// Which files, the same for all verbs.
#[derive(Debug, Clone, Args)]
struct Walking {
    /// Pass over names of this pattern, with everything below; with a / it is held against the whole path (repeatable)
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<Glob>,
    /// Follow symbolic links
    #[arg(long, short = 'L')]
    follow: bool,
    /// Stay on the file system of each path
    #[arg(long, short = 'x')]
    one_file_system: bool,
    /// Also enter mounts below that a server or a program answers for (NFS, FUSE, autofs): they may never answer; and open files on
    /// FUSE only to look at them, which may empty what is cached of them
    #[arg(long)]
    remote: bool,
    /// Threads [default: one a processor, 2 to 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
}

impl Walking {
    /// None of them was given.
    fn is_usual(&self) -> bool {
        self.exclude.is_empty() && !self.follow && !self.one_file_system && !self.remote && self.threads.is_none()
    }

    fn options(&self) -> WalkOptions {
        WalkOptions {
            exclude: self.exclude.clone(),
            follow: self.follow,
            one_file_system: self.one_file_system,
            remote: self.remote,
            threads: self.threads.map_or(0, usize::from),
            ..WalkOptions::default()
        }
    }

    /// The same, and what is asked is counted while it goes on.
    fn counted(&self, so_far: &Arc<SoFar>) -> WalkOptions {
        WalkOptions { so_far: Some(Arc::clone(so_far)), ..self.options() }
    }
}

/// Each failure as it happens, one line.
fn tell(error: &KernelError) {
    ramline_kernel::stdio::tell(&format!("ramline: {error}"));
}

/// The same where something may be drawn.
fn tell_beside(terminal: Option<&Terminal>, error: &KernelError) {
    match terminal {
        Some(terminal) => terminal.aside(|| tell(error)),
        None => tell(error),
    }
}

/// How far the reading of files is.
fn show(terminal: &Terminal, at: &Progress) {
    terminal.now(cache::moving(at.done, at.total, at.rate, at.left.map(|left| left.as_secs()), at.depth));
}

/// The exit code of what was done but for something that was missing.
const fn code(partly: bool) -> u8 {
    if partly { exit::PARTLY } else { exit::DONE }
}

/// `4KiB:64MiB`: offset and length.
fn range(text: &str) -> Result<(u64, u64), String> {
    let parse = |text: &str| text.parse::<ramline_units::Bytes>().map_err(|error| error.to_string());
    let (offset, length) = text
        .split_once(':')
        .ok_or_else(|| format!("'{text}' is no range; write offset and length, for example 0B:64MiB"))?;
    match (parse(offset)?.0, parse(length)?.0) {
        (_, 0) => Err("a range of no bytes; write offset and length, for example 0B:64MiB".to_owned()),
        range => Ok(range),
    }
}

/// What was named, on the command line or in a list.
fn named(paths: &[PathBuf], list: Option<&PathBuf>) -> Result<Vec<PathBuf>, KernelError> {
    let mut all = paths.to_vec();
    if let Some(list) = list {
        all.extend(ramline_pagecache::list::read(list)?);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::range;

    #[test]
    fn a_range_is_an_offset_and_a_length_with_units() {
        assert_eq!(range("4KiB:1MiB"), Ok((4096, 1 << 20)));
        for bad in ["4KiB", "4:8", "0B:0B", ":", "1MiB:x"] {
            assert!(range(bad).unwrap_err().contains("for example"), "{bad}");
        }
    }
}
