//! Horizontal bars from zero, each with its label line, and where there is one the interval of its value.

use maud::html;

use super::{Drawing, Fill, at, filled, label};

/// One bar. All positions are shares of the axis, 0 to 1.
pub struct Bar {
    /// What it is.
    pub name: String,
    /// Its value with the unit.
    pub value: String,
    /// Its length.
    pub share: f64,
    /// Its fill.
    pub fill: Fill,
    /// From and to of the interval.
    pub interval: Option<(f64, f64)>,
    /// The true value is larger: the bar has an arrow instead of an end.
    pub open: bool,
}

const ROW: u32 = 48;

/// The bars, one below the other.
pub fn bars(rows: &[Bar]) -> Drawing {
    let tops = (0u32..).map(|row| row * ROW);
    let marks = html! {
        @for (bar, top) in rows.iter().zip(tops) {
            (label(&bar.name, &bar.value, top + 14))
            rect.track x="0" y=(top + 22) width="100%" height="14" {}
            (filled(bar.fill, 0.0, bar.share, top + 22, 14))
            @if bar.open {
                svg.arrow x=(at(bar.share)) y=(top + 22) width="1" height="14" overflow="visible" { path d="M-9 0L0 7L-9 14Z" {} }
            }
            @if let Some((low, high)) = bar.interval {
                line.interval x1=(at(low)) x2=(at(high)) y1=(top + 29) y2=(top + 29) {}
                @for end in [low, high] { line.interval x1=(at(end)) x2=(at(end)) y1=(top + 25) y2=(top + 33) {} }
            }
        }
    };
    Drawing {
        marks,
        height: ROW * u32::try_from(rows.len()).unwrap_or(u32::MAX / ROW) - 8 * u32::from(!rows.is_empty()),
    }
}
