//! Durations on the command line: `500ms`, `2s`, `5min`; a bare number is seconds, as with free, vmstat and sar.

use std::time::Duration;

/// Parses a duration.
///
/// # Errors
/// Says how a duration is written.
pub fn parse(text: &str) -> Result<Duration, String> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let scale = match unit {
        "ms" => Some(1e-3),
        "s" | "" => Some(1.0),
        "min" => Some(60.0),
        _ => None,
    };
    let seconds = number.parse::<f64>().ok().zip(scale).map(|(n, s)| n * s);
    seconds
        .and_then(|s| Duration::try_from_secs_f64(s).ok())
        .filter(|d| !d.is_zero() && *d <= Duration::from_secs(3600))
        .ok_or_else(|| {
            format!("'{text}' is not a duration up to 60min; write seconds, or a number and a unit, for example 2, 500ms, 2s or 5min")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_seconds_unless_it_has_another_unit() {
        assert_eq!(parse("2"), Ok(Duration::from_secs(2)));
        assert_eq!(parse("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse("1.5s"), Ok(Duration::from_millis(1500)));
        for bad in ["s", "", ".", "-1s", "1e9s", "61min", "0s", "infs", "NaNs"] {
            assert!(parse(bad).unwrap_err().contains("for example"), "{bad}");
        }
    }
}
