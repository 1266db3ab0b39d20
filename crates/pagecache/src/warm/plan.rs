//! What is missing, file by file, before anything is read.

use std::path::PathBuf;
use std::sync::Mutex;

use ramline_kernel::opened::FileKey;
use ramline_kernel::process;
use ramline_snapshot::cache::{Remark, Tally};
use ramline_units::Bytes;

use crate::Context;
use crate::remarks::Remarks;
use crate::shared::{lock, owned};
use crate::stat::{Asked, ask_range};
use crate::walk::{self, Found, Place, Visit, Walked};

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
    /// Nothing of it is there: no need to ask page by page.
    pub empty: bool,
    /// It has holes.
    pub sparse: bool,
    /// Only these parts of it, as offset and length; `None` is the range that was asked for.
    pub parts: Option<Box<[(u64, u64)]>>,
}

#[derive(Debug, Default)]
pub struct Plan {
    pub files: Vec<Planned>,
    pub tally: Tally,
    pub unknown: Vec<Remark>,
    pub walked: Walked,
}

struct Planning {
    page: u64,
    range: Option<(u64, u64)>,
    files: Mutex<Vec<Planned>>,
    tally: Mutex<Tally>,
    unknown: Remarks,
}

#[derive(Default)]
pub struct Worker {
    files: Vec<Planned>,
    tally: Tally,
}

/// Plans, in the order of the disk as far as device and inode tell.
pub fn plan(context: Context<'_>, names: &[PathBuf], walking: &walk::Options, range: Option<(u64, u64)>) -> Plan {
    let planning = Planning {
        page: process::page_size(),
        range,
        files: Mutex::default(),
        tally: Mutex::default(),
        unknown: Remarks::default(),
    };
    let walked = walk::walk(context, names, walking, &planning);
    let mut files = owned(planning.files);
    files.sort_unstable_by_key(|file| file.key);
    let tally = owned(planning.tally);
    Plan { files, tally, unknown: planning.unknown.take(), walked }
}

impl Planning {
    /// The part of a file that is wanted, in bytes.
    fn wanted(&self, length: u64) -> u64 {
        self.range.map_or(length, |(offset, most)| length.saturating_sub(offset).min(most))
    }
}

impl Visit for Planning {
    type Worker = Worker;

    fn worker(&self) -> Worker {
        Worker::default()
    }

    fn file(&self, worker: &mut Worker, found: &Found<'_>) {
        let (length, asked) = (found.length(), ask_range(found, self.range.unwrap_or((0, 0))));
        worker.tally.add(&asked.tally(Bytes(self.wanted(length)), self.page));
        if found.fs.dax || length == 0 {
            return;
        }
        let on_disk = u64::try_from(found.stat.st_blocks).unwrap_or(0).saturating_mul(512);
        // A block device has no blocks of its own.
        let regular = found.stat.st_size > 0;
        let sparse = regular && on_disk < length / self.page * self.page;
        let (before, untold, text) = match asked {
            Asked::Known(seen) => (seen.cached, false, None),
            Asked::Unknown(why) if found.fs.name == "hugetlbfs" => {
                return self.unknown.add(&why, 1, Some(&found.path()));
            }
            Asked::Unknown(why) => (0, true, Some(why + ": read whole")),
        };
        let span = self.wanted(length).div_ceil(self.page).saturating_sub(before).saturating_mul(self.page);
        let missing = if sparse { span.min(on_disk) } else { span };
        if missing == 0 {
            return;
        }
        if let Some(text) = text {
            self.unknown.add(&text, 1, Some(&found.path()));
        }
        let key = FileKey { device: found.stat.st_dev, inode: found.stat.st_ino };
        let empty = before == 0;
        worker.files.push(Planned {
            path: found.path(),
            key,
            length,
            before,
            missing,
            untold,
            empty,
            sparse,
            parts: None,
        });
    }

    fn leave(&self, worker: &mut Worker, _: &Place) {
        let own = std::mem::take(worker);
        lock(&self.files).extend(own.files);
        lock(&self.tally).add(&own.tally);
    }
}
