//! The view of files: the page cache by file, looked at by a thread beside the screen, since it takes as long as listing all files does.
//!
//! It is looked at when the view is opened for the first time and when it is asked for again, never by itself.

use std::thread::JoinHandle;

use ramline_pagecache::top::{TopOptions, top};
use ramline_snapshot::cache::Top as Seen;
use ramline_view::sheet::Sheet;
use ramline_view::text::Paint;

use crate::prelude::*;

/// Rows of each list.
const ROWS: usize = 50;

/// The look at the files, and what the last one has seen.
pub struct Files {
    so_far: Arc<RunningCount>,
    looking: Option<JoinHandle<Seen>>,
    seen: Option<(Sheet, Instant)>,
}

impl Files {
    /// Nothing was looked at.
    pub fn new() -> Files {
        Files { so_far: Arc::default(), looking: None, seen: None }
    }

    /// For tests: this was seen.
    #[cfg(test)]
    pub fn seen(seen: &Seen) -> Files {
        Files { seen: Some((seen.sheet(), Instant::now())), ..Files::new() }
    }

    /// What is known; a look begins where there was none, or another is asked for.
    pub fn sheet(&mut self, root: &Root, again: bool) -> (Sheet, Option<Instant>) {
        if let Some(done) = self.looking.take_if(|looking| looking.is_finished()) {
            // One that panicked has said so, and ends the program.
            self.seen = done.join().ok().map(|seen| (seen.sheet(), Instant::now()));
        }
        if self.looking.is_none() && (again || self.seen.is_none()) {
            self.begin(root);
        }
        match (&self.seen, &self.looking) {
            (Some((sheet, at)), None) => (sheet.clone(), Some(*at)),
            _ => {
                let mut sheet = Sheet::new();
                sheet.answer(Paint::Bold, cache::looking(self.so_far.files(), self.so_far.resident()));
                (sheet, None)
            }
        }
    }

    fn begin(&mut self, root: &Root) {
        self.so_far = Arc::default();
        let (root, so_far) = (root.clone(), Arc::clone(&self.so_far));
        let look = move || {
            let walking = WalkOptions { so_far: Some(so_far), ..WalkOptions::default() };
            let options = TopOptions { rows: ROWS, walking, ..TopOptions::default() };
            // What cannot be looked at is counted on the sheet.
            top(Context { root: &root, tell: &|_| {} }, &options, &|_| {})
        };
        self.looking = Some(ramline_kernel::worker::spawn("top", look));
    }
}
