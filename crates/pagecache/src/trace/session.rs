//! A recording and its counts: from the first event to the lists.

use std::time::{Duration, Instant};

use ramline_act::{Result, Run};
use ramline_snapshot::cache::Recorded;
use ramline_trace::Event;
use ramline_trace::count::{Counted, Counter};
use ramline_units::Bytes;

use super::names::Names;
use super::recording::{Recording, Wanted};
use crate::Context;
use crate::remarks::name;

/// Between two rounds of taking in what was recorded.
pub const ROUND: Duration = Duration::from_millis(10);

pub struct Session {
    pub recording: Recording,
    pub counter: Counter<Names>,
    began: Instant,
    lasted: Duration,
}

impl Session {
    /// Sets it up; nothing is recorded yet.
    ///
    /// # Errors
    /// More privilege is needed, or this kernel has no tracing.
    pub fn make(context: Context<'_>, run: &mut Run, wanted: &Wanted<'_>) -> Result<Session> {
        let recording = Recording::make(run, wanted)?;
        let counter = Counter::new(Names::new(context.root, &wanted.files.names), recording.level());
        Ok(Session { recording, counter, began: Instant::now(), lasted: Duration::ZERO })
    }

    /// Records from now on.
    pub fn start(&mut self) -> Result<()> {
        self.recording.start()?;
        self.began = Instant::now();
        Ok(())
    }

    /// How long it has been recording.
    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    fn take(&mut self, all: bool, wants: impl Fn(&Event) -> bool) -> Result<()> {
        let counter = &mut self.counter;
        self.recording.take(all, |event| {
            if wants(&event) {
                counter.take(event);
            }
        })
    }

    /// Takes in what was recorded meanwhile, of it what is wanted.
    pub fn round(&mut self, wants: impl Fn(&Event) -> bool) -> Result<()> {
        self.take(false, wants)?;
        self.counter.end_round();
        Ok(())
    }

    /// Records no longer, and takes in the rest.
    pub fn stop(&mut self, wants: impl Fn(&Event) -> bool) -> Result<()> {
        self.recording.stop()?;
        self.lasted = self.elapsed();
        self.take(true, wants)
    }

    /// What it cost, and the lists.
    pub fn end(self) -> Result<(Recorded, Counted)> {
        let recorded = Recorded { lasted: self.lasted.into(), ..self.recording.end()? };
        let counted = self.counter.finish(|names, file| {
            let (path, length) = names.of(file);
            (name(&path), length.map(Bytes))
        });
        Ok((recorded, counted))
    }
}
