//! The two trace instances of a recording: made through the journal, drained while they record.

use std::process::Command;

use ramline_act::{Result, Run};
use ramline_kernel::KernelError;
use ramline_kernel::process::{self, Usage};
use ramline_kernel::tracing::{Instance, RawPages, follow};
use ramline_snapshot::cache::{Level, Recorded};
use ramline_trace::{ADDING_EVENTS, Decoder, Event, InOrder, PROCESS_EVENTS, PageLayout, REMOVING_EVENTS};
use ramline_units::{Bytes, Nanos};

use super::of_files::Files;

/// Of a processor: room for 0.3 s of a process that does nothing but read pages that are there.
const BUFFER: Bytes = Bytes::from_mib(16);
/// Of all processors together.
const BUFFERS: Bytes = Bytes::from_mib(256);

/// What is to be recorded.
#[derive(Debug)]
pub struct Wanted<'a> {
    /// Requests and faults too, not only what is added and taken out.
    pub requests: bool,
    /// Only of these, where there are any.
    pub files: &'a Files,
    /// By every process, and not only those named later.
    pub everybody: bool,
}

/// Both instances.
#[derive(Debug)]
pub struct Recording {
    // What the processes do, and what anybody takes out.
    doing: (Instance, RawPages),
    removing: (Instance, RawPages),
    layout: PageLayout,
    decoder: Decoder,
    order: InOrder<Event>,
    events: u64,
    used_before: Usage,
}

impl Recording {
    /// Makes and sets up the instances; nothing is recorded yet.
    ///
    /// # Errors
    /// More privilege is needed, or this kernel has no tracing.
    pub fn make(run: &mut Run, wanted: &Wanted<'_>) -> Result<Recording> {
        let used_before = process::own_usage()?;
        let tracefs = run.tracefs()?;
        let (doing, removing) = (run.make_trace(&tracefs, 0)?, run.make_trace(&tracefs, 1)?);
        for instance in [&doing, &removing] {
            instance.set_buffer(BUFFER, BUFFERS)?;
            // The cheapest clock that all processors share.
            let ticks = instance.words("trace_clock")?.iter().any(|clock| clock == "x86-tsc");
            instance.set("trace_clock", if ticks { "x86-tsc" } else { "mono" })?;
        }
        if wanted.everybody {
            // What we do ourselves is not of interest; a kernel that cannot leave us out tells of it too.
            drop(doing.set("set_event_notrace_pid", &std::process::id().to_string()));
        }
        let decoder = Decoder::new(|event| doing.format(event).ok());
        for event in if wanted.requests { PROCESS_EVENTS.as_slice() } else { ADDING_EVENTS.as_slice() } {
            let of_file = event.starts_with("filemap/") || event.starts_with("readahead/");
            // Who pushes files out is seen by what it adds, of whatever file.
            let filter = if of_file && wanted.requests { wanted.files.filter() } else { "" };
            enable(&doing, event, filter)?;
        }
        for event in REMOVING_EVENTS {
            enable(&removing, event, if event.starts_with("filemap/") { wanted.files.filter() } else { "" })?;
        }
        let (header, text) = doing.header_page()?;
        let layout = PageLayout::parse(&text).ok_or_else(|| KernelError::malformed("read", header, &text))?;
        let (of_doing, of_removing) =
            (RawPages::open(&doing, layout.size())?, RawPages::open(&removing, layout.size())?);
        Ok(Recording {
            doing: (doing, of_doing),
            removing: (removing, of_removing),
            layout,
            decoder,
            order: InOrder::default(),
            events: 0,
            used_before,
        })
    }

    /// How much this kernel tells.
    pub fn level(&self) -> Level {
        match (self.decoder.has_requests(), self.decoder.has_marks()) {
            (true, true) => Level::Full,
            (true, false) => Level::NoMarks,
            (false, _) => Level::ChangesOnly,
        }
    }

    /// Only these threads, and what they start.
    pub fn only(&self, threads: &[u32]) -> Result<()> {
        Ok(follow::only(&self.doing.0, threads)?)
    }

    /// Only what this command will be.
    pub fn follow(&self, command: &mut Command) -> Result<()> {
        Ok(follow::command(&self.doing.0, command)?)
    }

    /// Records from now on.
    pub fn start(&self) -> Result<()> {
        self.removing.0.start()?;
        Ok(self.doing.0.start()?)
    }

    /// Records no longer; what was recorded can still be taken.
    pub fn stop(&self) -> Result<()> {
        self.doing.0.set("tracing_on", "0")?;
        Ok(self.removing.0.set("tracing_on", "0")?)
    }

    /// A round: what was recorded, in order; with `all`, to the end.
    pub fn take(&mut self, all: bool, mut each: impl FnMut(Event)) -> Result<()> {
        let (layout, decoder, order, events) = (self.layout, &self.decoder, &mut self.order, &mut self.events);
        for (_, pages) in [&mut self.doing, &mut self.removing] {
            pages.drain(|page| {
                layout.records(page, |time, record| {
                    *events += 1;
                    if let Some(event) = decoder.event(record) {
                        order.push(time, event);
                    }
                });
            })?;
        }
        order.round(all, |_, event| each(event));
        Ok(())
    }

    /// What it cost and missed. The instances can be removed after this.
    pub fn end(self) -> Result<Recorded> {
        Ok(Recorded {
            lasted: Nanos(0),
            events: self.events,
            lost: self.doing.1.lost() + self.removing.1.lost(),
            own_cpu: process::own_usage()?.since(&self.used_before)?.cpu(),
            level: self.level(),
        })
    }
}

/// An event this kernel does not have is not missed here: what is told then is said.
fn enable(instance: &Instance, event: &str, filter: &str) -> Result<()> {
    if !instance.has(&format!("events/{event}/enable")) {
        return Ok(());
    }
    Ok(instance.enable(event, filter)?)
}
