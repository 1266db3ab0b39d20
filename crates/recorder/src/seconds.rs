//! The last ten minutes, one second after the other, in memory: written out when something is killed or all tasks have waited for long.
//!
//! The kernel's files are kept as they are, each second as what differs from the one before; only what is written out is parsed.

use std::collections::VecDeque;

use ramline_history::{Changes, Encoder, Moment, Texts};

/// Seconds that are kept at least.
const KEPT: usize = 600;
/// A whole one so often: the oldest are given up to the next one.
const WHOLE: usize = 60;

/// What was read in the last minutes.
#[derive(Debug, Default)]
pub struct Seconds {
    changes: Changes,
    since_whole: usize,
    kept: VecDeque<Second>,
}

#[derive(Debug)]
struct Second {
    at: Moment,
    whole: bool,
    changes: Vec<u8>,
}

impl Seconds {
    /// Takes what was read this second.
    pub fn push(&mut self, at: Moment, texts: &Texts) {
        let whole = self.since_whole == 0;
        if whole {
            self.changes = Changes::default();
        }
        self.since_whole = (self.since_whole + 1) % WHOLE;
        let mut changes = self.changes.push(texts);
        changes.shrink_to_fit();
        self.kept.push_back(Second { at, whole, changes });
        while let Some(next) = self.kept.iter().skip(1).position(|second| second.whole)
            && self.kept.len() - (next + 1) >= KEPT
        {
            self.kept.drain(..=next);
        }
    }

    /// All of them as frames, to be written; then they are given up, so that each is written once. `parse` makes texts of history of what was read.
    pub fn take(&mut self, mut parse: impl FnMut(Moment, &Texts) -> Option<Texts>) -> Vec<u8> {
        let (mut encoder, mut out, mut changes) = (Encoder::default(), Vec::new(), Changes::default());
        let mut in_order = false;
        for (count, second) in self.kept.drain(..).enumerate() {
            if second.whole {
                changes = Changes::default();
            }
            in_order = second.whole || in_order;
            let read = changes.replay(&second.changes).filter(|_| in_order);
            in_order = read.is_some();
            if count % WHOLE == 0 {
                encoder.start_anew();
            }
            if let Some(texts) = read.and_then(|texts| parse(second.at, texts)) {
                out.extend(encoder.frame(second.at, &texts));
            }
        }
        self.since_whole = 0;
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_history::{Decoder, FileItem, frames};

    #[test]
    fn the_last_ten_minutes_are_kept_and_begin_with_a_whole_frame() {
        let mut seconds = Seconds::default();
        for second in 0..2000_u64 {
            let at = Moment { wall_ms: second * 1000, boot_ms: second * 1000 };
            seconds.push(at, &Texts::from([("a".to_owned(), second.to_string())]));
        }
        let bytes = seconds.take(|_, texts| Some(texts.clone()));
        let (mut decoder, mut read) = (Decoder::default(), Vec::new());
        for found in frames(&bytes, 0) {
            let FileItem::Frame(_, frame) = found else { panic!("{found:?}") };
            read.push(decoder.take(&frame).unwrap()["a"].clone());
        }
        assert!((600..=661).contains(&read.len()), "{}", read.len());
        assert_eq!(read.last().map(String::as_str), Some("1999"));
        assert!(seconds.take(|_, texts| Some(texts.clone())).is_empty());
    }

    #[test]
    fn a_second_after_the_ring_was_written_is_whole_again() {
        let mut seconds = Seconds::default();
        let at = |second: u64| Moment { wall_ms: second * 1000, boot_ms: second * 1000 };
        let text = |second: u64| Texts::from([("a".to_owned(), second.to_string())]);
        (0..30).for_each(|second| seconds.push(at(second), &text(second)));
        seconds.take(|_, texts| Some(texts.clone()));
        seconds.push(at(30), &text(30));
        let bytes = seconds.take(|_, texts| Some(texts.clone()));
        let mut found = frames(&bytes, 0);
        let Some(FileItem::Frame(_, frame)) = found.next() else { panic!() };
        assert_eq!(Decoder::default().take(&frame).unwrap()["a"], "30");
        assert!(found.next().is_none());
    }
}
