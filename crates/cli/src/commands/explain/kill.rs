//! `ramline explain kill`: who was killed, by whom and why, from a log of this machine or another.

use ramline_advice::kill::explained;
use ramline_history::Day;
use ramline_kernel::clock::{Local, to_unix};
use ramline_kernel::log;
use ramline_model::kill::{self, GrowthBefore, Kill, Killer};
use ramline_recorder::{Archive, NotFound};
use ramline_snapshot::kernel_log::{KernelLog, LogReader, Stamp};

use super::stalled::stalled;
use crate::past::Past;
use crate::prelude::*;
use crate::when;

/// The name of the topic.
pub const TOPIC: &str = "kill";

/// Runs the command.
///
/// # Errors
/// The log cannot be read, the time is none, or nothing was killed then.
pub fn run(file: Option<&Path>, past: &Past, format: Format, source: &Source) -> Result<u8> {
    let at = past.at.as_deref().map(asked).transpose()?;
    let (log, written) = match file {
        Some(file) => (read(file)?, None),
        None => from_this_machine(source)?,
    };
    let stall = || (file.is_none() || past.dir.is_some()).then(|| stalled(past)).flatten();
    let kill = match kill::explain(&log, at.as_ref()) {
        Ok(kill) if !kill.nothing_found => kill,
        other => {
            let error = other.as_ref().err().map(|error| {
                Failure::usage(format!(
                    "{error}\n  try: ramline explain kill{}",
                    file.map(|file| format!(" {}", ramline_units::quoted_path(file))).unwrap_or_default()
                ))
            });
            let nothing = explained(other.unwrap_or_else(|_| Kill { nothing_found: true, ..Kill::default() }));
            match (stall(), error) {
                (Some(stall), _) => format.versioned(&nothing.with_stall(stall))?,
                (None, Some(error)) => return Err(error.into()),
                (None, None) => format.versioned(&nothing)?,
            }
            return Ok(exit::DONE);
        }
    };
    let grew = match file {
        Some(_) if past.dir.is_none() => None,
        _ => kill.at.as_ref().and_then(|at| {
            let group = kill.group.as_deref().filter(|_| kill.killer == Killer::KernelMemcg);
            // Its lines have the clock of a boot that is over; when it was written is known, and how long before its end the kill was.
            let of_kept = written.map(|written| Some(written - seconds_between(at, log.ends.as_ref()?)?));
            let unix = of_kept.unwrap_or_else(|| unix(at))?;
            grown(u64::try_from(unix).ok()?.saturating_mul(1000), group, past)
        }),
    };
    let explained = explained(kill);
    format.versioned(&match grew {
        Some(grew) => explained.with_growth(grew),
        None => explained,
    })?;
    Ok(exit::DONE)
}

/// By the clock of one boot.
#[expect(clippy::cast_possible_truncation, reason = "seconds since boot")]
fn seconds_between(first: &Stamp, last: &Stamp) -> Option<i64> {
    Some((last.boot? - first.boot?) as i64)
}

/// So long before a kill growth is looked for.
const BEFORE_MS: u64 = 300_000;

/// Who grew before a kill or a stall, where that was recorded: what is not there is no error.
pub(super) fn grown(unix_ms: u64, group: Option<&str>, past: &Past) -> Option<GrowthBefore> {
    let archive = Archive::open(&past.dir().ok()?).ok()?;
    // The last frame before the kill, in which its victim still is.
    let after = archive.at(unix_ms, None).ok()?;
    let before = match archive.at(unix_ms.checked_sub(BEFORE_MS)?, None) {
        Ok(before) => before,
        // The recorder began later, or again: from there on.
        Err(NotFound::Before(first)) => archive.at(first, None).ok()?,
        Err(NotFound::Gap(gap)) => archive.at(gap.to_ms, None).ok()?,
        Err(_) => return None,
    };
    let is_earlier = before.at < after.at && before.snapshot.machine.boot_id == after.snapshot.machine.boot_id;
    let (from, to) = ((&before.snapshot, before.at.wall_ms), (&after.snapshot, after.at.wall_ms));
    is_earlier.then(|| GrowthBefore::between(from, to, group))
}

/// When a line was logged, in seconds since 1970; local time where the log names no zone.
#[expect(clippy::cast_possible_truncation, reason = "seconds since 1970 or since boot")]
fn unix(at: &Stamp) -> Option<i64> {
    if let Some(boot) = at.boot {
        let ago = process::boottime().0 / 1_000_000_000;
        return Some(when::now() - i64::try_from(ago).ok()? + boot as i64);
    }
    let wall = at.wall.filter(|_| at.has_year)? as i64;
    if at.text.ends_with("UTC") {
        return Some(wall);
    }
    let day = Day::from_ms(u64::try_from(wall).ok()?.saturating_mul(1000));
    let of_day = i32::try_from(wall.rem_euclid(24 * 3600)).ok()?;
    to_unix(Local {
        year: i32::try_from(day.year).ok()?,
        month: day.month.into(),
        day: day.day.into(),
        hour: of_day / 3600,
        minute: of_day / 60 % 60,
        second: of_day % 60,
        summer: None,
    })
}

fn asked(text: &str) -> Result<Stamp> {
    let error = || {
        let text = ramline_view::escape(text);
        Failure::usage(format!(
            "--at {text}: no time\n  try: --at 00:46, --at '2026-11-30 00:46', or seconds since boot: --at 2760.5"
        ))
    };
    Ok(Stamp::from_asked(text).ok_or_else(error)?)
}

fn read(file: &Path) -> Result<KernelLog> {
    let name = file.to_string_lossy();
    if ramline_units::is_time_of_day(&name) && !file.exists() {
        let text = format!(
            "{name} is a time, and a file with a kernel log is expected\n  try: ramline explain kill --at {name}"
        );
        return Err(Failure::usage(text).into());
    }
    let mut reader = LogReader::default();
    log::named("read the log", file, |piece| reader.feed(piece))?;
    Ok(reader.finish())
}

/// The log of this machine: the journal, which holds earlier boots and the programs that kill; without one, or without a kill in it, the kernel's own buffer; and where that has none
/// either, what outlived a panic, with the time when it was written.
fn from_this_machine(source: &Source) -> Result<(KernelLog, Option<i64>)> {
    source.must_be_live("explain kill")?;
    let root = source.kernel_root()?;
    let mut reader = LogReader::default();
    let journal = log::journal(|piece| reader.feed(piece));
    let read = reader.finish();
    if !read.events.is_empty() {
        return Ok((read, None));
    }
    let mut reader = LogReader::default();
    let buffer = log::buffer(&root, |piece| reader.feed(piece));
    let buffered = reader.finish();
    if !buffered.events.is_empty() {
        return Ok((buffered, None));
    }
    let mut reader = LogReader::default();
    if let Ok(Some(written)) = log::kept(&root, |piece| reader.feed(piece)) {
        let kept = reader.finish();
        if !kept.events.is_empty() {
            let written = written.duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_secs();
            let written = i64::try_from(written).unwrap_or_default();
            let of_it = "no kill in the journal; this is of the log that pstore kept over a panic or reset";
            stdio::tell(&format!("{of_it}, written at {}", when::words(written)));
            return Ok((kept, Some(written)));
        }
    }
    match (buffer, journal) {
        (Ok(()), _) => Ok((buffered, None)),
        // The journal was there, and holds no kill that this user may see.
        (Err(_), Ok(())) if read.lines > 0 => Ok((read, None)),
        (Err(error), _) => Err(error.or_hint("sudo ramline explain kill, or: ramline explain kill FILE").into()),
    }
}
