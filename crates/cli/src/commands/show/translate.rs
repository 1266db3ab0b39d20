//! `ramline show translate`.

use ramline_view::ShowTranslate;

use super::common::{Common, code};
use crate::installed;
use crate::prelude::*;

/// What free, top, htop, btop, sar, docker, kubectl and others would call "used" here, and why
#[derive(Debug, Clone, Args)]
pub struct Translate {
    /// Also for this control group: its path below the mount (/system.slice/x.service), or its directory
    #[arg(long, value_name = "GROUP")]
    cgroup: Option<String>,
}

impl Translate {
    /// Looks once.
    ///
    /// # Errors
    /// The source cannot be used; there is no such group.
    pub fn look(&self, common: Common, readings: &SourceReadings<'_>) -> Result<Shown> {
        let seen = readings.one(Wanted { groups: self.cgroup.is_some(), ..ShowTranslate::WANTED })?;
        let mut shown = ShowTranslate::new(&seen, self.cgroup.as_deref());
        if readings.source.is_live() {
            shown.note_installed(installed::programs());
        }
        if let Some(path) = self.cgroup.as_deref().filter(|_| !shown.found) {
            let path = ramline_view::escape(path);
            let text = format!(
                "--cgroup {path}: no such control group, or nothing to read in it\n  try: ramline show cgroups"
            );
            return Err(Failure::usage(text).into());
        }
        common.format().shown(&shown, code(&seen), |style| shown.text(style))
    }
}
