//! Numbers as sentences need them: shares, counts, rates, distances; each with its unit.
//!
//! ```
//! use ramline_sheet::text::number;
//! assert_eq!(number::percent(0.0612), "6.1 %");
//! assert_eq!(number::count(1234567), "1,234,567");
//! assert_eq!(number::minutes(130.0), "2 h 10 min");
//! ```

use ramline_units::{Bytes, Nanos, SignedBytes};

use crate::sheet::Cell;

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

/// A share as a percentage without decimals: of a bound, or of what goes on.
#[must_use]
pub fn whole_percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
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

/// A count, with thousands apart.
impl From<u64> for Cell {
    fn from(n: u64) -> Self {
        count(n).into()
    }
}

/// A count of things: `1 round`, `20,478 inodes`, `3 processes`.
#[must_use]
pub fn things(n: u64, one: &str) -> String {
    let ending = match one {
        _ if n == 1 => "",
        // Spoken with a k.
        "epoch" => "s",
        hissing if hissing.ends_with('s') || hissing.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{} {one}{ending}", count(n))
}

/// How many of `all` rows are not among the `shown` ones: for "and 3 more".
#[must_use]
pub fn beyond(all: usize, shown: usize) -> u64 {
    u64::try_from(all.saturating_sub(shown)).unwrap_or(u64::MAX)
}

/// The place of what has this index: the first is 1.
#[must_use]
pub const fn place(index: u32) -> u32 {
    index.saturating_add(1)
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

/// The same without zeros at its end: `4`, `2.77`.
#[must_use]
pub fn trimmed(value: f64) -> String {
    let text = figure(value);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// KB in decimal units, 1 MB being 1000 KB: of studies that count so.
///
/// ```
/// assert_eq!(ramline_sheet::text::number::kilobytes(10_200_000), "10.2 GB");
/// ```
#[must_use]
pub fn kilobytes(kb: u64) -> String {
    kilobytes_of(kb as f64)
}

/// The same of a mean.
#[must_use]
pub fn kilobytes_of(kb: f64) -> String {
    let (value, unit) = match kb {
        kb if kb >= 1e6 => (kb / 1e6, "GB"),
        kb if kb >= 1e3 => (kb / 1e3, "MB"),
        kb => (kb, "KB"),
    };
    format!("{} {unit}", trimmed(value))
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

/// Seconds to go, in the words of [`minutes`].
#[must_use]
pub fn to_go(seconds: f64) -> String {
    minutes(seconds / 60.0)
}

/// A time inside one system call: whole nanoseconds below 10 us, else microseconds, so that the times of one call can be compared.
#[must_use]
pub fn call_time(time: Nanos) -> String {
    match time.0 {
        0..10_000 => format!("{} ns", count(time.0)),
        _ => format!("{:.1} us", time.as_secs_f64() * 1e6),
    }
}

/// A rate of bytes: `3.2 MiB/s`.
#[must_use]
pub fn per_second(bytes: Bytes) -> String {
    format!("{bytes}/s")
}

/// A rate of growth with its sign: `+1.0 MiB/s`.
#[must_use]
pub fn growth(bytes_per_second: f64) -> String {
    let sign = if bytes_per_second < 0.0 { "-" } else { "+" };
    format!("{sign}{}", per_second(bytes(bytes_per_second.abs())))
}

/// A movement with its sign: `+1.0 MiB`.
#[must_use]
pub fn moved(by: SignedBytes) -> String {
    if by.is_negative() { by.to_string() } else { format!("+{by}") }
}

/// A total of microseconds as the kernel counts stall times: `0.2 s`.
#[must_use]
pub fn stalled(microseconds: u64) -> String {
    format!("{:.1} s", Nanos(microseconds.saturating_mul(1000)).as_secs_f64())
}

/// A time ago in the one unit that says enough: `12 min`, `3 h`, `2 days`.
#[must_use]
pub fn age(age: Nanos) -> String {
    let seconds = age.0 / 1_000_000_000;
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        7200..172_800 => format!("{} h", seconds / 3600),
        _ => things(seconds / 86_400, "day"),
    }
}

/// The bound of a class of ages: `60 minutes`, `24 hours`, `7 days`.
#[must_use]
pub fn bound_of_ages(within: Nanos) -> String {
    match within.0 / 1_000_000_000 {
        3600 => "60 minutes".to_owned(),
        86_400 => "24 hours".to_owned(),
        _ => age(within),
    }
}

/// The bytes of a floating-point result, for printing only.
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped; printed with one decimal")]
pub fn bytes(value: f64) -> Bytes {
    Bytes(if value.is_finite() { value.clamp(0.0, 1.8e19) as u64 } else { 0 })
}

/// The nanoseconds of a floating-point result, for printing only.
#[must_use]
pub fn nanos(value: f64) -> Nanos {
    Nanos(bytes(value.round()).0)
}

/// What a rate was measured over: `over 2.0 s`, or what is said without a window.
#[must_use]
pub fn over(span: Option<Nanos>) -> String {
    span.map_or_else(|| "since boot, no rate".to_owned(), |span| format!("over {span}"))
}

/// A value, or that it is not known.
#[must_use]
pub fn known(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "not known".to_owned(), |value| value.to_string())
}

/// A value in words. Emulated seconds say so: nothing may take them for a machine's.
#[must_use]
pub fn value(value: f64, unit: &str, emulated: bool) -> String {
    match unit {
        "bytes" => bytes(value).to_string(),
        "bytes/s" => per_second(bytes(value)),
        "s" if emulated => format!("{} emulated", seconds(value)),
        "s" => seconds(value),
        _ => format!("{} {unit}", figure(value)),
    }
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
    fn a_time_ago_and_a_total_of_waiting_are_told_in_one_unit() {
        let hours = |n: u64| Nanos(n * 3_600_000_000_000);
        assert_eq!([Nanos(30_000_000_000), hours(5), hours(50)].map(age), ["30 s", "5 h", "2 days"]);
        assert_eq!([hours(1), hours(24), hours(168)].map(bound_of_ages), ["60 minutes", "24 hours", "7 days"]);
        assert_eq!((stalled(240_000).as_str(), stalled(0).as_str()), ("0.2 s", "0.0 s"));
    }

    #[test]
    fn what_moves_has_a_sign_and_things_a_plural() {
        let mib = 1_048_576.0;
        assert_eq!((growth(mib), growth(-mib)), ("+1.0 MiB/s".to_owned(), "-1.0 MiB/s".to_owned()));
        assert_eq!([0, 4096, -4096].map(|n| moved(SignedBytes(n))), ["+0 B", "+4.0 KiB", "-4.0 KiB"]);
        let named = [(1, "process"), (2, "process"), (2, "branch"), (1200, "inode")].map(|(n, one)| things(n, one));
        assert_eq!(named, ["1 process", "2 processes", "2 branches", "1,200 inodes"]);
    }

    #[test]
    fn times_to_go_and_times_inside_a_call_have_their_units() {
        assert_eq!((to_go(30.0), to_go(90.0)), ("30 s".to_owned(), "2 min".to_owned()));
        assert_eq!((call_time(Nanos(9876)), call_time(Nanos(12_345))), ("9,876 ns".to_owned(), "12.3 us".to_owned()));
        assert_eq!((whole_percent(0.02), place(0), place(u32::MAX)), ("2 %".to_owned(), 1, u32::MAX));
        assert_eq!((nanos(1.6), nanos(-1.0), nanos(f64::NAN)), (Nanos(2), Nanos(0), Nanos(0)));
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
        assert_eq!([trimmed(4.0), trimmed(2.77), trimmed(10.0), trimmed(600.0)], ["4", "2.77", "10", "600"]);
    }
}
