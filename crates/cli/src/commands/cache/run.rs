//! `ramline cache run`.

use ramline_pagecache::run;
use ramline_pagecache::run::RunOptions;
use ramline_snapshot::cache::Ran;

use super::verb::CacheVerb;
use crate::prelude::*;

/// Run a command (a backup, any big reader) so that what it reads cannot push out what others have in the page cache
///
/// It runs in a memory control group of its own, as root in one that is made and removed, otherwise in a scope of the user's systemd.
/// What it reads counts against the limit, and beyond that takes the place of what it read before. Afterwards its pages are given back.
/// The report goes to stderr; input and output are the command's. Exit status: the command's, 128 and the number of the signal that
/// ended it; 5 when it could not be kept apart and was not started. It ends when ramline is killed.
#[derive(Debug, Clone, Args)]
pub struct Run {
    /// Limit on its memory, page cache included [default: 128 MiB to 1 GiB above its own memory, which is followed]
    #[arg(long, value_name = "SIZE")]
    limit: Option<Bytes>,
    /// Leave what it read in the page cache
    #[arg(long)]
    keep: bool,
    /// No report
    #[arg(long, short)]
    quiet: bool,
    /// The report as one JSON document, sizes in bytes, on stderr
    #[arg(long)]
    json: bool,
    /// The command and its arguments, after --
    #[arg(value_name = "CMD", last = true, required = true)]
    command: Vec<OsString>,
}

/// Another run of ramline is waited for: it ends, or lets others begin.
const PATIENCE: Duration = Duration::from_secs(300);

impl CacheVerb for Run {
    fn run(&self, root: &Root) -> Result<u8> {
        let options = RunOptions { limit: self.limit, keep: self.keep, crash_after: state::crash_after() };
        let ran = match run::run(root, lock(root)?, &self.command, options) {
            Err(ActError::Kernel(error)) if error.operation == "start" => return Ok(not_started(&error)),
            other => other?,
        };
        let code = code(&ran);
        if !self.quiet {
            if (Format { json: self.json }).is_json() {
                ramline_kernel::stdio::tell(&ramline_units::escape_json(&serde_json::to_string(&Versioned::new(
                    &ran,
                ))?));
            } else {
                ramline_kernel::stdio::tell(ran.text(&Style::default()).trim_end());
            }
        }
        Ok(code)
    }
}

/// As a shell does it.
fn not_started(error: &ramline_kernel::KernelError) -> u8 {
    ramline_kernel::stdio::tell(&format!("ramline: {error}"));
    if matches!(error.cause, Cause::Absent) { 127 } else { 126 }
}

fn code(ran: &Ran) -> u8 {
    let code = ran.status.or(ran.signal.map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(crate::exit::FAILED)
}

fn lock(root: &Root) -> Result<RunLock> {
    let begin = Instant::now();
    let mut told = false;
    loop {
        let busy = match state::lock(root) {
            Err(error) if error.downcast_ref::<ActError>().is_some_and(|error| error.busy_pid().is_some()) => error,
            other => return other,
        };
        if begin.elapsed() > PATIENCE || ramline_kernel::signals::interrupted() {
            return Err(busy);
        }
        if !told {
            let line = format!("ramline: waiting for another run of ramline to end, up to {} s", PATIENCE.as_secs());
            ramline_kernel::stdio::tell(&line);
            told = true;
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}
