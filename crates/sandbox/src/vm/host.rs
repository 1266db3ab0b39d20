//! One guest from its boot to its end: what it says is written into the record, and what it does not say in time is a result.

mod console;
mod watch;

pub use self::console::Console;
use self::watch::{GuestWatch, Next};
pub use self::watch::{Part, Patience};
use super::message::{Message, Orders};
use super::qemu::Guest;
use crate::child::End;
use crate::prelude::*;
use crate::progress::Progress;
use ramline_evidence::Lru;

/// What a guest that had nothing to run has measured of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measured {
    /// MemAvailable when nothing runs.
    pub available: Bytes,
    /// From the start until it was set up.
    pub set_up: Duration,
}

/// What the workload of a guest makes of its reports and of its end.
pub trait GuestLog {
    /// Takes in a report; the part of the guest's life that begins with it.
    fn take(&mut self, report: Value, record: &mut RunRecord) -> Option<Part>;

    /// Fills in what follows from the end.
    fn conclude(&self, end: &End, record: &mut RunRecord);
}

/// Boots a guest only to measure what memory it has to give. `None` when its first line does not come within `first_line`.
///
/// # Errors
/// It came up and then failed; SIGINT or SIGTERM came.
pub fn measure(guest: &Guest, run: &mut Run, first_line: Duration) -> Result<Option<Measured>> {
    let patience = Patience { first_line, ..Patience::for_rounds(Duration::ZERO) };
    let mut watch = GuestWatch::start(guest, run, patience)?;
    let mut measured = None;
    loop {
        match watch.next()? {
            Next::Message(message) => match *message {
                Message::Hello(_) => watch.order(&Orders::default()),
                Message::Ready { available, .. } => {
                    measured = Some(Measured { available, set_up: watch.begin.elapsed() });
                    watch.clock(Part::Ending);
                }
                Message::Failed(why) if measured.is_none() => {
                    return Err(LabError::Workload(format!("the guest could not go on: {why}")));
                }
                _ => {}
            },
            _ if measured.is_some() => return Ok(measured),
            Next::Late(_) if watch.first_line.is_none() => return Ok(None),
            Next::Late(why) | Next::Short(why) => return Err(LabError::Workload(why)),
            Next::Gone => return Err(LabError::Workload(watch.why_gone())),
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
    log: &mut dyn GuestLog,
    record: &mut RunRecord,
    run: &mut Run,
    progress: &mut dyn Progress,
) -> Result<()> {
    progress.phase("booting the guest");
    let mut watch = GuestWatch::start(guest, run, patience)?;
    let stopped = |verdict| End { stopped: Some(verdict), ..End::default() };
    let mut ended = None;
    let end = loop {
        match watch.next()? {
            Next::Message(message) => match *message {
                Message::Hello(hello) => {
                    progress.phase("setting the guest up");
                    let RunMachine { scratch_fs, scratch_disk, ramline, .. } = std::mem::take(&mut record.machine);
                    record.machine = RunMachine { cgroup_version: 0, scratch_fs, scratch_disk, ramline, ..hello };
                    note_time(record, "seconds from start to the guest's first line", watch.first_line);
                    watch.order(orders);
                }
                Message::Ready { verified, available } => {
                    record.verified.extend(verified);
                    if let Some(on) = orders.mglru {
                        // Switched, and read back, after the guest had described itself.
                        record.machine.lru = Some(if on { Lru::Mglru } else { Lru::Classic });
                    }
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
                Message::Report(report) => {
                    if let Some(part) = log.take(report, record) {
                        watch.clock(part);
                    }
                }
                Message::Ended { status, failed, user, system, major_faults } => {
                    let (status, out_of_memory) =
                        (ExitStatus::from_raw(status), kills(&record.after) > kills(&record.before));
                    let usage = Usage { user, system, majflt: major_faults, ..Usage::default() };
                    ended = Some(End { status, usage, out_of_memory, failed, foreign: true, ..End::default() });
                    watch.clock(Part::Ending);
                }
                Message::Failed(why) => {
                    ended = Some(stopped(Verdict::Failed(format!("the guest could not go on: {why}"))));
                }
            },
            Next::Late(why) => break ended.unwrap_or_else(|| stopped(watch.out_of_time(why))),
            Next::Short(why) => break stopped(Verdict::Failed(why)),
            Next::Gone => break ended.unwrap_or_else(|| stopped(Verdict::Failed(watch.why_gone()))),
        }
    };
    log.conclude(&end, record);
    if matches!(record.verdict, Verdict::Failed(_)) {
        record.detail = Some(serde_json::json!({ "console": watch.console.tail }));
    }
    Ok(())
}

fn kills(counters: &BTreeMap<String, u64>) -> u64 {
    counters.get("vm.oom_kill").copied().unwrap_or_default()
}

fn note_time(record: &mut RunRecord, name: &str, time: Option<Duration>) {
    let text = time.map_or_else(|| "unknown".to_owned(), |time| format!("{:.1}", time.as_secs_f64()));
    record.verified.insert(name.to_owned(), text);
}
