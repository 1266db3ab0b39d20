//! `cache evict`: drops the pages of files, proves what left, and says why the rest stays.
//!
//! The kernel drops only clean pages that no process maps, and a large folio only as a whole; it says nothing of what it skipped. So
//! each file is counted before and after, and what is left is looked into. Asked to drop dirty pages it begins to write them: those of a
//! small file are often clean, and gone, a moment later. Pages in use stay. It never writes to a
//! file; with `sync` it waits until what others wrote is on the disk.

mod reasons;

use ramline_kernel::input::Looked;
use ramline_kernel::residency::Residency;
use ramline_snapshot::cache::{Doing, EvictedFiles};

use crate::prelude::*;
use crate::stat::ask_range;

/// What is to go, and how.
#[derive(Debug, Clone, Default)]
pub struct EvictOptions {
    /// Only find out what would go.
    pub dry: bool,
    /// Write dirty pages first.
    pub sync: bool,
    /// Only this part of each file, as offset and length.
    pub range: Option<(u64, u64)>,
    /// Files told by name of which something stays.
    pub top: usize,
}

/// Evicts everything that was named; failures are told as they happen and counted.
pub fn evict(context: Context<'_>, names: &[PathBuf], walking: &WalkOptions, options: &EvictOptions) -> EvictedFiles {
    let evicting = Evicting { options, unproven: Remarks::default(), failed: Count::default(), context };
    let (walked, workers) = walk::walk(context, names, walking, &evicting);
    let mut out = EvictedFiles {
        doing: if options.dry { Doing::Dry } else { Doing::Done },
        synced: options.sync,
        unproven: evicting.unproven.take(),
        skipped: walked.skipped,
        failed: walked.failed + evicting.failed.get(),
        evictors: evictors(context.root),
        ..EvictedFiles::default()
    };
    let mut left = Vec::new();
    for own in workers {
        out.files += own.files;
        out.before += own.before;
        out.written += own.written;
        left.extend(own.left);
    }
    reasons::explain(context.root, left, options, &mut out);
    out
}

/// A remaining file: part of it stays.
#[derive(Debug)]
struct RemainingFile {
    path: PathBuf,
    key: FileKey,
    in_memory: bool,
    before: u64,
    // Of it, not yet written.
    unwritten: u64,
    after: Residency,
}

/// Of one thread.
#[derive(Default)]
struct Worker {
    files: u64,
    before: Bytes,
    written: Bytes,
    left: Vec<RemainingFile>,
}

fn unwritten(seen: &Residency) -> u64 {
    seen.dirty.unwrap_or(0).saturating_add(seen.writeback.unwrap_or(0))
}

struct Evicting<'a> {
    options: &'a EvictOptions,
    unproven: Remarks,
    failed: Count,
    context: Context<'a>,
}

impl Visit for Evicting<'_> {
    type Worker = Worker;

    fn changes_anyway(&self) -> bool {
        !self.options.dry
    }

    fn file(&self, worker: &mut Worker, found: &FoundFile<'_>) {
        let range = self.options.range.unwrap_or((0, 0));
        let before = match ask_range(found, range) {
            Ok(seen) => seen,
            Err(why) => return self.unproven(found, &why),
        };
        // By opening it, before it could be counted.
        if before.cached == 0 && !self.options.dry && ramline_kernel::fs::forgets_when_opened(&found.fs.name) {
            return self.unproven(found, &format!("{}: opening a file empties what is cached of it", found.fs.name));
        }
        worker.files += 1;
        worker.before += bytes(before.cached);
        if before.cached == 0 {
            return;
        }
        let mut after = before;
        if !found.fs.in_memory && !self.options.dry {
            match self.go(found, &before).map(|()| ask_range(found, range)) {
                Ok(Ok(seen)) => after = seen,
                Ok(Err(why)) => return self.unproven(found, &why),
                Err(error) => self.tell(&error),
            }
        }
        let unwritten = unwritten(&before);
        if after.cached == 0 {
            worker.written += bytes(unwritten);
            return;
        }
        // Of what only would be evicted, what stays is what is dirty or held; who holds it is found out for all at once.
        worker.left.push(RemainingFile {
            path: found.path(),
            key: found.key(),
            in_memory: found.fs.in_memory,
            before: before.cached,
            unwritten,
            after,
        });
    }

    fn closed(&self, _: &mut Worker, _: &Place, path: &Path, _: u64, why: Option<&str>) -> bool {
        let Some(why) = why else { return false };
        self.unproven.add(why, 1, Some(path));
        true
    }
}

impl Evicting<'_> {
    /// Nothing can be proven, but it can be asked for: the kernel lets every reader say that pages are not wanted.
    fn unproven(&self, found: &FoundFile<'_>, why: &str) {
        if !self.options.dry
            && let Err(error) = self.drop_pages(found)
        {
            return self.tell(&error);
        }
        self.unproven.add(why, 1, Some(&found.path()));
    }

    fn go(&self, found: &FoundFile<'_>, before: &Residency) -> Result<(), KernelError> {
        let clean = before.dirty == Some(0) && before.writeback == Some(0);
        if self.options.sync && !clean {
            rustix::fs::fdatasync(found.file).tried("write back", found.path())?;
        }
        self.drop_pages(found)
    }

    fn drop_pages(&self, found: &FoundFile<'_>) -> Result<(), KernelError> {
        residency::drop_range(&found.file, self.options.range.unwrap_or((0, 0)))
            .map_err(|error| KernelError::io("evict", found.path(), error))
    }

    fn tell(&self, error: &KernelError) {
        self.failed.add(1);
        (self.context.tell)(error);
    }
}

/// Opens a file again by its name, if it still is that file: looked at first, since a pipe or a device may have the name by now.
pub(crate) fn reopen(path: &Path, key: FileKey) -> Option<File> {
    let looked = Looked::at(path, true).ok()?;
    if FileKey::from(&looked.stat) == key { looked.open().ok() } else { None }
}
