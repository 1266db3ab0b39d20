//! What was written back in the last 24 hours, and when pages were marked: one small file in the state directory, replaced as a whole.
//!
//! The window slides: a budget a day that begins anew at midnight would allow twice as much around it.

use std::time::Duration;

use ramline_kernel::output::{Format, Output};
use ramline_kernel::{KernelError, input};
use ramline_units::Bytes;
use serde::{Deserialize, Serialize};

use crate::{Result, StateDir};

const DAY_MS: u64 = 24 * 3600 * 1000;
/// A day of parts, one each second, is shorter.
const LARGEST: u64 = 8 << 20;

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Written {
    time_ms: u64,
    bytes: Bytes,
}

/// The file.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Ledger {
    written: Vec<Written>,
    /// Devices whose pages were all marked, and when.
    marked: Vec<(String, u64)>,
}

impl Ledger {
    /// That of a state directory; empty where there is none yet.
    ///
    /// # Errors
    /// One that cannot be read: then the budget is not known, and nothing is to be written.
    pub fn read(state: &StateDir) -> Result<Ledger> {
        let path = state.upkeep();
        let text = match input::read_text("read the budget of writeback in", &path, LARGEST) {
            Ok(text) => text,
            Err(error) if error.is_absent() => return Ok(Ledger::default()),
            Err(error) => return Err(error.into()),
        };
        ramline_units::json::parse(&text).map_err(|_| {
            let begin: String = text.chars().take(60).collect();
            KernelError::malformed("read the budget of writeback in", &path, &begin)
                .hint(format!("rm {}", path.display()))
                .into()
        })
    }

    /// Replaces the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&self, state: &StateDir) -> Result<()> {
        let path = state.upkeep();
        let text = serde_json::to_vec(self).map_err(|error| KernelError::io("write", &path, error.into()))?;
        let hint = format!("ls -ld {}", path.display());
        Output::open(&path, Format { begins: b"{", mode: 0o600 }, &hint)?.write(&text)?;
        Ok(())
    }

    /// What was written in the 24 hours up to now. What a clock that was set back has put into the future counts too.
    pub fn written(&self, now_ms: u64) -> Bytes {
        let recent = self.written.iter().filter(|entry| entry.time_ms.saturating_add(DAY_MS) > now_ms);
        Bytes(recent.fold(0, |sum, entry| sum.saturating_add(entry.bytes.0)))
    }

    /// Writes down what is going to be written; its place, for [`Ledger::correct`].
    pub fn charge(&mut self, now_ms: u64, bytes: Bytes) -> usize {
        for entry in &mut self.written {
            entry.time_ms = entry.time_ms.min(now_ms);
        }
        self.written.retain(|entry| entry.bytes.0 > 0 && entry.time_ms.saturating_add(DAY_MS) > now_ms);
        self.written.push(Written { time_ms: now_ms, bytes });
        self.written.len() - 1
    }

    /// What was written indeed.
    pub fn correct(&mut self, place: usize, bytes: Bytes) {
        if let Some(entry) = self.written.get_mut(place) {
            entry.bytes = bytes;
        }
    }

    /// How long ago all pages of a device were marked.
    pub fn marked(&self, key: &str, now_ms: u64) -> Option<Duration> {
        let (_, time) = self.marked.iter().find(|(device, _)| device == key)?;
        Some(Duration::from_millis(now_ms.saturating_sub(*time)))
    }

    /// All pages of a device are marked now.
    pub fn mark(&mut self, key: String, now_ms: u64) {
        // Devices of another boot are no devices of this one.
        let boot = key.rsplit(' ').next().unwrap_or_default();
        self.marked.retain(|(device, _)| *device != key && device.ends_with(boot));
        self.marked.push((key, now_ms));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_is_of_the_last_24_hours_whatever_the_clock_does() {
        let mut ledger = Ledger::default();
        let (day, mib) = (DAY_MS, Bytes::from_mib(1));
        ledger.charge(day, mib);
        let last = ledger.charge(day + 10, Bytes::from_mib(64));
        ledger.correct(last, mib);
        assert_eq!(ledger.written(day + 20), Bytes::from_mib(2));
        assert_eq!(ledger.written(2 * day + 5), mib);
        assert_eq!(ledger.written(2 * day + 10), Bytes(0));
        // Set back by a year: still counted, and a day later no longer.
        assert_eq!(ledger.written(5), Bytes::from_mib(2));
        ledger.charge(5, Bytes(0));
        assert_eq!((ledger.written(6), ledger.written(5 + day)), (Bytes::from_mib(2), Bytes(0)));
    }

    #[test]
    fn it_is_kept_in_the_state_directory_and_one_that_makes_no_sense_is_no_empty_one() {
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::open(&dir.path().join("state")).unwrap();
        let mut ledger = Ledger::read(&state).unwrap();
        ledger.charge(7, Bytes(4096));
        ledger.mark("zram0".into(), 7);
        ledger.save(&state).unwrap();
        let read = Ledger::read(&state).unwrap();
        assert_eq!((read.written(8), read.marked("zram0", 9)), (Bytes(4096), Some(Duration::from_millis(2))));
        std::fs::write(state.upkeep(), "{\"written\":7}").unwrap();
        assert!(Ledger::read(&state).unwrap_err().to_string().contains("try: rm"));
    }
}
