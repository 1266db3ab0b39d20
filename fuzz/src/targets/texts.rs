//! Every parser of a kernel file: the first byte chooses it, the rest is the text.

use ramline_snapshot::parsers::PARSERS;

/// One input.
pub fn once(data: &[u8]) {
    let Some((&choice, text)) = data.split_first() else { return };
    let text = String::from_utf8_lossy(text);
    let (_, parse) = PARSERS[usize::from(choice) % PARSERS.len()];
    parse(&text);
}
