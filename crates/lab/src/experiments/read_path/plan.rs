//! What was asked for, what a series has made, and what a run may look at of both.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use ramline_evidence::Arm;
use ramline_kernel::{Root, mount};
use ramline_sandbox::error::{LabError, Result};
use ramline_sandbox::own_fs::{OwnFs, image_size};
use ramline_sandbox::requirements::Resources;
use ramline_units::Bytes;

use super::arms::{self, Kind, NAME, On};
use super::recorder::Tracer;
use crate::params::Params;

/// The file whose calls are recorded.
pub(super) const FILE: Bytes = Bytes::from_mib(4);
/// The file that is read and written in `calls`.
pub(super) const CALLS_FILE: Bytes = Bytes::from_mib(16);
/// What is written anew in `*-write-new`, with room to spare.
pub(super) const NEW_FILE: Bytes = Bytes::from_mib(16);
/// The file of `twice`.
pub(super) const TWICE_FILE: Bytes = Bytes::from_mib(32);

/// What was asked for.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) arms: Vec<Arm>,
    pub(super) runs: u32,
    pub(super) seed: u64,
    pub(super) calls: u64,
    pub(super) flood: Bytes,
    pub(super) tracer: String,
    pub(super) file: Option<PathBuf>,
}

impl Plan {
    pub(super) fn of(params: &Params) -> Result<Plan> {
        let flood = params.size("flood").unwrap_or_default();
        if !(Bytes::from_mib(1)..=Bytes::from_gib(2)).contains(&flood) || !flood.0.is_multiple_of(1 << 20) {
            let text = format!("a flood of {flood} is not whole MiB from 1 MiB to 2 GiB");
            return Err(LabError::usage(text, format!("ramline lab run {NAME} --flood 128MiB")));
        }
        Ok(Plan {
            arms: arms::parse(params.list("arms"))?,
            runs: params.count("runs").and_then(|n| u32::try_from(n).ok()).unwrap_or(7),
            seed: params.count("seed").unwrap_or(256),
            calls: params.count("calls").unwrap_or(1_000_000),
            flood,
            tracer: params.text("tracer").unwrap_or("auto").to_owned(),
            file: params.path("own-file"),
        })
    }

    pub(super) fn kinds(&self) -> impl Iterator<Item = Kind> + '_ {
        self.arms.iter().filter_map(|arm| arms::kind(&arm.name))
    }

    /// The largest file a look-up is made in.
    pub(super) fn lookup(&self) -> Bytes {
        self.kinds().fold(Bytes::ZERO, |most, kind| match kind {
            Kind::Lookup(size) => most.max(size),
            _ => most,
        })
    }

    pub(super) fn floods(&self) -> bool {
        self.kinds().any(|kind| kind == Kind::Flood)
    }

    /// On the disk, all files together.
    pub(super) fn disk(&self) -> Bytes {
        let flood = if self.floods() { image_size(self.flood) } else { Bytes::ZERO };
        FILE + CALLS_FILE + TWICE_FILE + NEW_FILE + self.lookup() + flood
    }

    /// In memory: the page cache of those files, and tmpfs.
    pub(super) fn memory(&self) -> Bytes {
        self.disk() + FILE + CALLS_FILE + TWICE_FILE
    }
}

/// What a series has made.
#[derive(Debug)]
pub(super) struct Made {
    /// On the disk.
    pub(super) dir: PathBuf,
    /// A tmpfs.
    pub(super) tmpfs: PathBuf,
    pub(super) tracefs: Option<PathBuf>,
    pub(super) tracer: Tracer,
    pub(super) fs: Option<OwnFs>,
}

/// All that a run may look at.
#[derive(Debug, Clone, Copy)]
pub(super) struct All<'a> {
    pub(super) plan: &'a Plan,
    pub(super) found: &'a Resources,
    pub(super) made: &'a Made,
}

impl All<'_> {
    pub(super) fn dir(&self, on: On) -> &Path {
        match on {
            On::Disk => &self.made.dir,
            On::Tmpfs => &self.made.tmpfs,
        }
    }

    /// Type and device of the file system a file is on.
    pub(super) fn file_system(&self, root: &Root, file: &Path) -> Result<(String, (u32, u32))> {
        let meta = std::fs::metadata(file).map_err(|error| LabError::file("look at", file, error))?;
        let number = (libc::major(meta.dev()), libc::minor(meta.dev()));
        let full = std::fs::canonicalize(file).map_err(|error| LabError::file("look at", file, error))?;
        let fs_type = mount::containing(root, &full).map_or_else(|| "unknown".to_owned(), |mounted| mounted.fs_type);
        Ok((fs_type, number))
    }
}
