//! What a line per function or tracepoint gives: the steps of one system call; where a process slept, how often and how long.

use std::collections::BTreeMap;

use ramline_evidence::path::{self, CallPath, Layer, PathStep};
use ramline_units::Nanos;

use super::line::{Clock, Entry, entries, is_away, is_back, is_call, kept, named, was_ready};

/// The last call of `call` (`pread64`) by `pid` in a trace of functions and tracepoints; `None` when there is no whole one.
#[must_use]
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
    let mut steps: Vec<PathStep> = Vec::new();
    let mut above: Vec<&str> = Vec::new();
    for Entry { line, stack } in &all[first..=last] {
        let at = Nanos(clock.ns(line.at)?.saturating_sub(begin));
        let known = steps.len();
        let back = is_back(line, pid);
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
        steps.push(PathStep { depth, said, by, ..named(at, 0, name) });
        if is_away(line, pid) && was_ready(line) {
            lost_turn(&mut steps[known..]);
        }
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

/// A switch away from a process that stayed ready, with the functions it was seen in: none of them waits for anything.
fn lost_turn(steps: &mut [PathStep]) {
    for step in steps.iter_mut().filter(|step| step.layer == Layer::Waiting) {
        step.layer = Layer::Preempted;
    }
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
fn own_times(steps: &mut [PathStep], took: Nanos) {
    let mut next = took;
    for step in steps.iter_mut().rev().filter(|step| step.by.is_none()) {
        step.own = next.saturating_sub(step.at);
        next = step.at;
    }
}

/// Where a process slept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sleep {
    /// The function it slept in, or what it did last.
    pub place: String,
    /// How often.
    pub times: u64,
    /// How long together.
    pub time: Nanos,
}

/// The sleeps of `pid` by place, the longest first. A switch in which it stays ready to run is another's turn and no sleep.
#[must_use]
pub fn sleeps(text: &str, pid: u32, clock: Clock) -> Vec<Sleep> {
    let mut sums: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let (mut before, mut since) = ("the call".to_owned(), None);
    for Entry { line, stack } in entries(text) {
        if is_back(&line, pid) {
            if let (Some(from), Some(to)) = (since.take(), clock.ns(line.at)) {
                let sum = sums.entry(before.clone()).or_default();
                *sum = (sum.0 + 1, sum.1.saturating_add(to.saturating_sub(from)));
            }
        } else if is_away(&line, pid) {
            since = clock.ns(line.at).filter(|_| !was_ready(&line));
            // What it stood in tells more than what it did last.
            let waits = |frame: &&&str| matches!(Layer::from_name(frame), Layer::Waiting | Layer::Preempted);
            if let Some(frame) = stack.iter().rev().find(|frame| !waits(frame)) {
                frame.split('.').next().unwrap_or(frame).clone_into(&mut before);
            }
        } else if line.pid == pid && !line.interrupt {
            line.name.clone_into(&mut before);
        }
    }
    let mut out: Vec<Sleep> =
        sums.into_iter().map(|(place, (times, ns))| Sleep { place, times, time: Nanos(ns) }).collect();
    // Stable: equals stay in the order of their names.
    ramline_units::sort_by_key(&mut out, |sleep| std::cmp::Reverse(sleep.time));
    out
}
