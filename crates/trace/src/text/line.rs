//! Lines of a trace, each with the functions it stood in, how their times are read, and what the steps of all forms have in common.

use ramline_evidence::path::{CallPath, Layer, PathStep};
use ramline_units::Nanos;

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line<'a> {
    pub comm: &'a str,
    pub pid: u32,
    pub interrupt: bool,
    /// As printed; a dot means that it is seconds.
    pub at: &'a str,
    pub name: &'a str,
    pub said: &'a str,
}

fn line(text: &str) -> Option<Line<'_>> {
    // The command may hold anything: the first processor in brackets after a dash and a number is what divides.
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let open = text.match_indices(" [").map(|(at, _)| at).find(|at| {
        let (processor, before) = (&text[at + 2..], text[..*at].trim_end());
        let is_processor = digits(processor) > 0 && processor[digits(processor)..].starts_with(']');
        is_processor && before.trim_end_matches(|c: char| c.is_ascii_digit()).ends_with('-') && !before.ends_with('-')
    })?;
    let (comm, pid) = text[..open].trim().rsplit_once('-')?;
    let rest = &text[open + 2..];
    let rest = rest.split_once(']')?.1.trim_start();
    let (flags, rest) = rest.split_once(' ')?;
    let (at, rest) = rest.trim_start().split_once(": ")?;
    let (name, said) =
        rest.split_once(['(', ':', ' ']).map_or((rest, ""), |(name, _)| (name, rest[name.len()..].trim()));
    Some(Line {
        comm,
        pid: pid.trim().parse().ok()?,
        interrupt: flags.as_bytes().get(2).is_some_and(|flag| !matches!(flag, b'.' | b'0'..=b'9')),
        at,
        name,
        said: said.trim_start_matches(": "),
    })
}

/// How times are to be read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clock {
    /// Nanoseconds per tick, for a clock that counts ticks.
    pub tick_ns: f64,
}

/// A line that is written into a trace twice, to set the clock by.
pub const MARK: &str = "ramline mark";

impl Clock {
    /// A clock that counts nanoseconds.
    pub const NANOS: Clock = Clock { tick_ns: 1.0 };

    /// A clock of ticks, by the first two marks in a trace, which are this time apart; of nanoseconds without them.
    #[must_use]
    pub fn by_marks(text: &str, apart: Nanos) -> Clock {
        let narrow = |value: u64| u32::try_from(value).map_or(f64::from(u32::MAX), f64::from);
        marks(text).map_or(Clock::NANOS, |(first, second)| Clock {
            tick_ns: narrow(apart.0) / narrow(second.saturating_sub(first).max(1) >> 8) / 256.0,
        })
    }

    pub(super) fn ns(self, text: &str) -> Option<u64> {
        if let Some((seconds, micros)) = text.split_once('.') {
            let micros: u64 = micros.parse().ok()?;
            return seconds.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(micros.checked_mul(1000)?);
        }
        let ticks: u64 = text.trim().parse().ok()?;
        Some(whole(ticks as f64 * self.tick_ns))
    }
}

/// The ticks at the first two marks.
pub fn marks(text: &str) -> Option<(u64, u64)> {
    let mut found = text.lines().filter_map(line).filter(|line| line.said.contains(MARK));
    let mut next = || found.next()?.at.parse().ok();
    Some((next()?, next()?))
}

/// A line and, where the kernel was asked for it, the functions it stood in, the outermost first.
#[derive(Debug)]
pub struct Entry<'a> {
    pub line: Line<'a>,
    pub stack: Vec<&'a str>,
}

/// All lines, each with its stack: `<stack trace>` and ` => function` lines follow what they belong to, the innermost first.
pub fn entries(text: &str) -> Vec<Entry<'_>> {
    let mut out: Vec<Entry<'_>> = Vec::new();
    for text in text.lines() {
        if let (Some(frame), Some(last)) = (text.strip_prefix(" => "), out.last_mut()) {
            last.stack.push(frame.trim());
        } else if let Some(line) = line(text).filter(|line| line.name != "<stack") {
            out.push(Entry { line, stack: Vec::new() });
        }
    }
    for entry in &mut out {
        entry.stack.reverse();
        // What leads to the system call, and what writes the trace, is no part of the way.
        let from = entry.stack.iter().position(|frame| is_any_call(frame)).unwrap_or(entry.stack.len());
        entry.stack.drain(..from);
        let recorder = |frame: &&&str| {
            ["trace_", "__traceiter_", "perf_trace_", "__ftrace", "event_"].iter().any(|start| frame.starts_with(start))
        };
        let inner = entry.stack.iter().rev().take_while(recorder).count();
        entry.stack.truncate(entry.stack.len() - inner);
    }
    out
}

/// `sched_switch` to `pid`.
pub fn is_back(line: &Line<'_>, pid: u32) -> bool {
    line.name == "sched_switch" && line.said.contains(&format!("next_pid={pid} "))
}

/// `sched_switch` away from `pid`.
pub fn is_away(line: &Line<'_>, pid: u32) -> bool {
    line.name == "sched_switch" && line.said.contains(&format!("prev_pid={pid} "))
}

/// Of a `sched_switch`: it was ready to run, so another's turn came and nothing was waited for.
pub fn was_ready(line: &Line<'_>) -> bool {
    line.said.contains("prev_state=R")
}

/// Steps kept of one call.
pub const KEPT: usize = 600;

pub fn kept(mut path: CallPath) -> CallPath {
    path.cut = u64::try_from(path.steps.len().saturating_sub(KEPT)).unwrap_or(0);
    path.steps.truncate(KEPT);
    path
}

pub fn named(at: Nanos, depth: usize, name: &str) -> PathStep {
    // Parts of a function the compiler has split off are called by its name and a suffix.
    let name = name.split('.').next().unwrap_or(name);
    let depth = u32::try_from(depth).unwrap_or(u32::MAX);
    PathStep { at, depth, name: name.to_owned(), layer: Layer::from_name(name), ..PathStep::default() }
}

pub fn is_any_call(name: &str) -> bool {
    name.starts_with("__x64_sys_") || name.starts_with("__arm64_sys_")
}

pub fn is_call(name: &str, call: &str) -> bool {
    name.strip_prefix("__x64_sys_").or_else(|| name.strip_prefix("__arm64_sys_")).is_some_and(|rest| rest == call)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time in nanoseconds, not negative")]
pub fn whole(value: f64) -> u64 {
    value.max(0.0) as u64
}
