//! A recording: two trace instances, made through the journal and drained while they record, and the counts of what they gave.

use std::process::Command;

use ramline_act::{Result, Run};
use ramline_kernel::process::Usage;
use ramline_kernel::tracing::{Instance, RawPages, follow};
use ramline_snapshot::cache::Recorded;
use ramline_trace::count::{CacheCounts, Counter};
use ramline_trace::{Decoder, Event, Events, InOrder, PageLayout};

use super::names::{Files, Names};
use crate::prelude::*;

/// Of a processor: room for 0.3 s of a process that does nothing but read pages that are there.
const BUFFER: Bytes = Bytes::from_mib(16);
/// Of all processors together.
const BUFFERS: Bytes = Bytes::from_mib(256);

/// Between two rounds of taking in what was recorded.
pub const ROUND: Duration = Duration::from_millis(10);

/// What is to be recorded.
#[derive(Debug)]
pub struct RecordingPlan<'a> {
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
    pub counter: Counter<Names>,
    pub began: Instant,
    lasted: Duration,
    events: u64,
    used_before: Usage,
}

impl Recording {
    /// Makes and sets up the instances; nothing is recorded yet.
    ///
    /// # Errors
    /// More privilege is needed, or this kernel has no tracing.
    pub fn make(context: Context<'_>, run: &mut Run, wanted: &RecordingPlan<'_>) -> Result<Recording> {
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
        let events = if wanted.requests { Events::OfProcesses } else { Events::Adding };
        for event in events.names() {
            let of_file = event.starts_with("filemap/") || event.starts_with("readahead/");
            // Who pushes files out is seen by what it adds, of whatever file.
            let filter = if of_file && wanted.requests { &wanted.files.filter } else { "" };
            enable(&doing, event, filter)?;
        }
        for event in Events::Removing.names() {
            enable(&removing, event, if event.starts_with("filemap/") { &wanted.files.filter } else { "" })?;
        }
        let (header, text) = doing.header_page()?;
        let layout = PageLayout::parse(&text).ok_or_else(|| KernelError::malformed("read", header, &text))?;
        let (of_doing, of_removing) =
            (RawPages::open(&doing, layout.size())?, RawPages::open(&removing, layout.size())?);
        Ok(Recording {
            doing: (doing, of_doing),
            removing: (removing, of_removing),
            layout,
            order: InOrder::default(),
            counter: Counter::new(Names::new(context.root, &wanted.files.names), decoder.level()),
            decoder,
            began: Instant::now(),
            lasted: Duration::ZERO,
            events: 0,
            used_before,
        })
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
    pub fn start(&mut self) -> Result<()> {
        self.removing.0.start()?;
        self.doing.0.start()?;
        self.began = Instant::now();
        Ok(())
    }

    /// Takes in what was recorded meanwhile, of it what is wanted.
    pub fn round(&mut self, wants: impl Fn(&Event) -> bool) -> Result<()> {
        self.take(false, wants)?;
        self.counter.end_round();
        Ok(())
    }

    /// Records no longer, and takes in the rest.
    pub fn stop(&mut self, wants: impl Fn(&Event) -> bool) -> Result<()> {
        self.doing.0.set("tracing_on", "0")?;
        self.removing.0.set("tracing_on", "0")?;
        self.lasted = self.began.elapsed();
        self.take(true, wants)
    }

    fn take(&mut self, all: bool, wants: impl Fn(&Event) -> bool) -> Result<()> {
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
        let counter = &mut self.counter;
        order.round(all, |_, event| {
            if wants(&event) {
                counter.take(event);
            }
        });
        Ok(())
    }

    /// What it cost and missed, and the lists. The instances can be removed after this.
    pub fn end(self) -> Result<(Recorded, CacheCounts)> {
        let recorded = Recorded {
            lasted: self.lasted.into(),
            events: self.events,
            lost: self.doing.1.lost() + self.removing.1.lost(),
            own_cpu: process::own_usage()?.since(&self.used_before)?.cpu(),
            level: self.counter.level(),
        };
        let counted = self.counter.finish(|names, file| {
            let (path, length) = names.path_and_length(file);
            (name(&path), length.map(Bytes))
        });
        Ok((recorded, counted))
    }
}

/// An event this kernel does not have is not missed here: what is told then is said.
fn enable(instance: &Instance, event: &str, filter: &str) -> Result<()> {
    if !instance.has(&format!("events/{event}/enable")) {
        return Ok(());
    }
    Ok(instance.enable(event, filter)?)
}
