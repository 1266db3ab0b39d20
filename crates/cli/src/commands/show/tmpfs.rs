//! `ramline show tmpfs`.

use anyhow::Result;
use clap::Args;
use ramline_snapshot::Wanted;
use ramline_view::{ShowTmpfs, TmpfsBy, TmpfsOptions};

use super::{Common, code};
use crate::choice::{Choice, choices};
use crate::source::Source;

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
    /// Runs the command.
    ///
    /// # Errors
    /// The source cannot be used.
    pub fn run(&self, common: Common, source: &Source) -> Result<u8> {
        let seen = source.snapshot(Wanted {
            meminfo: true,
            zoneinfo: true,
            vmstat: true,
            zram: true,
            cgroups: true,
            mounts: true,
            swaps: true,
            dirs: true,
            shmem: true,
            groups: self.by.0 == TmpfsBy::Cgroup || common.json,
            ..Wanted::NOTHING
        })?;
        let options = TmpfsOptions { by: self.by.0, files: self.files, top: usize::from(self.top) };
        common.format().print(&ShowTmpfs::new(&seen), |show, style| show.text_with(style, &options))?;
        Ok(code(&seen))
    }
}
