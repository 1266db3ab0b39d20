//! One file of history, read: its instants in order, a moment as a snapshot, and what was damaged.

use ramline_history::{
    Begins, Decoder, FileItem, Frame, Head, Kind, Moment, NotHistory, Note, Texts, frames, sketches, to_snapshot,
};
use ramline_kernel::input;
use ramline_snapshot::Snapshot;

use crate::gaps::{Between, Gap, gap};
use crate::place::HistoryFile;
use crate::recording::{USERS_EVERY, WHOLE_EVERY};
use crate::{Error, Result};

/// No file of history is larger.
const LARGEST: u64 = 1 << 30;

/// Rates of a moment are those of so long before it, unless another time is asked for: in it, who holds memory was read once more.
const USUAL_SPAN_MS: u64 = USERS_EVERY;

/// A process whose memory does not change is read again with the next whole frame only: of less time no growth of its processor time is known.
fn without_processor_time(before: &mut Snapshot) {
    if let Some(processes) = before.processes.data_mut() {
        for process in &mut processes.list {
            (process.cpu_ticks, process.major_faults) = (None, None);
        }
    }
}

/// A frame of texts in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instant {
    /// When.
    pub at: Moment,
    /// Where it begins.
    offset: usize,
    /// Place in its series.
    place: u64,
}

/// One file, read and checked.
#[derive(Debug)]
pub struct Part {
    /// Its name and size.
    pub file: HistoryFile,
    /// Its head.
    pub head: Head,
    /// Its moments, in order of writing.
    pub instants: Vec<Instant>,
    /// What happened to the recorder, and before which instant.
    pub notes: Vec<(usize, Note)>,
    /// Damaged places, and before which instant.
    pub damage: Vec<(usize, usize)>,
    bytes: Vec<u8>,
}

/// Two moments of the past.
#[derive(Debug)]
pub struct Recorded {
    /// The one that was asked for, or the last before it.
    pub snapshot: Snapshot,
    /// When it was read.
    pub at: Moment,
    /// The one before it, of the same boot, for rates.
    pub before: Option<Snapshot>,
}

/// What a check of a file has found.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Checked {
    /// The file.
    pub path: String,
    /// Its bytes.
    pub bytes: u64,
    /// Why none of it can be read.
    pub unreadable: Option<String>,
    /// Readable frames.
    pub frames: u64,
    /// Frames whose checksum fits and that belong to one that is missing.
    pub lost_frames: u64,
    /// Bytes that are no frame.
    pub lost_bytes: u64,
    /// A frame at the end that was not written whole: the crash of a recorder, or one that is writing now.
    pub torn_end: bool,
}

impl Part {
    /// Reads a file whole and looks at all its frames.
    ///
    /// # Errors
    /// It cannot be read, or is no file of history.
    pub fn read(file: &HistoryFile) -> Result<Part, String> {
        let bytes = input::read("read the history", &file.path, LARGEST).map_err(|error| error.to_string())?;
        let named = |error: &NotHistory| format!("{}: {error}", file.path.display());
        let begins = Begins::read(&bytes).map_err(|error| named(&error))?;
        let (mut instants, mut notes, mut damage) = (Vec::new(), Vec::new(), Vec::new());
        for found in frames(&bytes, begins.frames_at) {
            match found {
                FileItem::Frame(offset, frame) if frame.kind == Kind::Texts => {
                    instants.push(Instant { at: frame.at, offset, place: frame.place });
                }
                FileItem::Frame(_, frame) => notes.extend(frame.note().map(|note| (instants.len(), note))),
                FileItem::Damage(part) if !part.is_tail => damage.push((instants.len(), part.bytes)),
                FileItem::Damage(_) => {}
            }
        }
        Ok(Part { file: file.clone(), head: begins.head, instants, notes, damage, bytes })
    }

    /// The same without the checksums of frames of texts, which are looked at when one is decoded: of a day's file a moment is found in a tenth of the
    /// time. A file that is not whole is read with them.
    ///
    /// # Errors
    /// As [`Part::read`].
    pub fn skim(file: &HistoryFile) -> Result<Part, String> {
        let bytes = input::read("read the history", &file.path, LARGEST).map_err(|error| error.to_string())?;
        let begins = Begins::read(&bytes).map_err(|error| format!("{}: {error}", file.path.display()))?;
        let Some(found) = sketches(&bytes, begins.frames_at) else { return Part::read(file) };
        let (mut instants, mut notes) = (Vec::with_capacity(found.len()), Vec::new());
        for (offset, sketch) in found {
            match sketch.kind {
                Kind::Texts => instants.push(Instant { at: sketch.at, offset, place: sketch.place }),
                Kind::Note => match bytes.get(offset..).and_then(Frame::first) {
                    Some((frame, _)) => notes.extend(frame.note().map(|note| (instants.len(), note))),
                    None => return Part::read(file),
                },
                Kind::Unknown => {}
            }
        }
        Ok(Part { file: file.clone(), head: begins.head, instants, notes, damage: Vec::new(), bytes })
    }

    /// The checksums of an instant and of the next one fit: what was found by their times is where it was asked for.
    pub(crate) fn is_sound(&self, index: usize) -> bool {
        let fits = |index: usize| self.instants.get(index).is_none_or(|instant| self.frame(*instant).is_some());
        fits(index) && fits(index + 1)
    }

    /// The last instant at or before a time. Where the clock was set back, the later one of two.
    #[must_use]
    pub fn last_at(&self, wall_ms: u64) -> Option<usize> {
        self.instants.iter().rposition(|instant| instant.at.wall_ms <= wall_ms)
    }

    /// What lies before the instants from one to another.
    pub(crate) fn between(&self, from: usize, to: usize) -> Between {
        let is_in = |index: usize| (from..=to).contains(&index);
        Between {
            notes: self.notes.iter().filter(|(index, _)| is_in(*index)).map(|(_, note)| note.clone()).collect(),
            damaged: self.damage.iter().any(|(index, _)| is_in(*index)),
        }
    }

    fn began(&self, index: usize) -> Option<(Option<&str>, u64)> {
        self.notes.iter().rev().filter(|(before, _)| *before <= index).find_map(|(_, note)| match note {
            Note::Began { boot_id, interval_ms, .. } => Some((boot_id.as_deref(), *interval_ms)),
            _ => None,
        })
    }

    /// The boot an instant is of.
    #[must_use]
    pub fn boot_id(&self, index: usize) -> Option<&str> {
        self.began(index).map_or(self.head.boot_id.as_deref(), |(boot, _)| boot)
    }

    /// Time between frames then, as the recorder said when it began, or as the frames before say.
    #[must_use]
    pub fn interval_ms(&self, index: usize) -> u64 {
        let noted = self.began(index).map(|(_, interval)| interval);
        noted
            .or_else(|| {
                let pair = [self.instants.get(index.checked_sub(1)?)?, self.instants.get(index)?];
                pair[1].at.boot_ms.checked_sub(pair[0].at.boot_ms)
            })
            .unwrap_or(5_000)
    }

    /// All gaps in this file.
    #[must_use]
    pub fn gaps(&self) -> Vec<Gap> {
        let pairs = self.instants.windows(2).enumerate();
        let one = |(index, pair): (usize, &[Instant])| {
            let between = self.between(index + 1, index + 1);
            gap(pair[0].at, pair[1].at, self.interval_ms(index), self.boot_id(index), &between)
        };
        pairs.filter_map(one).collect()
    }

    /// An instant as a snapshot, with the one before it or so long before it.
    ///
    /// # Errors
    /// It cannot be decoded.
    pub fn moment(&self, index: usize, span_ms: Option<u64>) -> Result<Recorded> {
        let instant = self.instants.get(index).copied();
        let instant = instant.ok_or_else(|| self.garbage("there is no such frame"))?;
        let span = span_ms.unwrap_or(USUAL_SPAN_MS);
        let earlier = self.last_at(instant.at.wall_ms.saturating_sub(span)).filter(|earlier| *earlier < index);
        // Soon after the recorder began there is less.
        let earlier = earlier.or_else(|| index.checked_sub(1).filter(|_| span_ms.is_none()));
        let earlier = earlier.filter(|earlier| self.boot_id(*earlier) == self.boot_id(index));
        let (before, texts) = self.texts_of(earlier, index);
        let texts = texts?;
        let path = self.file.path.display().to_string();
        let snapshot = |texts: &Texts| to_snapshot(&path, texts).map_err(|error| self.garbage(&error.to_string()));
        let mut before = before.map(|texts| snapshot(&texts)).transpose()?;
        let since = earlier.and_then(|earlier| self.instants.get(earlier)).map(|earlier| earlier.at);
        let recent = since.is_some_and(|since| instant.at.boot_ms < since.boot_ms.saturating_add(WHOLE_EVERY));
        if let Some(before) = before.as_mut().filter(|_| recent) {
            without_processor_time(before);
        }
        Ok(Recorded { snapshot: snapshot(&texts)?, at: instant.at, before })
    }

    /// The texts of an instant, and of an earlier one, which lies on the way to it or in a series of its own.
    fn texts_of(&self, earlier: Option<usize>, index: usize) -> (Option<Texts>, Result<Texts>) {
        let first = self.series_of(index);
        let apart = earlier.filter(|earlier| *earlier < first).and_then(|earlier| self.texts(earlier).ok());
        let mut before = None;
        let texts = self.decoded(first, index, &mut |at, texts| {
            if Some(at) == earlier {
                before = Some(texts.clone());
            }
        });
        (apart.or(before), texts)
    }

    /// The texts of an instant.
    ///
    /// # Errors
    /// They cannot be decoded: what they rest on is damaged.
    pub fn texts(&self, index: usize) -> Result<Texts> {
        self.decoded(self.series_of(index), index, &mut |_, _| {})
    }

    /// The whole frame before an instant, or the first there is.
    fn series_of(&self, index: usize) -> usize {
        self.instants.get(..=index).unwrap_or_default().iter().rposition(|instant| instant.place == 0).unwrap_or(0)
    }

    fn decoded(&self, first: usize, index: usize, each: &mut dyn FnMut(usize, &Texts)) -> Result<Texts> {
        let mut decoder = Decoder::default();
        let mut out = Err(self.garbage("there is no such frame"));
        for (at, instant) in self.instants.iter().enumerate().take(index.saturating_add(1)).skip(first) {
            out = match self.frame(*instant) {
                Some(frame) => {
                    decoder.take(&frame).map(|texts| each(at, texts)).map_err(|e| self.garbage(&e.to_string()))
                }
                None => Err(self.garbage("its frame is damaged")),
            };
        }
        out?;
        Ok(decoder.into_texts())
    }

    /// Indices of the first and last instant in a time; the first is behind the last where there is none.
    #[must_use]
    pub fn within(&self, from_ms: u64, to_ms: u64) -> (usize, usize) {
        let first = self.instants.iter().position(|instant| instant.at.wall_ms >= from_ms);
        match (first, self.last_at(to_ms)) {
            (Some(first), Some(last)) => (first, last),
            _ => (1, 0),
        }
    }

    /// Goes through the instants from one to another, in order, each as a snapshot of the named sections (all without names) and as
    /// texts. What cannot be decoded is left out, and so are the moments that `wanted` does not want.
    pub fn each(
        &self,
        from: usize,
        to: usize,
        sections: Option<&[&str]>,
        wanted: &dyn Fn(Moment) -> bool,
        each: &mut dyn FnMut(Moment, Snapshot, &Texts),
    ) {
        if from > to {
            return;
        }
        let first = self.instants.iter().take(from.saturating_add(1)).rposition(|instant| instant.place == 0);
        let mut decoder = Decoder::default();
        let path = self.file.path.display().to_string();
        let upto = self.instants.iter().enumerate().take(to.saturating_add(1));
        for (index, instant) in upto.skip(first.unwrap_or(0)) {
            let Some(frame) = self.frame(*instant) else { continue };
            let Ok(texts) = decoder.take(&frame) else { continue };
            if index < from || !wanted(instant.at) {
                continue;
            }
            let snapshot = match sections {
                None => to_snapshot(&path, texts),
                Some(names) => {
                    let kept = |name: &&str| Some(((*name).to_owned(), texts.get(*name)?.clone()));
                    to_snapshot(&path, &names.iter().filter_map(kept).collect())
                }
            };
            if let Ok(snapshot) = snapshot {
                each(instant.at, snapshot, texts);
            }
        }
    }

    /// The gap between this file's last instant and the first of the next file.
    #[must_use]
    pub fn gap_to(&self, next: &Part) -> Option<Gap> {
        let index = self.instants.len().checked_sub(1)?;
        let mut between = self.between(index + 1, usize::MAX);
        let own = next.between(0, 0);
        between.notes.extend(own.notes);
        between.damaged |= own.damaged;
        let (last, first) = (self.instants.get(index)?, next.instants.first()?);
        gap(last.at, first.at, self.interval_ms(index), self.boot_id(index), &between)
    }

    fn frame(&self, instant: Instant) -> Option<Frame<'_>> {
        Frame::first(self.bytes.get(instant.offset..)?).map(|(frame, _)| frame)
    }

    fn garbage(&self, why: &str) -> Error {
        let hint = "ramline history check";
        ramline_kernel::KernelError::refused("read a recorded moment", &self.file.path, why, "").hint(hint).into()
    }

    /// Looks at every frame and decodes it.
    #[must_use]
    pub fn check(file: &HistoryFile) -> Checked {
        let path = file.path.display().to_string();
        let mut out = Checked { path, bytes: file.bytes, ..Checked::default() };
        let read = input::read("read the history", &file.path, LARGEST).map_err(|error| error.to_string());
        let begins = read.and_then(|bytes| {
            let begins = Begins::read(&bytes).map_err(|error| error.to_string())?;
            Ok((begins, bytes))
        });
        let (begins, bytes) = match begins {
            Ok(read) => read,
            Err(why) => return Checked { unreadable: Some(why), ..out },
        };
        let mut decoder = Decoder::default();
        for found in frames(&bytes, begins.frames_at) {
            match found {
                FileItem::Frame(_, frame) if frame.kind == Kind::Texts => match decoder.take(&frame) {
                    Ok(_) => out.frames += 1,
                    Err(_) => out.lost_frames += 1,
                },
                FileItem::Frame(..) => {}
                FileItem::Damage(damage) if damage.is_tail => {
                    out.torn_end = true;
                    out.lost_bytes += damage.bytes as u64;
                }
                FileItem::Damage(damage) => out.lost_bytes += damage.bytes as u64,
            }
        }
        out
    }
}
