//! What a walk that asks adds up: by directory, the files with the most, and those of which it is not known.

use super::ask::{ResidencyResult, tally};
use super::trees::Trees;
use crate::prelude::*;

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
    pub fn add(&self, own: &mut PlaceSums, asked: &ResidencyResult, length: Bytes, path: impl Fn() -> PathBuf) {
        own.tally.add(&tally(asked, length));
        if let Err(why) = asked {
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

/// How many are kept is said each time, so that a thread's own begins as nothing.
#[derive(Debug, Clone, Default)]
pub struct Most {
    rows: Vec<FileRow>,
    named: Vec<FileRow>,
    /// Rows with no more than this are not among the most; 0 while there is room.
    pub least: u64,
}

impl Most {
    /// Whether a file with so many resident bytes could be among the most; one with none is not.
    pub const fn wants(&self, most: usize, bytes: u64) -> bool {
        most > 0 && bytes > self.least
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.named.is_empty()
    }

    /// Files that were named are kept in any case.
    pub fn add(&mut self, most: usize, row: FileRow, named: bool) {
        if named {
            self.named.push(row);
        } else if self.wants(most, resident(&row)) {
            self.rows.push(row);
            // Sorting is paid by many files at once.
            if self.rows.len() >= 2 * most {
                self.cut(most);
            }
        }
    }

    fn cut(&mut self, most: usize) {
        sort(&mut self.rows);
        self.rows.truncate(most);
        if self.rows.len() == most {
            self.least = self.rows.last().map_or(0, resident);
        }
    }

    pub fn join(&mut self, most: usize, mut other: Most) {
        self.rows.append(&mut other.rows);
        self.named.append(&mut other.named);
        self.cut(most);
    }

    /// The most first; those that were named among them.
    pub fn finish(mut self, most: usize) -> Vec<FileRow> {
        self.cut(most);
        self.rows.append(&mut self.named);
        sort(&mut self.rows);
        self.rows
    }
}

fn resident(row: &FileRow) -> u64 {
    row.resident.unwrap_or(Bytes::ZERO).0
}

fn sort(rows: &mut [FileRow]) {
    ramline_units::sort_by(rows, |a, b| resident(b).cmp(&resident(a)).then_with(|| a.name.cmp(&b.name)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_snapshot::cache::Name;

    fn row(name: &str, bytes: u64) -> FileRow {
        FileRow { name: Name::new(name.as_bytes()), resident: Some(Bytes(bytes)), ..FileRow::default() }
    }

    #[test]
    fn the_most_are_kept_and_what_was_named_besides() {
        let mut top = Most::default();
        for (name, bytes) in [("a", 1), ("b", 5), ("c", 3), ("d", 0), ("e", 4), ("f", 2)] {
            top.add(2, row(name, bytes), false);
        }
        let mut other = Most::default();
        other.add(2, row("g", 9), false);
        other.add(2, row("named", 0), true);
        top.join(2, other);
        assert!(!top.wants(2, 5) && top.wants(2, 6));
        let names: Vec<String> = top.finish(2).into_iter().map(|row| row.name.path).collect();
        assert_eq!(names, ["g", "b", "named"]);
    }
}
