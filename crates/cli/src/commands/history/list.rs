//! `ramline history`: the files, and what is missing between their frames.

use std::collections::BTreeSet;

use ramline_evidence::history::{HistoryList, RecordedFile, RecordedGap};
use ramline_recorder::{Gap, HistoryFile, Part};
use ramline_view::SCHEMA_VERSION;

use super::time::{archive, name};
use crate::prelude::*;
use crate::when;

/// Gaps that are named: the newest.
const NAMED: usize = 20;

/// Runs the command.
///
/// # Errors
/// The directory cannot be read.
pub fn run(dir: &Path, format: Format) -> Result<u8> {
    let mut list =
        HistoryList { schema_version: SCHEMA_VERSION, dir: dir.display().to_string(), ..HistoryList::default() };
    let archive = archive(dir)?;
    let mut last: Option<Part> = None;
    for file in archive.iter().flat_map(ramline_recorder::Archive::days) {
        match Part::read(file) {
            Ok(part) => {
                list.files.push(described(&part));
                list.gaps.extend(last.as_ref().and_then(|last| last.gap_to(&part)).into_iter().map(gap));
                list.gaps.extend(part.gaps().into_iter().map(gap));
                last = Some(part);
            }
            Err(why) => list.files.push(unreadable(file, why)),
        }
    }
    for file in archive.iter().flat_map(ramline_recorder::Archive::seconds) {
        let one = Part::read(file).map_or_else(|why| unreadable(file, why), |part| described(&part));
        list.files.push(RecordedFile { seconds: true, ..one });
    }
    list.bytes = list.files.iter().map(|file| file.bytes).sum();
    let damaged = list.files.iter().any(|file| file.unreadable.is_some());
    if !format.is_json() {
        let more = list.gaps.len().saturating_sub(NAMED);
        list.gaps.drain(..more);
    }
    format.screen(&list)?;
    Ok(if damaged { exit::PARTLY } else { exit::DONE })
}

fn unreadable(file: &HistoryFile, why: String) -> RecordedFile {
    RecordedFile { name: name(&file.path), bytes: Bytes(file.bytes), unreadable: Some(why), ..RecordedFile::default() }
}

fn described(part: &Part) -> RecordedFile {
    let (first, last) = (part.instants.first(), part.instants.last());
    let ms = |instant: Option<&ramline_recorder::Instant>| instant.map(|instant| instant.at.wall_ms);
    let boots: BTreeSet<Option<&str>> = (0..part.instants.len()).map(|index| part.boot_id(index)).collect();
    RecordedFile {
        name: name(&part.file.path),
        bytes: Bytes(part.file.bytes),
        frames: part.instants.len() as u64,
        boots: boots.len() as u64,
        first_unix_ms: ms(first),
        last_unix_ms: ms(last),
        time: ms(first).zip(ms(last)).map(|(first, last)| between(first, last)).unwrap_or_default(),
        ..RecordedFile::default()
    }
}

fn gap(gap: Gap) -> RecordedGap {
    RecordedGap {
        from_unix_ms: gap.from_ms,
        to_unix_ms: gap.to_ms,
        time: between(gap.from_ms, gap.to_ms),
        why: gap.why.words(),
    }
}

/// `2026-11-29 23:00:05 to 00:46:10`: the date once where it is the same.
fn between(from: u64, to: u64) -> String {
    let words = |ms: u64| when::words(i64::try_from(ms / 1000).unwrap_or_default());
    let (from, to) = (words(from), words(to));
    let same = from.split_once(' ').zip(to.split_once(' ')).filter(|(from, to)| from.0 == to.0);
    let to = same.map_or(to.clone(), |(_, (_, time))| time.to_owned());
    format!("{from} to {to}")
}
