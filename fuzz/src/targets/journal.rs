//! The journal of a run, which root undoes: any bytes, and steps that were pending in them.

use ramline_act::{Contents, Phase};

/// One input.
pub fn once(data: &[u8]) {
    let contents = Contents::parse(data);
    let pending = contents.pending();
    assert!(contents.whole_bytes <= data.len() as u64);
    assert!(pending.len() <= contents.entries.len());
    // What is undone or kept last is never undone again.
    if contents.entries.last().is_some_and(|entry| matches!(entry.phase, Phase::Kept | Phase::Ended)) {
        assert!(pending.is_empty());
    }
    for entry in &contents.entries {
        let _ = entry.step.describe();
    }
}
