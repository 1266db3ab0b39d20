//! What goes on over time, one small chart a setting, all on the same two axes: areas stacked on one another, and curves.
//!
//! An area goes down to zero: of a stack the highest is drawn first, and those below cover it.
//!
//! Worked example: `Panel { areas: vec![(Tint::Cache, sums), (Tint::Processes, below)], .. }` shows two parts of a sum. A curve alone is
//! shaded down to zero.

use std::fmt::Write;

use maud::{Markup, html};

use super::{Drawing, Fill, fill, label};
use crate::sheet::{Along, Curve, Panel, Panels, Points};

/// How high a panel with areas on one another is, and any other, in CSS pixels.
const PIXELS: (u32, u32) = (130, 70);

/// The class of a curve.
pub const fn class(line: Curve) -> &'static str {
    match line {
        Curve::First => "curve",
        Curve::Second => "curve second",
        Curve::Run => "curve run",
        Curve::Bound => "curve edge",
    }
}

/// The sample of a curve in a legend.
pub fn sample(line: Curve) -> Markup {
    html! { svg.swatch width="22" height="14" aria-hidden="true" focusable="false" { path class=(class(line)) d="M0 7H22" {} } }
}

/// The axes of all panels: the second begins at zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Axes {
    /// Where the first begins.
    pub from: f64,
    /// Where the first ends.
    pub width: f64,
    /// Where the second ends.
    pub height: f64,
    pixels: u32,
}

impl Axes {
    /// The axes of these panels: as long and as high as their points need.
    pub fn for_panels(all: &Panels) -> Axes {
        let most = |of: fn(&(f64, f64)) -> f64| all.points().map(of).filter(|v| v.is_finite()).fold(0.0, f64::max);
        let stacked = all.panels.iter().any(|panel| panel.areas.len() > 1);
        Axes {
            from: match all.along {
                Along::Seconds => 0.0,
                Along::Rounds => 1.0,
                Along::Ram => all.points().map(|point| point.0).fold(f64::INFINITY, f64::min).min(f64::MAX),
            },
            width: most(|point| point.0),
            height: most(|point| point.1).max(all.least),
            pixels: if stacked { PIXELS.0 } else { PIXELS.1 },
        }
    }
}

/// The panels, one below the other.
/// `ends` stands at the ends of the first axis.
pub fn panels(all: &[Panel], axes: &Axes, ends: (&str, &str)) -> Drawing {
    let row = axes.pixels + 32;
    let bottom = row.saturating_mul(u32::try_from(all.len()).unwrap_or(u32::MAX));
    let tops = (0u32..).map(|index| index * row);
    let view = format!("0 0 1000 {}", axes.pixels);
    let marks = html! {
        @for (panel, top) in all.iter().zip(tops) {
            (label(&panel.name, &panel.value, top + 14))
            rect.track x="0" y=(top + 22) width="100%" height=(axes.pixels) {}
            svg x="0" y=(top + 22) width="100%" height=(axes.pixels) viewBox=(view) preserveAspectRatio="none" overflow="visible" {
                @for (tint, points) in &panel.areas { (area(fill(*tint), points, axes)) }
                @if let ([], [(_, points)]) = (panel.areas.as_slice(), panel.curves.as_slice()) { (area(Fill::Pale, points, axes)) }
                @for (line, points) in &panel.curves {
                    @match points.as_slice() {
                        [] => {}
                        [one] => { @let (x, y) = place(*one, axes); line class=(class(*line)) x1=((x - 6.0).max(0.0)) x2=((x + 6.0).min(1000.0)) y1=(y) y2=(y) {} }
                        _ => { polyline class=(class(*line)) points=(path(points, axes)) {} }
                    }
                }
            }
            line.axis x1="0" x2="100%" y1=(top + 22 + axes.pixels) y2=(top + 22 + axes.pixels) {}
        }
        text.tick x="0" y=(bottom + 8) { (ends.0) }
        text.tick x="100%" y=(bottom + 8) text-anchor="end" { (ends.1) }
    };
    Drawing { marks, height: bottom + 14 }
}

fn area(fill: Fill, points: &Points, axes: &Axes) -> Markup {
    let Some((first, last)) = points.first().zip(points.last()) else { return html! {} };
    let floor = axes.pixels;
    let (from, to) = (place(*first, axes).0, place(*last, axes).0);
    let d = format!("M{from:.0},{floor}L{}L{to:.0},{floor}Z", path(points, axes));
    html! {
        path class=(fill.class()) d=(d) {}
        @if let Some(pattern) = fill.pattern() { path fill=(pattern) d=(d) {} }
    }
}

fn place(point: (f64, f64), axes: &Axes) -> (f64, f64) {
    let share =
        |value: f64, most: f64| if most > 0.0 && value.is_finite() { (value / most).clamp(0.0, 1.0) } else { 0.0 };
    let pixels = f64::from(axes.pixels);
    (share(point.0 - axes.from, axes.width - axes.from) * 1000.0, pixels - share(point.1, axes.height) * pixels)
}

fn path(points: &Points, axes: &Axes) -> String {
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
        let axes = Axes { from: 1.0, width: 11.0, height: 50.0, pixels: 100 };
        assert_eq!(path(&vec![(1.0, 0.0), (6.0, 25.0), (11.0, 50.0)], &axes), "0,100.0 500,50.0 1000,0.0");
        assert_eq!(path(&vec![(-5.0, f64::NAN), (90.0, 900.0)], &axes), "0,100.0 1000,0.0");
    }
}
