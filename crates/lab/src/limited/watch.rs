//! Following a workload in its sandbox: samples, the watchdog, the limit that follows a pool.

use super::Sandbox;
use super::pool::PoolKeeper;
use super::report::{WorkLog, WorkReport};
use crate::prelude::*;
use ramline_sandbox::watchdog::{Limits, Watchdog};

/// How often the kernel brings the statistics of groups up to date by itself.
const STATISTICS_EVERY: Nanos = Nanos(2_000_000_000);

/// One workload and what looks at it.
pub struct Watch<'a> {
    root: &'a Root,
    sandbox: &'a Sandbox,
    record: &'a mut RunRecord,
    child: Supervisor<WorkReport>,
    observer: Observer<'a>,
    dog: Watchdog,
    log: WorkLog,
    room: Option<(Bytes, Nanos)>,
}

impl<'a> Watch<'a> {
    /// Starts a child of this kind with its task inside the sandbox, where it waits. All must be over by `deadline`.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start<'b: 'a>(
        sandbox: &'a Sandbox,
        (kind, task): (&str, &impl Serialize),
        record: &'a mut RunRecord,
        bench: &mut Bench<'b>,
    ) -> Result<Watch<'a>> {
        let root = bench.root;
        let child = Supervisor::from_task(kind, task, &sandbox.group, bench.run)?;
        let left = bench.deadline.map(|end| end.saturating_duration_since(Instant::now()));
        let dog = Watchdog::new(Limits { room: margin(root)?, ..limits(record, left) });
        let observer = Observer::new(root, Some(&sandbox.group), record.workload.shared);
        Ok(Watch { root, sandbox, record, child, observer, dog, log: WorkLog::default(), room: None })
    }

    /// Looks until the workload has ended and fills the record with what was seen.
    ///
    /// # Errors
    /// SIGINT or SIGTERM came, or the group's files cannot be read.
    pub fn follow(mut self, progress: &mut dyn Progress) -> Result<()> {
        match self.until_ended(progress) {
            Ok(end) => self.log.conclude(&end, "the group", self.record),
            Err(error) => {
                drop(self.around_the_keeper(Supervisor::kill));
                return Err(error);
            }
        }
        Ok(())
    }

    fn until_ended(&mut self, progress: &mut dyn Progress) -> Result<End> {
        loop {
            match self.child.next_event()? {
                Event::Report(report) => self.log.take(report, self.record),
                Event::Waiting(report) => self.waits(report)?,
                Event::Tick => self.tick(progress)?,
                Event::Ended(end) => return Ok(end),
            }
        }
    }

    /// A sample of now, with the limit in force, and the pool where there is one.
    fn sample(&self) -> Sample {
        let (limit, pool) = match &self.sandbox.keeper {
            None => (self.record.workload.limit, None),
            Some(keeper) => {
                let (limit, pool) = keeper.now();
                (limit, Some(pool))
            }
        };
        self.observer.sample(self.child.pid(), Sample { limit, pool, ..self.log.last.sample() })
    }

    fn tick(&mut self, progress: &mut dyn Progress) -> Result<()> {
        if self.record.workload.fresh_statistics {
            // Reading memory.stat is what brings them up to date.
            self.sandbox.group.stat()?;
        }
        let sample = self.sample();
        progress.sample(&sample);
        let room = self.room(&sample)?;
        let lost = self.sandbox.keeper.as_ref().is_some_and(PoolKeeper::lost);
        let end = if lost {
            Some(Verdict::Failed("the zram pool could not be read any more".to_owned()))
        } else {
            let done = sample.phase == Phase::Done;
            self.dog.look(&sample, room).map(|why| if done { Verdict::Failed(why) } else { Verdict::Thrashing(why) })
        };
        self.record.samples.push(sample);
        match end {
            Some(verdict) if !self.child.is_stopped() => self.stop(verdict),
            _ => Ok(()),
        }
    }

    /// What can still be taken. The limits above us are looked at with every sample, or, since looking brings the group's
    /// statistics up to date, only as often as the kernel does that by itself.
    fn room(&mut self, sample: &Sample) -> Result<Bytes> {
        let old = |(_, at): (Bytes, Nanos)| sample.at.saturating_sub(at) >= STATISTICS_EVERY;
        if self.record.workload.fresh_statistics || self.room.is_none_or(old) {
            self.room = Some((memory_headroom(self.root)?, sample.at));
        }
        Ok(self.room.map_or(sample.host.available, |(room, _)| room.min(sample.host.available)))
    }

    fn stop(&mut self, verdict: Verdict) -> Result<()> {
        self.around_the_keeper(|child| child.stop(verdict))
    }

    /// Ends the workload. The keeper is told first and waited for last: it may be lowering the limit of a group that cannot
    /// be brought below it while it lives.
    fn around_the_keeper(&mut self, end: impl FnOnce(&mut Supervisor<WorkReport>) -> Result<()>) -> Result<()> {
        let keeper = self.sandbox.keeper.as_ref();
        keeper.inspect(|keeper| keeper.ask_to_stop());
        end(&mut self.child)?;
        // One that stays stuck all the same is joined when the run is taken down.
        keeper.map(PoolKeeper::stop);
        Ok(())
    }

    /// It waits to begin, or with all its memory still there.
    fn waits(&mut self, report: WorkReport) -> Result<()> {
        let done = report.phase == Phase::Done;
        self.log.take(report, self.record);
        if !done {
            self.child.must_be_in(&self.sandbox.group)?;
            let stat = self.sandbox.group.stat()?;
            let worker = self.sandbox.make_up_for(&stat)?;
            let counters = observe::counters(self.root, &stat).into_iter();
            let of_worker =
                |(name, value): (String, u64)| Some((format!("worker.{}", name.strip_prefix("group.")?), value));
            self.record.ready = counters.filter_map(of_worker).collect();
            let harness = stat.current.unwrap_or_default();
            self.record.verified.insert("harness in the group before the start".to_owned(), harness.to_string());
            let added = "added to the limit for the worker itself, which is locked".to_owned();
            self.record.verified.insert(added, worker.to_string());
            self.child.resume();
            return Ok(());
        }
        // The last point of every curve is where the run ended.
        self.record.samples.push(self.sample());
        if self.sandbox.keeper.as_ref().is_none_or(PoolKeeper::stop) {
            self.record.after = observe::counters(self.root, &self.sandbox.group.stat()?);
            self.child.resume();
            return Ok(());
        }
        self.stop(Verdict::Failed("the limit could not be brought to rest".to_owned()))
    }
}

/// From what was asked for, and the time that is left. A fill is memory writes that nearly fit: three times the time of
/// the rounds is far more than it needs.
fn limits(record: &RunRecord, left: Option<Duration>) -> Limits {
    const SLACK: u64 = 5_000_000_000;
    let timeout = record.workload.timeout.0;
    let whole = left.map_or(u64::MAX, |left| u64::try_from(left.as_nanos()).unwrap_or(u64::MAX));
    Limits {
        fill: Nanos(timeout.saturating_mul(3).min(whole.saturating_sub(timeout)).max(SLACK)),
        // The workload ends its rounds itself; this is for one that cannot.
        rounds: Nanos(timeout.saturating_add(SLACK)),
        whole: Nanos(whole),
        ..Limits::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fill_ends_in_time_for_the_rounds() {
        let mut record = RunRecord::default();
        record.workload.timeout = Nanos(6_000_000_000);
        let fill = |seconds: Option<u64>| limits(&record, seconds.map(Duration::from_secs)).fill.0 / 1_000_000_000;
        assert_eq!([fill(None), fill(Some(60)), fill(Some(15)), fill(Some(2))], [18, 18, 9, 5]);
        assert_eq!(limits(&record, Some(Duration::from_secs(15))).whole, Nanos(15_000_000_000));
    }
}
