//! One run of one arm: cold code, a fresh sandbox, the workload, the record.
//!
//! [`crate::experiments::code_plus_data`] orders runs and keeps what they share.

use super::code_file::Scratch;
use super::plan::{CodePlusDataPlan, Ground};
use super::report::{WorkLog, WorkReport, WorkTask};
use crate::limited::pool::PoolKeeper;
use crate::limited::{Sandbox, Sizes, swaps_to_disk};
use crate::prelude::*;
use ramline_sandbox::watchdog::{Limits, Watchdog};

/// What all runs share.
pub struct Runner<'a> {
    /// What is to be done.
    pub plan: &'a CodePlusDataPlan,
    /// Where the code is.
    pub scratch: &'a Scratch,
}

impl Runner<'_> {
    /// Runs `arm` once and fills the record. A run that thrashes or is killed gives a record; only what prevents a run is an
    /// error.
    ///
    /// # Errors
    /// Setting up failed, or SIGINT or SIGTERM came. The journal undoes what was made.
    pub fn once(&self, arm: &Arm, record: &mut RunRecord, bench: &mut Bench<'_>) -> Result<()> {
        record.workload = self.plan.settings.workload(arm);
        bench.progress.phase("waiting for a quiet moment");
        record.notes.extend(requirements::settle(bench.root, self.plan.settings.settle, bench.run)?);
        bench.progress.phase("evicting the code, making the sandbox");
        self.scratch.set_read_ahead(self.plan.settings.read_ahead(arm), bench.run)?;
        scratch::evict(&self.scratch.code)?;
        let mut sandbox = Sandbox::create(&self.sizes(arm), arm, record.order, bench.run)?;
        record.verified = sandbox.verified.clone();
        record.verified.extend(self.scratch.verified());
        record.before = observe::counters(bench.root, &sandbox.base);
        let task = self.task(arm, sandbox.keeper.is_some())?;
        bench.progress.phase("");
        Watch::start(&sandbox, &task, record, bench)?.follow(bench.progress)?;
        record.pool = sandbox.keeper.take().and_then(PoolKeeper::finish);
        if record.after.is_empty() {
            // It did not come to its last line: the counters are those after its death.
            record.after = observe::counters(bench.root, &sandbox.group.stat()?);
        }
        self.who_paid(record)?;
        let layers = observe::Layers {
            loop_device: self.plan.ground == Ground::OwnFs,
            swap_on_disk: swaps_to_disk(bench.root, &arm.swap)?,
            page_size: record.machine.page_size,
        };
        conclude(record, layers);
        Ok(())
    }

    fn sizes(&self, arm: &Arm) -> Sizes<'_> {
        let settings = &self.plan.settings;
        Sizes {
            hierarchy: &self.plan.hierarchy,
            limit: settings.limit(),
            zram: settings.zram_size(&arm.swap),
            swap_file: Some((self.scratch.dir.join("swap"), settings.swap_size())),
            hold: Some(&self.scratch.hold),
        }
    }

    fn task(&self, arm: &Arm, held: bool) -> Result<WorkTask> {
        let hold = held.then(|| self.scratch.hold.clone());
        let (settings, code) = (&self.plan.settings, self.scratch.code.clone());
        Ok(WorkTask { hold, ..settings.task(arm, code)? })
    }

    /// First-touch charging: pages of the code that are cached now must be charged to the group, or its limit was not one.
    fn who_paid(&self, record: &mut RunRecord) -> Result<()> {
        let cached = Bytes(scratch::cached(&self.scratch.code)?.saturating_mul(process::page_size()));
        let after = |name: &str| Bytes(record.after.get(name).copied().unwrap_or_default());
        let charged = after("group.file_bytes").saturating_sub(after("group.shmem_bytes"));
        record.verified.insert("code cached at the end".to_owned(), cached.to_string());
        record.verified.insert("file pages charged to the group at the end".to_owned(), charged.to_string());
        // Statistics lag by up to 64 pages per CPU.
        let lag = Bytes(u64::from(record.machine.cpus).saturating_mul(64 * record.machine.page_size));
        if charged + lag < cached {
            record.notes.push(format!(
                "only {charged} of {cached} of cached code were charged to the sandbox: others paid for the rest"
            ));
        }
        Ok(())
    }
}

/// What follows from the counters, and what qualifies the run.
fn conclude(record: &mut RunRecord, layers: observe::Layers) {
    let faults = record.reclaim.major_faults;
    record.reclaim = observe::reclaim(record, faults);
    record.reclaim.read_bytes = layers.read(record);
    if let Some(balance) = record.pool.filter(|balance| balance.deviation().is_some_and(|share| share > 0.02)) {
        record.notes.push(format!(
            "limit + pool was between {} and {}, nominal {}: more than 2 % off",
            balance.sum_min, balance.sum_max, balance.nominal
        ));
    }
    observe::note_killed_bystanders(record);
    record.figures = ramline_evidence::work::figures(record);
}

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
    /// Starts the workload inside the sandbox, where it waits. All must be over by `deadline`.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start<'b: 'a>(
        sandbox: &'a Sandbox,
        task: &WorkTask,
        record: &'a mut RunRecord,
        bench: &mut Bench<'b>,
    ) -> Result<Watch<'a>> {
        let root = bench.root;
        let child = Supervisor::of_task(super::NAME, task, &sandbox.group, bench.run)?;
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
            self.room = Some((memory_room(self.root)?, sample.at));
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
            let harness = self.sandbox.group.stat()?.current.unwrap_or_default();
            self.record.verified.insert("harness in the group before the start".to_owned(), harness.to_string());
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
