//! `ramline cache pin`.

use ramline_pagecache::{install, pin};

use super::service::{self, Service};
use super::verb::{CacheVerb, Walking, code, named, tell};
use crate::prelude::*;

/// Keep files in memory for as long as this runs: locked, whatever becomes of them
///
/// Files are read in and locked page by page, small ones first, up to a budget. A file that is replaced (another renamed over it),
/// grows, comes or goes is followed. One that cannot be locked is named with the reason, and the others are locked all the same.
/// Ctrl-C releases them all; their pages then stay in the page cache until others need the room. Without root RLIMIT_MEMLOCK bounds it.
/// Exit status: 7 when files were left out, 0 otherwise.
#[derive(Debug, Clone, Args)]
pub struct Pin {
    /// Files and directories, with everything below
    #[arg(value_name = "PATH", required_unless_present_any = ["from", "uninstall"])]
    paths: Vec<PathBuf>,
    /// Also the files named in LIST, one a line or separated by NUL; - is standard input
    #[arg(long, value_name = "LIST")]
    from: Option<PathBuf>,
    /// Lock at most so much [default: half of what is available]
    #[arg(long, value_name = "SIZE")]
    budget: Option<Bytes>,
    /// Install a service of systemd, ramline-pin-NAME, that does this from boot on
    #[arg(long, value_name = "NAME", conflicts_with = "from")]
    service: Option<String>,
    /// With --service: remove it
    #[arg(long, requires = "service")]
    uninstall: bool,
    /// With --service: where the unit lies, for the image of another machine [default: /etc/systemd/system]
    #[arg(long, value_name = "DIR", requires = "service")]
    dir: Option<PathBuf>,
    /// With --service: only print the unit
    #[arg(long, requires = "service")]
    dry_run: bool,
    #[command(flatten)]
    walking: Walking,
    #[command(flatten)]
    format: Format,
}

impl CacheVerb for Pin {
    fn run(&self, root: &Root) -> Result<u8> {
        if let Some(name) = &self.service {
            service::refuse_options(self.walking.is_usual())?;
            let paths: Vec<PathBuf> = self.paths.iter().map(std::path::absolute).collect::<Result<_, _>>()?;
            let units = vec![install::pin(&service::program()?, name, &paths, self.budget)?];
            let service = Service { units, dir: self.dir.clone(), dry: self.dry_run };
            return if self.uninstall { service.uninstall(root) } else { service.install(root) };
        }
        let names = named(&self.paths, self.from.as_ref())?;
        let (mut last, mut failed) = (None, None);
        let mut told = |now: &ramline_snapshot::cache::Pinned| {
            let first = last.is_none();
            let said = self.format.print(&Versioned::new(now), |style| cache::pin(now, first).text(style, Depth::All));
            failed = failed.take().or(said.err());
            last = Some(now.clone());
        };
        pin::pin(Context { root, tell: &tell }, &names, &self.walking.options(), self.budget, &mut told)?;
        if let Some(error) = failed {
            return Err(error);
        }
        let last = last.unwrap_or_default();
        if !self.format.is_json() {
            output::text(&format!("{} released.\n", last.pinned))?;
        }
        Ok(code(last.left_out > 0))
    }
}
