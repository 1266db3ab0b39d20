//! Days of the calendar by UTC, which name the files: no clock of a time zone repeats or leaves out an hour there.

use std::fmt;
use std::str::FromStr;

/// A day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day {
    /// Since year 0 of the Gregorian calendar.
    pub year: i64,
    /// From 1.
    pub month: u8,
    /// From 1.
    pub day: u8,
}

const MS: u64 = 24 * 3600 * 1000;

impl Day {
    /// The day of a moment in milliseconds since 1970.
    #[must_use]
    pub fn from_ms(wall_ms: u64) -> Day {
        // Days since 1 March of the year 0, in which a leap day is the last of a year (719,468 of them before 1970).
        let days = i64::try_from(wall_ms / MS).unwrap_or_default() + 719_468;
        let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let years = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * years + years / 4 - years / 100);
        let shifted = (5 * of_year + 2) / 153;
        let day = of_year - (153 * shifted + 2) / 5 + 1;
        let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
        let small = |n: i64| u8::try_from(n).unwrap_or_default();
        Day { year: years + era * 400 + i64::from(month <= 2), month: small(month), day: small(day) }
    }
}

impl Day {
    /// When it begins, in milliseconds since 1970; `None` of one before that.
    #[must_use]
    pub fn begins_ms(self) -> Option<u64> {
        // Years begin in March, as above.
        let year = self.year - i64::from(self.month <= 2);
        let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
        let month = i64::from(self.month);
        let shifted = if month > 2 { month - 3 } else { month + 9 };
        let of_year = (153 * shifted + 2) / 5 + i64::from(self.day) - 1;
        let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468;
        u64::try_from(days).ok()?.checked_mul(MS)
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl FromStr for Day {
    type Err = ();

    fn from_str(text: &str) -> Result<Day, ()> {
        let mut parts = text.split('-');
        let mut part = |digits: usize| {
            let part = parts.next().filter(|part| part.len() == digits && part.bytes().all(|b| b.is_ascii_digit()));
            part.and_then(|part| part.parse::<i64>().ok()).ok_or(())
        };
        let (year, month, day) = (part(4)?, part(2)?, part(2)?);
        let small = |n: i64| u8::try_from(n).map_err(drop);
        let (month, day) = (small(month)?, small(day)?);
        let is_one = (1..=12).contains(&month) && (1..=31).contains(&day) && parts.next().is_none();
        if is_one { Ok(Day { year, month, day }) } else { Err(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_begins_where_its_first_millisecond_is() {
        for ms in [0, 68_169_600_000, 951_782_400_000, 1_709_164_800_000, 1_796_000_000_000] {
            let day = Day::from_ms(ms);
            assert_eq!(day.begins_ms(), Some(ms / MS * MS), "{day}");
        }
        assert_eq!("1969-12-31".parse::<Day>().unwrap().begins_ms(), None);
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        for (ms, day) in [(0, "1970-01-01"), (951_782_400_000, "2000-02-29"), (1_796_000_000_000, "2026-11-30")] {
            assert_eq!(Day::from_ms(ms).to_string(), day);
            assert_eq!(day.parse(), Ok(Day::from_ms(ms)));
        }
        assert_eq!(Day::from_ms(86_399_999).to_string(), "1970-01-01");
        for no in ["2026-11-3", "2026-13-01", "2026-11-30-1", "x", "", "2026-+1-01"] {
            assert_eq!(no.parse::<Day>(), Err(()), "{no}");
        }
    }
}
