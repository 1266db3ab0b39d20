//! `ramline show translate`.

use anyhow::Result;
use clap::Args;
use ramline_snapshot::Wanted;
use ramline_view::ShowTranslate;

use super::{Common, code};
use crate::exit;
use crate::source::Source;

/// What free, top, htop, btop, sar, docker, kubectl and others would call "used" here, and why
#[derive(Debug, Clone, Args)]
pub struct Translate {
    /// Also for this control group: its path below the mount (/system.slice/x.service), or its directory
    #[arg(long, value_name = "PATH")]
    cgroup: Option<String>,
}

impl Translate {
    /// Runs the command.
    ///
    /// # Errors
    /// The source cannot be used; there is no such group.
    pub fn run(&self, common: Common, source: &Source) -> Result<u8> {
        let groups = self.cgroup.is_some();
        let wanted = Wanted { meminfo: true, cgroups: true, zfs: true, zram: true, groups, ..Wanted::NOTHING };
        let seen = source.snapshot(wanted)?;
        let shown = ShowTranslate::new(&seen, self.cgroup.as_deref());
        if let Some(path) = self.cgroup.as_deref().filter(|_| !shown.found) {
            let path = ramline_view::escape(path);
            let text = format!(
                "--cgroup {path}: no such control group, or nothing to read in it\n  try: ramline show cgroups"
            );
            return Err(exit::Failure::new(exit::USAGE, text).into());
        }
        common.format().print(&shown, ShowTranslate::text)?;
        Ok(code(&seen))
    }
}
