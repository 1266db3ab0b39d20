//! Durations on the command line: `500ms`, `2s`, `5min`; a bare number is seconds, as with free, vmstat and sar.

use std::time::Duration;

use ramline_lab::params::duration;

/// Parses a duration.
///
/// # Errors
/// Says how a duration is written.
pub fn parse(text: &str) -> Result<Duration, String> {
    let bare = text.ends_with(|last: char| last.is_ascii_digit() || last == '.');
    let read = if bare { duration(&format!("{text}s")) } else { duration(text) };
    read.ok_or_else(|| {
        format!("'{text}' is not a duration up to 60min; write seconds, or a number and a unit, for example 2, 500ms, 2s or 5min")
    })
}

/// Parses a duration that may be nothing: `0s`.
///
/// # Errors
/// As [`parse`].
pub fn parse_or_none(text: &str) -> Result<Duration, String> {
    if matches!(text, "0" | "0s") { Ok(Duration::ZERO) } else { parse(text) }
}

/// Parses a time to wait, which is of minutes: `10m` too.
///
/// # Errors
/// As [`parse`].
pub fn parse_wait(text: &str) -> Result<Duration, String> {
    text.strip_suffix('m').map_or_else(|| parse(text), |number| parse(&format!("{number}min")))
}

/// Parses a time of days: `30d` too, up to 3650d.
///
/// # Errors
/// As [`parse_age`].
pub fn parse_days(text: &str) -> Result<Duration, String> {
    match text.strip_suffix('d').map(|days| days.parse::<u64>().ok().filter(|days| (1..=3650).contains(days))) {
        None => parse_age(text),
        Some(Some(days)) => Ok(Duration::from_secs(days * 24 * 3600)),
        Some(None) => Err(format!("'{text}' is not 1d to 3650d; write for example 30min, 12h or 30d")),
    }
}

/// Parses an age, which may be of hours: `12h` too, up to 1000h.
///
/// # Errors
/// As [`parse`].
pub fn parse_age(text: &str) -> Result<Duration, String> {
    let hours =
        text.strip_suffix('h').map(|number| number.parse::<u64>().ok().filter(|hours| (1..=1000).contains(hours)));
    match hours {
        None => parse_wait(text).and_then(|age| match age.as_secs() {
            0 => Err(format!("'{text}' is less than a second; ages are whole seconds, for example 30s, 10min or 12h")),
            seconds => Ok(Duration::from_secs(seconds)),
        }),
        Some(Some(hours)) => Ok(Duration::from_secs(hours * 3600)),
        Some(None) => Err(format!("'{text}' is not an age of 1h to 1000h; write for example 30s, 10min or 12h")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_seconds_unless_it_has_another_unit() {
        assert_eq!(parse("2"), Ok(Duration::from_secs(2)));
        assert_eq!(parse("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse("1.5s"), Ok(Duration::from_millis(1500)));
        for bad in ["s", "", ".", "5m", "-1s", "1e9s", "61min", "0s", "infs", "NaNs"] {
            assert!(parse(bad).unwrap_err().contains("for example"), "{bad}");
        }
    }

    #[test]
    fn an_age_is_of_whole_seconds_and_may_be_of_hours() {
        assert_eq!((parse_age("12h"), parse_age("90s")), (Ok(Duration::from_secs(43200)), Ok(Duration::from_secs(90))));
        for bad in ["0h", "1001h", "h", "500ms", "-1h"] {
            assert!(parse_age(bad).unwrap_err().contains("for example"), "{bad}");
        }
    }

    #[test]
    fn a_wait_is_of_minutes_too_and_a_watch_may_be_none() {
        assert_eq!(parse_wait("10m"), Ok(Duration::from_secs(600)));
        assert_eq!(parse_wait("5s"), Ok(Duration::from_secs(5)));
        assert_eq!(parse_or_none("0s"), Ok(Duration::ZERO));
        assert!(parse_wait("0m").is_err() && parse_wait("m").is_err() && parse_or_none("-0s").is_err());
    }
}
