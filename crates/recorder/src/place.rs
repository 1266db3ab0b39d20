//! The directory of history: a file a day by UTC (`2026-11-30.ramline`, its later parts `2026-11-30.002.ramline`), and a file of the seconds
//! before each kill (`kill-2026-11-30T004605Z.ramline`).

use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use ramline_history::Day;
use ramline_kernel::{KernelError, place};

use crate::Result;

/// How names end.
const END: &str = ".ramline";
/// Before the time of a kill.
pub const SECONDS: &str = "kill-";

/// A file of history, by what its name says.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct HistoryFile {
    /// Whose day it is.
    pub day: Day,
    /// Of the day's files this one, from 1. 0 is a file of the seconds before a kill.
    pub part: u32,
    /// Where.
    pub path: PathBuf,
    /// How long.
    pub bytes: u64,
}

impl HistoryFile {
    /// The name of a part of a day.
    #[must_use]
    pub fn name(day: Day, part: u32) -> String {
        if part <= 1 { format!("{day}{END}") } else { format!("{day}.{part:03}{END}") }
    }

    /// The name of the seconds before a kill, from the digits of its time.
    #[must_use]
    pub fn seconds_name(day: Day, of_day: u64) -> String {
        let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
        format!("{SECONDS}{day}T{hour:02}{minute:02}{second:02}Z{END}")
    }

    fn parse(name: &str) -> Option<(Day, u32)> {
        let stem = name.strip_suffix(END)?;
        if let Some(time) = stem.strip_prefix(SECONDS) {
            return Some((time.split_once('T')?.0.parse().ok()?, 0));
        }
        match stem.split_once('.') {
            None => Some((stem.parse().ok()?, 1)),
            Some((day, part)) => Some((day.parse().ok()?, part.parse().ok().filter(|part| *part > 1)?)),
        }
    }
}

/// Makes the directory (0700) where it is missing, and refuses one that others could change.
///
/// # Errors
/// It cannot be made, is a link or no directory, is not ours, or others may write to it.
pub fn prepare(dir: &Path) -> Result<()> {
    let tried = "use the directory of history";
    let failed = |error| KernelError::io(tried, dir, error);
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(failed)?;
    place::refuse_unless_ours(tried, dir)?;
    Ok(place::refuse_unless_private(tried, dir)?)
}

/// The files of a directory, the oldest first; other names are left alone.
///
/// # Errors
/// It cannot be read.
pub fn files(dir: &Path) -> Result<Vec<HistoryFile>> {
    let failed = |error| KernelError::io("read the directory of history", dir, error);
    let mut out = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let Some((day, part)) = entry.file_name().to_str().and_then(HistoryFile::parse) else { continue };
        // What is gone by now, or no file, is none of ours.
        if let Ok(meta) = std::fs::symlink_metadata(entry.path())
            && meta.is_file()
        {
            out.push(HistoryFile { day, part, path: entry.path(), bytes: meta.len() });
        }
    }
    out.sort();
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_by_day_and_part_and_found_in_their_order() {
        let dir = tempfile::tempdir().unwrap();
        let day: Day = "2026-11-30".parse().unwrap();
        let names = [
            HistoryFile::name(day, 1),
            HistoryFile::name(day, 12),
            HistoryFile::name("2026-11-29".parse().unwrap(), 2),
            HistoryFile::seconds_name(day, 46 * 60 + 5),
        ];
        for name in
            names.iter().map(String::as_str).chain(["notes.txt", "2026-11-30.x.ramline", "2026-11-30.1.ramline"])
        {
            std::fs::write(dir.path().join(name), "x").unwrap();
        }
        let found: Vec<(String, u32)> =
            files(dir.path()).unwrap().into_iter().map(|file| (file.day.to_string(), file.part)).collect();
        let expected = [("2026-11-29", 2), ("2026-11-30", 0), ("2026-11-30", 1), ("2026-11-30", 12)];
        assert_eq!(found, expected.map(|(day, part)| (day.to_owned(), part)));
        assert_eq!(names[3], "kill-2026-11-30T004605Z.ramline");
    }
}
