//! The steps of one run, and what its figures are.

use super::holder::HoldTask;

use ramline_evidence::{DropKind, DropLook, DropRun, DropStage, KindCount};
use ramline_gather::evictors;
use ramline_kernel::drop_caches::{self, Level};
use ramline_snapshot::evictors::Evictors;

use crate::prelude::*;

/// Beyond what cannot be reclaimed, the pressed group may keep this: charges are kept in stock by processor.
const SLACK: Bytes = Bytes::from_mib(1);
/// Objects of slab caches are freed a grace period of RCU after they were dropped, and thousands of them take a while.
const GRACE: Duration = Duration::from_millis(300);
/// How often the limit is brought down at most.
const PRESSES: u32 = 8;

/// The state before the drop, proven: every page is there, and those of the dirty file are dirty.
pub fn all_there(run: &DropRun, record: &mut RunRecord) {
    for count in run.looks.iter().flat_map(|look| &look.kinds) {
        let name = format!("{} pages in memory before", count.kind.word());
        record.verified.insert(name, format!("{} of {}", count.cached, run.pages));
        if count.cached < run.pages {
            let (word, cached, pages) = (count.kind.word(), count.cached, run.pages);
            record.notes.push(format!("only {cached} of {pages} {word} pages were in memory before the drop"));
        }
        if let Some(unwritten) = count.unwritten.filter(|n| count.kind == DropKind::Dirty && *n < run.pages) {
            record
                .notes
                .push(format!("only {unwritten} of {} dirty pages were still unwritten before the drop", run.pages));
        }
    }
}

/// Since Linux 5.16 dropping objects takes no pages: what goes meanwhile goes by other hands.
pub fn taken_by_others(root: &Root, level: Level, run: &DropRun) -> Option<String> {
    let of = |stage| run.cached(DropKind::Clean, stage);
    let gone = of(DropStage::Before)?.saturating_sub(of(DropStage::Dropped)?);
    if level != Level::Objects || gone == 0 {
        return None;
    }
    let who = match evictors(root).data().is_some_and(Evictors::damon_evicts) {
        true => "DAMON pages idle memory out on this machine, see ramline explain evictors",
        false => "before Linux 5.16 the drop takes them with their inode, since then something else evicted them",
    };
    Some(format!("{gone} clean pages went with or beside a drop of objects: {who}"))
}

/// Drops, and waits until what was freed can be counted; the time of the drop alone.
pub fn dropped(root: &Root, level: Level) -> Result<Nanos> {
    let begin = process::monotonic();
    drop_caches::drop_now(root, level)?;
    let took = process::monotonic().saturating_sub(begin);
    std::thread::sleep(GRACE);
    Ok(took)
}

/// Brings the limit down by what can be reclaimed: all pages of files that are neither locked nor in tmpfs. What else of the
/// group is reclaimed on the way, slab above all, leaves such pages; so it is done again until few are left.
pub fn press(group: &Group, looker: &Looker<'_>, record: &mut RunRecord) -> Result<()> {
    let page = process::page_size();
    for _ in 0..PRESSES {
        let now = looker.kinds()?;
        let can_go = [DropKind::Clean, DropKind::Dirty, DropKind::Mapped];
        let pages = now.iter().filter(|count| can_go.contains(&count.kind)).map(|count| count.cached).sum::<u64>();
        let bytes = Bytes(pages.saturating_mul(page));
        if bytes <= SLACK {
            break;
        }
        let charged = group.stat()?.current.unwrap_or_default();
        let limit = Bytes((charged.saturating_sub(bytes) + SLACK).0.div_ceil(page).saturating_mul(page));
        match group.set_memory_limit(Limit::At(limit)) {
            Ok(changes) => {
                let after = changes.into_iter().next().and_then(|change| change.after).unwrap_or_default();
                record.verified.insert("limit that pressed".to_owned(), after);
            }
            // Reclaim was tried all the same; what it took is counted.
            Err(error) => {
                let why = error.to_string().lines().next().unwrap_or_default().to_owned();
                record.notes.push(format!("the limit could not be brought down to {limit}: {why}"));
                break;
            }
        }
    }
    Ok(())
}

/// What the table of a series is made of.
pub fn figures(run: &DropRun) -> Vec<Figure> {
    let mut out = Figures::default();
    for kind in DropKind::ALL {
        let kept = run.cached(kind, DropStage::Dropped);
        out.pages(&format!("{} kept", kind.word()), kept, Better::Neither);
    }
    for (kind, stage, name) in [
        (DropKind::Dirty, DropStage::Written, "dirty kept once written"),
        (DropKind::Mapped, DropStage::Pressed, "mapped kept under pressure"),
        (DropKind::Mlocked, DropStage::Pressed, "mlocked kept under pressure"),
        (DropKind::Tmpfs, DropStage::Pressed, "tmpfs kept under pressure"),
    ] {
        out.pages(name, run.cached(kind, stage), Better::Neither);
    }
    let (Some(before), Some(after)) = (run.look(DropStage::Before), run.look(DropStage::Dropped)) else { return out.0 };
    let mut bytes = |name: &str, value: Bytes| out.bytes(name, value, Better::Neither);
    bytes("free gained", after.host.free.saturating_sub(before.host.free));
    bytes("cached lost", before.host.cached.saturating_sub(after.host.cached));
    bytes("buffers lost", before.host.buffers.saturating_sub(after.host.buffers));
    bytes("slab lost", before.slab.saturating_sub(after.slab));
    bytes("free + buffers + cached before", before.host.free_with_cache());
    bytes("free + buffers + cached after", after.host.free_with_cache());
    let share = run.balance().and_then(|balance| balance.share()).map(|share| share * 100.0);
    out.add("whole sum moved, of what left the caches", share, "%", Better::Neither);
    out.time("time of the drop", after.took);
    out.0
}

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
        let seen = residency::count(&scratch::open(path)?, path)?;
        let unwritten = seen.dirty.zip(seen.writeback).map(|(dirty, writeback)| dirty + writeback);
        let by_mincore = scratch::map(path)?.resident_pages()?;
        Ok(KindCount { kind, cached: seen.cached, unwritten, by_mincore })
    }

    /// Writes the dirty file to the disk.
    pub fn write_dirty(&self) -> Result<()> {
        let path = &self.task.dirty;
        scratch::open(path)?.sync_all().map_err(|error| LabError::file("sync", path, error))
    }
}
