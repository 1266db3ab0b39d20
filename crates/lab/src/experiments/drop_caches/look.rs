//! Counting from outside: the pages of the five files, by two calls, and what the machine shows.
//!
//! What it is not: a disturbance: files are opened and mapped without touching a page, and let go before the drop.

use std::fs::File;
use std::path::Path;

use ramline_evidence::{DropKind, DropLook, DropStage, KindCount};
use ramline_gather::gather;
use ramline_kernel::cgroup::Group;
use ramline_kernel::map::Map;
use ramline_kernel::{Root, process, residency};
use ramline_snapshot::Wanted;
use ramline_units::{Bytes, Nanos};

use super::holder::HoldTask;
use ramline_sandbox::error::{LabError, Result};
use ramline_sandbox::observe;

/// Looks at one run.
pub struct Looker<'a> {
    root: &'a Root,
    group: &'a Group,
    task: &'a HoldTask,
}

impl<'a> Looker<'a> {
    pub const fn new(root: &'a Root, group: &'a Group, task: &'a HoldTask) -> Looker<'a> {
        Looker { root, group, task }
    }

    /// Before the drop the machine is read last and after it first, so that nothing lies between but the drop.
    pub fn look(&self, stage: DropStage, took: Option<Nanos>) -> Result<DropLook> {
        let look = DropLook { stage, took, ..DropLook::default() };
        if stage == DropStage::Before {
            let kinds = self.kinds()?;
            return Ok(DropLook { kinds, ..self.machine(look)? });
        }
        let look = self.machine(look)?;
        Ok(DropLook { kinds: self.kinds()?, ..look })
    }

    fn machine(&self, look: DropLook) -> Result<DropLook> {
        let wanted = Wanted { meminfo: true, zoneinfo: true, slab: true, ..Wanted::NOTHING };
        let seen = gather(self.root, wanted);
        let objects = |name: &str| Some(seen.slab.data()?.cache(name)?.in_use);
        let meminfo = seen.meminfo.data();
        let cpu_lists = seen.zoneinfo.data().map_or(0, |zones| zones.cpu_lists().0);
        Ok(DropLook {
            host: meminfo.map(observe::gauges_of).unwrap_or_default(),
            slab: meminfo.and_then(|meminfo| meminfo.slab).unwrap_or_default(),
            cpu_lists: Bytes(cpu_lists.saturating_mul(process::page_size())),
            inodes: objects("ext4_inode_cache"),
            entries: objects("dentry"),
            group: self.group.stat()?.current.unwrap_or_default(),
            ..look
        })
    }

    /// The pages of each kind.
    pub fn kinds(&self) -> Result<Vec<KindCount>> {
        DropKind::ALL.into_iter().map(|kind| self.count(kind)).collect()
    }

    fn path(&self, kind: DropKind) -> &Path {
        match kind {
            DropKind::Clean => &self.task.clean,
            DropKind::Dirty => &self.task.dirty,
            DropKind::Mlocked => &self.task.mlocked,
            DropKind::Mapped => &self.task.mapped,
            DropKind::Tmpfs => &self.task.tmpfs,
        }
    }

    fn count(&self, kind: DropKind) -> Result<KindCount> {
        let path = self.path(kind);
        let file = File::open(path).map_err(|error| LabError::file("open", path, error))?;
        let seen = residency::of(&file, path)?;
        let unwritten = seen.dirty.zip(seen.writeback).map(|(dirty, writeback)| dirty + writeback);
        let by_mincore = Map::file(&file, path)?.resident_pages()?;
        Ok(KindCount { kind, cached: seen.cached, unwritten, by_mincore })
    }

    /// Writes the dirty file to the disk.
    pub fn write_dirty(&self) -> Result<()> {
        let path = &self.task.dirty;
        let file = File::open(path).map_err(|error| LabError::file("open", path, error))?;
        file.sync_all().map_err(|error| LabError::file("sync", path, error))
    }
}
