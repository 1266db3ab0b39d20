//! Rounds done over time, one small chart an arm, all on the same two axes.

use std::fmt::Write;

use maud::html;

use super::{Drawing, label};

/// One arm.
pub struct Progress {
    /// Which.
    pub name: String,
    /// What stands on the right.
    pub value: String,
    /// Seconds and rounds.
    pub points: Vec<(f64, f64)>,
}

const ROW: u32 = 92;
const PLOT: u32 = 60;

/// The arms, one below the other. Axes run to `seconds` and to `rounds`.
pub fn progress(arms: &[Progress], seconds: f64, rounds: f64, end: &str) -> Drawing {
    let bottom = ROW * u32::try_from(arms.len()).unwrap_or(u32::MAX / ROW / 2);
    let tops = (0u32..).map(|row| row * ROW);
    let marks = html! {
        @for (arm, top) in arms.iter().zip(tops) {
            (label(&arm.name, &arm.value, top + 14))
            rect.track x="0" y=(top + 22) width="100%" height=(PLOT) {}
            svg x="0" y=(top + 22) width="100%" height=(PLOT) viewBox="0 0 1000 1000" preserveAspectRatio="none" overflow="visible" {
                path.area d=(area(&arm.points, seconds, rounds)) {}
                polyline.curve points=(points(&arm.points, seconds, rounds)) {}
            }
            line.axis x1="0" x2="100%" y1=(top + 22 + PLOT) y2=(top + 22 + PLOT) {}
        }
        text.tick x="0" y=(bottom + 8) { "0\u{a0}s" }
        text.tick x="100%" y=(bottom + 8) text-anchor="end" { (end) }
    };
    Drawing { marks, height: bottom + 14 }
}

fn place(point: (f64, f64), seconds: f64, rounds: f64) -> (f64, f64) {
    let share =
        |value: f64, most: f64| if most > 0.0 && value.is_finite() { (value / most).clamp(0.0, 1.0) } else { 0.0 };
    (share(point.0, seconds) * 1000.0, 1000.0 - share(point.1, rounds) * 1000.0)
}

fn points(all: &[(f64, f64)], seconds: f64, rounds: f64) -> String {
    all.iter().fold(String::new(), |mut out, point| {
        let (x, y) = place(*point, seconds, rounds);
        // Writing to a String cannot fail.
        let _ = write!(out, "{x:.0},{y:.0} ");
        out
    })
}

fn area(all: &[(f64, f64)], seconds: f64, rounds: f64) -> String {
    let ends = all.first().zip(all.last());
    ends.map_or_else(String::new, |(first, last)| {
        let (from, to) = (place(*first, seconds, rounds).0, place(*last, seconds, rounds).0);
        format!("M{from:.0},1000L{}L{to:.0},1000Z", points(all, seconds, rounds).trim_end())
    })
}
