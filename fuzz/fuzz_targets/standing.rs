//! The record of a standing change, which root undoes: any bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ramline_act::standing::StandingChange;

fuzz_target!(|data: &[u8]| {
    if let Ok(Some(change)) = StandingChange::parse(data) {
        assert!(change.whole_bytes <= data.len() as u64);
        for held in &change.head.steps {
            let _ = (held.step.line(), held.step.shell(), held.step.object());
        }
    }
});
