//! One guest from its boot to its end: what it says is written into the record, and what it does not say in time is a result.
//!
//! What it is not: patient. A guest that panics, hangs or runs out of time ends here all the same.

mod console;

use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use ramline_act::Run;
use ramline_evidence::{Phase, RoundTime, RunRecord, Verdict};
use ramline_kernel::{Root, memory_room, signals};
use ramline_units::{Bytes, Nanos};

pub use self::console::Console;
use super::message::{Hello, Message, Orders};
use super::options::Patience;
use super::qemu::{Guest, Heard, Running};
use crate::error::{LabError, Result};
use crate::progress::Progress;
use crate::protocol::Line;
use crate::requirements::margin;

/// How often the clocks are looked at.
const TICK: Duration = Duration::from_millis(50);
/// How often this machine's own memory is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// What a guest told that had nothing to do but to measure itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measured {
    /// Which machine it is.
    pub hello: Hello,
    /// MemAvailable when nothing runs.
    pub available: Bytes,
    /// From the start to its first line.
    pub first_line: Duration,
    /// From the start until it was set up.
    pub set_up: Duration,
}

/// Boots a guest only to measure what memory it has to give. `None` when its first line does not come within `first_line`.
///
/// # Errors
/// It came up and then failed; SIGINT or SIGTERM came.
pub fn measure(guest: &Guest, run: &mut Run, first_line: Duration) -> Result<Option<Measured>> {
    let patience = Patience { first_line, ..Patience::of(Duration::ZERO) };
    let mut watch = Watch::start(guest, run, patience)?;
    let mut found: Option<(Hello, Duration)> = None;
    loop {
        match watch.next()? {
            Next::Message(message) => match *message {
                Message::Hello(hello) => {
                    found = Some((hello, watch.begin.elapsed()));
                    watch.order(&Orders::default())?;
                }
                Message::Ready { available, .. } => {
                    let Some((hello, _)) = found else { continue };
                    watch.clock(Part::Ending);
                    let (first_line, set_up) = (watch.first_line.unwrap_or_default(), watch.begin.elapsed());
                    while !matches!(watch.next()?, Next::Gone | Next::Late(_) | Next::Short(_)) {}
                    return Ok(Some(Measured { hello, available, first_line, set_up }));
                }
                Message::Failed(why) => return Err(LabError::Workload(format!("the guest could not go on: {why}"))),
                _ => {}
            },
            Next::Quiet => {}
            Next::Late(_) if watch.first_line.is_none() => return Ok(None),
            Next::Late(why) | Next::Short(why) => return Err(LabError::Workload(why)),
            Next::Gone => {
                let why = watch.why_gone();
                return Err(LabError::Workload(why));
            }
        }
    }
}

/// Runs a workload in a guest and fills the record. A guest that panics or hangs gives a record too.
///
/// # Errors
/// QEMU cannot be started; SIGINT or SIGTERM came.
pub fn follow(
    guest: &Guest,
    orders: &Orders,
    patience: Patience,
    record: &mut RunRecord,
    run: &mut Run,
    progress: &mut dyn Progress,
) -> Result<()> {
    progress.phase("booting the guest");
    let mut watch = Watch::start(guest, run, patience)?;
    let mut last = Line::default();
    let mut rounds_began = None;
    let mut ended = None;
    let verdict = loop {
        match watch.next()? {
            Next::Message(message) => match *message {
                Message::Hello(hello) => {
                    progress.phase("setting the guest up");
                    identify(record, hello);
                    note_time(record, "seconds from start to the guest's first line", watch.first_line);
                    // A guest that does not listen any more tells by its end why.
                    drop(watch.order(orders));
                }
                Message::Ready { verified, available } => {
                    record.verified.extend(verified);
                    record.verified.insert("memory available at the start".to_owned(), available.to_string());
                    note_time(record, "seconds from start to the workload", Some(watch.begin.elapsed()));
                    watch.clock(Part::Fill);
                    progress.phase("");
                }
                Message::Before(counters) => record.before = counters,
                Message::After(counters) => record.after = counters,
                Message::Sample(sample) => {
                    progress.sample(&sample);
                    record.samples.push(*sample);
                }
                Message::Line(line) => {
                    hear(&mut watch, record, &line, &mut rounds_began);
                    last = line;
                }
                Message::Ended { status, signal, user, system, major_faults } => {
                    (record.user, record.system) = (user, system);
                    record.reclaim.major_faults = major_faults;
                    ended = Some(verdict(record, &last, status, signal));
                    watch.clock(Part::Ending);
                }
                Message::Failed(why) => ended = Some(Verdict::Failed(format!("the guest could not go on: {why}"))),
            },
            Next::Quiet => {}
            Next::Late(why) => break ended.unwrap_or_else(|| out_of_time(&watch, why)),
            Next::Short(why) => break Verdict::Failed(why),
            Next::Gone => break ended.unwrap_or_else(|| Verdict::Failed(watch.why_gone())),
        }
    };
    record.verdict = verdict;
    if last.phase != Phase::Done {
        record.elapsed = Nanos(rounds_began.map_or(0, |began: Nanos| last.now.0.saturating_sub(began.0)));
    }
    if last.timed_out || last.phase == Phase::Rounds {
        record.fraction = last.fraction;
    }
    if let Some(share) = last.ballast_resident {
        record.notes.push(format!("bystanders: {:.0} % of the ballast was pushed out", (1.0 - share) * 100.0));
    }
    if matches!(record.verdict, Verdict::Failed(_)) {
        record.detail = Some(serde_json::json!({ "console": watch.console.tail() }));
    }
    Ok(())
}

fn identify(record: &mut RunRecord, hello: Hello) {
    let machine = &mut record.machine;
    machine.kernel = hello.kernel;
    machine.cpus = hello.cpus;
    machine.mem_total = hello.mem_total;
    machine.page_size = hello.page_size;
    machine.boot_id = hello.boot_id;
    machine.cgroup_version = 0;
}

fn note_time(record: &mut RunRecord, name: &str, time: Option<Duration>) {
    let text = time.map_or_else(|| "unknown".to_owned(), |time| format!("{:.1}", time.as_secs_f64()));
    record.verified.insert(name.to_owned(), text);
}

fn hear(watch: &mut Watch, record: &mut RunRecord, line: &Line, rounds_began: &mut Option<Nanos>) {
    match (line.phase, line.took) {
        (Phase::Fill, Some(took)) => {
            record.fill = took;
            *rounds_began = Some(line.now);
            watch.clock(Part::Rounds);
        }
        (Phase::Rounds, Some(took)) => record.rounds.push(RoundTime { took, checksum: line.checksum }),
        (Phase::Done, took) => {
            record.elapsed = took.unwrap_or(record.elapsed);
            watch.clock(Part::Ending);
        }
        _ => {}
    }
}

fn verdict(record: &RunRecord, last: &Line, status: Option<i32>, signal: Option<i32>) -> Verdict {
    let kills = |table: &std::collections::BTreeMap<String, u64>| table.get("vm.oom_kill").copied().unwrap_or_default();
    match (status, signal) {
        _ if last.error.is_some() => Verdict::Failed(last.error.clone().unwrap_or_default()),
        (Some(0), _) if last.timed_out => {
            Verdict::Thrashing(format!("{:.0} s passed", record.workload.timeout.as_secs_f64()))
        }
        (Some(0), _) if last.phase == Phase::Done => Verdict::Completed,
        (_, Some(_)) if kills(&record.after) > kills(&record.before) => {
            Verdict::Killed(format!("the kernel: the machine was out of memory while in phase {:?}", last.phase))
        }
        (_, Some(signal)) => Verdict::Killed(format!("signal {signal}")),
        (status, None) => {
            Verdict::Failed(format!("it ended with status {} and said nothing", status.unwrap_or_default()))
        }
    }
}

/// Before the workload runs a late guest hangs. After that it thrashes: what cannot be told from outside is whether it would
/// ever end.
fn out_of_time(watch: &Watch, why: String) -> Verdict {
    match (watch.console.why(), watch.part) {
        (Some(known), _) => Verdict::Failed(known),
        (None, Part::FirstLine | Part::SetUp) => Verdict::Failed(format!("the guest hung: {why}")),
        (None, Part::Fill | Part::Rounds | Part::Ending) => Verdict::Thrashing(why),
    }
}

/// Parts of a guest's life, each with a time of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    FirstLine,
    SetUp,
    Fill,
    Rounds,
    Ending,
}

enum Next {
    Message(Box<Message>),
    /// Nothing new, or only on the console.
    Quiet,
    /// A clock ran out; which.
    Late(String),
    /// This machine, not the guest, is short of memory.
    Short(String),
    /// QEMU has ended and all it said is heard.
    Gone,
}

struct Watch {
    running: Running,
    console: Console,
    patience: Patience,
    begin: Instant,
    first_line: Option<Duration>,
    part: Part,
    since: Instant,
    heard: Instant,
    root: Root,
    least: Bytes,
    looked: Instant,
}

impl Watch {
    fn start(guest: &Guest, run: &mut Run, patience: Patience) -> Result<Watch> {
        let now = Instant::now();
        let running = Running::start(guest, run)?;
        let console = Console::default();
        let root = run.root().clone();
        let least = margin(&root)?;
        Ok(Watch {
            running,
            console,
            patience,
            begin: now,
            first_line: None,
            part: Part::FirstLine,
            since: now,
            heard: now,
            root,
            least,
            looked: now,
        })
    }

    fn order(&mut self, orders: &Orders) -> Result<()> {
        let text = serde_json::to_string(orders).map_err(|error| LabError::Workload(error.to_string()))?;
        self.running.say(&text)
    }

    fn clock(&mut self, part: Part) {
        (self.part, self.since) = (part, Instant::now());
    }

    fn next(&mut self) -> Result<Next> {
        if signals::interrupted() {
            self.running.end();
            return Err(LabError::Interrupted);
        }
        match self.running.heard.recv_timeout(TICK) {
            Ok(Heard::Message(message)) => {
                self.heard = Instant::now();
                self.alive();
                return Ok(Next::Message(message));
            }
            Ok(Heard::Console(line)) => {
                self.console.hear(&line);
                if self.console.is_up() {
                    self.alive();
                }
            }
            // Both streams are closed: QEMU is on its way out.
            Err(RecvTimeoutError::Disconnected) => {
                if self.running.has_ended()? {
                    return Ok(Next::Gone);
                }
                std::thread::sleep(TICK);
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        if let Some(why) = self.short()? {
            return Ok(Next::Short(why));
        }
        Ok(self.late().map_or(Next::Quiet, Next::Late))
    }

    /// The guest cannot take more than it was given, but others can; then it is the guest that goes.
    fn short(&mut self) -> Result<Option<String>> {
        if self.looked.elapsed() < LOOK_EVERY {
            return Ok(None);
        }
        self.looked = Instant::now();
        let room = memory_room(&self.root)?;
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
        let (limit, what) = match self.part {
            Part::FirstLine => (self.patience.first_line, "its first line did not come"),
            Part::SetUp => (self.patience.set_up, "it was not set up"),
            Part::Fill => (self.patience.fill, "the data was not filled"),
            Part::Rounds => (self.patience.rounds, "the rounds did not end"),
            Part::Ending => (self.patience.ending, "it did not end after its last word"),
        };
        if self.since.elapsed() > limit {
            return Some(format!("{what} within {:.0} s", limit.as_secs_f64()));
        }
        let quiet = matches!(self.part, Part::Fill | Part::Rounds) && self.heard.elapsed() > self.patience.silence;
        quiet.then(|| {
            format!("nothing was heard from the guest for {:.0} s; {what}", self.patience.silence.as_secs_f64())
        })
    }

    fn why_gone(&mut self) -> String {
        let complaint = self.running.end();
        let line = |text: &str| text.lines().last().unwrap_or_default().to_owned();
        self.console.why().unwrap_or_else(|| match (complaint.as_str(), self.console.tail().back()) {
            ("", None) => "the guest ended without a word".to_owned(),
            ("", Some(said)) => format!("the guest ended without a result; its last line: {}", said.escape_debug()),
            (complaint, _) => format!("QEMU: {}", line(complaint)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_the_kernels_only_when_it_ran_out_of_memory() {
        let mut record = RunRecord::default();
        let filling = Line { phase: Phase::Fill, ..Line::default() };
        assert_eq!(verdict(&record, &filling, None, Some(9)), Verdict::Killed("signal 9".to_owned()));
        record.after.insert("vm.oom_kill".to_owned(), 1);
        let killed = verdict(&record, &filling, None, Some(9));
        assert!(matches!(killed, Verdict::Killed(why) if why.contains("out of memory while in phase Fill")));
        let done = Line { phase: Phase::Done, ..Line::default() };
        assert_eq!(verdict(&record, &done, Some(0), None), Verdict::Completed);
        assert!(matches!(verdict(&record, &filling, Some(0), None), Verdict::Failed(_)));
    }
}
