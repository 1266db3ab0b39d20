//! Reading after reading: with an earlier one for rates, and without reading again each time what seldom changes.

use ramline_advice::FIRST_LINE_OVER_TIME;
use ramline_export::{Form, Limits};
use ramline_gather::Session;
use ramline_kernel::own_memory;

use crate::prelude::*;

/// What is read each time: files of the kernel.
const OFTEN: Wanted = Wanted { slab: false, processes: false, blocks: true, ..FIRST_LINE_OVER_TIME };
/// Files of an administrator, and what is looked for among processes.
const SELDOM: Wanted = Wanted { configured: true, containers: true, killers: true, ..Wanted::NOTHING };
/// How long the latter are taken for what they were.
const UNCHANGED: Duration = Duration::from_secs(60);
/// Rates rest on a reading that is at least so old: `kernel-memory-growing` and the forecast of watermarks need a minute.
const LEAST_WINDOW: Duration = Duration::from_secs(60);
/// Memory that is not needed any more is given back after every so many readings, and of them first after these.
const TIDY: u32 = 60;
const TIDY_FIRST: u32 = 3;

/// Readings of one source.
pub struct Readings<'a> {
    source: &'a Source,
    /// This machine, with what stays open between readings.
    session: Option<Session>,
    limits: Limits,
    seldom: Option<(Instant, Snapshot)>,
    /// The start of the window, and what will be it.
    before: Option<(Instant, Snapshot)>,
    next_before: Option<(Instant, Snapshot)>,
    last: Option<Snapshot>,
    count: u32,
}

impl<'a> Readings<'a> {
    pub fn new(source: &'a Source, limits: Limits) -> Readings<'a> {
        let session = source.is_live().then(|| Session::new(&Root::live()));
        Readings { source, session, limits, seldom: None, before: None, next_before: None, last: None, count: 0 }
    }

    fn snapshot(&mut self, want: Wanted) -> Result<Snapshot> {
        match &mut self.session {
            Some(session) => Ok(session.snapshot(want)),
            None => self.source.snapshot(want),
        }
    }

    /// Reads, and writes it as text.
    ///
    /// # Errors
    /// The source cannot be used.
    pub fn text(&mut self, form: Form) -> Result<String> {
        self.read()?;
        Ok(self.last_as(form).unwrap_or_default())
    }

    /// Reads.
    ///
    /// # Errors
    /// The source cannot be used.
    pub fn read(&mut self) -> Result<()> {
        let now = Instant::now();
        let mut seen = self.snapshot(OFTEN)?;
        if self.seldom.as_ref().is_none_or(|(at, _)| now.duration_since(*at) > UNCHANGED) {
            self.seldom = Some((now, self.snapshot(SELDOM)?));
        }
        if let Some((_, seldom)) = &self.seldom {
            (seen.configured, seen.containers) = (seldom.configured.clone(), seldom.containers.clone());
            seen.killers = seldom.killers.clone();
        }
        if let Some(last) = self.last.replace(seen) {
            let is_old = |at: &Instant| now.duration_since(*at) > LEAST_WINDOW;
            match &self.next_before {
                None => self.next_before = Some((now, last)),
                Some((at, _)) if is_old(at) => {
                    self.before = self.next_before.replace((now, last));
                }
                Some(_) => {}
            }
        }
        self.count = self.count.wrapping_add(1);
        if self.count % TIDY == TIDY_FIRST {
            own_memory::give_back();
        }
        Ok(())
    }

    /// The last reading as text; `None` before the first.
    pub fn last_as(&self, form: Form) -> Option<String> {
        let last = self.last.as_ref()?;
        let window = self.before.as_ref().and_then(|(_, before)| Window::new(before, last).ok());
        Some(ramline_export::text(last, window, &self.limits, form))
    }

    /// The exit code that the last reading has.
    pub fn code(&self) -> u8 {
        if self.last.as_ref().is_some_and(Snapshot::is_malformed) { exit::PARTLY } else { exit::DONE }
    }
}
