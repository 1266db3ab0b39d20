//! The files with the most in the page cache, as many as are wanted, without keeping the others.

use ramline_snapshot::cache::FileRow;
use ramline_units::Bytes;

#[derive(Debug, Clone)]
pub struct Most {
    most: usize,
    rows: Vec<FileRow>,
    named: Vec<FileRow>,
    // Rows with no more than this are not among the most.
    least: u64,
}

impl Most {
    pub const fn new(most: usize) -> Most {
        Most { most, rows: Vec::new(), named: Vec::new(), least: 0 }
    }

    /// Whether a file with so many resident bytes could be among the most; one with none is not.
    pub const fn wants(&self, bytes: u64) -> bool {
        self.most > 0 && bytes > self.least
    }

    /// Known from elsewhere to be reached by enough others.
    pub const fn begin_at(&mut self, least: u64) {
        self.least = least;
    }

    /// What a file must exceed, in bytes; 0 while there is room.
    pub const fn least(&self) -> u64 {
        self.least
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.named.is_empty()
    }

    /// Files that were named are kept in any case.
    pub fn add(&mut self, row: FileRow, named: bool) {
        if named {
            self.named.push(row);
        } else if self.wants(resident(&row)) {
            self.rows.push(row);
            // Sorting is paid by many files at once.
            if self.rows.len() >= 2 * self.most {
                self.cut();
            }
        }
    }

    fn cut(&mut self) {
        sort(&mut self.rows);
        self.rows.truncate(self.most);
        if self.rows.len() == self.most {
            self.least = self.rows.last().map_or(0, resident);
        }
    }

    pub fn join(&mut self, mut other: Most) {
        self.rows.append(&mut other.rows);
        self.named.append(&mut other.named);
        self.cut();
    }

    /// The most first; those that were named among them.
    pub fn finish(mut self) -> Vec<FileRow> {
        self.cut();
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
        let mut top = Most::new(2);
        for (name, bytes) in [("a", 1), ("b", 5), ("c", 3), ("d", 0), ("e", 4), ("f", 2)] {
            top.add(row(name, bytes), false);
        }
        let mut other = Most::new(2);
        other.add(row("g", 9), false);
        other.add(row("named", 0), true);
        top.join(other);
        assert!(!top.wants(5) && top.wants(6));
        let names: Vec<String> = top.finish().into_iter().map(|row| row.name.path).collect();
        assert_eq!(names, ["g", "b", "named"]);
    }
}
