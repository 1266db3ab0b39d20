//! One value a run: a dot for each, a line at their median, a band for its interval; a row a setting, all on one axis.
//!
//! The axis begins at zero. Where the largest value is [`FAR`] times the smallest, and all are positive, it is logarithmic: then
//! differences among the small ones stay visible, and the caption must say so.
//!
//! Worked example: on the axis of 2, 3 and 4 the value 3 lies at three quarters; on that of 1 and 100 the value 10 in the middle.

use maud::html;

use super::{Drawing, at, label, log_share};
use crate::sheet::Bar;

/// From this ratio of the largest to the smallest on, the axis is logarithmic.
const FAR: f64 = 30.0;
const ROW: u32 = 50;

/// The axis of some values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Axis {
    /// From, to; zero is one of them or between.
    Linear(f64, f64),
    /// From the smallest to the largest.
    Log(f64, f64),
}

impl Axis {
    /// The axis that fits the runs of all rows; `None` when there is nothing but zeros.
    pub fn for_rows(rows: &[Bar]) -> Option<Axis> {
        let values: Vec<f64> = rows.iter().flat_map(|row| row.runs.iter().copied()).filter(|v| v.is_finite()).collect();
        let low = values.iter().copied().reduce(f64::min)?;
        let high = values.iter().copied().reduce(f64::max)?;
        if low > 0.0 && high / low >= FAR {
            return Some(Axis::Log(low, high));
        }
        (low != 0.0 || high != 0.0).then_some(Axis::Linear(low.min(0.0), high.max(0.0)))
    }

    /// The values to name below it.
    pub fn ticks(self) -> Vec<f64> {
        match self {
            Axis::Linear(low, high) if low < 0.0 && high > 0.0 => vec![low, 0.0, high],
            Axis::Linear(low, high) => vec![low, high],
            Axis::Log(low, high) => vec![low, (low * high).sqrt(), high],
        }
    }

    fn share(self, value: f64) -> f64 {
        match self {
            Axis::Linear(low, high) => (value - low) / (high - low),
            Axis::Log(low, high) => log_share(value, low, high),
        }
    }
}

/// The rows, one below the other; `tick` writes a value of the axis.
pub fn dots(rows: &[Bar], axis: Axis, tick: impl Fn(f64) -> String) -> Drawing {
    let bottom = ROW.saturating_mul(u32::try_from(rows.len()).unwrap_or(u32::MAX));
    let tops = (0u32..).map(|row| row * ROW);
    let ticks = axis.ticks();
    let marks = html! {
        @for (row, top) in rows.iter().zip(tops) {
            (label(&row.name, &row.value, top + 14))
            rect.track x="0" y=(top + 22) width="100%" height="18" {}
            @for value in &ticks { line.grid x1=(at(axis.share(*value))) x2=(at(axis.share(*value))) y1=(top + 22) y2=(top + 40) {} }
            @if let Some((from, to)) = row.interval.map(|(low, high)| (axis.share(low), axis.share(high))) {
                rect.band x=(at(from)) y=(top + 26) width=(at((to - from).max(0.0))) height="10" {}
            }
            @for run in &row.runs { circle.run cx=(at(axis.share(*run))) cy=(top + 31) r="4" {} }
            @if let Some(median) = row.at.map(|median| at(axis.share(median))) { line.mark x1=(median) x2=(median) y1=(top + 21) y2=(top + 41) {} }
        }
        @for (index, value) in ticks.iter().enumerate() {
            @let anchor = if index == 0 { "start" } else if index + 1 == ticks.len() { "end" } else { "middle" };
            @if index == 0 || index + 1 == ticks.len() || clear(axis.share(*value)) {
                text.tick x=(at(axis.share(*value))) y=(bottom + 8) text-anchor=(anchor) { (tick(*value)) }
            }
        }
    };
    Drawing { marks, height: bottom + 14 }
}

/// A label in the middle would touch those at the ends on a screen 400 px wide.
fn clear(share: f64) -> bool {
    (0.35..=0.65).contains(&share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_begins_at_zero_unless_values_are_far_apart() {
        let of = |runs: &[f64]| Axis::for_rows(&[Bar { runs: runs.to_vec(), ..Bar::default() }]);
        assert_eq!(of(&[2.0, 3.0, 4.0]), Some(Axis::Linear(0.0, 4.0)));
        assert_eq!(of(&[-2.0, 4.0]), Some(Axis::Linear(-2.0, 4.0)));
        assert_eq!(of(&[0.0, 100.0]), Some(Axis::Linear(0.0, 100.0)));
        let far = of(&[1.0, 100.0]).unwrap();
        assert!((far.share(10.0) - 0.5).abs() < 1e-12, "{far:?}");
        assert_eq!((of(&[0.0, f64::NAN]), of(&[])), (None, None));
    }
}
