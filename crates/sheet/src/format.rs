//! Numbers as the page prints them: three digits that matter, a unit that fits, and a space that does not break.
//!
//! Worked example: `times(141_250.0)` is `141,000×`, `latency(Nanos(80_100))` is `80.1 µs`.

use ramline_units::{Bytes, Nanos};

use crate::text::number;

/// Between a number and its unit.
const GAP: char = '\u{a0}';

/// Three digits that matter, thousands separated: `0.061`, `2.81`, `94.2`, `141,000`.
pub fn digits(value: f64) -> String {
    if !value.is_finite() {
        return "unknown".to_owned();
    }
    let size = value.abs();
    let decimals = match size {
        v if v >= 99.95 || v == 0.0 => 0,
        v if v >= 9.995 => 1,
        v if v >= 0.9995 => 2,
        _ => 3,
    };
    if size >= 999.5 {
        let step = 10f64.powf(size.log10().floor() - 2.0);
        let rounded = format!("{:.0}", (size / step).round() * step);
        let whole = rounded.parse().map_or(rounded, number::count);
        return if value < 0.0 { format!("-{whole}") } else { whole };
    }
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A whole number, exact: `1,234,567`.
pub fn count(value: u64) -> String {
    number::count(value)
}

/// A multiple: `3.2×`.
pub fn times(value: f64) -> String {
    format!("{}×", digits(value))
}

/// A share of one in percent: `6.1 %`.
pub fn percent(share: f64) -> String {
    number::percent(share).replace(' ', "\u{a0}")
}

/// A size in binary units.
pub fn size(bytes: Bytes) -> String {
    bytes.to_string().replace(' ', "\u{a0}")
}

/// A size as a place on the axis of a chart.
pub fn axis(bytes: Bytes) -> f64 {
    bytes.as_f64()
}

/// A duration of one operation: `85 ns`, `80.1 µs`, `1.5 ms`, `12 s`.
pub fn latency(ns: Nanos) -> String {
    measured_ns(ns.as_secs_f64() * 1e9)
}

/// The same from a mean, in nanoseconds.
fn measured_ns(ns: f64) -> String {
    let seconds = ns / 1e9;
    let (value, unit) = match seconds {
        s if s >= 0.9995 => (s, "s"),
        s if s >= 0.9995e-3 => (s * 1e3, "ms"),
        s if s >= 0.9995e-6 => (s * 1e6, "µs"),
        s => (s * 1e9, "ns"),
    };
    format!("{}{GAP}{unit}", digits(value))
}

/// A measured number of bytes, or bytes a second, in binary units.
pub fn measured_size(value: f64) -> String {
    let mut value = value;
    let mut unit = "B";
    for next in ["KiB", "MiB", "GiB", "TiB"] {
        if value.abs() < 1023.5 {
            break;
        }
        value /= 1024.0;
        unit = next;
    }
    format!("{}{GAP}{unit}", digits(value))
}

/// A sentence with a capital at its head and no line break between a number and its unit.
pub fn sentence(text: &str) -> String {
    let kept = keep(text);
    let mut chars = kept.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// No line break between a number and its unit.
pub fn keep(text: &str) -> String {
    const UNITS: [&str; 10] = ["B", "KiB", "MiB", "GiB", "TiB", "%", "s", "ms", "min", "h"];
    let mut out = String::with_capacity(text.len());
    for word in text.split_inclusive(' ') {
        let unit = word.trim_end_matches(|c: char| c == ' ' || c.is_ascii_punctuation() && c != '%');
        if UNITS.contains(&unit) && out.trim_end().ends_with(|c: char| c.is_ascii_digit()) {
            out.pop();
            out.push(GAP);
        }
        out.push_str(word);
    }
    out
}

/// Nanoseconds since 1970 as `2026-11-21 20:24 UTC`.
pub fn date(unix_ns: u64) -> String {
    let minutes = unix_ns / 60_000_000_000;
    let days = minutes / 1440;
    // Days to a civil date, with years that begin in March: Howard Hinnant, "chrono-Compatible Low-Level Date
    // Algorithms", civil_from_days.
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02} UTC", minutes % 1440 / 60, minutes % 60)
}

/// Milliseconds since 1970 the same way.
pub fn date_ms(unix_ms: u64) -> String {
    date(unix_ms.saturating_mul(1_000_000))
}

/// Days, hours or minutes: `41 days`, `3.2 hours`.
pub fn long(ns: Nanos) -> String {
    let seconds = ns.as_secs_f64();
    let (value, unit) = match seconds {
        s if s >= 2.0 * 86_400.0 => (s / 86_400.0, "days"),
        s if s >= 2.0 * 3600.0 => (s / 3600.0, "hours"),
        s if s >= 120.0 => (s / 60.0, "minutes"),
        s => (s, "s"),
    };
    format!("{}{GAP}{unit}", digits(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_matter_and_thousands_are_separated() {
        for (value, text) in [
            (0.0, "0"),
            (0.0612, "0.061"),
            (0.9996, "1"),
            (2.814, "2.81"),
            (94.23, "94.2"),
            (141_250.0, "141,000"),
            (999.6, "1,000"),
            (-1234.0, "-1,230"),
            (f64::NAN, "unknown"),
        ] {
            assert_eq!(digits(value), text, "{value}");
        }
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!((count(0), count(999)), ("0".to_owned(), "999".to_owned()));
    }

    #[test]
    fn a_unit_stays_with_its_number() {
        assert_eq!(latency(Nanos(80_100)), "80.1\u{a0}µs");
        assert_eq!(latency(Nanos(999_999)), "1\u{a0}ms");
        assert_eq!(measured_size(1.5 * 1024.0 * 1024.0), "1.5\u{a0}MiB");
        assert_eq!(percent(0.0006), "0.06\u{a0}%");
        assert_eq!(long(Nanos(3_600_000_000_000 * 50)), "2.08\u{a0}days");
    }

    #[test]
    fn a_sentence_begins_with_a_capital_and_keeps_numbers_with_their_units() {
        let text = sentence("1.5 % of 24 GiB is cache (by the last 10 s); 3 pages a second.");
        assert_eq!(text, "1.5\u{a0}% of 24\u{a0}GiB is cache (by the last 10\u{a0}s); 3 pages a second.");
        assert_eq!((sentence("ärger s"), sentence("")), ("Ärger s".to_owned(), String::new()));
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00 UTC"),
            (951_782_400, "2000-02-29 00:00 UTC"),
            (1_798_761_599, "2026-12-31 23:59 UTC"),
            (4_107_542_400, "2100-03-01 00:00 UTC"),
        ] {
            assert_eq!(date(seconds * 1_000_000_000), text);
            assert_eq!(date_ms(seconds * 1000), text);
        }
    }
}
