//! A file of recorded history: its head, its frames, and the snapshots they make.

use ramline_history::{Begins, Decoder, FileItem, Kind, frames, to_snapshot};

/// One input: a whole file, or, where that is none, frames without a head.
pub fn once(data: &[u8]) {
    let from = Begins::read(data).map_or(0, |begins| begins.frames_at);
    let (mut decoder, mut bytes) = (Decoder::default(), 0);
    for found in frames(data, from) {
        match found {
            FileItem::Frame(_, frame) if frame.kind == Kind::Texts => {
                if let Ok(texts) = decoder.take(&frame) {
                    let _ = to_snapshot("fuzz", texts);
                }
            }
            FileItem::Frame(_, frame) => drop(frame.note()),
            FileItem::Damage(damage) => bytes += damage.bytes,
        }
    }
    assert!(bytes <= data.len());
}
