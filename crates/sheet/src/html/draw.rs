//! Drawing in SVG without a library: positions are percentages, so that a chart fits any width and its text keeps its size.
//!
//! Scales, fills with patterns, and the common row of a chart: a label line, then a track below it.
//!
//! Colours come from the page's style; each fill also has a pattern, so that no meaning rests on colour alone.
//!
//! Worked example: on a logarithmic scale from 10 to 1000, the value 100 lies at 50 %.

mod bars;
mod dots;
mod latency;
mod meter;
mod panels;
mod stack;

use maud::{Markup, html};
use unicode_width::UnicodeWidthChar;

pub use bars::bars;
pub use dots::{Axis, dots};
pub use latency::latencies;
pub use meter::meter;
pub use panels::{Axes, panels, sample};
pub use stack::stack;

use crate::escape;
use crate::sheet::Tint;

/// What is to be drawn, and how high it is in CSS pixels.
pub struct Drawing {
    /// The SVG elements.
    pub marks: Markup,
    /// The height.
    pub height: u32,
}

/// A fill: a colour of the style, and a pattern that tells it apart without colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fill {
    /// Plain.
    Now,
    /// Dots.
    AtCost,
    /// So light that what lies below shows through.
    Pale,
    /// A piece of memory.
    Of(Tint),
}

impl Fill {
    /// The class of its colour.
    pub const fn class(self) -> &'static str {
        match self {
            Fill::Now => "f-now",
            Fill::AtCost => "f-cost",
            Fill::Pale => "area",
            Fill::Of(Tint::Free) => "f-free",
            Fill::Of(Tint::Processes) => "t-processes",
            Fill::Of(Tint::Shared) => "t-shared",
            Fill::Of(Tint::Locked) => "t-locked",
            Fill::Of(Tint::Compressed) => "t-compressed",
            Fill::Of(Tint::Kernel) => "t-kernel",
            Fill::Of(Tint::Dirty) => "t-dirty",
            Fill::Of(Tint::Cache) => "t-cache",
            Fill::Of(Tint::Swap) => "f-no",
        }
    }

    const fn pattern(self) -> Option<&'static str> {
        match self {
            Fill::Now | Fill::Pale | Fill::Of(Tint::Free | Tint::Cache | Tint::Processes) => None,
            Fill::Of(Tint::Shared) => Some("url(#p-rising)"),
            Fill::AtCost | Fill::Of(Tint::Dirty) => Some("url(#p-dots)"),
            Fill::Of(Tint::Kernel | Tint::Swap) => Some("url(#p-upright)"),
            Fill::Of(Tint::Locked | Tint::Compressed) => Some("url(#p-crossed)"),
        }
    }
}

/// The fill of a piece.
pub const fn fill(tint: Tint) -> Fill {
    Fill::Of(tint)
}

/// The patterns, once for the page.
pub fn patterns() -> Markup {
    html! {
        svg.defs width="0" height="0" aria-hidden="true" focusable="false" {
            defs {
                pattern id="p-rising" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)" { path d="M0 0V7" {} }
                pattern id="p-dots" width="6" height="6" patternUnits="userSpaceOnUse" { circle cx="2" cy="2" r="1.25" {} }
                pattern id="p-upright" width="5" height="5" patternUnits="userSpaceOnUse" { path d="M0 0V5" {} }
                pattern id="p-crossed" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)" { path d="M0 0V6M0 0H6" {} }
            }
        }
    }
}

/// A share of the width, 0 to 1, as an SVG length.
pub fn at(share: f64) -> String {
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    format!("{:.3}%", share * 100.0)
}

/// A filled box: from and to are shares of the width, the rest CSS pixels.
pub fn filled(fill: Fill, from: f64, to: f64, top: u32, height: u32) -> Markup {
    let (x, width) = (at(from), at((to - from).max(0.0)));
    html! {
        rect class=(fill.class()) x=(x) y=(top) width=(width) height=(height) {}
        @if let Some(pattern) = fill.pattern() { rect fill=(pattern) x=(x) y=(top) width=(width) height=(height) {} }
    }
}

/// The sample of a fill in a table or a legend.
pub fn swatch(fill: Fill) -> Markup {
    html! { svg.swatch width="14" height="14" aria-hidden="true" focusable="false" { (filled(fill, 0.0, 1.0, 0, 14)) } }
}

/// The line of text above a track: what it is on the left, its value on the right. On a narrow screen names are cut.
pub fn label(name: &str, value: &str, baseline: u32) -> Markup {
    html! {
        @let (short, long) = (clip(name, 22), clip(name, 72));
        @if short == long { text.name x="0" y=(baseline) { (short) } }
        @else {
            text.name.narrow x="0" y=(baseline) { (short) }
            text.name.wide x="0" y=(baseline) { (long) }
        }
        text.value x="100%" y=(baseline) text-anchor="end" { (value) }
    }
}

/// At most so many columns of text, what steers or reorders written out first; wide scripts take two columns a character.
pub fn clip(name: &str, most: usize) -> String {
    let columns = |c: char| c.width().unwrap_or(1);
    let name = escape(name);
    if name.chars().map(columns).sum::<usize>() <= most {
        return name.into_owned();
    }
    let mut used = 1;
    let mut out: String = name
        .chars()
        .take_while(|c| {
            used += columns(*c);
            used <= most
        })
        .collect();
    out.push('…');
    out
}

/// A name in a tree is moved to the right by at most so many blanks.
const DEEPEST: usize = 32;

/// What stands in front of a name so deep in a tree: two columns a step, as on a terminal.
pub fn indent(depth: usize) -> String {
    "\u{a0}".repeat(depth.saturating_mul(2).min(DEEPEST))
}

/// Where a value lies on a logarithmic scale, 0 to 1.
pub fn log_share(value: f64, low: f64, high: f64) -> f64 {
    if value <= low { 0.0 } else { ((value / low).ln() / (high / low).ln()).clamp(0.0, 1.0) }
}

/// The powers of ten that enclose these values, at least one decade; `None` without a positive value.
pub fn decades(values: impl Iterator<Item = f64>) -> Option<(i32, i32)> {
    let logs: Vec<f64> = values.filter(|v| v.is_finite() && *v > 0.0).map(f64::log10).collect();
    let low = logs.iter().copied().reduce(f64::min)?;
    let high = logs.iter().copied().reduce(f64::max)?;
    let whole = |v: f64| (-30..=30).rev().find(|n| f64::from(*n) <= v + 1e-9).unwrap_or(-30);
    let first = whole(low);
    let last = whole(high) + i32::from(f64::from(whole(high)) < high - 1e-9);
    Some((first, last.max(first + 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_lies_where_the_logarithm_says() {
        assert!((log_share(100.0, 10.0, 1000.0) - 0.5).abs() < 1e-12);
        assert!((log_share(5.0, 10.0, 1000.0)).abs() < 1e-12);
        assert!((log_share(1e9, 10.0, 1000.0) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_axis_encloses_all_values_in_whole_decades() {
        assert_eq!(decades([85.0, 80_100.0].into_iter()), Some((1, 5)));
        assert_eq!(decades([100.0, 1000.0].into_iter()), Some((2, 3)));
        assert_eq!(decades([100.0].into_iter()), Some((2, 3)));
        assert_eq!(decades([0.0, f64::NAN].into_iter()), None);
    }

    #[test]
    fn a_share_that_is_no_number_draws_nothing() {
        assert_eq!(
            (at(f64::NAN), at(-1.0), at(2.0)),
            ("0.000%".to_owned(), "0.000%".to_owned(), "100.000%".to_owned())
        );
    }

    #[test]
    fn a_long_name_is_cut_after_what_steers_was_written_out() {
        assert_eq!(clip("/mnt/disk", 24), "/mnt/disk");
        assert_eq!(clip("abcdefghij", 5), "abcd…");
        assert_eq!(clip("\u{202e}abcdefgh", 10), "\\u{202e}a…");
        assert_eq!(clip("メモリメモリ", 7), "メモリ…");
    }
}
