//! One bar for a whole, cut into parts; parts wide enough carry the number under which the table lists them.

use maud::html;

use super::{Drawing, Fill, at, filled};

/// A part of the whole.
pub struct Part {
    /// The number above it.
    pub number: usize,
    /// Its share of the whole.
    pub share: f64,
    /// Its fill.
    pub fill: Fill,
}

/// Narrower parts go without a number: it would touch the next one on a screen 400 px wide.
const LEAST_FOR_NUMBER: f64 = 0.06;

/// The bar, with ends of its scale below.
pub fn stack(parts: &[Part], low: &str, high: &str) -> Drawing {
    let mut from = 0.0;
    let placed: Vec<(f64, f64, &Part)> = parts
        .iter()
        .map(|part| {
            let start = from;
            from += part.share.max(0.0);
            (start, from, part)
        })
        .collect();
    let marks = html! {
        @for (from, to, part) in &placed {
            @if part.share >= LEAST_FOR_NUMBER { text.tick x=(at(f64::midpoint(*from, *to))) y="12" text-anchor="middle" { (part.number) } }
            (filled(part.fill, *from, *to, 20, 44))
        }
        // The cuts, in the colour of the page.
        @for (_, to, _) in &placed { line.cut x1=(at(*to)) x2=(at(*to)) y1="20" y2="64" {} }
        text.tick x="0" y="82" { (low) }
        text.tick x="100%" y="82" text-anchor="end" { (high) }
    };
    Drawing { marks, height: 88 }
}
