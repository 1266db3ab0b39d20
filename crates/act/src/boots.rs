//! What was found of standing changes at each boot: a file of JSON lines in the state directory, one a boot, the last of a boot counts.
//!
//! Written by `tune verify`, which the boot runs. A line that cannot be read is passed over: it says something about the past and nothing rests on it.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;

use ramline_kernel::{KernelError, input};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Result, StateDir};

/// A line is some hundred bytes long; of a larger file only a person could have been the cause.
const LARGEST: u64 = 16 << 20;

/// What was found at one boot. What is found of a change is the caller's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BootRecord {
    /// The boot.
    pub boot: String,
    /// When it was looked at, in milliseconds since 1970.
    pub time_ms: u64,
    /// By the number of the change.
    pub changes: Vec<(u64, Value)>,
}

/// All boots that were looked at, oldest first.
///
/// # Errors
/// When the file is there and cannot be read.
pub fn read(state: &StateDir) -> Result<Vec<BootRecord>> {
    let path = state.boots();
    let text = match input::read("read the record of boots", &path, LARGEST) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if error.is_absent() => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let mut boots: Vec<BootRecord> = Vec::new();
    for record in text.lines().filter_map(|line| ramline_units::json::parse::<BootRecord>(line).ok()) {
        boots.retain(|known| known.boot != record.boot);
        boots.push(record);
    }
    Ok(boots)
}

/// Adds what was found now.
///
/// # Errors
/// When it cannot be written.
pub fn append(state: &StateDir, record: &BootRecord) -> Result<()> {
    let path = state.boots();
    let failed = |error| KernelError::io("record the boot in", &path, error);
    let mut line = serde_json::to_vec(record).map_err(|error| failed(error.into()))?;
    line.push(b'\n');
    // A last line that a power cut has cut short must not swallow this one.
    line.insert(0, b'\n');
    let mut options = OpenOptions::new();
    let mut file =
        options.append(true).create(true).mode(0o600).custom_flags(input::CAREFUL).open(&path).map_err(failed)?;
    file.write_all(&line).and_then(|()| file.sync_data()).map_err(failed)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_look_of_a_boot_counts_and_a_line_cut_short_swallows_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::open(&dir.path().join("state")).unwrap();
        assert_eq!(read(&state).unwrap(), []);
        let record =
            |boot: &str, time_ms| BootRecord { boot: boot.into(), time_ms, changes: vec![(1, Value::from(time_ms))] };
        append(&state, &record("a", 1)).unwrap();
        let path = state.path().join("boots.jsonl");
        let cut = [std::fs::read(&path).unwrap(), b"{\"boot\":\"b".to_vec()].concat();
        std::fs::write(&path, cut).unwrap();
        append(&state, &record("b", 2)).unwrap();
        append(&state, &record("b", 3)).unwrap();
        assert_eq!(read(&state).unwrap(), [record("a", 1), record("b", 3)]);
    }
}
