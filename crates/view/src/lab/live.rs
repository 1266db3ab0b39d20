//! What is drawn while a run of the lab goes on: where it is and how long it will take, and, where the sandbox is looked at, its
//! memory now; and the line that stays when it has ended, where there is no terminal.
//!
//! Everything here is gone when the series has ended.
//!
//! ```
//! use ramline_view::screen::{Live, live};
//! use ramline_view::text::Style;
//! let now = Live { arm: "cold", order: 2, total: 14, phase: "the command runs", run_s: 1.25, left_s: Some(80.0), ..Live::default() };
//! assert_eq!(live(&now, &Style::default()), "run 3 of 14, cold: the command runs, 1.2 s; about 1 min left");
//! ```

use ramline_evidence::{Phase, Sample, Verdict};

use crate::escape;
use crate::prelude::*;
use ramline_sheet::text::{Segment, Style, beside, number, wrap};

/// A run that goes on.
#[derive(Debug, Clone, Copy, Default)]
pub struct Live<'a> {
    /// Its setting.
    pub arm: &'a str,
    /// Its place among all runs, from 0.
    pub order: u32,
    /// All runs; 0 where it is not known how many there will be.
    pub total: u32,
    /// Rounds of a run; 0 where it has none.
    pub rounds: u32,
    /// What it is doing; empty where the sample tells.
    pub phase: &'a str,
    /// Since it began (seconds).
    pub run_s: f64,
    /// Until all runs have ended (seconds); not known before one has.
    pub left_s: Option<f64>,
    /// The last look at it.
    pub sample: Option<&'a Sample>,
}

/// One line, or three where there is a sample; none is wider than the terminal.
#[must_use]
pub fn live(now: &Live<'_>, style: &Style) -> String {
    let doing = match (now.phase, now.sample) {
        ("", Some(sample)) => phase(sample, now.rounds),
        ("", None) => "preparing".to_owned(),
        (phase, _) => escape(phase).into_owned(),
    };
    let first = format!("{}: {doing}, {:.1} s{}", name(now.arm, now.order, now.total), now.run_s, left(now));
    let mut lines = vec![first];
    if let Some(sample) = now.sample {
        lines.extend([memory(sample, style.width), rest(sample)]);
    }
    let cut = |line: String| wrap(&line, style.width).into_iter().next().unwrap_or_default();
    lines.into_iter().map(cut).collect::<Vec<_>>().join("\n")
}

/// The line for a run that has ended and is recorded.
#[must_use]
pub fn ended(record: &RunRecord, order: u32, total: u32, run_s: f64, left_s: Option<f64>) -> String {
    let why = match &record.verdict {
        Verdict::Thrashing(why) | Verdict::Killed(why) | Verdict::Failed(why) => format!(" ({})", escape(why)),
        Verdict::Completed | Verdict::Unfinished => String::new(),
    };
    let now = Live { order, total, left_s, ..Live::default() };
    let end = if number::place(order) == total { String::new() } else { left(&now) };
    let word = record.verdict.word();
    format!("{}: {word}{why} after {run_s:.1} s{end}", name(&record.arm.name, order, total))
}

fn name(arm: &str, order: u32, total: u32) -> String {
    let of = if total == 0 { String::new() } else { format!(" of {total}") };
    format!("run {}{of}, {}", number::place(order), escape(arm))
}

fn left(now: &Live<'_>) -> String {
    now.left_s.map(|seconds| format!("; about {} left", number::to_go(seconds))).unwrap_or_default()
}

fn phase(sample: &Sample, rounds: u32) -> String {
    match sample.phase {
        Phase::Start => "starting".to_owned(),
        Phase::Map => "mapping the code".to_owned(),
        Phase::Fill => format!("filling {}", number::whole_percent(sample.fraction)),
        Phase::Rounds if rounds > 0 => format!("round {:.2} of {rounds}", sample.rounds_so_far()),
        Phase::Rounds => "going on".to_owned(),
        Phase::Done => "done".to_owned(),
    }
}

/// The sandbox as a bar, with what the letters stand for.
fn memory(sample: &Sample, width: usize) -> String {
    let parts = sample.memory();
    let drawn =
        [('a', parts.anon), ('f', parts.file), ('z', parts.pool)].map(|(letter, share)| Segment { letter, share });
    let bar = beside(&drawn, width);
    let of = parts.free.map(|free| format!(", . free {} of {}", mib(free), mib(sample.limit))).unwrap_or_default();
    let pool = sample.pool.map(|pool| format!(", z pool {}", mib(pool))).unwrap_or_default();
    format!(
        "[{bar}] a anonymous {}, f files {}{pool}{of}; swap {}",
        mib(sample.anon),
        mib(sample.file),
        mib(sample.swap)
    )
}

/// What `ps` and `free` would show beside it.
fn rest(sample: &Sample) -> String {
    let state = sample.state.map(|c| format!("state {c}, ")).unwrap_or_default();
    let refaults = sample.refaults().map(|n| format!(", {} refaults", number::count(n))).unwrap_or_default();
    let psi = sample.psi_full_avg10.map(|percent| format!(", stalled {percent:.0} %")).unwrap_or_default();
    format!(
        "{state}{} major faults{refaults}{psi}; machine: free {}, cache {}, available {}",
        number::count(sample.major_faults),
        mib(sample.host.free),
        mib(sample.host.buff_cache),
        mib(sample.host.available)
    )
}

fn mib(bytes: Bytes) -> String {
    format!("{:.0}M", bytes.as_mib())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_evidence::Arm;

    fn sample() -> Sample {
        let mib = Bytes::from_mib;
        Sample {
            phase: Phase::Rounds,
            rounds: 3,
            fraction: 0.25,
            major_faults: 12_345,
            refault_file: Some(0),
            usage: mib(75),
            limit: mib(100),
            anon: mib(50),
            file: mib(25),
            swap: mib(7),
            ..Sample::default()
        }
    }

    #[test]
    fn the_setting_the_run_the_round_the_time_left_and_the_memory_are_told() {
        let sample = sample();
        let now = Live {
            arm: "no\nswap",
            order: 1,
            total: 4,
            rounds: 11,
            run_s: 4.2,
            left_s: Some(30.0),
            sample: Some(&sample),
            ..Live::default()
        };
        let text = live(&now, &Style { colour: false, width: 100 });
        assert_eq!(
            text,
            "run 2 of 4, no\\nswap: round 3.25 of 11, 4.2 s; about 30 s left\n\
             [aaaaaaaaaaaaaffffff......] a anonymous 50M, f files 25M, . free 25M of 100M; swap 7M\n\
             12,345 major faults, 0 refaults; machine: free 0M, cache 0M, available 0M"
        );
    }

    #[test]
    fn no_line_exceeds_the_terminal() {
        let sample =
            Sample { pool: Some(Bytes::from_mib(5)), psi_full_avg10: Some(99.5), state: Some('D'), ..sample() };
        let now = Live { arm: "a name that goes on and on", sample: Some(&sample), rounds: 11, ..Live::default() };
        for width in [40, 60, 80, 100] {
            let text = live(&now, &Style { colour: false, width });
            assert_eq!(text.lines().count(), 3);
            assert!(text.lines().all(|line| ramline_sheet::text::width(line) <= width), "{text}");
        }
    }

    #[test]
    fn a_run_that_ended_says_how_and_the_last_one_no_time() {
        let record = RunRecord {
            arm: Arm::named("no-swap", &[]),
            verdict: Verdict::Thrashing("20 s passed".into()),
            ..RunRecord::default()
        };
        assert_eq!(
            ended(&record, 0, 2, 21.4, Some(90.0)),
            "run 1 of 2, no-swap: thrashing (20 s passed) after 21.4 s; about 2 min left"
        );
        assert_eq!(ended(&record, 1, 2, 21.4, Some(0.0)), "run 2 of 2, no-swap: thrashing (20 s passed) after 21.4 s");
    }
}
