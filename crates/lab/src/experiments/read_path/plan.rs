//! What was asked for, what a series has made, and what a run may look at of both.

use std::os::unix::fs::MetadataExt;

use ramline_kernel::mount;

use super::arms::{self, ArmKind, NAME, On};
use super::recorder::Tracer;
use crate::prelude::*;

/// The file whose calls are recorded.
pub(super) const FILE: Bytes = Bytes::from_mib(4);
/// The file that is read and written in `calls`.
pub(super) const CALLS_FILE: Bytes = Bytes::from_mib(16);
/// What is written anew in `*-write-new`, with room to spare.
pub(super) const NEW_FILE: Bytes = Bytes::from_mib(16);
/// The file of `twice`.
pub(super) const TWICE_FILE: Bytes = Bytes::from_mib(32);

/// What was asked for.
#[derive(Debug)]
pub(super) struct ReadPathPlan {
    pub arms: Vec<Arm>,
    pub seed: u64,
    pub calls: u64,
    pub flood: Bytes,
    pub tracer: String,
    pub file: Option<PathBuf>,
}

impl ReadPathPlan {
    pub fn from_params(params: &Params) -> Result<ReadPathPlan> {
        let flood = params.size("flood").unwrap_or_default();
        let fits = (Bytes::from_mib(1)..=Bytes::from_gib(2)).contains(&flood) && flood.0.is_multiple_of(1 << 20);
        let text = format!("a flood of {flood} is not whole MiB from 1 MiB to 2 GiB");
        refuse_if(!fits, NAME, "--flood 128MiB", text)?;
        Ok(ReadPathPlan {
            arms: arms::parse(params.list("arms"))?,
            seed: params.count("seed").unwrap_or_default(),
            calls: params.count("calls").unwrap_or_default(),
            flood,
            tracer: params.text("tracer").unwrap_or_default().to_owned(),
            file: params.path("own-file"),
        })
    }

    pub fn kinds(&self) -> impl Iterator<Item = ArmKind> + '_ {
        self.arms.iter().filter_map(|arm| arms::kind(&arm.name))
    }

    /// The largest file a look-up is made in.
    pub fn lookup(&self) -> Bytes {
        self.kinds().fold(Bytes::ZERO, |most, kind| match kind {
            ArmKind::Lookup(size) => most.max(size),
            _ => most,
        })
    }

    /// Some call is recorded by the kernel.
    pub fn records(&self) -> bool {
        self.kinds().any(|kind| matches!(kind, ArmKind::Recorded(..) | ArmKind::Flood))
    }

    pub fn floods(&self) -> bool {
        self.kinds().any(|kind| kind == ArmKind::Flood)
    }

    /// On the disk, all files together.
    pub fn disk(&self) -> Bytes {
        let flood = if self.floods() { image_size(self.flood) } else { Bytes::ZERO };
        FILE + CALLS_FILE + TWICE_FILE + NEW_FILE + self.lookup() + flood
    }

    /// In memory: the page cache of those files, and tmpfs.
    pub fn memory(&self) -> Bytes {
        self.disk() + FILE + CALLS_FILE + TWICE_FILE
    }
}

/// What a series has made.
pub(super) struct Made {
    /// On the disk.
    pub dir: PathBuf,
    /// A tmpfs.
    pub tmpfs: PathBuf,
    pub tracefs: Option<PathBuf>,
    pub tracer: Tracer,
    pub fs: Option<OwnFs>,
}

/// All that a run may look at.
#[derive(Clone, Copy)]
pub(super) struct All<'a> {
    pub plan: &'a ReadPathPlan,
    pub found: &'a Resources,
    pub made: &'a Made,
}

impl All<'_> {
    pub fn dir(&self, on: On) -> &Path {
        match on {
            On::Disk => &self.made.dir,
            On::Tmpfs => &self.made.tmpfs,
        }
    }

    /// Type and device of the file system a file is on.
    pub fn file_system(&self, root: &Root, file: &Path) -> Result<(String, (u32, u32))> {
        let meta = std::fs::metadata(file).map_err(|error| LabError::file("look at", file, error))?;
        let number = (libc::major(meta.dev()), libc::minor(meta.dev()));
        let full = std::fs::canonicalize(file).map_err(|error| LabError::file("look at", file, error))?;
        let fs_type = mount::containing(root, &full).map_or_else(|| "unknown".to_owned(), |mounted| mounted.fs);
        Ok((fs_type, number))
    }
}
