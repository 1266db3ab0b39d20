//! What all verbs of `cache` share: which files, what is told while it goes on, the exit code.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use ramline_pagecache::Glob;
use ramline_pagecache::warm::Progress;

use crate::prelude::*;

/// What a verb does.
pub(super) trait CacheVerb {
    /// Runs the command.
    ///
    /// # Errors
    /// Nothing of what was named could be looked at, stdout cannot be written, or as the verb says.
    fn run(&self, root: &Root) -> Result<u8>;
}

/// What is named, on the command line or in a list.
#[derive(Debug, Clone, Args)]
pub(super) struct Named {
    /// Files, directories (with everything below), block devices
    #[arg(value_name = "PATH", required_unless_present = "from")]
    paths: Vec<PathBuf>,
    /// Also the files named in LIST, one a line or separated by NUL; - is standard input
    #[arg(long, value_name = "LIST")]
    from: Option<PathBuf>,
}

impl Named {
    /// All of it.
    pub(super) fn all(&self) -> Result<Vec<PathBuf>, KernelError> {
        named(&self.paths, self.from.as_ref())
    }
}

/// Which files, the same for all verbs.
#[derive(Debug, Clone, Args)]
pub(super) struct Walking {
    /// Pass over names of this pattern, with everything below; with a / it is held against the whole path (repeatable)
    #[arg(long, value_name = "GLOB")]
    pub(super) exclude: Vec<Glob>,
    /// Follow symbolic links
    #[arg(long, short = 'L')]
    pub(super) follow: bool,
    /// Stay on the file system of each path
    #[arg(long, short = 'x')]
    pub(super) one_file_system: bool,
    /// Also enter mounts below that a server or a program answers for (NFS, FUSE, autofs): they may never answer; and open files on
    /// FUSE only to look at them, which may empty what is cached of them
    #[arg(long)]
    pub(super) remote: bool,
    /// Threads [default: one a processor, 2 to 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(super) threads: Option<u16>,
}

impl Walking {
    /// None of them was given.
    pub(super) fn is_usual(&self) -> bool {
        self.exclude.is_empty() && !self.follow && !self.one_file_system && !self.remote && self.threads.is_none()
    }

    pub(super) fn options(&self) -> WalkOptions {
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
    pub(super) fn counted(&self, so_far: &Arc<RunningCount>) -> WalkOptions {
        WalkOptions { so_far: Some(Arc::clone(so_far)), ..self.options() }
    }
}

/// Each failure as it happens, one line.
pub(super) fn tell(error: &KernelError) {
    ramline_kernel::stdio::tell(&format!("ramline: {error}"));
}

/// The same where something may be drawn.
pub(super) fn tell_beside(terminal: Option<&Terminal>, error: &KernelError) {
    match terminal {
        Some(terminal) => terminal.aside(|| tell(error)),
        None => tell(error),
    }
}

/// Failures of a walk: what this user may not open is counted and said in one line at the end, all else as it happens. A tree has
/// hundreds of directories of others, and their names tell an ordinary user nothing but that he is not root.
#[derive(Default)]
pub(super) struct Failures {
    denied: AtomicU64,
    first: OnceLock<String>,
}

impl Failures {
    pub(super) fn tell(&self, terminal: Option<&Terminal>, error: &KernelError) {
        if error.is_denied() {
            self.denied.fetch_add(1, Ordering::Relaxed);
            self.first.get_or_init(|| error.to_string());
        } else {
            tell_beside(terminal, error);
        }
    }

    /// What was refused, all in one line; `again` is the command for root.
    pub(super) fn finish(&self, terminal: Option<&Terminal>, again: &str) {
        let Some(text) = self.refused(again) else { return };
        let tell = || ramline_kernel::stdio::tell(&format!("ramline: {text}"));
        match terminal {
            Some(terminal) => terminal.aside(tell),
            None => tell(),
        }
    }

    fn refused(&self, again: &str) -> Option<String> {
        let first = self.first.get()?;
        match self.denied.load(Ordering::Relaxed) {
            0 | 1 => Some(first.clone()),
            n => Some(format!("{n} files and directories may not be opened by this user\n  try: {again}")),
        }
    }
}

/// How far the reading of files is.
pub(super) fn show(terminal: &Terminal, at: &Progress) {
    terminal.now(cache::moving(at.done, at.total, at.rate, at.left.map(|left| left.as_secs()), at.depth));
}

/// The exit code of what was done but for something that was missing.
pub(super) const fn code(partly: bool) -> u8 {
    if partly { exit::PARTLY } else { exit::DONE }
}

/// `4KiB:64MiB`: offset and length.
pub(super) fn range(text: &str) -> Result<(u64, u64), String> {
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
pub(super) fn named(paths: &[PathBuf], list: Option<&PathBuf>) -> Result<Vec<PathBuf>, KernelError> {
    let mut all = paths.to_vec();
    if let Some(list) = list {
        all.extend(ramline_pagecache::list::read(list)?);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::{Failures, KernelError, range};

    #[test]
    fn what_is_refused_is_said_once_and_counted() {
        // errno(3)
        const EACCES: i32 = 13;
        let denied = |path: &str| KernelError::io("open", path, std::io::Error::from_raw_os_error(EACCES));
        let failures = Failures::default();
        assert_eq!(failures.refused("x"), None);
        failures.tell(None, &denied("/root"));
        assert!(failures.refused("x").is_some_and(|text| text.starts_with("cannot open /root: permission denied")));
        (0..92).for_each(|n| failures.tell(None, &denied(&format!("/root/{n}"))));
        let text = "93 files and directories may not be opened by this user\n  try: sudo ramline cache top";
        assert_eq!(failures.refused("sudo ramline cache top").as_deref(), Some(text));
    }

    #[test]
    fn a_range_is_an_offset_and_a_length_with_units() {
        assert_eq!(range("4KiB:1MiB"), Ok((4096, 1 << 20)));
        for bad in ["4KiB", "4:8", "0B:0B", ":", "1MiB:x"] {
            assert!(range(bad).unwrap_err().contains("for example"), "{bad}");
        }
    }
}
