//! A log of the kernel, in pieces of any length, and what is concluded from it.

use ramline_model::kill;
use ramline_snapshot::kernel_log::LogReader;

/// One input: the first byte is the length of the pieces.
pub fn once(data: &[u8]) {
    let Some((&length, text)) = data.split_first() else { return };
    let mut reader = LogReader::default();
    text.chunks(usize::from(length).max(1)).for_each(|piece| reader.feed(piece));
    let log = reader.finish();
    let _ = kill::explain(&log, None);
    if let Some(at) = log.events.first().and_then(|event| event.at()) {
        let _ = kill::explain(&log, Some(at));
    }
}
