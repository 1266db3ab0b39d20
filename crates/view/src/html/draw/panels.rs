//! What goes on over time, one small chart an arm, all on the same two axes: areas stacked on one another, and curves.
//!
//! An area goes down to zero: of a stack the highest is drawn first, and those below cover it.
//!
//! Worked example: `Panel { areas: vec![(Fill::No, sums), (Fill::Now, below)], .. }` shows two parts of a sum.

use std::fmt::Write;

use maud::{Markup, html};

use super::{Drawing, Fill, label};

/// Time or number on the first axis, value on the second.
pub type Points = Vec<(f64, f64)>;

/// How a curve is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stroke {
    /// What the panel is about.
    First,
    /// What it is compared with: dashed.
    Second,
    /// One run of several: thin.
    Run,
    /// A bound: the colour of the text.
    Edge,
}

impl Stroke {
    const fn class(self) -> &'static str {
        match self {
            Stroke::First => "curve",
            Stroke::Second => "curve second",
            Stroke::Run => "curve run",
            Stroke::Edge => "curve edge",
        }
    }

    /// The sample of a stroke in a legend.
    pub fn swatch(self) -> Markup {
        html! { svg.swatch width="22" height="14" aria-hidden="true" focusable="false" { path class=(self.class()) d="M0 7H22" {} } }
    }
}

/// One arm.
#[derive(Default)]
pub struct Panel {
    /// Which.
    pub name: String,
    /// What stands on the right.
    pub value: String,
    /// From the highest to the lowest.
    pub areas: Vec<(Fill, Points)>,
    /// On top of these.
    pub curves: Vec<(Stroke, Points)>,
}

/// The axes of all panels: both begin at zero, or the first at `from`.
pub struct Axes<'a> {
    /// Where the first begins.
    pub from: f64,
    /// Where it ends.
    pub width: f64,
    /// Where the second ends.
    pub height: f64,
    /// What stands at the ends of the first.
    pub ends: (&'a str, &'a str),
    /// How high a panel is, in CSS pixels.
    pub pixels: u32,
}

/// The panels, one below the other.
pub fn panels(all: &[Panel], axes: &Axes<'_>) -> Drawing {
    let row = axes.pixels + 32;
    let bottom = row.saturating_mul(u32::try_from(all.len()).unwrap_or(u32::MAX));
    let tops = (0u32..).map(|index| index * row);
    let view = format!("0 0 1000 {}", axes.pixels);
    let marks = html! {
        @for (panel, top) in all.iter().zip(tops) {
            (label(&panel.name, &panel.value, top + 14))
            rect.track x="0" y=(top + 22) width="100%" height=(axes.pixels) {}
            svg x="0" y=(top + 22) width="100%" height=(axes.pixels) viewBox=(view) preserveAspectRatio="none" overflow="visible" {
                @for (fill, points) in &panel.areas { (area(*fill, points, axes)) }
                @for (stroke, points) in &panel.curves {
                    @match points.as_slice() {
                        [] => {}
                        [one] => { @let (x, y) = place(*one, axes); line class=(stroke.class()) x1=((x - 6.0).max(0.0)) x2=((x + 6.0).min(1000.0)) y1=(y) y2=(y) {} }
                        _ => { polyline class=(stroke.class()) points=(path(points, axes)) {} }
                    }
                }
            }
            line.axis x1="0" x2="100%" y1=(top + 22 + axes.pixels) y2=(top + 22 + axes.pixels) {}
        }
        text.tick x="0" y=(bottom + 8) { (axes.ends.0) }
        text.tick x="100%" y=(bottom + 8) text-anchor="end" { (axes.ends.1) }
    };
    Drawing { marks, height: bottom + 14 }
}

fn area(fill: Fill, points: &Points, axes: &Axes<'_>) -> Markup {
    let Some((first, last)) = points.first().zip(points.last()) else { return html! {} };
    let floor = axes.pixels;
    let (from, to) = (place(*first, axes).0, place(*last, axes).0);
    let d = format!("M{from:.0},{floor}L{}L{to:.0},{floor}Z", path(points, axes));
    html! {
        path class=(fill.class()) d=(d) {}
        @if let Some(pattern) = fill.pattern() { path fill=(pattern) d=(d) {} }
    }
}

fn place(point: (f64, f64), axes: &Axes<'_>) -> (f64, f64) {
    let share =
        |value: f64, most: f64| if most > 0.0 && value.is_finite() { (value / most).clamp(0.0, 1.0) } else { 0.0 };
    let pixels = f64::from(axes.pixels);
    (share(point.0 - axes.from, axes.width - axes.from) * 1000.0, pixels - share(point.1, axes.height) * pixels)
}

fn path(points: &Points, axes: &Axes<'_>) -> String {
    let mut out = String::new();
    for point in points {
        let (x, y) = place(*point, axes);
        // Writing to a String cannot fail.
        let _ = write!(out, "{}{x:.0},{y:.1}", if out.is_empty() { "" } else { " " });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_lies_between_the_axes_and_never_beyond() {
        let axes = Axes { from: 1.0, width: 11.0, height: 50.0, ends: ("1", "11"), pixels: 100 };
        assert_eq!(path(&vec![(1.0, 0.0), (6.0, 25.0), (11.0, 50.0)], &axes), "0,100.0 500,50.0 1000,0.0");
        assert_eq!(path(&vec![(-5.0, f64::NAN), (90.0, 900.0)], &axes), "0,100.0 1000,0.0");
    }
}
