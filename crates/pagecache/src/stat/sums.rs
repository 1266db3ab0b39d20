//! What a walk that asks adds up: by directory, the files with the most, and those of which it is not known.

use std::path::PathBuf;
use std::sync::Mutex;

use ramline_snapshot::cache::{FileRow, Tally};
use ramline_units::Bytes;

use super::ask::Asked;
use super::most::Most;
use super::trees::Trees;
use crate::remarks::Remarks;
use crate::shared::{bytes, lock};
use crate::walk::Place;

/// Of all threads.
#[derive(Debug)]
pub struct Sums {
    pub trees: Trees,
    pub unknown: Remarks,
    top: Mutex<Most>,
    rows: usize,
}

/// Of one thread, for the place it is at.
#[derive(Default)]
pub struct PlaceSums {
    pub tally: Tally,
    top: Most,
}

impl Sums {
    /// Keeps so many of the files with the most.
    pub fn new(rows: usize) -> Sums {
        Sums { trees: Trees::default(), unknown: Remarks::default(), top: Mutex::default(), rows }
    }

    /// Counts a file that was asked.
    pub fn add(&self, own: &mut PlaceSums, asked: &Asked, length: Bytes, path: impl Fn() -> PathBuf) {
        own.tally.add(&asked.tally(length));
        if let Asked::Unknown(why) = asked {
            self.unknown.add(why, 1, Some(&path()));
        }
    }

    /// Whether a file with so many pages could be among those with the most.
    pub fn wants(&self, own: &PlaceSums, pages: u64) -> bool {
        own.top.wants(self.rows, bytes(pages).0)
    }

    /// Keeps it if it is, and in any case if it was named.
    pub fn keep(&self, own: &mut PlaceSums, row: FileRow, named: bool) {
        own.top.add(self.rows, row, named);
    }

    /// Takes over what a thread has counted at a place.
    pub fn leave(&self, own: &mut PlaceSums, place: &Place) {
        self.trees.add(place, &std::mem::take(&mut own.tally));
        if !own.top.is_empty() {
            let mut shared = lock(&self.top);
            shared.join(self.rows, std::mem::take(&mut own.top));
            // Reached by enough others.
            own.top.least = shared.least;
        }
    }

    /// The files with the most by now, the most first, and those that were named.
    pub fn files(&self) -> Vec<FileRow> {
        lock(&self.top).clone().finish(self.rows)
    }
}
