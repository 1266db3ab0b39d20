//! How a child ended, and the verdict of that: the one map from an end to a verdict.

use crate::prelude::*;

/// How a child ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct End {
    /// Its exit status.
    pub status: ExitStatus,
    /// What it had used.
    pub usage: Usage,
    /// CLOCK_MONOTONIC when its end was noticed.
    pub at: Nanos,
    /// The kernel killed for want of memory in its group.
    pub out_of_memory: bool,
    /// It could not go on, in its own words.
    pub failed: Option<String>,
    /// It was stopped by us; the verdict that made us do so.
    pub stopped: Option<Verdict>,
    /// A program that is not ours may have raised its signal itself.
    pub foreign: bool,
}

impl End {
    /// The verdict: its own error first, then why it was stopped. `finished` is what its last report amounts to, where that
    /// was the last of all; `memory` says whose memory was out, and how far the child had come.
    #[must_use]
    pub fn verdict(&self, finished: Option<Verdict>, memory: &str) -> Verdict {
        if let Some(error) = &self.failed {
            return Verdict::Failed(error.clone());
        }
        if let Some(verdict) = &self.stopped {
            return verdict.clone();
        }
        match (self.status.signal(), finished) {
            (None, Some(verdict)) if self.status.success() => verdict,
            (Some(_), _) if self.out_of_memory => Verdict::Killed(format!("the kernel: {memory}")),
            (Some(signal), _) if self.foreign => Verdict::Killed(format!("signal {signal}")),
            (Some(signal), _) => Verdict::Killed(format!("signal {signal} from outside")),
            (None, _) => Verdict::Failed(format!("it ended with {} and said nothing", self.status)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMORY: &str = "the group was out of memory while in phase Fill";

    fn ended(raw: i32) -> End {
        End { status: ExitStatus::from_raw(raw), ..End::default() }
    }

    #[test]
    fn a_signal_is_the_kernels_only_when_the_group_was_out_of_memory() {
        let killed = ended(libc::SIGKILL);
        assert_eq!(killed.verdict(None, MEMORY), Verdict::Killed("signal 9 from outside".to_owned()));
        let foreign = End { foreign: true, ..killed.clone() };
        assert_eq!(foreign.verdict(None, MEMORY), Verdict::Killed("signal 9".to_owned()));
        let out = End { out_of_memory: true, ..killed };
        assert_eq!(out.verdict(None, MEMORY), Verdict::Killed(format!("the kernel: {MEMORY}")));
        let late = Verdict::Thrashing("too long".to_owned());
        assert_eq!(End { stopped: Some(late.clone()), ..out }.verdict(None, MEMORY), late);
    }

    #[test]
    fn only_a_last_report_and_a_good_end_are_a_success() {
        let completed = Some(Verdict::Completed);
        assert_eq!(ended(0).verdict(completed.clone(), MEMORY), Verdict::Completed);
        assert!(matches!(ended(0).verdict(None, MEMORY), Verdict::Failed(why) if why.contains("said nothing")));
        assert!(matches!(ended(1 << 8).verdict(completed.clone(), MEMORY), Verdict::Failed(_)));
        let failed = End { failed: Some("no room".to_owned()), ..ended(1 << 8) };
        assert_eq!(failed.verdict(completed, MEMORY), Verdict::Failed("no room".to_owned()));
    }
}
