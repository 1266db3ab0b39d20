//! `ramline show tmpfs`.

use anyhow::Result;
use clap::{Args, ValueEnum};
use ramline_snapshot::Wanted;
use ramline_view::{ShowTmpfs, TmpfsBy, TmpfsOptions};

use super::{Common, code};
use crate::source::Source;

/// File systems in RAM, shared memory by kind and owner, and what would fit into a tmpfs
#[derive(Debug, Clone, Args)]
pub struct Tmpfs {
    /// Rows of the table of shared memory
    #[arg(long, value_enum, default_value_t = By::Kind)]
    by: By,
    /// With the largest files, and the largest that no process has open or mapped
    #[arg(long)]
    files: bool,
    /// Rows of each list, at most 100
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=100))]
    top: u16,
}

/// What a row is.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum By {
    /// tmpfs files, segments, memfd, deleted files, ...
    Kind,
    /// Owner of the file
    User,
    /// Memory control group it is charged to
    Cgroup,
    /// Time since the last read or write
    Age,
}

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
            groups: matches!(self.by, By::Cgroup) || common.json,
            ..Wanted::NOTHING
        })?;
        let by = match self.by {
            By::Kind => TmpfsBy::Kind,
            By::User => TmpfsBy::User,
            By::Cgroup => TmpfsBy::Cgroup,
            By::Age => TmpfsBy::Age,
        };
        let options = TmpfsOptions { by, files: self.files, top: usize::from(self.top) };
        common.format().print(&ShowTmpfs::new(&seen), |show, style| show.text_with(style, &options))?;
        Ok(code(&seen))
    }
}
