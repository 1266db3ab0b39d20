//! The last ten minutes, a frame a second, in memory: written out when something is killed or all tasks have waited for long.

use std::collections::VecDeque;

use ramline_history::{Encoder, Moment, Texts};

/// Frames that are kept at least.
const KEPT: usize = 600;
/// A whole frame so often: the oldest frames are given up to the next one.
const WHOLE: u64 = 60;

/// Frames of the last minutes.
#[derive(Debug, Default)]
pub struct Seconds {
    encoder: Encoder,
    frames: VecDeque<(bool, Vec<u8>)>,
}

impl Seconds {
    /// Takes what was read this second.
    pub fn push(&mut self, at: Moment, texts: &Texts) {
        if self.encoder.length() >= WHOLE {
            self.encoder.start_anew();
        }
        let whole = self.encoder.length() == 0;
        self.frames.push_back((whole, self.encoder.frame(at, texts)));
        while let Some(next) = self.frames.iter().skip(1).position(|(whole, _)| *whole)
            && self.frames.len() - (next + 1) >= KEPT
        {
            self.frames.drain(..=next);
        }
    }

    /// All of them, to be written; then they are given up, so that each is written once.
    pub fn take(&mut self) -> Vec<u8> {
        self.encoder.start_anew();
        self.frames.drain(..).flat_map(|(_, frame)| frame).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_history::{Decoder, Found, frames};

    #[test]
    fn the_last_ten_minutes_are_kept_and_begin_with_a_whole_frame() {
        let mut seconds = Seconds::default();
        for second in 0..2000_u64 {
            let at = Moment { wall_ms: second * 1000, boot_ms: second * 1000 };
            seconds.push(at, &Texts::from([("a".to_owned(), second.to_string())]));
        }
        let bytes = seconds.take();
        let (mut decoder, mut read) = (Decoder::default(), Vec::new());
        for found in frames(&bytes, 0) {
            let Found::Frame(_, frame) = found else { panic!("{found:?}") };
            read.push(decoder.take(&frame).unwrap()["a"].clone());
        }
        assert!((600..=661).contains(&read.len()), "{}", read.len());
        assert_eq!(read.last().map(String::as_str), Some("1999"));
        assert!(seconds.take().is_empty());
    }
}
