//! When a line was logged: seconds since boot, a time of day, or both, as far as the prefix holds them.

use crate::prelude::*;

/// Seconds of a day.
const DAY: f64 = 86_400.0;
/// Days before the year 1970 began, in the count of days below.
const BEFORE_1970: i64 = 719_468;

/// A time as the log has it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Stamp {
    /// As it stands in the log.
    pub text: String,
    /// Seconds since boot.
    pub boot: Option<f64>,
    /// Seconds of the calendar: since 1970 where a year is known, since the year began where only the date is, since midnight without one.
    pub wall: Option<f64>,
    /// A date is known.
    pub dated: bool,
    /// A year is known.
    pub has_year: bool,
}

impl Stamp {
    /// Of seconds since boot.
    pub(super) fn from_boot(text: &str, seconds: f64) -> Stamp {
        Stamp { text: text.to_owned(), boot: Some(seconds), ..Stamp::default() }
    }

    /// Of seconds since 1970.
    pub(super) fn from_epoch(seconds: f64) -> Stamp {
        let days = (seconds / DAY).floor();
        let of_day = seconds - days * DAY;
        let (year, month, day) = date_of(days);
        let (hour, minute, second) = (of_day / 3600.0, of_day / 60.0 % 60.0, of_day % 60.0);
        let text = format!(
            "{year:04}-{month:02}-{day:02} {:02.0}:{:02.0}:{:02.0} UTC",
            hour.floor(),
            minute.floor(),
            second.floor()
        );
        Stamp { text, wall: Some(seconds), dated: true, has_year: true, ..Stamp::default() }
    }

    /// Of a date and a time of day; the year is optional, and so is the date where the month's name is not known.
    pub(super) fn from_wall(text: &str, year: Option<i64>, date: Option<(u32, u32)>, of_day: f64) -> Stamp {
        // What is no date is none.
        let year = year.filter(|year| (1..=9999).contains(year));
        let date = date.filter(|(month, day)| (1..=12).contains(month) && (1..=31).contains(day));
        let days = date
            .map(|(month, day)| days_to(year.unwrap_or(0), month, day) - if year.is_some() { BEFORE_1970 } else { 0 });
        let days = days.and_then(|days| i32::try_from(days).ok()).map_or(0.0, f64::from);
        let wall = Some(days * DAY + of_day);
        Stamp {
            text: text.to_owned(),
            wall,
            dated: date.is_some(),
            has_year: date.is_some() && year.is_some(),
            boot: None,
        }
    }

    /// Of a time that a user asks for: `00:46`, `2026-11-30 00:46:00`, `Nov 30 00:46`, or seconds since boot; `None` where it is none of these.
    ///
    /// ```
    /// use ramline_snapshot::kernel_log::Stamp;
    /// assert_eq!(Stamp::from_asked("00:46").and_then(|at| at.wall), Some(2760.0));
    /// assert_eq!(Stamp::from_asked("2760.5").and_then(|at| at.boot), Some(2760.5));
    /// assert_eq!(Stamp::from_asked("last night"), None);
    /// ```
    #[must_use]
    pub fn from_asked(text: &str) -> Option<Stamp> {
        super::dates::asked(text)
    }

    /// Seconds from another time to this one; `None` where the two have no clock in common.
    #[must_use]
    pub fn since(&self, other: &Stamp) -> Option<f64> {
        if let (Some(now), Some(before)) = (self.boot, other.boot) {
            return Some(now - before);
        }
        let (now, before) = self.wall.zip(other.wall)?;
        if self.has_year == other.has_year && self.dated == other.dated {
            let gap = now - before;
            // Past midnight, of times without a date.
            return Some(if !self.dated && gap < 0.0 { gap + DAY } else { gap });
        }
        Some((now - before).rem_euclid(DAY))
    }

    /// The time of day in seconds, where the log has one.
    #[must_use]
    pub fn seconds_of_day(&self) -> Option<f64> {
        self.wall.map(|wall| wall.rem_euclid(DAY))
    }
}

/// Days of a date of the Gregorian calendar, counted from March of the year 0, in which a leap day is the last of a year.
fn days_to(year: i64, month: u32, day: u32) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, month, day) = (year.div_euclid(400), i64::from(month), i64::from(day));
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year
}

/// The date of a day since 1970.
#[expect(clippy::cast_possible_truncation, reason = "days of a log's time, bounded before")]
fn date_of(days: f64) -> (i64, i64, i64) {
    let days = days.clamp(-1e9, 1e9) as i64 + BEFORE_1970;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_seconds_since_1970_agree() {
        let epoch = Stamp::from_epoch(1_772_322_360.0);
        assert_eq!(epoch.text, "2026-02-28 23:46:00 UTC");
        let wall = Stamp::from_wall("x", Some(2026), Some((2, 28)), 23.0 * 3600.0 + 46.0 * 60.0);
        assert_eq!(wall.since(&epoch), Some(0.0));
    }

    #[test]
    fn what_is_no_date_is_none() {
        let far = Stamp::from_wall("x", Some(i64::MAX), Some((1, 1)), 5.0);
        assert_eq!((far.has_year, far.dated), (false, true));
        assert!(!Stamp::from_wall("x", Some(2026), Some((13, u32::MAX)), 5.0).dated);
    }

    #[test]
    fn midnight_passes_without_a_date() {
        let before = Stamp::from_wall("x", None, None, 86_390.0);
        let after = Stamp::from_wall("y", None, None, 5.0);
        assert_eq!(after.since(&before), Some(15.0));
        assert_eq!(Stamp::from_boot("z", 4.0).since(&before), None);
    }
}
