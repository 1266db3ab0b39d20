//! A guest as it is heard from outside: its messages, its console, and the clocks it runs against.

use ramline_gather::headroom::memory_headroom;

use super::super::message::{Message, Orders};
use super::super::qemu::{FromGuest, Guest};
use super::console::Console;
use crate::child::{Event, Supervisor};
use crate::prelude::*;
use crate::requirements::margin;

/// How often the clocks are looked at.
const TICK: Duration = Duration::from_millis(50);
/// How often this machine's own memory is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// A guest whose workload goes on says something at least this often.
const SILENCE: Duration = Duration::from_secs(30);

/// The time a guest has for the parts of its life. Emulation on a busy machine is what these are made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// From the start to its first line.
    pub first_line: Duration,
    /// What the rounds may take; the workload ends them itself before.
    pub rounds: Duration,
}

impl Patience {
    /// For a run whose rounds may take `timeout`.
    #[must_use]
    pub const fn for_rounds(timeout: Duration) -> Patience {
        Patience { first_line: Duration::from_secs(120), rounds: timeout }
    }
}

/// Parts of a guest's life, each with a time of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Until its first line.
    FirstLine,
    /// Until it is set up.
    SetUp,
    /// The workload fills its data.
    Fill,
    /// Its rounds.
    Rounds,
    /// From its last report on.
    Ending,
}

/// What happened next.
pub enum Next {
    /// It said something.
    Message(Box<Message>),
    /// A clock ran out; which.
    Late(String),
    /// This machine, not the guest, is short of memory.
    Short(String),
    /// QEMU has ended and all it said is heard.
    Gone,
}

/// A guest that runs. Dropping it ends it.
pub struct GuestWatch {
    /// Its console.
    pub console: Console,
    /// When it was started.
    pub begin: Instant,
    /// How long its first line took.
    pub first_line: Option<Duration>,
    qemu: Supervisor<FromGuest>,
    complaints: Option<JoinHandle<String>>,
    patience: Patience,
    part: Part,
    since: Instant,
    heard: Instant,
    root: Root,
    least: Bytes,
    looked: Instant,
}

impl GuestWatch {
    /// Starts it.
    ///
    /// # Errors
    /// QEMU cannot be started.
    pub fn start(guest: &Guest, run: &mut Run, patience: Patience) -> Result<GuestWatch> {
        let now = Instant::now();
        let (qemu, complaints) = guest.start(run)?;
        let root = run.root().clone();
        let least = margin(&root)?;
        Ok(GuestWatch {
            console: Console::default(),
            begin: now,
            first_line: None,
            qemu: qemu.ticking(TICK),
            complaints,
            patience,
            part: Part::FirstLine,
            since: now,
            heard: now,
            root,
            least,
            looked: now,
        })
    }

    /// Sends the orders. A guest that does not listen any more tells by its end why.
    pub fn order(&mut self, orders: &Orders) {
        self.qemu.send(orders);
    }

    /// A part of its life begins.
    pub fn clock(&mut self, part: Part) {
        (self.part, self.since) = (part, Instant::now());
    }

    /// Waits for what happens next.
    ///
    /// # Errors
    /// SIGINT or SIGTERM came.
    pub fn next(&mut self) -> Result<Next> {
        loop {
            match self.qemu.next_event()? {
                Event::Report(FromGuest::Message(message)) => {
                    self.heard = Instant::now();
                    self.alive();
                    return Ok(Next::Message(message));
                }
                Event::Report(FromGuest::Console(line)) => {
                    self.console.hear(&line);
                    if self.console.is_up {
                        self.alive();
                    }
                }
                // Nothing that comes from a guest waits.
                Event::Waiting(_) => {}
                Event::Tick => {
                    if let Some(why) = self.short()? {
                        return Ok(Next::Short(why));
                    }
                    if let Some(why) = self.late() {
                        return Ok(Next::Late(why));
                    }
                }
                Event::Ended(_) => return Ok(Next::Gone),
            }
        }
    }

    /// The guest cannot take more than it was given, but others can; then it is the guest that goes.
    fn short(&mut self) -> Result<Option<String>> {
        if self.looked.elapsed() < LOOK_EVERY {
            return Ok(None);
        }
        self.looked = Instant::now();
        let room = memory_headroom(&self.root)?;
        let text = || format!("only {room} of this machine's memory were left to take, less than {}", self.least);
        Ok((room < self.least).then(text))
    }

    fn alive(&mut self) {
        if self.first_line.is_none() {
            self.first_line = Some(self.begin.elapsed());
            self.heard = Instant::now();
            self.clock(Part::SetUp);
        }
    }

    fn late(&self) -> Option<String> {
        let (seconds, rounds) = (Duration::from_secs, self.patience.rounds);
        let (limit, what) = match self.part {
            Part::FirstLine => (self.patience.first_line, "its first line did not come"),
            Part::SetUp => (seconds(90), "it was not set up"),
            Part::Fill => (seconds(60).max(rounds.saturating_mul(3)), "the data was not filled"),
            Part::Rounds => (rounds.saturating_add(seconds(20)), "the rounds did not end"),
            Part::Ending => (seconds(30), "it did not end after its last word"),
        };
        if self.since.elapsed() > limit {
            return Some(format!("{what} within {:.0} s", limit.as_secs_f64()));
        }
        let quiet = matches!(self.part, Part::Fill | Part::Rounds) && self.heard.elapsed() > SILENCE;
        quiet.then(|| format!("nothing was heard from the guest for {} s; {what}", SILENCE.as_secs()))
    }

    /// The verdict of one that is late. Before the workload runs such a guest hangs. After that it thrashes: what cannot be
    /// told from outside is whether it would ever end.
    #[must_use]
    pub fn out_of_time(&self, why: String) -> Verdict {
        match (self.console.why(), self.part) {
            (Some(known), _) => Verdict::Failed(known),
            (None, Part::FirstLine | Part::SetUp) => Verdict::Failed(format!("the guest hung: {why}")),
            (None, Part::Fill | Part::Rounds | Part::Ending) => Verdict::Thrashing(why),
        }
    }

    /// Why one is gone that gave no result.
    pub fn why_gone(&mut self) -> String {
        let complaint = self.complaints.take().and_then(|thread| thread.join().ok()).unwrap_or_default();
        let complaint = complaint.trim();
        self.console.why().unwrap_or_else(|| match (complaint.lines().last(), self.console.tail.back()) {
            (None, None) => "the guest ended without a word".to_owned(),
            (None, Some(said)) => format!("the guest ended without a result; its last line: {}", said.escape_debug()),
            (Some(complaint), _) => format!("QEMU: {complaint}"),
        })
    }
}
