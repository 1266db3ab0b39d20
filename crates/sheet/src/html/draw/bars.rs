//! Horizontal bars from zero, each with its label line, and where there is one the interval of its value.
//!
//! Worked example: of 1.0 with the interval 0.5 to 2.0 the bar ends in the middle of the axis, and the interval at its end.

use maud::html;

use super::{Drawing, Fill, at, filled, label};
use crate::sheet::Bar;

const ROW: u32 = 48;

/// The bars, one below the other, as long as the longest value or interval allows; the first in a fill of its own.
pub fn bars(rows: &[Bar]) -> Drawing {
    let ends = rows.iter().flat_map(|row| [row.at, row.interval.map(|(_, high)| high)]).flatten();
    let longest = ends.filter(|end| end.is_finite()).fold(0.0, f64::max);
    let share = |value: f64| if longest > 0.0 { value / longest } else { 0.0 };
    let fills = std::iter::once(Fill::Now).chain(std::iter::repeat(Fill::AtCost));
    let tops = (0u32..).map(|row| row * ROW);
    let marks = html! {
        @for ((bar, top), fill) in rows.iter().zip(tops).zip(fills) {
            @let end = share(bar.at.unwrap_or(0.0));
            (label(&bar.name, &bar.value, top + 14))
            rect.track x="0" y=(top + 22) width="100%" height="14" {}
            (filled(fill, 0.0, end, top + 22, 14))
            @if bar.open {
                svg.arrow x=(at(end)) y=(top + 22) width="1" height="14" overflow="visible" { path d="M-9 0L0 7L-9 14Z" {} }
            }
            @if let Some((low, high)) = bar.interval.map(|(low, high)| (share(low), share(high))) {
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
