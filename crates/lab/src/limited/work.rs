//! What a workload does inside its group: it fills memory, and touches it as its load says, round after round.
//!
//! It reports how far it is, and is held from outside where a pool must be followed. What it is not: the choice of touches; those are
//! the generator's.

use std::os::unix::fs::FileExt;

use ramline_trace::generate::{Access, Load, Stream};

use super::report::WorkReport;
use crate::prelude::*;

/// Pages that are filled, or pairs of touches, between looks at the clock.
const CLOCK_EVERY: u64 = 32;
/// Touches between looks at the brake.
const TOUCHES: u64 = 2;
/// Time between reports.
const REPORT_EVERY: Nanos = Nanos(50_000_000);

/// A region of the load, as this process has it.
pub struct Target {
    /// Mapped.
    pub map: Map,
    /// Where it is a file that may be read: its one descriptor, since read-ahead is kept for each.
    pub file: Option<File>,
}

/// Fills anonymous memory page by page, one map after the other.
///
/// # Errors
/// It cannot be written, or the supervisor is gone.
pub fn fill<'a>(
    maps: impl Iterator<Item = &'a mut Map>,
    total: Bytes,
    filler: &mut Filler,
    brake: &mut Brake,
) -> Result<Nanos> {
    let begin = process::monotonic();
    let mut page = vec![0u8; 4096];
    let (mut number, mut reported) = (0u64, begin);
    for map in maps {
        for offset in (0..map.len()).step_by(page.len()) {
            brake.wait()?;
            filler.fill(number, &mut page);
            let length = page.len().min(map.len() - offset);
            map.write_at(offset, &page[..length])?;
            number += 1;
            if number.is_multiple_of(CLOCK_EVERY) {
                let now = process::monotonic();
                if now.saturating_sub(reported) >= REPORT_EVERY {
                    reported = now;
                    let fraction = Bytes(number * 4096).as_f64() / total.as_f64();
                    send(WorkReport { phase: Phase::Fill, fraction, ..WorkReport::default() })?;
                }
            }
        }
    }
    Ok(process::monotonic().saturating_sub(begin))
}

/// The rounds of a load.
pub struct Rounds<'a> {
    /// The load.
    pub load: &'a Load,
    /// Its touches, made before.
    pub touches: Stream,
    /// What memory was filled with.
    pub fill: Fill,
    /// What read(2) reads into: [`buffer`].
    pub buffer: Vec<u8>,
    /// When the clock ends them.
    pub timeout: Nanos,
}

impl Rounds<'_> {
    /// Does them, with a report of each; the last report is returned.
    ///
    /// # Errors
    /// A touch outside of its region, a read that fails, or the supervisor is gone.
    pub fn run(mut self, targets: &mut [Target], brake: &mut Brake) -> Result<WorkReport> {
        let (all, rounds) = (self.load.touches_of_a_round(), self.load.round_count());
        let steps = all.div_ceil(TOUCHES);
        let mut hand = Hand { stored: stored(self.fill), buffer: std::mem::take(&mut self.buffer) };
        let begin = process::monotonic();
        let (mut reported, mut checksum) = (begin, 0u64);
        let going = WorkReport { phase: Phase::Rounds, ..WorkReport::default() };
        for round in 0..rounds {
            let started = process::monotonic();
            checksum = 0;
            for step in 0..steps {
                brake.wait()?;
                for _ in 0..TOUCHES.min(all - step * TOUCHES) {
                    checksum += hand.touch(&mut self.touches, targets)?;
                }
                if step % CLOCK_EVERY == 0 {
                    let now = process::monotonic();
                    let late = now.saturating_sub(begin) > self.timeout;
                    if late || now.saturating_sub(reported) >= REPORT_EVERY {
                        reported = now;
                        let fraction = step as f64 / steps.max(1) as f64;
                        let report =
                            WorkReport { rounds: round, fraction, checksum, held: brake.held, ..going.clone() };
                        if late {
                            let took = Some(now.saturating_sub(begin));
                            return Ok(WorkReport { phase: Phase::Done, timed_out: true, took, ..report });
                        }
                        send(report)?;
                    }
                }
            }
            let took = Some(process::monotonic().saturating_sub(started));
            send(WorkReport { rounds: round + 1, checksum, took, ..going.clone() })?;
        }
        let took = Some(process::monotonic().saturating_sub(begin));
        Ok(WorkReport { phase: Phase::Done, rounds, checksum, took, held: brake.held, ..WorkReport::default() })
    }
}

/// Room for what a read(2) of this load brings, all of it in RAM.
#[must_use]
pub fn buffer(load: &Load) -> Vec<u8> {
    vec![1; usize::try_from(load.read_length()).unwrap_or_default()]
}

/// A byte that a page of this fill begins with, so that stores leave its contents, and what it compresses to, as they are.
const fn stored(fill: Fill) -> u8 {
    match fill {
        Fill::Zeros => 0,
        Fill::Text => b'p',
        Fill::Random => 0xA5,
    }
}

/// What touches with.
struct Hand {
    stored: u8,
    buffer: Vec<u8>,
}

impl Hand {
    /// Does the next touch; the byte it read, or the first of them.
    #[inline]
    fn touch(&mut self, touches: &mut Stream, targets: &mut [Target]) -> Result<u64> {
        let short = || LabError::Workload("the load has fewer touches than its rounds".to_owned());
        let touch = touches.next().ok_or_else(short)?;
        let target = targets.get_mut(usize::try_from(touch.region).unwrap_or(usize::MAX)).ok_or_else(short)?;
        match touch.access {
            Access::Load => Ok(u64::from(target.map.touch_read(index(touch.offset)?)?)),
            Access::Store => {
                target.map.write_at(index(touch.offset)?, &[self.stored])?;
                Ok(0)
            }
            // Of recordings, which the lab does not play.
            Access::Free | Access::Compute(_) | Access::Begin => Ok(0),
            Access::Read(length) => {
                let failed =
                    |error: std::io::Error| LabError::Workload(format!("reading at {}: {error}", touch.offset));
                let file = target.file.as_ref().ok_or_else(short)?;
                let buffer = self.buffer.get_mut(..index(u64::from(length))?).ok_or_else(short)?;
                file.read_exact_at(buffer, touch.offset).map_err(failed)?;
                Ok(buffer.first().copied().map_or(0, u64::from))
            }
        }
    }
}

/// A byte in a mapped file by which the workload is held from outside until reclaim has made room for a zram pool.
pub struct Brake {
    map: Option<Map>,
    /// How long it was held so far.
    pub held: Nanos,
}

impl Brake {
    /// The brake in this file; without one the workload is never held.
    ///
    /// # Errors
    /// The file cannot be mapped or locked.
    pub fn new(hold: Option<&Path>) -> Result<Brake> {
        let Some(path) = hold else { return Ok(Brake { map: None, held: Nanos(0) }) };
        let map = scratch::map(path)?;
        // One page that must not itself be reclaimed.
        map.lock()?;
        Ok(Brake { map: Some(map), held: Nanos(0) })
    }

    /// Returns when the workload may go on.
    ///
    /// # Errors
    /// Never, as long as the mapping has a byte.
    pub fn wait(&mut self) -> Result<()> {
        let Some(map) = &self.map else { return Ok(()) };
        if map.touch_read(0)? == 0 {
            return Ok(());
        }
        let begin = process::monotonic();
        while map.touch_read(0)? != 0 {
            std::thread::sleep(Duration::from_micros(200));
        }
        self.held.0 += process::monotonic().0.saturating_sub(begin.0);
        Ok(())
    }
}

fn index(offset: u64) -> Result<usize> {
    usize::try_from(offset)
        .map_err(|_| LabError::Workload(format!("offset {offset} does not fit into this machine's addresses")))
}

/// A report with time and usage of now.
///
/// # Errors
/// The kernel does not say.
pub fn now(report: WorkReport) -> Result<WorkReport> {
    let usage = process::own_usage()?;
    let (user, system, major_faults) = (usage.user, usage.system, usage.majflt);
    Ok(WorkReport { now: process::monotonic(), user, system, major_faults, ..report })
}

/// Sends one.
///
/// # Errors
/// The supervisor is gone.
pub fn send(report: WorkReport) -> Result<()> {
    child::report(&now(report)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_trace::generate::Touch;

    #[test]
    fn touches_go_where_the_load_says_and_stores_keep_the_page_as_it_was_filled() {
        let tree = tempfile::tempdir().unwrap();
        let path = tree.path().join("file");
        std::fs::write(&path, [vec![7u8; 4096], vec![9u8; 4096]].concat()).unwrap();
        let mut map = Map::anonymous(Bytes(4096), Sharing::Private).unwrap();
        let mut page = vec![0; 4096];
        Filler::new(Fill::Text, 1).fill(0, &mut page);
        map.write_at(0, &page).unwrap();
        let file = Target { map: scratch::map(&path).unwrap(), file: Some(scratch::open(&path).unwrap()) };
        let mut targets = [file, Target { map, file: None }];
        let touch = |region, access, offset| Touch { region, access, offset };
        let all = [
            touch(0, Access::Load, 5),
            touch(0, Access::Read(4096), 4096),
            touch(1, Access::Store, 0),
            touch(1, Access::Load, 0),
        ];
        let mut touches: Stream = Box::new(all.into_iter());
        let mut hand = Hand { stored: stored(Fill::Text), buffer: vec![0; 4096] };
        let read: Vec<u64> = (0..4).map(|_| hand.touch(&mut touches, &mut targets).unwrap()).collect();
        assert_eq!(read, [7, 9, 0, u64::from(b'p')]);
        assert_eq!(targets[1].map.as_slice(), page);
        assert!(hand.touch(&mut touches, &mut targets).is_err(), "the load is at its end");
    }
}
