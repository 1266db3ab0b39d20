//! Bars and a small chart of plain characters, readable without colour and by copy and paste.
//!
//! ```
//! use ramline_sheet::text::{Segment, bar, segments};
//! assert_eq!(bar(0.5, 8), "####....");
//! let parts = [Segment { letter: 'p', share: 0.5 }, Segment { letter: 'c', share: 0.25 }];
//! assert_eq!(segments(&parts, 8), "ppppcc..");
//! ```

/// Columns of a small bar in a table.
pub const BAR: usize = 10;

/// Part of a bar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Segment {
    /// Drawn with.
    pub letter: char,
    /// Of the whole, 0 to 1.
    pub share: f64,
}

/// How many of `cells` cells a share fills, rounded.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "clamped to a bar's width"
)]
fn cells(share: f64, all: usize) -> usize {
    if share.is_finite() { (share.clamp(0.0, 1.0) * all as f64).round() as usize } else { 0 }
}

/// A bar: `###.....`.
#[must_use]
pub fn bar(share: f64, width: usize) -> String {
    let full = cells(share, width);
    format!("{}{}", "#".repeat(full), ".".repeat(width - full))
}

/// A bar of several parts; what they leave is dotted. Ends are rounded, so the parts' sum is as exact as one cell.
#[must_use]
pub fn segments(parts: &[Segment], width: usize) -> String {
    let mut out = String::new();
    let mut sum = 0.0;
    let mut drawn = 0;
    for part in parts {
        sum += if part.share.is_finite() { part.share.max(0.0) } else { 0.0 };
        let end = cells(sum.min(1.0), width).max(drawn);
        out.extend(std::iter::repeat_n(part.letter, end - drawn));
        drawn = end;
    }
    out.push_str(&".".repeat(width - drawn));
    out
}

/// The same with words beside it on a line of so many columns: a quarter of the line.
#[must_use]
pub fn beside(parts: &[Segment], columns: usize) -> String {
    segments(parts, (columns / 4).clamp(10, 30))
}

/// Curves in one frame: each is a letter and its points `(x, y)`; the frame is labelled at its ends.
///
/// Empty without any point to the right of 0. Where two curves meet the later one is drawn.
#[must_use]
pub fn chart(
    curves: &[(char, Vec<(f64, f64)>)],
    x_label: &str,
    y_label: &str,
    width: usize,
    height: usize,
) -> Vec<String> {
    let points = || curves.iter().flat_map(|(_, points)| points);
    let (x_max, y_max) = points().fold((0.0f64, 0.0f64), |(x, y), point| (x.max(point.0), y.max(point.1)));
    if x_max <= 0.0 || y_max <= 0.0 || height < 2 || width < 2 {
        return Vec::new();
    }
    let mut grid = vec![vec![' '; width]; height];
    for (letter, points) in curves {
        let mut previous: Option<(usize, usize)> = None;
        for (x, y) in points {
            let (column, row) = (cells(x / x_max, width - 1), cells(y / y_max, height - 1));
            // A curve rises steadily between two points: fill the columns between, so that it reads as one line.
            let (from, base) = previous.unwrap_or((column, row));
            let span = column.saturating_sub(from).max(1);
            // Points out of order draw nothing.
            for step in 0..=column.saturating_sub(from) {
                let r = if row >= base { base + (row - base) * step / span } else { row };
                grid[height - 1 - r][from + step] = *letter;
            }
            previous = Some((column, row));
        }
    }
    let mut out = vec![format!("{y_label} (up to {y_max:.1})")];
    out.extend(grid.iter().map(|row| format!("|{}", row.iter().collect::<String>())));
    out.push(format!("+{}", "-".repeat(width)));
    let end = format!("{x_max:.1}");
    let gap = width.saturating_sub(end.len() + x_label.len() + 1);
    out.push(format!(" 0 {x_label}{}{end}", " ".repeat(gap.saturating_sub(1))));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_never_overflows() {
        assert_eq!(bar(2.0, 4), "####");
        assert_eq!(bar(f64::NAN, 4), "....");
        assert_eq!(bar(-1.0, 4), "....");
    }

    #[test]
    fn parts_smaller_than_a_cell_do_not_push_the_others_out() {
        let thin = |letter| Segment { letter, share: 0.01 };
        let parts = [thin('a'), thin('b'), thin('c'), Segment { letter: 'd', share: 0.97 }];
        assert_eq!(segments(&parts, 10), "dddddddddd");
        assert_eq!(segments(&[Segment { letter: 'x', share: 3.0 }], 5), "xxxxx");
    }

    #[test]
    fn a_bar_with_words_beside_it_takes_a_quarter_of_the_line() {
        let half = [Segment { letter: 'a', share: 0.5 }];
        assert_eq!(beside(&half, 48), "aaaaaa......");
        assert_eq!((beside(&half, 0).len(), beside(&half, 500).len()), (10, 30));
    }

    #[test]
    fn curves_start_at_the_lower_left_and_the_fastest_reaches_the_top_first() {
        let curves = [('a', vec![(0.0, 0.0), (5.0, 4.0)]), ('b', vec![(0.0, 0.0), (10.0, 2.0)])];
        let text = chart(&curves, "s", "rounds", 11, 5);
        let text: Vec<&str> = text.iter().map(|line| line.trim_end()).collect();
        assert_eq!(
            text,
            [
                "rounds (up to 4.0)",
                "|     a",
                "|    a",
                "|   a      b",
                "|  a  bbbbb",
                "|bbbbb",
                "+-----------",
                " 0 s    10.0",
            ]
        );
        assert!(!chart(&[('a', vec![(5.0, 1.0), (2.0, 3.0)])], "s", "rounds", 9, 3).is_empty());
        assert!(chart(&[('a', vec![])], "s", "rounds", 10, 4).is_empty());
    }
}
