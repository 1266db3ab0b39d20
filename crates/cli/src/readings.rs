//! Readings of one source: one, two with `--for`, any number with `--watch`.
//!
//! Rates of the second and later readings of a watch come from the window between two readings; the first has none.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::prelude::*;

/// Readings of a source, with the last one.
#[derive(Debug)]
pub struct SourceReadings<'a> {
    /// The source that is read.
    pub source: &'a Source,
    span: Cell<Option<Duration>>,
    /// Each reading is kept for the next.
    again: bool,
    last: RefCell<Option<Rc<Snapshot>>>,
}

/// The reading before, if there is one, and this one.
pub type Pair = (Option<Rc<Snapshot>>, Rc<Snapshot>);

impl<'a> SourceReadings<'a> {
    /// Readings: one, or two this long apart; `again`, more than that.
    pub const fn new(source: &'a Source, span: Option<Duration>, again: bool) -> SourceReadings<'a> {
        SourceReadings { source, span: Cell::new(span), again, last: RefCell::new(None) }
    }

    /// Twice at least, a second apart where nothing else was asked for: growth is seen in a difference alone.
    ///
    /// # Errors
    /// The source is a capture, which is one moment.
    pub fn twice_for(&self, what: &str) -> Result<()> {
        let text = || format!("{what} is seen between two looks, and a capture is one\n  try: another --sort");
        ensure!(matches!(self.source.kind(), SourceKind::Live | SourceKind::Recorded(_)), Failure::usage(text()));
        self.span.set(self.span.get().or(Some(Duration::from_secs(1))));
        Ok(())
    }

    /// One reading, for a screen without rates.
    ///
    /// # Errors
    /// As [`Source::snapshot`].
    pub fn one(&self, want: Wanted) -> Result<Snapshot> {
        self.source.snapshot(want)
    }

    /// A reading, with the one before it.
    ///
    /// # Errors
    /// As [`Source::window_walking`].
    pub fn window(&self, want: Wanted, walking: Walking) -> Result<Pair> {
        let before = self.last.take();
        let (first, seen) = match before {
            Some(_) => (None, self.source.snapshot_walking(want, walking)?),
            None => self.source.window_walking(want, self.span.get().filter(|_| !self.again), walking)?,
        };
        let seen = Rc::new(seen);
        if self.again {
            self.last.replace(Some(Rc::clone(&seen)));
        }
        Ok((before.or(first.map(Rc::new)), seen))
    }
}
