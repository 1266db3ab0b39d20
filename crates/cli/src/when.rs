//! A moment of the past as people name it: `00:46`, `2026-11-29 00:46`, `2h` for so long ago. Local time.

use ramline_kernel::clock::{Local, local, to_unix};

use crate::prelude::*;

const DAY: i64 = 24 * 3600;

/// What was asked for, in seconds since 1970. A time without a date is the last one that has been, or with `yesterday` that of the day before.
pub fn parse(text: &str, yesterday: bool, now: i64) -> Result<i64> {
    let error = || {
        let text = ramline_view::escape(text).into_owned();
        Failure::usage(format!(
            "'{text}' is no time of the past\n  try: --at 00:46, --at '2026-11-29 00:46', --at 2h for two hours ago"
        ))
    };
    let asked = moment(text.trim(), yesterday, now).filter(|at| *at <= now);
    Ok(asked.ok_or_else(error)?)
}

fn moment(text: &str, yesterday: bool, now: i64) -> Option<i64> {
    if let Some(unix) = text.strip_prefix('@') {
        return unix.parse().ok();
    }
    if !text.contains([':', '-'])
        && let Ok(ago) = duration::parse_days(text)
    {
        return now.checked_sub(i64::try_from(ago.as_secs()).ok()?);
    }
    let today = local(now)?;
    let (date, time) = match text.split_once([' ', 'T']) {
        Some((date, time)) => (Some(date), time),
        None if text.contains('-') => (Some(text), "00:00"),
        None => (None, text),
    };
    let mut parts = time.split(':').map(|part| part.parse::<i32>().ok().filter(|n| (0..60).contains(n)));
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next().unwrap_or(Some(0))?);
    if hour > 23 || parts.next().is_some() {
        return None;
    }
    let of_day = Local { hour, minute, second, summer: None, ..today };
    let Some(date) = date else {
        let at = to_unix(of_day)?;
        // A day before by the calendar, not by 24 hours: a clock change lies between on two days a year.
        let before = || to_unix(Local { day: of_day.day - 1, ..of_day });
        return if yesterday || at > now { before() } else { Some(at) };
    };
    let mut parts = date.split('-').map(|part| part.parse::<i32>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let is_one = (1970..10_000).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    if !is_one || parts.next().is_some() {
        return None;
    }
    to_unix(Local { year, month, day, ..of_day })
}

/// `2026-11-29 00:46:05`, local time.
pub fn words(unix: i64) -> String {
    local(unix).map_or_else(String::new, |at| {
        let Local { year, month, day, hour, minute, second, .. } = at;
        format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
    })
}

/// `3 min`, `2 h 5 min`, `4 days`: so long ago.
pub fn ago(seconds: i64) -> String {
    match seconds {
        ..60 => format!("{} s", seconds.max(0)),
        60..3600 => format!("{} min", seconds / 60),
        3600..DAY => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
        _ if seconds < 2 * DAY => format!("a day and {} h", seconds % DAY / 3600),
        _ => format!("{} days", seconds / DAY),
    }
}

/// Now, in seconds since 1970.
pub fn now() -> i64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_secs()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_the_last_ones_that_have_been() {
        // Noon of a day, whatever the time zone of this machine is.
        let noon = to_unix(Local { year: 2026, month: 11, day: 30, hour: 12, ..Local::default() }).unwrap();
        let at = |text: &str| parse(text, false, noon).ok().map(words);
        assert_eq!(at("00:46").as_deref(), Some("2026-11-30 00:46:00"));
        assert_eq!(at("13:00").as_deref(), Some("2026-11-29 13:00:00"));
        assert_eq!(at("2026-11-02 23:59:58").as_deref(), Some("2026-11-02 23:59:58"));
        assert_eq!(at("2026-11-02T23:59").as_deref(), Some("2026-11-02 23:59:00"));
        assert_eq!(at("2026-11-02").as_deref(), Some("2026-11-02 00:00:00"));
        assert_eq!(at("2h").as_deref(), Some("2026-11-30 10:00:00"));
        assert_eq!(at("@1000").map(|_| ()), Some(()));
        assert_eq!(words(parse("10:00", true, noon).unwrap()), "2026-11-29 10:00:00");
        for no in ["last night", "25:00", "12:60", "2026-13-01 00:00", "2026-12-24 00:00", "1:2:3:4", ""] {
            assert!(parse(no, false, noon).unwrap_err().to_string().contains("try:"), "{no}");
        }
    }
}
