//! Sizes from the command line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ramline_units::Bytes;

fuzz_target!(|text: &str| {
    if let Ok(size) = text.parse::<Bytes>() {
        let _ = size.to_string();
    }
});
