//! What a workload in a limited group reports, and what its reports make of a record.

use ramline_evidence::RoundTime;

use crate::prelude::*;

/// One report.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkReport {
    /// What it is doing; at `Start` and `Done` it waits.
    pub phase: Phase,
    /// CLOCK_MONOTONIC when it was written.
    pub now: Nanos,
    /// Rounds completed.
    pub rounds: u32,
    /// Share of the phase or round done.
    pub fraction: f64,
    /// Sum of all bytes read in the round just completed, or so far.
    pub checksum: u64,
    /// How long the phase or round took that ends here.
    pub took: Option<Nanos>,
    /// User time so far.
    pub user: Nanos,
    /// System time so far.
    pub system: Nanos,
    /// Major faults so far.
    pub major_faults: u64,
    /// How long it was held so far.
    pub held: Nanos,
    /// In the last report: share of the ballast that is still resident.
    pub ballast_resident: Option<f64>,
    /// In the last report: the clock ended it.
    pub timed_out: bool,
}

impl WorkReport {
    /// As a sample shows it.
    #[must_use]
    pub fn sample(&self) -> Sample {
        let WorkReport { phase, rounds, fraction, user, system, major_faults, .. } = *self;
        Sample { phase, rounds, fraction, user, system, major_faults, ..Sample::default() }
    }
}

/// The reports of one run.
#[derive(Debug, Default)]
pub struct WorkLog {
    /// The last one.
    pub last: WorkReport,
    rounds_began: Option<Nanos>,
    /// Processor time until the rounds, in nanoseconds.
    filled: u64,
}

impl WorkLog {
    /// Takes one in.
    pub fn take(&mut self, report: WorkReport, record: &mut RunRecord) {
        match (report.phase, report.took) {
            (Phase::Fill, Some(took)) => {
                (record.fill, record.fill_held) = (took, Some(report.held));
                self.filled = report.user.0 + report.system.0;
                self.rounds_began = Some(report.now);
            }
            (Phase::Rounds, Some(took)) => record.rounds.push(RoundTime { took, checksum: report.checksum }),
            (Phase::Done, Some(took)) => record.elapsed = took,
            _ => {}
        }
        if matches!(report.phase, Phase::Rounds | Phase::Done) {
            record.worked = Some(Nanos((report.user.0 + report.system.0).saturating_sub(self.filled)));
        }
        self.last = report;
    }

    /// Fills in what follows from the end; `owner` is whose memory it had.
    pub fn conclude(&self, end: &End, owner: &str, record: &mut RunRecord) {
        let last = &self.last;
        (record.user, record.system) = (end.usage.user, end.usage.system);
        record.reclaim.major_faults = end.usage.majflt;
        if last.phase != Phase::Done && end.failed.is_none() {
            // Cut short: the last report tells how far it came.
            record.elapsed = self.rounds_began.map_or(Nanos(0), |began| last.now.saturating_sub(began));
        }
        if last.timed_out || last.phase == Phase::Rounds {
            record.fraction = last.fraction;
        }
        if let Some(share) = last.ballast_resident {
            record.notes.push(format!("bystanders: {:.0} % of the ballast was pushed out", (1.0 - share) * 100.0));
        }
        record.verdict = self.verdict(end, owner, record.workload.timeout);
    }

    fn verdict(&self, end: &End, owner: &str, timeout: Nanos) -> Verdict {
        let finished = if self.last.timed_out {
            Some(Verdict::Thrashing(format!("{:.0} s passed", timeout.as_secs_f64())))
        } else {
            (self.last.phase == Phase::Done).then_some(Verdict::Completed)
        };
        end.verdict(finished, &format!("{owner} was out of memory while in phase {:?}", self.last.phase))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    fn verdict(last: &WorkReport, end: &End) -> Verdict {
        let log = WorkLog { last: last.clone(), ..WorkLog::default() };
        log.verdict(end, "the group", Nanos(20_000_000_000))
    }

    #[test]
    fn a_kill_for_want_of_memory_says_in_which_phase() {
        let filling = WorkReport { phase: Phase::Fill, ..WorkReport::default() };
        let status = ExitStatus::from_raw(libc::SIGKILL);
        let killed = verdict(&filling, &End { status, out_of_memory: true, ..End::default() });
        assert!(
            matches!(killed, Verdict::Killed(why) if why.contains("the group was out of memory while in phase Fill"))
        );
    }

    #[test]
    fn an_end_without_a_last_report_is_no_success() {
        let done = WorkReport { phase: Phase::Done, ..WorkReport::default() };
        let good = End::default();
        assert_eq!(verdict(&done, &good), Verdict::Completed);
        let late = verdict(&WorkReport { timed_out: true, ..done.clone() }, &good);
        assert_eq!(late, Verdict::Thrashing("20 s passed".to_owned()));
        let cut = WorkReport { phase: Phase::Rounds, ..WorkReport::default() };
        assert!(matches!(verdict(&cut, &good), Verdict::Failed(_)));
        let failed = End { failed: Some("no".to_owned()), ..End::default() };
        assert_eq!(verdict(&done, &failed), Verdict::Failed("no".to_owned()));
    }

    #[test]
    fn a_run_that_was_cut_short_lasted_until_its_last_report() {
        let (mut log, mut record) = (WorkLog::default(), RunRecord::default());
        let report = |phase, took, now| WorkReport { phase, took, now: Nanos(now), ..WorkReport::default() };
        log.take(
            WorkReport { user: Nanos(1), system: Nanos(1), ..report(Phase::Fill, Some(Nanos(3)), 10) },
            &mut record,
        );
        assert_eq!(record.worked, None);
        log.take(report(Phase::Rounds, Some(Nanos(4)), 14), &mut record);
        let last = WorkReport { fraction: 0.5, user: Nanos(3), system: Nanos(2), ..report(Phase::Rounds, None, 16) };
        log.take(last, &mut record);
        log.conclude(
            &End { stopped: Some(Verdict::Thrashing("late".to_owned())), ..End::default() },
            "it",
            &mut record,
        );
        assert_eq!((record.fill, record.elapsed, record.fraction, record.rounds.len()), (Nanos(3), Nanos(6), 0.5, 1));
        assert_eq!((record.verdict, record.worked), (Verdict::Thrashing("late".to_owned()), Some(Nanos(3))));
    }
}
