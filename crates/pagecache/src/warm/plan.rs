//! What is missing, file by file, before anything is read. Where a file has holes, only its data is looked at (SEEK_DATA); where part
//! of it is there, mincore tells which.

use ramline_kernel::residency::Method;
use rustix::fs::{Advice, SeekFrom, fadvise, seek};

use super::wanted::{Wanted, WarmOptions};
use crate::prelude::*;
use crate::stat::{self, ask_range};
use crate::walk::Walked;

/// A file of which something is missing.
#[derive(Debug)]
pub struct Planned {
    pub path: PathBuf,
    pub key: FileKey,
    pub length: u64,
    /// Pages in the page cache, of the range.
    pub before: u64,
    /// Bytes that are missing and have data behind them, at most.
    pub missing: u64,
    /// What is missing is not told: it is read whole.
    pub untold: bool,
    /// It has holes.
    pub sparse: bool,
    /// Who tells the truth about it.
    pub method: Method,
    /// Opening it may empty what is cached of it.
    pub forgets: bool,
}

/// What is to be read of planned files: this part of each.
pub struct Missing<'a> {
    pub files: &'a [Planned],
    pub range: Option<(u64, u64)>,
}

impl Wanted for Missing<'_> {
    fn count(&self) -> usize {
        self.files.len()
    }

    fn path(&self, number: usize) -> &Path {
        self.files.get(number).map_or(Path::new(""), |file| &file.path)
    }

    fn bytes(&self, number: usize) -> u64 {
        self.files.get(number).map_or(0, |file| file.missing)
    }

    fn open(&self, number: usize) -> Option<File> {
        let planned = self.files.get(number)?;
        let file = evict::reopen(&planned.path, planned.key)?;
        // Read-ahead would go on into a hole, whose pages are real ones, or beyond what is wanted.
        if planned.sparse || self.range.is_some() {
            fadvise(&file, 0, None, Advice::Random).ok();
        }
        Some(file)
    }

    fn missing(&self, number: usize, file: &File) -> Result<Vec<(u64, u64)>, KernelError> {
        let Some(planned) = self.files.get(number) else { return Ok(Vec::new()) };
        let (offset, most) = self.range.unwrap_or((0, u64::MAX));
        let end = offset.saturating_add(most).min(planned.length);
        let wanted = match planned.sparse {
            true => data(file, offset, end),
            false => vec![(offset, end.saturating_sub(offset))],
        };
        // Where nothing of it is there, there is no need to ask page by page.
        if planned.before == 0 || planned.untold {
            return Ok(wanted);
        }
        missing_of(file, &planned.path, &wanted)
    }
}

/// What of these ranges is not in the page cache.
pub fn missing_of(file: &File, path: &Path, ranges: &[(u64, u64)]) -> Result<Vec<(u64, u64)>, KernelError> {
    let mut out = Vec::new();
    for range in ranges {
        out.extend(residency::missing(file, path, *range)?);
    }
    Ok(out)
}

/// Where there is data, as offset and length; all of it where the file system does not tell.
fn data(file: &File, from: u64, end: u64) -> Vec<(u64, u64)> {
    let (mut out, mut at) = (Vec::new(), from);
    while at < end {
        let Ok(begin) = seek(file, SeekFrom::Data(at)) else { break };
        if begin >= end {
            break;
        }
        let stop = seek(file, SeekFrom::Hole(begin)).unwrap_or(end).min(end);
        out.push((begin, stop - begin));
        at = stop.max(begin + 1);
    }
    out
}

#[derive(Debug, Default)]
pub struct WarmPlan {
    pub files: Vec<Planned>,
    pub tally: Tally,
    pub unknown: Vec<Remark>,
    pub walked: Walked,
}

struct Planning<'a> {
    page: u64,
    options: &'a WarmOptions<'a>,
    unknown: Remarks,
}

#[derive(Default)]
pub struct Worker {
    files: Vec<Planned>,
    tally: Tally,
}

/// Plans, in the order of the disk as far as device and inode tell.
pub fn plan(context: Context<'_>, names: &[PathBuf], walking: &WalkOptions, options: &WarmOptions<'_>) -> WarmPlan {
    let planning = Planning { page: process::page_size(), options, unknown: Remarks::default() };
    let (walked, workers) = walk::walk(context, names, walking, &planning);
    let (mut files, mut tally) = (Vec::new(), Tally::default());
    for own in workers {
        files.extend(own.files);
        tally.add(&own.tally);
    }
    ramline_units::sort_by_key(&mut files, |file: &Planned| file.key);
    WarmPlan { files, tally, unknown: planning.unknown.take(), walked }
}

impl Planning<'_> {
    /// The part of a file that is wanted, in bytes.
    fn wanted(&self, length: u64) -> u64 {
        self.options.range.map_or(length, |(offset, most)| length.saturating_sub(offset).min(most))
    }
}

impl Visit for Planning<'_> {
    type Worker = Worker;

    fn file(&self, worker: &mut Worker, found: &FoundFile<'_>) {
        let (length, asked) = (found.length(), ask_range(found, self.options.range.unwrap_or((0, 0))));
        worker.tally.add(&stat::tally(&asked, Bytes(self.wanted(length))));
        if found.fs.dax || length == 0 {
            return;
        }
        let on_disk = u64::try_from(found.stat.st_blocks).unwrap_or(0).saturating_mul(512);
        // A block device has no blocks of its own.
        let regular = found.stat.st_size > 0;
        let sparse = regular && on_disk < length / self.page * self.page;
        let (before, untold, text) = match asked {
            Ok(seen) => (seen.cached, false, None),
            Err(why) if found.fs.name == "hugetlbfs" => {
                return self.unknown.add(&why, 1, Some(&found.path()));
            }
            Err(why) => (0, true, Some(why + ": read whole")),
        };
        let span = self.wanted(length).div_ceil(self.page).saturating_sub(before).saturating_mul(self.page);
        let missing = if sparse { span.min(on_disk) } else { span };
        if missing == 0 {
            return;
        }
        if let Some(text) = text {
            self.unknown.add(&text, 1, Some(&found.path()));
        }
        worker.files.push(Planned {
            path: found.path(),
            key: found.key(),
            length,
            before,
            missing,
            untold,
            sparse,
            method: found.fs.method,
            forgets: ramline_kernel::fs::forgets_when_opened(&found.fs.name),
        });
    }

    fn closed(&self, worker: &mut Worker, _: &Place, path: &Path, length: u64, why: Option<&str>) -> bool {
        let Some(why) = why else { return false };
        worker.tally.add(&Tally { unknown: 1, unknown_length: Bytes(length), ..Tally::default() });
        self.unknown.add(why, 1, Some(path));
        true
    }

    fn changes_anyway(&self) -> bool {
        !self.options.dry
    }
}
