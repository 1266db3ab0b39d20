//! Free memory of each zone against its watermarks, each zone on a scale of its own that ends above `high`.
//!
//! The scale stops at 1.6 times `high`: what matters is where free memory stands among the marks, and on a machine at
//! rest it is a hundred times above them. A bar that goes on beyond the scale ends in an arrow.

use maud::html;
use ramline_units::Bytes;

use super::{Drawing, Fill, at, filled, label};

/// One zone.
pub struct Marks {
    /// Which.
    pub name: String,
    /// What stands on the right.
    pub value: String,
    /// Free memory.
    pub free: Bytes,
    /// The watermarks.
    pub min: Bytes,
    /// kswapd wakes.
    pub low: Bytes,
    /// kswapd sleeps.
    pub high: Bytes,
}

const ROW: u32 = 68;
/// Closer labels would touch on a screen 400 px wide.
const LEAST_APART: f64 = 0.09;

/// The zones, one below the other.
pub fn watermarks(zones: &[Marks]) -> Drawing {
    let tops = (0u32..).map(|row| row * ROW);
    let marks = html! {
        @for (zone, top) in zones.iter().zip(tops) {
            @let end = (zone.high.as_f64() * 1.6).max(1.0);
            @let share = |b: Bytes| b.as_f64() / end;
            @let beyond = share(zone.free) > 1.0;
            (label(&zone.name, &zone.value, top + 14))
            rect.track x="0" y=(top + 22) width="100%" height="16" {}
            (filled(if zone.free > zone.low { Fill::Now } else { Fill::AtCost }, 0.0, share(zone.free).min(1.0), top + 22, 16))
            @if beyond { svg.arrow x="100%" y=(top + 22) width="1" height="16" overflow="visible" { path d="M-10 0L0 8L-10 16Z" {} } }
            @for (name, share) in named(share(zone.min), share(zone.low), share(zone.high)) {
                line.mark x1=(at(share)) x2=(at(share)) y1=(top + 19) y2=(top + 43) {}
                @if let Some(name) = name { text.tick x=(at(share)) y=(top + 54) text-anchor="middle" { (name) } }
            }
        }
    };
    Drawing { marks, height: ROW * u32::try_from(zones.len()).unwrap_or(u32::MAX / ROW) }
}

/// The marks with their names, but for those that would touch the one before.
fn named(min: f64, low: f64, high: f64) -> [(Option<&'static str>, f64); 3] {
    let clear = |a: f64, b: f64| b - a >= LEAST_APART;
    let first = (min >= LEAST_APART / 2.0).then_some("min");
    let second = (first.is_none() || clear(min, low)).then_some("low");
    let third = (second.is_none() || clear(low, high)).then_some("high");
    [(first, min), (second, low), (third, high)]
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn marks_too_close_to_each_other_lose_names_and_not_lines() {
        let names = |marks: [(Option<&'static str>, f64); 3]| marks.map(|(name, _)| name);
        assert_eq!(names(named(0.42, 0.52, 0.62)), [Some("min"), Some("low"), Some("high")]);
        assert_eq!(names(named(0.55, 0.58, 0.62)), [Some("min"), None, Some("high")]);
        assert_eq!(names(named(0.01, 0.31, 0.62)), [None, Some("low"), Some("high")]);
    }
}
