//! Texts from frames: each whole one, and what follows it without a break.

use crate::frame::{Decompressor, Frame, Kind, Series, low};
use crate::texts::{self, Names, Texts};

/// Why a frame gave no texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotDecoded {
    /// The frame it belongs to is missing or damaged.
    #[error("the frame before it is missing")]
    Alone,
    /// Its checksum fits and its content does not: another program wrote it.
    #[error("its content makes no sense")]
    Garbage,
}

/// Takes frames in order.
#[derive(Debug, Default)]
pub struct Decoder {
    names: Names,
    texts: Texts,
    series: Series,
    zstd: Decompressor,
    /// Place and checksum of the last frame; `None` where the next one must be whole.
    last: Option<(u64, u32)>,
}

impl Decoder {
    /// The texts of a frame of texts.
    ///
    /// # Errors
    /// It belongs to a frame that was not given before it, or makes no sense.
    pub fn take(&mut self, frame: &Frame<'_>) -> crate::Result<&Texts> {
        if frame.kind != Kind::Texts {
            return Err(NotDecoded::Garbage);
        }
        if frame.place == 0 {
            self.names.clear();
            self.texts.clear();
            self.series.clear();
        } else if self.last.is_none_or(|(place, crc)| frame.place != place.wrapping_add(1) || frame.after != low(crc)) {
            self.last = None;
            return Err(NotDecoded::Alone);
        }
        self.last = None;
        let content = frame.content(&self.series, &mut self.zstd).ok_or(NotDecoded::Garbage)?;
        texts::read(&mut self.names, &mut self.texts, &content).ok_or(NotDecoded::Garbage)?;
        self.series.push(frame.place, &content);
        self.last = Some((frame.place, frame.crc));
        Ok(&self.texts)
    }

    /// The texts of the last frame that was taken.
    #[must_use]
    pub fn into_texts(self) -> Texts {
        self.texts
    }
}
