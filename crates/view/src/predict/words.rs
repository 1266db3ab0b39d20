//! Figures of a forecast in words: a median with its range.

use ramline_predict::forecast::{Figures, Range, Verdict};
use ramline_sheet::format;

/// How its runs end: `fine`, or `fine, 30 % killed`.
pub fn ends(figures: Option<&Figures>) -> String {
    let Some(figures) = figures else { return "not simulated".to_owned() };
    let part = |share: f64, what: &str| {
        if share > 0.0 { format!(", {} {what}", format::percent(share)) } else { String::new() }
    };
    let slow = if figures.verdict == Verdict::Fine { part(figures.thrashed, "too slow") } else { String::new() };
    let some = format!("{}{slow}", part(figures.killed, "killed"));
    match figures.verdict {
        Verdict::Fine => format!("fine{some}"),
        Verdict::Thrashing => format!("thrashing{some}"),
        Verdict::Killed if figures.killed < 1.0 => format!("killed, {} of the runs", format::percent(figures.killed)),
        Verdict::Killed => "killed".to_owned(),
    }
}

/// `0.52 s (0.41 to 0.66)`.
pub fn seconds(range: Range) -> String {
    let text = |value: f64| if value < 0.1 { format!("{value:.3}") } else { format!("{value:.2}") };
    if range.low >= range.high {
        // Of one simulation.
        return format!("{} s", text(range.median));
    }
    format!("{} s ({} to {})", text(range.median), text(range.low), text(range.high))
}

/// `1,200 (1,100 to 1,300)`.
pub fn counts(range: Range) -> String {
    with_interval(range, whole)
}

/// `12 MiB (10 MiB to 13 MiB)`.
pub fn bytes(range: Range) -> String {
    with_interval(range, format::measured_size)
}

/// `40 % (35 % to 52 %)`.
pub fn share(range: Range) -> String {
    with_interval(range, format::percent)
}

fn with_interval(range: Range, text: fn(f64) -> String) -> String {
    let (median, low, high) = (text(range.median), text(range.low), text(range.high));
    if low == high { median } else { format!("{median} ({low} to {high})") }
}

/// A count without its range.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts of pages")]
pub fn whole(value: f64) -> String {
    format::count(value.max(0.0).round() as u64)
}
