//! Numbers as sentences need them: shares, counts, rates, distances; each with its unit.
//!
//! What it is not: arithmetic of the model.
//!
//! ```
//! use ramline_view::text::number;
//! assert_eq!(number::percent(0.0612), "6.1 %");
//! assert_eq!(number::count(1234567), "1,234,567");
//! assert_eq!(number::minutes(130.0), "2 h 10 min");
//! ```

use ramline_units::{Bytes, Nanos};

/// A share as a percentage with one decimal; two below 1 %.
#[must_use]
pub fn percent(share: f64) -> String {
    let value = share * 100.0;
    match value.abs() {
        v if v >= 99.95 => format!("{value:.0} %"),
        v if v >= 0.995 || v == 0.0 => format!("{value:.1} %"),
        v if v < 0.005 => format!("{}< 0.01 %", if value < 0.0 { "-" } else { "" }),
        _ => format!("{value:.2} %"),
    }
}

/// A count with thousands apart.
#[must_use]
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A count of things: `1 round`, `20,478 inodes`, `2 processes`.
#[must_use]
pub fn things(n: u64, one: &str) -> String {
    let more = if one.ends_with('s') { "es" } else { "s" };
    format!("{} {one}{}", count(n), if n == 1 { "" } else { more })
}

/// How many of `all` rows are not among the `shown` ones: for "and 3 more".
#[must_use]
pub fn beyond(all: usize, shown: usize) -> u64 {
    u64::try_from(all.saturating_sub(shown)).unwrap_or(u64::MAX)
}

/// A measured count, which may be a mean or a median: whole from 100 on.
#[must_use]
pub fn figure(value: f64) -> String {
    match value.abs() {
        v if v >= 1000.0 => {
            let whole = format!("{:.0}", v);
            let text = whole.parse::<u64>().map_or(whole, count);
            if value < 0.0 { format!("-{text}") } else { text }
        }
        v if v >= 100.0 || v == 0.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 0.01 => format!("{value:.2}"),
        _ => "0.00".to_owned(),
    }
}

/// Seconds with the digits that matter.
#[must_use]
pub fn seconds(value: f64) -> String {
    match value {
        v if v >= 10.0 => format!("{value:.1} s"),
        v if v >= 0.1 => format!("{value:.2} s"),
        v if v >= 1e-3 || v <= 0.0 => format!("{:.2} ms", value * 1e3),
        v if v >= 1e-5 => format!("{:.1} us", value * 1e6),
        _ => format!("{:.0} ns", value * 1e9),
    }
}

/// Two values of one unit as an interval, the unit once: `93.6 to 104 ms`, `1.20 to 1.35 GiB`.
#[must_use]
pub fn interval(low: f64, high: f64, unit: &str) -> String {
    let largest = low.abs().max(high.abs());
    let (scale, word) = match unit {
        "s" => match largest {
            v if v >= 1.0 || v <= 0.0 => (1.0, "s"),
            v if v >= 1e-3 => (1e-3, "ms"),
            v if v >= 1e-6 => (1e-6, "us"),
            _ => (1e-9, "ns"),
        },
        "bytes" | "bytes/s" => [("B", 1.0), ("KiB", 1024.0), ("MiB", 1_048_576.0), ("GiB", 1_073_741_824.0)]
            .into_iter()
            .rfind(|(_, size)| largest >= *size)
            .map_or((1.0, "B"), |(word, size)| (size, word)),
        _ => return format!("{} to {}", figure(low), figure(high)),
    };
    let per = if unit == "bytes/s" { "/s" } else { "" };
    let [low, high] = [low, high].map(|value| three_digits(value / scale));
    format!("{low} to {high} {word}{per}")
}

fn three_digits(value: f64) -> String {
    match value.abs() {
        v if v >= 99.95 || v == 0.0 => format!("{value:.0}"),
        v if v >= 9.995 => format!("{value:.1}"),
        v if v >= 0.9995 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// A time to go, in minutes; hours and days when it is long.
#[must_use]
pub fn minutes(minutes: f64) -> String {
    if minutes < 1.0 {
        return format!("{:.0} s", minutes * 60.0);
    }
    let whole = format!("{minutes:.0}").parse::<u64>().unwrap_or(u64::MAX);
    match whole {
        0..90 => format!("{whole} min"),
        90..2880 => format!("{} h {} min", whole / 60, whole % 60),
        _ => format!("{} days", count(whole / 1440)),
    }
}

/// How long ago something was, in the unit that fits: `90 s`, `40 minutes`.
#[must_use]
pub fn age(age: Nanos) -> String {
    match age.as_secs_f64() {
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} minutes", s / 60.0),
        s if s < 172_800.0 => format!("{:.0} hours", s / 3600.0),
        s => format!("{:.0} days", s / 86400.0),
    }
}

/// A rate of bytes: `3.2 MiB/s`.
#[must_use]
pub fn per_second(bytes: Bytes) -> String {
    format!("{bytes}/s")
}

/// The bytes of a floating-point result, for printing only.
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped; printed with one decimal")]
pub fn bytes(value: f64) -> Bytes {
    Bytes(if value.is_finite() { value.clamp(0.0, 1.8e19) as u64 } else { 0 })
}

/// What a rate was measured over: `over 2.0 s`, or what is said without a window.
#[must_use]
pub fn over(span: Option<Nanos>) -> String {
    span.map_or_else(|| "since boot, no rate".to_owned(), |span| format!("over {span}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_keep_the_digits_that_matter() {
        for (share, text) in [
            (0.0, "0.0 %"),
            (0.5, "50.0 %"),
            (1.0, "100 %"),
            (0.0006, "0.06 %"),
            (0.000_01, "< 0.01 %"),
            (-0.02, "-2.0 %"),
        ] {
            assert_eq!(percent(share), text);
        }
    }

    #[test]
    fn an_interval_has_one_unit_and_three_digits() {
        for (low, high, unit, text) in [
            (0.09355, 0.1043, "s", "93.5 to 104 ms"),
            (0.69, 0.06849, "s", "690 to 68.5 ms"),
            (0.999, 12.0, "s", "0.999 to 12.0 s"),
            (29e-6, 4.02e-3, "s", "0.029 to 4.02 ms"),
            (0.0, 0.0, "s", "0 to 0 s"),
            (1023.0 * 1024.0, 1_100_000.0, "bytes", "0.999 to 1.05 MiB"),
            (2e9, 3e9, "bytes/s", "1.86 to 2.79 GiB/s"),
            (1000.0, 2000.0, "faults", "1,000 to 2,000"),
        ] {
            assert_eq!(interval(low, high, unit), text);
        }
    }

    #[test]
    fn a_time_to_go_is_told_in_the_unit_people_plan_in() {
        for (m, text) in [(0.5, "30 s"), (7.2, "7 min"), (89.0, "89 min"), (120.0, "2 h 0 min"), (14_400.0, "10 days")]
        {
            assert_eq!(minutes(m), text);
        }
    }

    #[test]
    fn an_age_is_told_in_the_unit_that_fits() {
        for (seconds, text) in [(90, "90 s"), (2400, "40 minutes"), (7200, "2 hours"), (604_800, "7 days")] {
            assert_eq!(age(Nanos(seconds * 1_000_000_000)), text);
        }
    }

    #[test]
    fn things_are_one_or_several() {
        assert_eq!((things(1, "file"), things(0, "file")), ("1 file".to_owned(), "0 files".to_owned()));
        assert_eq!((things(1, "process"), things(2, "process")), ("1 process".to_owned(), "2 processes".to_owned()));
    }

    #[test]
    fn counts_are_grouped_and_means_rounded() {
        for (n, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(count(n), text);
        }
        for (v, text) in
            [(0.0, "0"), (0.5, "0.50"), (12.34, "12.3"), (123.4, "123"), (54_321.5, "54,322"), (-2000.0, "-2,000")]
        {
            assert_eq!(figure(v), text);
        }
    }
}
