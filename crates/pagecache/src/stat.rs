//! `cache stat`: how much of each file is in the page cache, summed up by directory.
//!
//! What it is not: a list of all files in memory; sums are kept by directory, and of the files only those with the most. Who wants
//! every file gets them as lines while the walk goes on ([`Options::lines`]).

mod ask;
mod map;
mod most;
mod trees;

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use ramline_kernel::process;
use ramline_snapshot::cache::{FileRow, Stat, Tally};
use ramline_units::Bytes;

use crate::remarks::{Remarks, name};
use crate::shared::{lock, owned};
use crate::walk::{self, Found, Place, Visit};
use crate::{Context, evictors};

pub(crate) use ask::{Asked, ask, ask_range};
pub(crate) use most::Most;
pub(crate) use trees::Trees;

/// Takes lines of JSON, each ended; from any thread.
pub type Lines<'a> = &'a (dyn Fn(&[u8]) + Sync);

/// What is to be told.
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
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
pub fn stat(context: Context<'_>, names: &[PathBuf], walking: &walk::Options, options: &Options<'_>) -> Stat {
    let stat = Asking {
        page: process::page_size(),
        options: *options,
        trees: Trees::default(),
        top: Mutex::new(Most::new(options.top)),
        unknown: Remarks::default(),
        remarks: Remarks::default(),
    };
    let walked = walk::walk(context, names, walking, &stat);
    let page = stat.page;
    let (named, directories, total) = stat.trees.finish(options.depth);
    let mut files = owned(stat.top).finish();
    if let Some(parts) = options.map {
        files.iter_mut().for_each(|row| row.map = map::of(row, parts, page));
    }
    Stat {
        page: Bytes(page),
        total,
        named,
        directories,
        files,
        unknown: stat.unknown.take(),
        remarks: stat.remarks.take(),
        skipped: walked.skipped,
        directories_read: walked.directories,
        failed: walked.failed,
        denied: walked.denied,
        vanished: walked.vanished,
        evictors: evictors::evictors(context.root),
    }
}

struct Asking<'a> {
    page: u64,
    options: Options<'a>,
    trees: Trees,
    top: Mutex<Most>,
    unknown: Remarks,
    remarks: Remarks,
}

struct Worker {
    tally: Tally,
    top: Most,
    text: Vec<u8>,
}

/// Lines are handed over in pieces of this many bytes, and whenever a directory is done.
const TEXT: usize = 32 << 10;

impl Visit for Asking<'_> {
    type Worker = Worker;

    fn worker(&self) -> Worker {
        Worker { tally: Tally::default(), top: Most::new(self.options.top), text: Vec::new() }
    }

    fn enter(&self, place: &Place, parent: Option<u32>) {
        self.trees.begin(place, parent);
    }

    fn file(&self, worker: &mut Worker, found: &Found<'_>) {
        let asked = ask(found);
        let length = Bytes(found.length());
        worker.tally.add(&asked.tally(length, self.page));
        if let Asked::Unknown(why) = &asked {
            self.unknown.add(why, 1, Some(&found.path()));
        }
        let wanted = found.name.is_none() || worker.top.wants(asked.pages().saturating_mul(self.page));
        if !wanted && self.options.lines.is_none() {
            return;
        }
        self.row(worker, found.name.is_none(), asked.row(name(&found.path()), length, self.page));
    }

    fn closed(&self, worker: &mut Worker, _: &Place, path: &Path, length: u64, why: Option<&str>) -> bool {
        let why = why.unwrap_or(UNOPENED);
        let asked = Asked::Unknown(why.to_owned());
        worker.tally.add(&asked.tally(Bytes(length), self.page));
        self.unknown.add(why, 1, Some(path));
        if self.options.lines.is_some() {
            self.row(worker, false, asked.row(name(path), Bytes(length), self.page));
        }
        true
    }

    fn leave(&self, worker: &mut Worker, place: &Place) {
        let tally = std::mem::take(&mut worker.tally);
        if let Some(text) = place.peculiarity() {
            self.remarks.add(text, tally.files + tally.unknown, Some(&place.path));
        }
        self.trees.add(place, &tally);
        self.hand_over(worker);
        if !worker.top.is_empty() {
            let own = std::mem::replace(&mut worker.top, Most::new(self.options.top));
            let least = {
                let mut shared = lock(&self.top);
                shared.join(own);
                shared.least()
            };
            worker.top.begin_at(least);
        }
    }
}

const UNOPENED: &str = "it cannot be opened for reading";

impl Asking<'_> {
    fn row(&self, worker: &mut Worker, named: bool, row: FileRow) {
        if let Some(lines) = self.options.lines {
            // A row of plain numbers and text always is JSON.
            if serde_json::to_writer(&mut worker.text, &row).is_ok() {
                worker.text.push(b'\n');
            }
            if worker.text.len() >= TEXT {
                lines(&worker.text);
                worker.text.clear();
            }
        }
        worker.top.add(row, named);
    }

    fn hand_over(&self, worker: &mut Worker) {
        if let Some(lines) = self.options.lines.filter(|_| !worker.text.is_empty()) {
            lines(&worker.text);
            worker.text.clear();
        }
    }
}
