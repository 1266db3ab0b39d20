//! The child that works on files: one operation, timed, and the same loop without its calls.
//!
//! It reports what it took and what it found. It works in one directory.

use std::io::Write;

use super::loops::{Clock, Sync, harness, read_all, remove, write_new};
use super::task::{FileReport, FileTask, Op};
use crate::prelude::*;

/// Its kind of child.
pub const KIND: &str = "files";

/// Bytes of a small file.
pub const SMALL: u64 = 1024;

/// Does the task and reports.
///
/// # Errors
/// As [`perform`]; what was written cannot be synced.
pub fn main(task: Value) -> Result<()> {
    let task: FileTask = child::task(task)?;
    let report = perform(&task)?;
    // What this operation left dirty must not be written during the next one.
    process::sync_file_system(&task.dir)?;
    child::report(&report)
}

/// Does one operation.
///
/// # Errors
/// A file could not be made, written, read or removed; its pages are not where they must be.
pub fn perform(task: &FileTask) -> Result<FileReport> {
    let work = Work { task, large: task.dir.join("large"), small: task.dir.join("small") };
    match task.op {
        Op::Write => work.write(Sync::Never),
        Op::WriteSynced => work.write(Sync::Last),
        Op::WriteSyncEach => work.write(Sync::Each),
        Op::ReadWarm | Op::ReadCold | Op::Read => work.read(),
        Op::MappedWrite => work.mapped(false),
        Op::MappedSynced => work.mapped(true),
        Op::Files => work.files(false),
        Op::FilesSynced => work.files(true),
        Op::DeleteFiles => work.delete_files(),
        Op::Delete => work.delete(),
        Op::Rewrite => work.overwrite(true),
        Op::InPlace => work.overwrite(false),
        Op::Pressure => work.pressure(),
    }
}

struct Work<'a> {
    task: &'a FileTask,
    large: PathBuf,
    small: PathBuf,
}

impl Work<'_> {
    fn buffer(&self, length: u64) -> Result<Vec<u8>> {
        let length = usize::try_from(length).map_err(|error| LabError::Workload(error.to_string()))?;
        let mut buffer = vec![0; length];
        Filler::new(self.task.fill, self.task.seed).fill(0, &mut buffer);
        Ok(buffer)
    }

    /// So many things have been done, each with the whole buffer.
    fn counted(&self, clock: Clock, buffer: &[u8]) -> Result<FileReport> {
        let (cost, major_faults) = clock.stop()?;
        let things = self.task.count;
        let (harness, each) = (harness(things, buffer)?, u64::try_from(buffer.len()).unwrap_or(u64::MAX));
        Ok(FileReport { cost, harness, bytes: things * each, things, major_faults, ..FileReport::default() })
    }

    fn blocks(&self) -> u64 {
        self.task.size.0.div_ceil(self.task.block.0.max(1))
    }

    fn write(&self, sync: Sync) -> Result<FileReport> {
        let buffer = self.buffer(self.task.block.0)?;
        let bytes = if sync == Sync::Each { self.task.count * self.task.block.0 } else { self.task.size.0 };
        remove(&self.large)?;
        let clock = Clock::start()?;
        write_new(&self.large, &buffer, bytes, sync)?;
        let (cost, major_faults) = clock.stop()?;
        let dirty = self.residency()?.dirty;
        let harness = harness(bytes.div_ceil(self.task.block.0), &buffer)?;
        Ok(FileReport { cost, harness, bytes, major_faults, dirty, ..FileReport::default() })
    }

    fn residency(&self) -> Result<residency::Residency> {
        Ok(residency::count(&scratch::open(&self.large)?, &self.large)?)
    }

    /// The large file is there, complete and clean.
    fn ensure_large(&self) -> Result<()> {
        if std::fs::metadata(&self.large).is_ok_and(|meta| meta.len() == self.task.size.0) {
            return Ok(());
        }
        remove(&self.large)?;
        write_new(&self.large, &self.buffer(self.task.block.0)?, self.task.size.0, Sync::Last)
    }

    /// The whole file in calls of one block, once from cold or so often in memory.
    fn read(&self) -> Result<FileReport> {
        self.ensure_large()?;
        let (cold, many) = (self.task.op == Op::ReadCold, self.task.op == Op::Read);
        let passes = if cold { 1 } else { self.task.count.max(1) };
        let mut buffer = self.buffer(self.task.block.0)?;
        let pages = self.task.size.0.div_ceil(process::page_size());
        if cold {
            let left = residency::evict(&scratch::open(&self.large)?, &self.large)?.after.cached;
            if left > 0 {
                return Err(LabError::Workload(format!("{left} of {pages} pages could not be evicted")));
            }
        } else {
            read_all(&self.large, &mut buffer)?;
        }
        let before = self.resident(pages)?;
        if !cold && before < pages {
            let what = if many { "reading" } else { "a warm read" };
            return Err(LabError::Workload(format!("only {before} of {pages} pages were in memory before {what}")));
        }
        let clock = Clock::start()?;
        let mut bytes = 0;
        for _ in 0..passes {
            bytes += read_all(&self.large, &mut buffer)?;
        }
        let (cost, major_faults) = clock.stop()?;
        let after = self.resident(pages)?;
        // Of many reads, the one that returns nothing is a turn too.
        let harness = harness(passes * (self.blocks() + u64::from(many)), &buffer)?;
        let (pages, things) = (Some((pages, before, after)), if many { passes } else { 0 });
        Ok(FileReport { cost, harness, bytes, things, major_faults, pages, ..FileReport::default() })
    }

    /// Pages in memory. A ramfs does not tell (cachestat counts them, mincore too), so it is asked all the same.
    fn resident(&self, pages: u64) -> Result<u64> {
        Ok(self.residency()?.cached.min(pages))
    }

    fn mapped(&self, synced: bool) -> Result<FileReport> {
        let buffer = self.buffer(self.task.block.0)?;
        let blocks = self.blocks();
        remove(&self.large)?;
        let failed = |error| LabError::file("make", &self.large, error);
        let clock = Clock::start()?;
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&self.large).map_err(failed)?;
        file.set_len(self.task.size.0).map_err(failed)?;
        let mut map = Map::file_to_write(&file, &self.large)?;
        for offset in (0..map.len()).step_by(buffer.len()) {
            map.write_at(offset, &buffer[..buffer.len().min(map.len() - offset)])?;
        }
        if synced {
            map.sync()?;
        }
        drop(map);
        drop(file);
        let (cost, major_faults) = clock.stop()?;
        let dirty = self.residency()?.dirty;
        let harness = harness(blocks, &buffer)?;
        Ok(FileReport { cost, harness, bytes: self.task.size.0, major_faults, dirty, ..FileReport::default() })
    }

    fn names(&self) -> Vec<PathBuf> {
        (0..self.task.count).map(|number| self.small.join(format!("{number:06}"))).collect()
    }

    fn make_files(&self, names: &[PathBuf], buffer: &[u8], synced: bool) -> Result<()> {
        for name in names {
            let failed = |error| LabError::file("write", name, error);
            let mut file = OpenOptions::new().write(true).create_new(true).open(name).map_err(failed)?;
            file.write_all(buffer).map_err(failed)?;
            if synced {
                file.sync_all().map_err(failed)?;
            }
        }
        Ok(())
    }

    fn empty_small(&self) -> Result<()> {
        let failed = |error| LabError::file("empty", &self.small, error);
        match std::fs::remove_dir_all(&self.small) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        std::fs::create_dir(&self.small).map_err(failed)?;
        Ok(process::sync_file_system(&self.task.dir)?)
    }

    fn files(&self, synced: bool) -> Result<FileReport> {
        let (names, buffer) = (self.names(), self.buffer(SMALL)?);
        self.empty_small()?;
        let clock = Clock::start()?;
        self.make_files(&names, &buffer, synced)?;
        self.counted(clock, &buffer)
    }

    fn delete_files(&self) -> Result<FileReport> {
        let (names, buffer) = (self.names(), self.buffer(SMALL)?);
        self.empty_small()?;
        self.make_files(&names, &buffer, false)?;
        process::sync_file_system(&self.task.dir)?;
        let clock = Clock::start()?;
        for name in &names {
            std::fs::remove_file(name).map_err(|error| LabError::file("delete", name, error))?;
        }
        self.counted(clock, &buffer)
    }

    /// All of it in memory and, on a disk, clean.
    fn delete(&self) -> Result<FileReport> {
        self.ensure_large()?;
        read_all(&self.large, &mut self.buffer(self.task.block.0)?)?;
        let clock = Clock::start()?;
        std::fs::remove_file(&self.large).map_err(|error| LabError::file("delete", &self.large, error))?;
        let (cost, major_faults) = clock.stop()?;
        Ok(FileReport { cost, bytes: self.task.size.0, things: 1, major_faults, ..FileReport::default() })
    }

    fn overwrite(&self, truncate: bool) -> Result<FileReport> {
        let buffer = self.buffer(self.task.block.0)?;
        let path = self.task.dir.join("one-block");
        remove(&path)?;
        write_new(&path, &buffer, self.task.block.0, Sync::Last)?;
        let failed = |error| LabError::file("write", &path, error);
        let mut options = OpenOptions::new();
        options.write(true).truncate(truncate);
        let clock = Clock::start()?;
        for _ in 0..self.task.count {
            let mut file = options.open(&path).map_err(failed)?;
            file.write_all(&buffer).map_err(failed)?;
        }
        self.counted(clock, &buffer)
    }

    /// First the file, then the program; then both again.
    fn pressure(&self) -> Result<FileReport> {
        let mut buffer = self.buffer(self.task.block.0)?;
        for path in [&self.large, &self.task.dir.join("one-block")] {
            remove(path)?;
        }
        self.empty_small()?;
        let clock = Clock::start()?;
        write_new(&self.large, &buffer, self.task.size.0, Sync::Never)?;
        let (cost, _) = clock.stop()?;
        let bytes = self.task.size.0;
        let mut map = small_pages(self.task.anonymous, Sharing::Private)?;
        Filler::new(self.task.fill, self.task.seed).fill_map(&mut map, 0, || Ok(()))?;
        child::report_and_wait(&FileReport { cost, bytes, ..FileReport::default() })?;
        let clock = Clock::start()?;
        read_all(&self.large, &mut buffer)?;
        let (back, file_faults) = clock.stop()?;
        let clock = Clock::start()?;
        scratch::touch(&map)?;
        let (touched, faults) = clock.stop()?;
        let major_faults = file_faults + faults;
        Ok(FileReport { cost, bytes, back: Some(back), touched: Some(touched), major_faults, ..FileReport::default() })
    }
}
