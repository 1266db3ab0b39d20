//! Every parser of a kernel file: the first byte chooses it, the rest is the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ramline_snapshot::parsers::PARSERS;

fuzz_target!(|data: &[u8]| {
    let Some((&choice, text)) = data.split_first() else { return };
    let text = String::from_utf8_lossy(text);
    let (_, parse) = PARSERS[usize::from(choice) % PARSERS.len()];
    parse(&text);
});
