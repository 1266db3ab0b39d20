//! Reading: which moment lies in which file of a directory, and why one is not there.

use std::path::{Path, PathBuf};

use ramline_history::Moment;

use crate::gaps::{Between, Gap, gap};
use crate::part::{Part, Recorded};
use crate::place::{HistoryFile, files};
use crate::{Error, Result};

/// The files of a directory.
#[derive(Debug)]
pub struct Archive {
    dir: PathBuf,
    files: Vec<HistoryFile>,
}

/// Why a moment is not there.
#[derive(Debug, thiserror::Error)]
pub enum NotFound {
    /// There is no history.
    #[error("nothing was recorded in {}", .0.display())]
    Nothing(PathBuf),
    /// It lies before all that is there.
    #[error("nothing was recorded before")]
    Before(u64),
    /// It lies behind all that is there.
    #[error("nothing was recorded after")]
    After(u64),
    /// It lies in a gap.
    #[error("nothing was recorded between")]
    Gap(Gap),
    /// The files cannot be read.
    #[error(transparent)]
    Error(#[from] Error),
}

impl Archive {
    /// Looks what is there.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn open(dir: &Path) -> Result<Archive> {
        Ok(Archive { dir: dir.to_owned(), files: files(dir)? })
    }

    /// Its files, the oldest first; without the files of seconds.
    pub fn days(&self) -> impl DoubleEndedIterator<Item = &HistoryFile> {
        self.files.iter().filter(|file| file.part > 0)
    }

    /// The files of seconds before kills.
    pub fn seconds(&self) -> impl Iterator<Item = &HistoryFile> {
        self.files.iter().filter(|file| file.part == 0)
    }

    /// The last moment there is.
    #[must_use]
    pub fn last(&self) -> Option<Moment> {
        self.days().rev().find_map(|file| Some(Part::skim(file).ok()?.instants.last()?.at))
    }

    /// The moment that was asked for, or the last one before it.
    ///
    /// # Errors
    /// It lies in a gap, before or behind all that was recorded.
    pub fn at(&self, wall_ms: u64, span_ms: Option<u64>) -> Result<Recorded, NotFound> {
        let day = ramline_history::Day::from_ms(wall_ms);
        // The last file that can hold it, and those before it for the last frame of the day before.
        let mut later: Option<(Moment, Between)> = None;
        let mut any = false;
        for file in self.days().rev() {
            if file.day > day && later.is_some() {
                continue;
            }
            let Ok(mut part) = Part::skim(file) else { continue };
            if part.last_at(wall_ms).is_some_and(|index| !part.is_sound(index)) {
                let Ok(whole) = Part::read(file) else { continue };
                part = whole;
            }
            any |= !part.instants.is_empty();
            if let Some(index) = part.last_at(wall_ms) {
                return self.found(&part, index, wall_ms, span_ms, later);
            }
            if let Some(first) = part.instants.first() {
                let between = part.between(0, 0);
                later = Some((first.at, between));
            }
        }
        match later {
            Some((at, _)) => Err(NotFound::Before(at.wall_ms)),
            None if any => Err(NotFound::Before(wall_ms)),
            None => Err(NotFound::Nothing(self.dir.clone())),
        }
    }

    fn found(
        &self,
        part: &Part,
        index: usize,
        wall_ms: u64,
        span_ms: Option<u64>,
        later: Option<(Moment, Between)>,
    ) -> Result<Recorded, NotFound> {
        let Some(instant) = part.instants.get(index) else { return Err(NotFound::Nothing(self.dir.clone())) };
        let next =
            part.instants.get(index + 1).map(|next| (next.at, part.between(index + 1, index + 1))).or_else(|| {
                let (at, mut between) = later?;
                let mut own = part.between(index + 1, usize::MAX);
                own.notes.append(&mut between.notes);
                Some((at, Between { damaged: own.damaged || between.damaged, ..own }))
            });
        let interval = part.interval_ms(index);
        if let Some((next, between)) = &next
            && let Some(gap) = gap(instant.at, *next, interval, part.boot_id(index), between)
            && wall_ms > instant.at.wall_ms.saturating_add(interval)
        {
            return Err(NotFound::Gap(gap));
        }
        if next.is_none() && wall_ms > instant.at.wall_ms.saturating_add(interval.saturating_mul(3).max(60_000)) {
            return Err(NotFound::After(instant.at.wall_ms));
        }
        part.moment(index, span_ms).map_err(NotFound::Error)
    }
}
