//! The record of one standing change: a file of JSON lines, the whole plan first, then how far it is. Synced line by line, never pruned.
//!
//! A line cut short by a crash was never synced, so what it announced was never begun.

use std::collections::BTreeMap;

use ramline_plan::Step;
use serde::{Deserialize, Serialize};

/// Version of the records.
pub const FORMAT: u32 = 1;

/// Mode, owner and time of a file that is replaced or removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileImage {
    /// Permission bits.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Last change, in nanoseconds since 1970.
    pub mtime_ns: i64,
}

/// A step, and how it was found before anything was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldStep {
    /// What is to be done.
    pub step: Step,
    /// It was so already: nothing was done, and nothing is undone.
    #[serde(default)]
    pub was_so: bool,
    /// It is there until the change is kept: what would undo it by itself.
    #[serde(default, skip_serializing_if = "is_false")]
    pub until_kept: bool,
    /// The file as it was; `None` for what is no file, and for a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<FileImage>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde asks")]
const fn is_false(value: &bool) -> bool {
    !*value
}

/// Who, when, why and what.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Head {
    /// Version of the records.
    pub format: u32,
    /// Its number, counted from 1.
    pub number: u64,
    /// In a few words: `zram0 as swap`.
    pub what: String,
    /// Why, in one line each.
    pub why: Vec<String>,
    /// The user who asked for it, before sudo.
    pub who: String,
    /// The command.
    pub command: String,
    /// The version of ramline.
    pub version: String,
    /// The boot in which it was applied.
    pub boot: String,
    /// When, in milliseconds since 1970.
    pub time_ms: u64,
    /// A timer of this boot undoes it unless it is kept, which is none of its steps.
    #[serde(skip_serializing_if = "is_false")]
    pub timed: bool,
    /// The steps in order.
    pub steps: Vec<HeldStep>,
}

/// One line of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the doc of each variant names its fields")]
pub enum Record {
    /// What is going to be done: nothing has been yet.
    Planned(Head),
    /// A step is about to be taken.
    Begun { step: usize },
    /// It has been taken and read back.
    Done { step: usize },
    /// All steps are taken.
    InForce { time_ms: u64 },
    /// It is kept though its time to be undone by itself has not come.
    Confirmed { time_ms: u64 },
    /// It is to be undone, and why.
    Undoing { time_ms: u64, why: String },
    /// A step is undone, or was found to be.
    Undone { step: usize },
    /// A step is left as it is, since somebody else has changed its object.
    LeftAlone { step: usize, reason: String },
    /// Nothing of it is left to undo.
    Ended { time_ms: u64 },
}

/// How far a change is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangePhase {
    /// Some steps are not taken: it was interrupted.
    Applying,
    /// All steps are taken.
    InForce,
    /// Some steps are not undone: the undo was interrupted.
    Undoing,
    /// All steps are undone or left alone.
    Undone,
}

/// One change as its record tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandingChange {
    /// What it is.
    pub head: Head,
    /// How far it is.
    pub phase: ChangePhase,
    /// When it came into force, was undone or was last touched, in milliseconds since 1970.
    pub time_ms: u64,
    /// It was confirmed.
    pub confirmed: bool,
    /// Why it was undone.
    pub undone_why: Option<String>,
    /// Steps left alone when it was undone, and why.
    pub left_alone: BTreeMap<usize, String>,
    /// Steps that have been undone.
    pub undone: Vec<usize>,
    /// Bytes of the complete lines.
    pub whole_bytes: u64,
}

impl StandingChange {
    /// From the bytes of its file; `None` where no plan can be read: then nothing was done.
    ///
    /// # Errors
    /// A complete line that cannot be read, by number: what it says is not guessed.
    pub fn parse(bytes: &[u8]) -> Result<Option<StandingChange>, usize> {
        let mut change: Option<StandingChange> = None;
        let mut whole_bytes = 0;
        for (index, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let Some(text) = line.strip_suffix(b"\n") else { break };
            whole_bytes += u64::try_from(line.len()).unwrap_or_default();
            // After a power cut a file system may leave zeros where the last record should be.
            if text.iter().all(|byte| *byte == 0) {
                continue;
            }
            let record = ramline_units::json::parse_bytes(text).map_err(|_| index + 1)?;
            match (&mut change, record) {
                (None, Record::Planned(head)) if head.format <= FORMAT => change = Some(StandingChange::planned(head)),
                (Some(change), record) => change.take(record),
                (None, _) => return Err(index + 1),
            }
        }
        Ok(change.map(|change| StandingChange { whole_bytes, ..change }))
    }

    fn planned(head: Head) -> StandingChange {
        StandingChange {
            time_ms: head.time_ms,
            head,
            phase: ChangePhase::Applying,
            confirmed: false,
            undone_why: None,
            left_alone: BTreeMap::new(),
            undone: Vec::new(),
            whole_bytes: 0,
        }
    }

    /// Takes in what was done since.
    pub fn take(&mut self, record: Record) {
        match record {
            Record::Planned(_) | Record::Begun { .. } | Record::Done { .. } => {}
            Record::InForce { time_ms } => (self.phase, self.time_ms) = (ChangePhase::InForce, time_ms),
            Record::Confirmed { .. } => self.confirmed = true,
            Record::Undoing { time_ms, why } => {
                (self.phase, self.time_ms) = (ChangePhase::Undoing, time_ms);
                self.undone_why = Some(why);
            }
            Record::Undone { step } => {
                self.left_alone.remove(&step);
                self.undone.push(step);
            }
            Record::LeftAlone { step, reason } => {
                self.left_alone.insert(step, reason);
            }
            Record::Ended { time_ms } => (self.phase, self.time_ms) = (ChangePhase::Undone, time_ms),
        }
    }

    /// It is in force and a timer undoes it unless it is kept; a timer that is no step ends with its boot.
    #[must_use]
    pub fn is_pending(&self, boot: &str) -> bool {
        let timed = self.head.timed && self.head.boot == boot;
        self.phase == ChangePhase::InForce
            && !self.confirmed
            && (timed || self.head.steps.iter().any(|held| held.until_kept))
    }

    /// It is there, whole or in part.
    #[must_use]
    pub fn stands(&self) -> bool {
        self.phase != ChangePhase::Undone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(records: &[Record]) -> Vec<u8> {
        records.iter().flat_map(|record| [serde_json::to_vec(record).unwrap(), b"\n".to_vec()].concat()).collect()
    }

    fn planned() -> Record {
        Record::Planned(Head { format: FORMAT, number: 1, ..Head::default() })
    }

    #[test]
    fn a_record_cut_short_announced_nothing_and_zeros_after_a_power_cut_are_no_record() {
        let whole = text(&[planned(), Record::Begun { step: 0 }]);
        let cut = [whole.as_slice(), b"{\"record\":\"done\",\"st"].concat();
        let change = StandingChange::parse(&cut).unwrap().unwrap();
        assert_eq!((change.phase, change.whole_bytes), (ChangePhase::Applying, whole.len() as u64));
        let zeros = [whole.as_slice(), &[0; 16], b"\n"].concat();
        assert!(StandingChange::parse(&zeros).unwrap().is_some());
        assert_eq!(StandingChange::parse(b"{\"record\":\"pla").unwrap(), None);
    }

    #[test]
    fn a_line_that_cannot_be_read_is_named_and_nothing_is_guessed() {
        let bytes = [text(&[planned()]), b"{}\n".to_vec(), text(&[Record::InForce { time_ms: 1 }])].concat();
        assert_eq!(StandingChange::parse(&bytes), Err(2));
        assert_eq!(StandingChange::parse(&text(&[Record::Done { step: 0 }])), Err(1));
        let newer = Record::Planned(Head { format: FORMAT + 1, ..Head::default() });
        assert_eq!(StandingChange::parse(&text(&[newer])), Err(1));
    }

    #[test]
    fn how_far_it_is_follows_from_the_records() {
        let all = [
            (planned(), ChangePhase::Applying),
            (Record::InForce { time_ms: 1 }, ChangePhase::InForce),
            (Record::Undoing { time_ms: 2, why: "asked".into() }, ChangePhase::Undoing),
            (Record::Ended { time_ms: 3 }, ChangePhase::Undone),
        ];
        for count in 1..=all.len() {
            let records: Vec<Record> = all[..count].iter().map(|(record, _)| record.clone()).collect();
            assert_eq!(StandingChange::parse(&text(&records)).unwrap().unwrap().phase, all[count - 1].1);
        }
    }
}
