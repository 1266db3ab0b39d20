//! `ramline show tmpfs`.

use ramline_view::{ShowTmpfs, TmpfsBy, TmpfsOptions};

use super::common::{Common, code};
use crate::prelude::*;

/// File systems in RAM, shared memory by kind and owner, and what would fit into a tmpfs
#[derive(Debug, Clone, Args)]
pub struct Tmpfs {
    /// Rows of the table of shared memory
    #[arg(long, value_enum, default_value = "kind")]
    by: Choice<TmpfsBy>,
    /// With the largest files, and the largest that no process has open or mapped
    #[arg(long)]
    files: bool,
    /// Rows of each list, at most 100
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=100))]
    top: u16,
}

choices!(TmpfsBy {
    Kind: "kind", "tmpfs files, segments, memfd, deleted files, ...";
    User: "user", "Owner of the file";
    Cgroup: "cgroup", "Memory control group it is charged to";
    Age: "age", "Time since the last read or write";
});

impl Tmpfs {
    /// Looks once.
    ///
    /// # Errors
    /// The source cannot be used.
    pub fn look(&self, common: Common, readings: &SourceReadings<'_>) -> Result<Shown> {
        let format = common.format();
        let groups = self.by.0 == TmpfsBy::Cgroup || format.is_json();
        let seen = readings.one(Wanted { groups, ..ShowTmpfs::WANTED })?;
        let options = TmpfsOptions { by: self.by.0, files: self.files, top: usize::from(self.top) };
        let show = ShowTmpfs { shown: options, ..ShowTmpfs::new(&seen) };
        format.shown(&show, code(&seen), |style| show.text(style))
    }
}
