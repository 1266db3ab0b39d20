//! `cache stat`: how much of each file is in the page cache, summed up by directory.
//!
//! Sums are kept by directory, and of the files only those with the most; every file is to be had as a line while the walk goes on
//! ([`StatOptions::lines`]).

mod ask;
mod sums;
mod trees;

use ramline_snapshot::cache::Stat;

use crate::prelude::*;

pub(crate) use ask::{ask, ask_range, pages, row, tally};
pub(crate) use sums::{PlaceSums, Sums};

/// Takes lines of JSON, each ended; from any thread.
pub type Lines<'a> = &'a (dyn Fn(&[u8]) + Sync);

/// What is to be told.
#[derive(Clone, Copy, Default)]
pub struct StatOptions<'a> {
    /// Files to keep: those with the most in the page cache. Files that were named are kept besides.
    pub top: usize,
    /// Directories down to this depth, or none.
    pub depth: Option<u32>,
    /// Where in each of the kept files its pages are, in so many parts.
    pub map: Option<u64>,
    /// Every file as a line of JSON.
    pub lines: Option<Lines<'a>>,
}

/// Asks about everything that was named; failures are told as they happen and counted.
pub fn stat(context: Context<'_>, names: &[PathBuf], walking: &WalkOptions, options: &StatOptions<'_>) -> Stat {
    let asking = StatWalk { options: *options, sums: Sums::new(options.top), remarks: Remarks::default() };
    let (walked, _) = walk::walk(context, names, walking, &asking);
    let (named, directories, total) = asking.sums.trees.finish(options.depth);
    let mut files = asking.sums.files();
    if let Some(parts) = options.map {
        files.iter_mut().for_each(|row| row.map = ask::map(row, parts));
    }
    Stat {
        page: bytes(1),
        total,
        named,
        directories,
        files,
        unknown: asking.sums.unknown.take(),
        remarks: asking.remarks.take(),
        skipped: walked.skipped,
        directories_read: walked.directories,
        failed: walked.failed,
        denied: walked.denied,
        vanished: walked.vanished,
        evictors: evictors(context.root),
    }
}

struct StatWalk<'a> {
    options: StatOptions<'a>,
    sums: Sums,
    remarks: Remarks,
}

#[derive(Default)]
struct Worker {
    sums: PlaceSums,
    text: Vec<u8>,
}

/// Lines are handed over in pieces of this many bytes, and whenever a directory is done.
const TEXT: usize = 32 << 10;

impl Visit for StatWalk<'_> {
    type Worker = Worker;

    fn enter(&self, place: &Place, parent: Option<u32>) {
        self.sums.trees.begin(place, parent);
    }

    fn file(&self, worker: &mut Worker, found: &FoundFile<'_>) {
        let (asked, length, named) = (ask(found), Bytes(found.length()), found.name.is_none());
        self.sums.add(&mut worker.sums, &asked, length, || found.path());
        if named || self.sums.wants(&worker.sums, ask::pages(&asked)) || self.options.lines.is_some() {
            self.row(worker, named, ask::row(&asked, name(&found.path()), length));
        }
    }

    fn closed(&self, worker: &mut Worker, _: &Place, path: &Path, length: u64, why: Option<&str>) -> bool {
        let asked = Err(why.unwrap_or("it cannot be opened for reading").to_owned());
        self.sums.add(&mut worker.sums, &asked, Bytes(length), || path.to_owned());
        if self.options.lines.is_some() {
            self.row(worker, false, ask::row(&asked, name(path), Bytes(length)));
        }
        true
    }

    fn leave(&self, worker: &mut Worker, place: &Place) {
        let tally = &worker.sums.tally;
        if let Some(text) = place.peculiarity() {
            self.remarks.add(text, tally.files + tally.unknown, Some(&place.path));
        }
        self.hand_over(worker, 0);
        self.sums.leave(&mut worker.sums, place);
    }
}

impl StatWalk<'_> {
    fn row(&self, worker: &mut Worker, named: bool, row: FileRow) {
        // A row of plain numbers and text always is JSON.
        if self.options.lines.is_some() && serde_json::to_writer(&mut worker.text, &row).is_ok() {
            worker.text.push(b'\n');
            self.hand_over(worker, TEXT);
        }
        self.sums.keep(&mut worker.sums, row, named);
    }

    /// Hands over the lines that wait, if they are more than so many bytes.
    fn hand_over(&self, worker: &mut Worker, least: usize) {
        if let Some(lines) = self.options.lines.filter(|_| worker.text.len() > least) {
            lines(&worker.text);
            worker.text.clear();
        }
    }
}
