//! What a walk that asks adds up: by directory, the files with the most, and those of which it is not known.

use std::path::PathBuf;
use std::sync::Mutex;

use ramline_snapshot::cache::{FileRow, Tally};
use ramline_units::Bytes;

use super::ask::Asked;
use super::most::Most;
use super::trees::Trees;
use crate::remarks::Remarks;
use crate::shared::lock;
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
pub struct PlaceSums {
    pub tally: Tally,
    pub top: Most,
}

impl Sums {
    /// Keeps so many of the files with the most.
    pub fn new(rows: usize) -> Sums {
        Sums { trees: Trees::default(), unknown: Remarks::default(), top: Mutex::new(Most::new(rows)), rows }
    }

    pub fn of_place(&self) -> PlaceSums {
        PlaceSums { tally: Tally::default(), top: Most::new(self.rows) }
    }

    /// Counts a file that was asked.
    pub fn add(&self, own: &mut PlaceSums, asked: &Asked, length: Bytes, path: impl Fn() -> PathBuf) {
        own.tally.add(&asked.tally(length));
        if let Asked::Unknown(why) = asked {
            self.unknown.add(why, 1, Some(&path()));
        }
    }

    /// Takes over what a thread has counted at a place.
    pub fn leave(&self, own: &mut PlaceSums, place: &Place) {
        self.trees.add(place, &std::mem::take(&mut own.tally));
        if !own.top.is_empty() {
            let top = std::mem::replace(&mut own.top, Most::new(self.rows));
            let mut shared = lock(&self.top);
            shared.join(top);
            own.top.begin_at(shared.least());
        }
    }

    /// The files with the most by now, the most first, and those that were named.
    pub fn files(&self) -> Vec<FileRow> {
        lock(&self.top).clone().finish()
    }
}
