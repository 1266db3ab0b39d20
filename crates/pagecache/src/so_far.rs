//! Progress of a look: files asked by now, and what of them is in the page cache, to be read from another thread.
//!
//! It counts what was asked, also what does not count in the end.
//!
//! ```
//! use ramline_pagecache::RunningCount;
//! use ramline_units::Bytes;
//! assert_eq!((RunningCount::default().files(), RunningCount::default().resident()), (0, Bytes::ZERO));
//! ```

use crate::prelude::*;

/// Files and pages counted so far.
#[derive(Debug, Default)]
pub struct RunningCount {
    files: Count,
    pages: Count,
}

impl RunningCount {
    /// One more file, with so many pages.
    pub(crate) fn add(&self, pages: u64) {
        self.files.add(1);
        self.pages.add(pages);
    }

    /// Files.
    #[must_use]
    pub fn files(&self) -> u64 {
        self.files.get()
    }

    /// Of them in the page cache.
    #[must_use]
    pub fn resident(&self) -> Bytes {
        bytes(self.pages.get())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::stat::StatOptions;
    use crate::walk::WalkOptions;
    use crate::{Context, stat};
    use ramline_kernel::Root;

    #[test]
    fn every_file_that_is_asked_is_counted_with_its_pages() {
        let dir = tempfile::tempdir_in(".").unwrap();
        for n in 0..3 {
            std::fs::write(dir.path().join(n.to_string()), vec![1; 5000]).unwrap();
        }
        let root = Root::live();
        let context = Context { root: &root, tell: &|error| panic!("{error}") };
        let so_far = Arc::new(RunningCount::default());
        let walking = WalkOptions { so_far: Some(Arc::clone(&so_far)), ..WalkOptions::default() };
        let seen = stat::stat(context, &[dir.path().to_owned()], &walking, &StatOptions::default());
        assert_eq!((so_far.files(), so_far.resident()), (3, seen.total.resident));
    }
}
