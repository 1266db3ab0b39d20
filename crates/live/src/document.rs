//! The parts of a page in columns, as lines; the rows of their tables; what the filter leaves of them.
//!
//! Worked example: three parts on 200 columns stand in two columns of 99, the first and the third to the left if the second is the longest.

use std::ops::Range;
use std::rc::Rc;

use ramline_sheet::text::{CellAt, RowAt, pieces, plain};
use ramline_sheet::{Depth, Paint, Sheet, Style};

use crate::page::Looks;

/// A column is so wide at least: as wide as the narrowest terminal that screens are made for.
const COLUMN: usize = 74;
/// Columns between two columns.
const GAP: usize = 2;

/// A line and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Column it begins in.
    pub x: usize,
    /// Line from the top.
    pub y: usize,
    /// Its painted pieces.
    pub pieces: Vec<(Paint, String)>,
}

/// A row that can be selected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Column its part begins in.
    pub x: usize,
    /// Its lines.
    pub lines: Range<usize>,
    /// The line of its table's heads, as a place in [`Document::lines`].
    pub head: Option<usize>,
    /// Its key.
    pub key: String,
    /// Its cells.
    pub cells: Rc<[CellAt]>,
}

/// All of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Document {
    /// Its lines.
    pub lines: Vec<Line>,
    /// Its rows, from the top of the first column to the end of the last.
    pub rows: Vec<Row>,
    /// Lines from top to end.
    pub height: usize,
}

impl Document {
    /// The parts on so many columns, without the rows in which `filter` does not occur. An empty line stands between two where all fit into
    /// `seen` lines with it.
    pub fn new(parts: &[Sheet], depth: Depth, width: usize, seen: usize, looks: Looks, filter: &str) -> Document {
        let roomy = Document::spaced(parts, depth, width, 1, looks, filter);
        if roomy.height <= seen || parts.len() < 2 {
            roomy
        } else {
            Document::spaced(parts, depth, width, 0, looks, filter)
        }
    }

    fn spaced(parts: &[Sheet], depth: Depth, width: usize, gap: usize, looks: Looks, filter: &str) -> Document {
        let columns = ((width + GAP) / (COLUMN + GAP)).clamp(1, parts.len().max(1));
        let each = (width + GAP) / columns - GAP;
        let style = Style { colour: true, width: each };
        let mut document = Document::default();
        let mut heights = vec![0; columns];
        for part in parts {
            let column = (0..columns).min_by_key(|column| heights[*column]).unwrap_or_default();
            let drawn = part.drawn(&style, depth);
            if heights[column] > 0 {
                heights[column] += gap;
            }
            document.add(&drawn.text, drawn.rows, column * (each + GAP), &mut heights[column], looks, filter);
        }
        document.height = heights.into_iter().max().unwrap_or_default();
        // Column by column, the order in which they are read.
        ramline_units::sort_by_key(&mut document.rows, |row| (row.x, row.lines.start));
        document
    }

    fn add(&mut self, text: &str, rows: Vec<RowAt>, x: usize, height: &mut usize, looks: Looks, filter: &str) {
        let wanted = filter.to_lowercase();
        let lines: Vec<&str> = text.lines().collect();
        let has = |row: &RowAt| {
            let text = lines.get(row.lines.clone()).unwrap_or_default().iter();
            wanted.is_empty()
                || row.key.to_lowercase().contains(&wanted)
                || text.flat_map(|line| pieces(line)).any(|(_, piece)| piece.to_lowercase().contains(&wanted))
        };
        // Where each line of the part stands now; `None` where the filter has taken it out.
        let mut places: Vec<Option<usize>> = vec![Some(0); lines.len()];
        let kept: Vec<RowAt> = rows
            .into_iter()
            .filter(|row| {
                let keep = has(row);
                if !keep {
                    places.get_mut(row.lines.clone()).unwrap_or_default().fill(None);
                }
                keep
            })
            .collect();
        let top = *height;
        // What is between two parts is not theirs.
        for (line, place) in lines.iter().zip(&mut places) {
            if place.is_none() || (*height == top && line.is_empty()) {
                *place = None;
                continue;
            }
            *place = Some(self.lines.len());
            self.lines.push(Line { x, y: *height, pieces: painted(line, looks) });
            *height += 1;
        }
        let y = |line: usize| places.get(line).copied().flatten().map(|at| self.lines[at].y);
        let moved = kept.into_iter().filter_map(|row| {
            let start = y(row.lines.start)?;
            let lines = start..start + row.lines.len();
            let head = row.head.and_then(|head| places.get(head).copied().flatten());
            Some(Row { x, lines, head, key: row.key, cells: row.cells })
        });
        let moved: Vec<Row> = moved.collect();
        self.rows.extend(moved);
    }
}

/// The pieces of a line, in ASCII where nothing else can be shown.
pub fn painted(line: &str, looks: Looks) -> Vec<(Paint, String)> {
    let shown = |text: &str| if looks.ascii { plain(text).into_owned() } else { text.to_owned() };
    pieces(line).into_iter().map(|(paint, text)| (paint, shown(text))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_sheet::Table;

    fn part(title: &str, rows: &[&str]) -> Sheet {
        let mut sheet = Sheet::new();
        sheet.headed_table(title, Table::from_rows(rows.iter().copied()).left("name", |row| row));
        sheet
    }

    fn text(document: &Document) -> Vec<(usize, usize, String)> {
        let whole = |line: &Line| line.pieces.iter().map(|(_, piece)| piece.as_str()).collect::<String>();
        document.lines.iter().map(|line| (line.x, line.y, whole(line))).collect()
    }

    #[test]
    fn parts_stand_beside_each_other_where_there_is_room_and_below_where_there_is_not() {
        let parts = [part("one", &["a", "b", "c"]), part("two", &["d"]), part("three", &["e"])];
        let new = |width| Document::new(&parts, Depth::Brief, width, 11, Looks::default(), "");
        let wide = new(150);
        assert_eq!((wide.height, wide.rows.iter().map(|row| row.x).collect::<Vec<_>>()), (7, vec![0, 0, 0, 76, 76]));
        let narrow = new(80);
        assert_eq!(narrow.height, 5 + 3 + 3, "there is no line to spare");
        assert!(narrow.lines.iter().all(|line| line.x == 0));
    }

    #[test]
    fn the_filter_leaves_rows_with_its_text_whatever_their_case_and_all_that_is_no_row() {
        let parts = [part("programs", &["Postgres", "bash", "postmaster"])];
        let document = Document::new(&parts, Depth::Brief, 80, 20, Looks::default(), "POST");
        let lines: Vec<String> = text(&document).into_iter().map(|line| line.2).collect();
        assert_eq!(lines, ["programs", "name", "Postgres", "postmaster"]);
        assert_eq!(document.rows.iter().map(|row| row.lines.clone()).collect::<Vec<_>>(), [2..3, 3..4]);
        assert_eq!(document.rows[1].head, Some(1));
    }
}
