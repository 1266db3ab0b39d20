//! Latencies on one logarithmic scale: a dot at the median, a line to the 99th percentile.

use maud::html;
use ramline_units::Nanos;

use super::{Drawing, at, decades, label, log_share};
use crate::format;
use crate::sheet::Timed;

const ROW: u32 = 34;

/// The tiers, one below the other, over one axis; `None` without a positive latency.
pub fn latencies(spans: &[Timed]) -> Option<Drawing> {
    let ns = |n: Nanos| n.as_secs_f64() * 1e9;
    let (first, last) = decades(spans.iter().flat_map(|s| [ns(s.p50), ns(s.p99)]))?;
    let place = |value: f64| log_share(value, 10f64.powi(first), 10f64.powi(last));
    let bottom = ROW * u32::try_from(spans.len()).ok()?;
    let tops = (0u32..).map(|row| row * ROW);
    // Over many decades only every second one is named.
    let step = if last - first > 6 { 2 } else { 1 };
    let marks = html! {
        @for decade in first..=last {
            @let x = at(place(10f64.powi(decade)));
            @for top in tops.clone().take(spans.len()) { line.grid x1=(x) x2=(x) y1=(top + 20) y2=(top + 30) {} }
            @if (decade - first) % step == 0 {
                @let anchor = if decade == first { "start" } else if decade == last { "end" } else { "middle" };
                text.tick x=(x) y=(bottom + 16) text-anchor=(anchor) { (tick(decade)) }
            }
        }
        @for (span, top) in spans.iter().zip(tops) {
            (label(&span.name, &span.value, top + 14))
            line.grid x1="0" x2="100%" y1=(top + 25) y2=(top + 25) {}
            @let (from, to) = (place(ns(span.p50)), place(ns(span.p99)));
            line.span x1=(at(from)) x2=(at(to)) y1=(top + 25) y2=(top + 25) {}
            line.end x1=(at(to)) x2=(at(to)) y1=(top + 20) y2=(top + 30) {}
            circle.dot cx=(at(from)) cy=(top + 25) r="5" {}
        }
    };
    Some(Drawing { marks, height: bottom + 22 })
}

/// A power of ten nanoseconds.
fn tick(decade: i32) -> String {
    let exponent = u32::try_from(decade).unwrap_or(0);
    10u64.checked_pow(exponent).map_or_else(String::new, |ns| format::latency(Nanos(ns)))
}
