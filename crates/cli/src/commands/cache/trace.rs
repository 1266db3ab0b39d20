//! `ramline cache trace`.

use std::process::{Command, Stdio};

use ramline_pagecache::trace::{self, TraceOptions, TraceTarget};

use super::recording::journalled;
use super::verb::{CacheVerb, code, tell};
use crate::prelude::*;

/// Count hits, misses, read-ahead and evictions by file and by process, recorded by the kernel while they happen (root)
///
/// Of a command, of processes, of a control group, of files, or of all processes. The command's own output goes to stderr. Of mapped files
/// page faults are counted: a touch of a page that is mapped already leaves no record. Needs Linux 6.12 for hits and misses. Exit status: 7 when records were lost, so that counts are lower bounds, 0 otherwise.
#[derive(Debug, Clone, Args)]
#[command(override_usage = "ramline cache trace [OPTIONS] -- <COMMAND>...\n       \
    ramline cache trace [OPTIONS] [--pid <PID|NAME>]... [--for <TIME>]\n       \
    ramline cache trace [OPTIONS] --cgroup <GROUP> [--for <TIME>]")]
pub struct Trace {
    /// Only this process, by id or name, and what it starts (repeatable)
    #[arg(long, value_name = "PID|NAME", conflicts_with = "command")]
    pid: Vec<String>,
    /// Only the processes of this control group and of those below it, and what they start
    #[arg(long, value_name = "GROUP", conflicts_with_all = ["pid", "command"])]
    cgroup: Option<PathBuf>,
    /// Only this file, or the files below this directory (repeatable)
    #[arg(long, value_name = "PATH")]
    path: Vec<PathBuf>,
    /// How long [default: 10s]
    #[arg(long = "for", value_name = "TIME", value_parser = duration::parse)]
    time: Option<Duration>,
    /// Rows of the tables
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    #[command(flatten)]
    format: Format,
    /// This command, until it ends
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl CacheVerb for Trace {
    fn run(&self, root: &Root) -> Result<u8> {
        let both =
            "a command is recorded until it ends, so --for has no use with one\n  try: ramline cache trace -- COMMAND";
        ensure!(self.command.is_empty() || self.time.is_none(), Failure::usage(both));
        let (whom, lasts) = match self.command.split_first() {
            Some((program, arguments)) => {
                let mut command = Command::new(program);
                command.args(arguments).stdout(Stdio::from(std::io::stderr()));
                (TraceTarget::Command(Box::new(command)), None)
            }
            None => (self.others(root)?, Some(self.time.unwrap_or(Duration::from_secs(10)))),
        };
        let options = TraceOptions { whom, paths: self.path.clone(), lasts };
        let context = Context { root, tell: &tell };
        let traced = journalled(root, "trace", |run| trace::trace(context, run, &WalkOptions::default(), options))?;
        let lost = traced.recorded.lost > 0;
        self.format.print(&Versioned::new(&traced), |style| Rows(&traced, self.top).text(style))?;
        Ok(code(lost))
    }
}

impl Trace {
    fn others(&self, root: &Root) -> Result<TraceTarget> {
        let one = |text: &String| whom::one(root, text, "ramline cache trace --pid");
        Ok(match (&self.cgroup, self.pid.is_empty()) {
            (Some(group), _) => TraceTarget::Group(group.clone()),
            (None, false) => TraceTarget::Processes(self.pid.iter().map(one).collect::<Result<_>>()?),
            (None, true) => TraceTarget::Machine,
        })
    }
}
