//! Dates and times as loggers print them, in front of a line.

use super::fields::split_number;
use super::stamp::Stamp;

/// Months by their first letters, in languages whose short names systems print.
const MONTHS: [(&str, u32); 27] = [
    ("jan", 1),
    ("feb", 2),
    ("mar", 3),
    ("apr", 4),
    ("may", 5),
    ("jun", 6),
    ("jul", 7),
    ("aug", 8),
    ("sep", 9),
    ("oct", 10),
    ("nov", 11),
    ("dec", 12),
    ("janv", 1),
    ("fév", 2),
    ("avr", 4),
    ("mai", 5),
    ("juin", 6),
    ("juil", 7),
    ("aoû", 8),
    ("déc", 12),
    ("mär", 3),
    ("okt", 10),
    ("dez", 12),
    ("янв", 1),
    ("фев", 2),
    ("мар", 3),
    ("апр", 4),
];
/// Days of the week, as ctime(3) prints them.
const WEEK: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
/// Seconds since boot: `123.456`.
pub(super) fn boot_time(word: &str) -> Option<Stamp> {
    let (whole, fraction) = word.split_once('.')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (digits(whole) && digits(fraction))
        .then(|| word.parse().ok().map(|seconds| Stamp::from_boot(word, seconds)))
        .flatten()
}

/// The first word, and what stands behind it and one blank.
pub(super) fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    text.split_once(' ').unwrap_or((text, ""))
}

/// The time a line begins with, and what stands behind it.
pub(super) fn logged_at(text: &str) -> Option<(Stamp, &str)> {
    iso(text).or_else(|| syslog(text)).or_else(|| klog(text)).or_else(|| epoch(text))
}

/// `2026-11-30T00:46:00.123+01:00`, `2026-11-30 00:46:00,123`, `Fri 2026-11-27 00:46:00 UTC`, `11-30 00:46:00.123`.
fn iso(text: &str) -> Option<(Stamp, &str)> {
    let (weekday, behind) = word(text);
    let text = if WEEK.contains(&weekday) { behind } else { text };
    let (first, rest) = split_number(text)?;
    let (second, rest) = split_number(rest.strip_prefix('-').or_else(|| rest.strip_prefix('/'))?)?;
    let (year, month, day, rest) = match rest.strip_prefix('-').or_else(|| rest.strip_prefix('/')) {
        Some(rest) => {
            let (third, rest) = split_number(rest)?;
            (Some(i64::try_from(first).ok()?), second, third, rest)
        }
        None => (None, first, second, rest),
    };
    let (seconds, rest) = clock(rest.strip_prefix(['T', ' '])?)?;
    let shown = text.strip_suffix(rest)?;
    // A zone: Z, UTC, +0100, +01:00.
    let rest = rest.strip_prefix('Z').unwrap_or(rest);
    let rest = match rest.strip_prefix(['+', '-']) {
        Some(zone) => zone.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':'),
        None => rest,
    };
    let rest = rest.trim_start_matches(['|', ' ']);
    let rest = rest.strip_prefix("UTC ").unwrap_or(rest);
    let date = (
        u32::try_from(month).ok().filter(|m| (1..=12).contains(m))?,
        u32::try_from(day).ok().filter(|d| (1..=31).contains(d))?,
    );
    Some((Stamp::from_wall(shown, year.filter(|year| (1..=9999).contains(year)), Some(date), seconds), rest))
}

/// `Nov 30 00:46:00`, `30 nov. 00:46:00`, with or without a fraction or a year.
fn syslog(text: &str) -> Option<(Stamp, &str)> {
    let (first, rest) = word(text);
    let (second, rest) = word(rest);
    let number = |word: &str| word.trim_end_matches('.').parse::<u32>().ok().filter(|day| (1..=31).contains(day));
    let (name, day) = match (number(second), number(first)) {
        (Some(day), None) => (first, day),
        (None, Some(day)) => (second, day),
        _ => return None,
    };
    let letters = numbered_month(name).is_some() || name.trim_end_matches('.').chars().all(char::is_alphabetic);
    if name.is_empty() || name.chars().count() > 10 || !letters {
        return None;
    }
    let (year, rest) = match word(rest) {
        (year, behind) if year.len() == 4 && !year.contains(':') => (year.parse::<i64>().ok(), behind),
        _ => (None, rest),
    };
    let (seconds, rest) = clock(rest.trim_start())?;
    let shown = text.strip_suffix(rest)?;
    let date = month(name).map(|month| (month, day));
    Some((Stamp::from_wall(shown, year, date, seconds), rest.trim_start()))
}

/// `11月`, `11월`: Chinese, Japanese and Korean number their months.
fn numbered_month(name: &str) -> Option<u32> {
    name.strip_suffix(['月', '월'])?.parse().ok().filter(|month| (1..=12).contains(month))
}

fn month(name: &str) -> Option<u32> {
    if let Some(month) = numbered_month(name) {
        return Some(month);
    }
    let name = name.to_lowercase();
    MONTHS.iter().rev().find(|(known, _)| name.starts_with(known)).map(|(_, number)| *number)
}

/// `I0913 00:46:00.123456   32406 eviction_manager.go:142] ` of Kubernetes.
pub(super) fn klog(text: &str) -> Option<(Stamp, &str)> {
    let rest = text.strip_prefix(['I', 'W', 'E', 'F'])?;
    let (digits, rest) = rest.split_at_checked(4)?;
    let date = (digits.get(..2)?.parse().ok()?, digits.get(2..)?.parse().ok()?);
    let (seconds, rest) = clock(rest.strip_prefix(' ')?)?;
    let (head, rest) = rest.split_once("] ")?;
    head.contains(".go:")
        .then(|| (Stamp::from_wall(text.get(..20).unwrap_or_default(), None, Some(date), seconds), rest))
}

/// `1772322360.123456 ` of journalctl -o short-unix.
fn epoch(text: &str) -> Option<(Stamp, &str)> {
    let (number, rest) = word(text);
    let (whole, fraction) = number.split_once('.')?;
    (whole.len() == 10 && fraction.len() == 6).then_some(())?;
    Some((Stamp::from_epoch(boot_time(number)?.boot?), rest))
}

/// `Fri Sep 25 15:29:47 2020` of dmesg -T.
pub(super) fn calendar(text: &str) -> Option<Stamp> {
    let (day, rest) = word(text);
    let (stamp, year) = syslog(rest)?;
    let year = year.trim().parse().ok();
    let date = WEEK.contains(&day) || day.chars().all(|c| c.is_alphabetic() || c == '.');
    let (name, rest) = word(rest);
    let day = word(rest).0.parse().ok();
    date.then(|| Stamp::from_wall(text, year, month(name).zip(day), stamp.seconds_of_day().unwrap_or_default()))
}

/// A time that a user asks for: `00:46`, `2026-11-30 00:46:00`, `Nov 30 00:46`, or seconds since boot (`2760.5`).
pub(super) fn asked(text: &str) -> Option<Stamp> {
    let text = text.trim().trim_start_matches('[').trim_end_matches(']').trim();
    let of_day = || {
        clock(text).filter(|(_, rest)| rest.is_empty()).map(|(seconds, _)| Stamp::from_wall(text, None, None, seconds))
    };
    let dated = || iso(text).or_else(|| syslog(text)).map(|(stamp, _)| stamp).or_else(|| calendar(text));
    let boot = || {
        text.parse().ok().filter(|seconds| (0.0..1e10).contains(seconds)).map(|seconds| Stamp::from_boot(text, seconds))
    };
    of_day().or_else(dated).or_else(boot)
}

/// `00:46:00.123`: seconds of the day, and what stands behind.
fn clock(text: &str) -> Option<(f64, &str)> {
    let (hours, rest) = split_number(text)?;
    let (minutes, rest) = split_number(rest.strip_prefix(':')?)?;
    let (seconds, rest) = match rest.strip_prefix(':') {
        Some(rest) => split_number(rest)?,
        None => (0, rest),
    };
    if hours > 23 || minutes > 59 || seconds > 60 {
        return None;
    }
    let rest = match rest.strip_prefix(['.', ',']) {
        Some(fraction) => fraction.trim_start_matches(|c: char| c.is_ascii_digit()),
        None => rest,
    };
    let total = hours * 3600 + minutes * 60 + seconds;
    Some((f64::from(u32::try_from(total).ok()?), rest))
}
