//! The record of a standing change, which root undoes: any bytes.

use ramline_act::standing::StandingChange;

/// One input.
pub fn once(data: &[u8]) {
    if let Ok(Some(change)) = StandingChange::parse(data) {
        assert!(change.whole_bytes <= data.len() as u64);
        for held in &change.head.steps {
            let _ = (held.step.line(), held.step.shell(), held.step.object());
        }
    }
}
