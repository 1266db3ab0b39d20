//! Values over the last moments, one a line: its name, what it is now, its largest, and a small curve of a character a moment.
//!
//! Worked example: 0, 1 and 2 of at most 2, in three columns: `▁▅█`; a moment of which nothing is known is blank.

use std::rc::Rc;

use super::{CellAt, RowAt, Style, width};
use crate::escape;
use crate::sheet::{Paint, Trend};

/// From nothing to all.
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Columns between two parts of a line.
const GAP: usize = 2;
/// A curve has at least so many columns, and there is none where there are fewer,
const LEAST: usize = 8;
/// and at most so many: two minutes at one a second.
const MOST: usize = 120;

/// The lines; each is a row.
#[must_use]
pub fn trends(trends: &[Trend], style: &Style) -> (String, Vec<RowAt>) {
    let widest =
        |text: &dyn Fn(&Trend) -> &str| trends.iter().map(|trend| width(&escape(text(trend)))).max().unwrap_or(0);
    let (names, values, notes) = (widest(&|t| &t.name), widest(&|t| &t.value), widest(&|t| &t.note));
    // The note goes first where there is no room for all.
    let left =
        |notes: usize| style.width.saturating_sub(names + values + notes + if notes > 0 { 3 * GAP } else { 2 * GAP });
    let notes = if left(notes) >= LEAST { notes } else { 0 };
    let columns = left(notes).min(MOST);
    let mut out = String::new();
    let mut rows = Vec::new();
    for (at, trend) in trends.iter().enumerate() {
        let (name, value) = (escape(&trend.name), escape(&trend.value));
        let mut line = format!("{name}{}{}", blanks(names + GAP, &name), blanks(values, &value));
        line.push_str(&style.paint(trend.paint, &value));
        if notes > 0 {
            let note = escape(&trend.note);
            line.push_str(&format!("{}{}{}", blanks(GAP, ""), style.paint(Paint::Dim, &note), blanks(notes, &note)));
        }
        if columns >= LEAST {
            line.push_str(&format!("{}{}", blanks(GAP, ""), style.paint(trend.paint, &curve(trend, columns))));
        }
        out.push_str(line.trim_end());
        out.push('\n');
        let cell = CellAt { head: String::new(), columns: names + GAP..names + GAP + values };
        rows.push(RowAt { lines: at..at + 1, head: None, key: trend.key.clone(), cells: Rc::from([cell]) });
    }
    (out, rows)
}

/// What is missing to so many columns.
fn blanks(columns: usize, text: &str) -> String {
    " ".repeat(columns.saturating_sub(width(text)))
}

/// The last moments, the latest to the right.
fn curve(trend: &Trend, columns: usize) -> String {
    let shown = &trend.points[trend.points.len().saturating_sub(columns)..];
    let most = shown.iter().flatten().copied().fold(trend.least_top, f64::max);
    let mut out = " ".repeat(columns - shown.len());
    out.extend(shown.iter().map(|point| point.map_or(' ', |value| level(value, most))));
    out
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the levels")]
fn level(value: f64, most: f64) -> char {
    if value <= 0.0 || !value.is_finite() || most <= 0.0 {
        return LEVELS[0];
    }
    // What is more than nothing is seen as more than nothing.
    let step = (value / most * 7.0).ceil().clamp(1.0, 7.0) as usize;
    LEVELS[step]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trend(points: &[Option<f64>]) -> Trend {
        Trend {
            name: "swapped in".into(),
            value: "2 KiB/s".into(),
            note: "most 2 KiB/s".into(),
            points: points.to_vec(),
            ..Trend::default()
        }
    }

    #[test]
    fn the_latest_is_to_the_right_and_what_is_not_known_is_blank() {
        let (text, rows) =
            trends(&[trend(&[Some(0.0), None, Some(1.0), Some(2.0)])], &Style { colour: false, width: 43 });
        assert_eq!(text, "swapped in  2 KiB/s  most 2 KiB/s      ▁ ▅█\n");
        assert_eq!((rows[0].lines.clone(), rows[0].cells[0].columns.clone()), (0..1, 12..19));
    }

    #[test]
    fn on_a_narrow_screen_the_note_goes_and_then_the_curve() {
        let draw = |width| trends(&[trend(&[Some(1.0); 50])], &Style { colour: false, width }).0;
        assert_eq!(draw(40), format!("swapped in  2 KiB/s  {}\n", "█".repeat(19)));
        assert_eq!(draw(24), "swapped in  2 KiB/s\n");
    }

    #[test]
    fn a_little_is_more_than_nothing_and_a_small_peak_is_not_drawn_as_a_large_one() {
        let points = [Some(0.0), Some(0.01), Some(1.0), Some(f64::NAN)];
        assert_eq!(curve(&Trend { points: points.to_vec(), least_top: 10.0, ..Trend::default() }, 8), "    ▁▂▂▁");
    }
}
