//! The text of a trace buffer to the steps of one system call.
//!
//! Two forms: a line per function or tracepoint (`comm-pid [cpu] flags time: name …`, and for functions `name <-caller`), and the
//! indented form of function_graph. Time is nanoseconds, or ticks of the processor's counter where the clock is `x86-tsc`.

use std::collections::BTreeMap;

use ramline_evidence::path::{self, CallPath, Layer, Step};
use ramline_units::Nanos;

/// Steps kept of one call.
pub const KEPT: usize = 600;

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line<'a> {
    comm: &'a str,
    pid: u32,
    interrupt: bool,
    /// As printed; a dot means that it is seconds.
    at: &'a str,
    name: &'a str,
    said: &'a str,
}

fn line(text: &str) -> Option<Line<'_>> {
    // The command may hold anything: the first processor in brackets after a dash and a number is what divides.
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let open = text.match_indices(" [").map(|(at, _)| at).find(|at| {
        let processor = text[at + 2..].split(']').next().unwrap_or_default();
        digits(processor) && text[..*at].trim_end().rsplit_once('-').is_some_and(|(_, pid)| digits(pid))
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
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    /// Nanoseconds per tick, for a clock that counts ticks.
    pub tick_ns: f64,
}

impl Clock {
    fn ns(self, text: &str) -> Option<u64> {
        if let Some((seconds, micros)) = text.split_once('.') {
            let micros: u64 = micros.parse().ok()?;
            return seconds.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(micros.checked_mul(1000)?);
        }
        let ticks: u64 = text.trim().parse().ok()?;
        Some(whole(ticks as f64 * self.tick_ns))
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time in nanoseconds, not negative")]
fn whole(value: f64) -> u64 {
    value.max(0.0) as u64
}

/// The ticks at two marks of ours; for the clock.
pub fn marks(text: &str) -> Option<(u64, u64)> {
    let mut found = text.lines().filter_map(line).filter(|line| line.said.contains("ramline mark"));
    let mut next = || found.next()?.at.parse().ok();
    Some((next()?, next()?))
}

/// A line and, where the kernel was asked for it, the functions it stood in, the outermost first.
#[derive(Debug)]
struct Entry<'a> {
    line: Line<'a>,
    stack: Vec<&'a str>,
}

/// All lines, each with its stack: `<stack trace>` and ` => function` lines follow what they belong to, the innermost first.
fn entries(text: &str) -> Vec<Entry<'_>> {
    let mut out: Vec<Entry<'_>> = Vec::new();
    for text in text.lines() {
        if let (Some(frame), Some(last)) = (text.strip_prefix(" => "), out.last_mut()) {
            last.stack.insert(0, frame.trim());
        } else if let Some(line) = line(text).filter(|line| line.name != "<stack") {
            out.push(Entry { line, stack: Vec::new() });
        }
    }
    for entry in &mut out {
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

/// The last call of `call` (`pread64`) by `pid` in a trace of functions and tracepoints.
pub fn call(text: &str, pid: u32, call: &str, clock: Clock) -> Option<CallPath> {
    let all = entries(text);
    let functions = all.iter().any(|entry| entry.line.said.starts_with("<-"));
    let stacks = !functions && all.iter().any(|entry| !entry.stack.is_empty());
    let event = format!("sys_{call}");
    let begins = |entry: &Entry<'_>| {
        let line = &entry.line;
        let is = if functions { is_call(line.name, call) } else { line.name == event && !line.said.starts_with("->") };
        line.pid == pid && is
    };
    let first = all.iter().rposition(begins)?;
    let leaves = |entry: &Entry<'_>| {
        let line = &entry.line;
        line.pid == pid && (line.name == event && line.said.starts_with("->") || line.name.starts_with("syscall_exit"))
    };
    let last = first + all[first..].iter().position(leaves)?;
    let begin = clock.ns(all[first].line.at)?;
    let mut steps: Vec<Step> = Vec::new();
    let mut above: Vec<&str> = Vec::new();
    for Entry { line, stack } in &all[first..=last] {
        let at = Nanos(clock.ns(line.at)?.saturating_sub(begin));
        let back = line.name == "sched_switch" && is_back(line, pid);
        let own = line.pid == pid && !line.interrupt || back;
        let caller = line.said.strip_prefix("<-").map(|caller| caller.split(['+', ' ']).next().unwrap_or(caller));
        let depth = match (own && !back, functions) {
            (true, true) => place(&mut above, line.name, caller),
            (true, false) if !stack.is_empty() => {
                let same = above.iter().zip(stack).take_while(|(a, b)| a == b).count();
                above.truncate(same);
                for frame in &stack[same..] {
                    steps.push(named(at, above.len(), frame));
                    above.push(frame);
                }
                u32::try_from(above.len()).unwrap_or(u32::MAX)
            }
            _ => u32::from(!steps.is_empty()),
        };
        let said = if caller.is_some() || back { String::new() } else { line.said.chars().take(120).collect() };
        let by = (!own).then(|| if line.interrupt { "an interrupt".to_owned() } else { line.comm.to_owned() });
        let name = if back { path::AGAIN } else { line.name };
        steps.push(Step { depth, said, by, ..named(at, 0, name) });
    }
    let took = Nanos(clock.ns(all[last].line.at)?.saturating_sub(begin));
    own_times(&mut steps, took);
    let tracer = if functions {
        "function"
    } else if stacks {
        "tracepoints and stacks"
    } else {
        "tracepoints"
    };
    Some(kept(CallPath { tracer: tracer.to_owned(), took, steps, ..CallPath::default() }))
}

fn named(at: Nanos, depth: usize, name: &str) -> Step {
    // Parts of a function the compiler has split off are called by its name and a suffix.
    let name = name.split('.').next().unwrap_or(name);
    let depth = u32::try_from(depth).unwrap_or(u32::MAX);
    Step { at, depth, name: name.to_owned(), layer: Layer::of(name), ..Step::default() }
}

fn is_any_call(name: &str) -> bool {
    name.starts_with("__x64_sys_") || name.starts_with("__arm64_sys_")
}

/// Every sleep of `pid`: after which step, how often, how long together; the longest first. A switch in which it stays ready to run
/// is somebody else's turn and no sleep.
pub fn sleeps(text: &str, pid: u32, clock: Clock) -> Vec<(String, u64, Nanos)> {
    let mut sums: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let (mut before, mut since) = ("the call".to_owned(), None);
    for Entry { line, stack } in entries(text) {
        if line.name == "sched_switch" && is_back(&line, pid) {
            if let (Some(from), Some(to)) = (since.take(), clock.ns(line.at)) {
                let sum = sums.entry(before.clone()).or_default();
                *sum = (sum.0 + 1, sum.1.saturating_add(to.saturating_sub(from)));
            }
        } else if line.name == "sched_switch" && line.said.contains(&format!("prev_pid={pid} ")) {
            let ready = line.said.contains("prev_state=R");
            since = clock.ns(line.at).filter(|_| !ready);
            // What it stood in tells more than what it did last.
            if let Some(frame) = stack.iter().rev().find(|frame| Layer::of(frame) != Layer::Waiting) {
                frame.split('.').next().unwrap_or(frame).clone_into(&mut before);
            }
        } else if line.pid == pid && !line.interrupt {
            line.name.clone_into(&mut before);
        }
    }
    let mut out: Vec<(String, u64, Nanos)> =
        sums.into_iter().map(|(name, (times, ns))| (name, times, Nanos(ns))).collect();
    ramline_units::sort_by_key(&mut out, |(name, _, time)| (std::cmp::Reverse(*time), name.clone()));
    out
}

fn is_call(name: &str, call: &str) -> bool {
    name.strip_prefix("__x64_sys_").or_else(|| name.strip_prefix("__arm64_sys_")).is_some_and(|rest| rest == call)
}

/// `sched_switch` to `pid`.
fn is_back(line: &Line<'_>, pid: u32) -> bool {
    line.said.contains(&format!("next_pid={pid} "))
}

/// Depth of a function below its caller: what was called since the caller was called is over.
fn place<'a>(above: &mut Vec<&'a str>, name: &'a str, caller: Option<&'a str>) -> u32 {
    if let Some(caller) = caller {
        match above.iter().rposition(|other| *other == caller) {
            Some(at) => above.truncate(at + 1),
            // The first function, or a caller that is never recorded: beside what was called last.
            None => above.truncate(above.len().saturating_sub(1).max(1)),
        }
        above.push(name);
        return u32::try_from(above.len().saturating_sub(1)).unwrap_or(u32::MAX);
    }
    u32::try_from(above.len()).unwrap_or(u32::MAX)
}

/// Until the next step of the same process.
fn own_times(steps: &mut [Step], took: Nanos) {
    let mut next = took;
    for step in steps.iter_mut().rev().filter(|step| step.by.is_none()) {
        step.own = Nanos(next.0.saturating_sub(step.at.0));
        next = step.at;
    }
}

fn kept(mut path: CallPath) -> CallPath {
    path.cut = u64::try_from(path.steps.len().saturating_sub(KEPT)).unwrap_or(0);
    path.steps.truncate(KEPT);
    path
}

/// The last call of `call` by any task that is traced, in the form of function_graph with absolute times off.
pub fn graph(text: &str, call: &str) -> Option<CallPath> {
    let lines: Vec<&str> = text.lines().collect();
    let body = |text: &str| text.rsplit_once('|').map(|(_, body)| body.to_owned());
    let name = |body: &str| body.trim().split(['(', ' ', ';']).next().unwrap_or_default().to_owned();
    let indent = |body: &str| (body.len() - body.trim_start().len()) / 2;
    let first = lines.iter().rposition(|line| body(line).is_some_and(|body| is_call(&name(&body), call)))?;
    let base = indent(&body(lines[first])?);
    let mut steps: Vec<Step> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut clock = 0_u64;
    for text in &lines[first..] {
        let Some(body) = body(text) else { continue };
        let trimmed = body.trim();
        let depth = indent(&body).saturating_sub(base);
        let duration = duration(text);
        if trimmed.starts_with('}') {
            let Some(index) = open.pop() else { break };
            let whole = duration.unwrap_or_default();
            steps[index].whole = Some(whole);
            let inside = children(&steps, index);
            steps[index].own = Nanos(whole.0.saturating_sub(inside));
            clock = clock.max(steps[index].at.0.saturating_add(whole.0));
            if index == 0 {
                break;
            }
        } else if trimmed.ends_with('{') || trimmed.ends_with(';') {
            let (name, leaf) = (name(trimmed), trimmed.ends_with(';'));
            let own = if leaf { duration.unwrap_or_default() } else { Nanos(0) };
            // Within a wait the scheduler's own functions have no layer of theirs: what they take is waiting.
            let waits = open.iter().any(|above| steps[*above].layer == Layer::Waiting);
            let layer = match Layer::of(&name) {
                Layer::Other if waits => Layer::Waiting,
                layer => layer,
            };
            steps.push(Step {
                at: Nanos(clock),
                depth: u32::try_from(depth).unwrap_or(u32::MAX),
                name,
                layer,
                own,
                whole: duration.filter(|_| leaf),
                ..Step::default()
            });
            if leaf {
                clock = clock.saturating_add(own.0);
            } else {
                open.push(steps.len() - 1);
            }
        }
    }
    let took = steps.first()?.whole?;
    // Own times are exact; when a step began follows from what was over before it.
    Some(kept(CallPath { tracer: "function_graph".to_owned(), took, steps, ..CallPath::default() }))
}

/// The whole time of the steps directly below.
fn children(steps: &[Step], parent: usize) -> u64 {
    let depth = steps[parent].depth + 1;
    steps[parent + 1..]
        .iter()
        .filter(|step| step.depth == depth)
        .filter_map(|step| step.whole)
        .fold(0, |sum, time| sum.saturating_add(time.0))
}

/// `  0)   1.234 us    |` with its marks of long times.
fn duration(text: &str) -> Option<Nanos> {
    let (before, _) = text.rsplit_once('|')?;
    let (number, _) = before.rsplit_once(" us")?;
    let number: f64 = number.rsplit([' ', '|', '!', '+', '#', '*', '@', '$']).next()?.parse().ok()?;
    Some(Nanos(whole(number * 1000.0)))
}

#[cfg(test)]
mod tests;
