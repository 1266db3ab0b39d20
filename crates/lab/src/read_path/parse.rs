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
    out.sort_by_key(|(name, _, time)| (std::cmp::Reverse(*time), name.clone()));
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
            let layer = Layer::of(&name);
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
mod tests {
    use super::*;

    const EVENTS: &str = "\
# tracer: nop
 ramline [2]-77    [001] .....   10.000001: sys_pread64(fd: 3, buf: 7f, count: 1000, pos: 0)
 ramline [2]-77    [001] .....   10.000003: mm_filemap_get_pages: dev 254:0 ino 5 ofs=0 max_ofs=0
 ramline [2]-77    [001] .....   10.000010: block_rq_issue: 254,0 R 4096 () 8 + 8 none,0,0 [ramline]
 ramline [2]-77    [001] d..2.   10.000012: sched_switch: prev_comm=ramline prev_pid=77 prev_prio=120 prev_state=D ==> next_comm=swapper next_pid=0 next_prio=120
      <idle>-0     [001] ..s1.   10.000090: block_rq_complete: 254,0 R () 8 + 8 none,0,0 [0]
      <idle>-0     [001] d..2.   10.000092: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=ramline next_pid=77 next_prio=120
 ramline [2]-77    [001] .....   10.000100: sys_pread64 -> 0x1000
";

    #[test]
    fn a_call_seen_through_tracepoints_has_its_wait_and_what_an_interrupt_did() {
        let path = call(EVENTS, 77, "pread64", Clock { tick_ns: 1.0 }).unwrap();
        assert_eq!((path.tracer.as_str(), path.took), ("tracepoints", Nanos(99_000)));
        let names: Vec<&str> = path.steps.iter().map(|step| step.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "sys_pread64",
                "mm_filemap_get_pages",
                "block_rq_issue",
                "sched_switch",
                "block_rq_complete",
                "running again",
                "sys_pread64"
            ]
        );
        assert_eq!(path.by_layer()[&Layer::Waiting], Nanos(80_000));
        assert_eq!(path.stalls(), [("block_rq_issue".to_owned(), Nanos(80_000))]);
        assert_eq!(path.steps[4].by.as_deref(), Some("an interrupt"));
        assert_eq!(call(EVENTS, 78, "pread64", Clock { tick_ns: 1.0 }), None);
    }

    #[test]
    fn stacks_make_a_tree_of_tracepoints_and_tell_where_it_slept() {
        let stack = "\
 ramline-77    [001] .....   10.000010: <stack trace>
 => trace_event_raw_event_block_rq
 => blk_mq_start_request
 => ext4_readahead.isra.0
 => filemap_read
 => ext4_file_read_iter
 => vfs_read
 => __x64_sys_pread64
 => do_syscall_64
";
        let wait = " ramline-77 [001] d..2. 10.000012: <stack trace>\n => __schedule\n => io_schedule\n => filemap_read\n => ext4_file_read_iter\n => vfs_read\n => __x64_sys_pread64\n";
        let text: String = EVENTS
            .lines()
            .flat_map(|line| {
                let after = if line.contains("block_rq_issue") {
                    stack
                } else if line.contains("prev_pid=77") {
                    wait
                } else {
                    ""
                };
                [line, "\n", after]
            })
            .collect();
        let path = call(&text, 77, "pread64", Clock { tick_ns: 1.0 }).unwrap();
        assert_eq!(path.tracer, "tracepoints and stacks");
        assert_eq!(path.registered(), ["vfs_read -> ext4_file_read_iter", "filemap_read -> ext4_readahead"]);
        assert_eq!(sleeps(&text, 77, Clock { tick_ns: 1.0 })[0].0, "filemap_read");
        let times: u64 = path.steps.iter().filter(|step| step.by.is_none()).map(|step| step.own.0).sum();
        assert_eq!(times, path.took.0, "all of the call is in its steps");
    }

    #[test]
    fn sleeps_are_told_by_what_came_before_and_a_lost_turn_is_none() {
        assert_eq!(sleeps(EVENTS, 77, Clock { tick_ns: 1.0 }), [("block_rq_issue".to_owned(), 1, Nanos(80_000))]);
        let ready = EVENTS.replace("prev_state=D", "prev_state=R+");
        assert!(sleeps(&ready, 77, Clock { tick_ns: 1.0 }).is_empty());
    }

    const FUNCTIONS: &str = "\
 ramline-77    [000] .....   2000: __x64_sys_pread64 <-do_syscall_64
 ramline-77    [000] .....   2100: vfs_read <-__x64_sys_pread64
 ramline-77    [000] .....   2200: rw_verify_area <-vfs_read
 ramline-77    [000] d.h1.   2250: tick_sched_timer <-hrtimer_interrupt
 ramline-77    [000] .....   2300: ext4_file_read_iter <-vfs_read
 ramline-77    [000] .....   2400: filemap_read <-ext4_file_read_iter
 ramline-77    [000] .....   2900: syscall_exit_to_user_mode <-do_syscall_64
";

    #[test]
    fn functions_stand_below_their_callers_and_ticks_become_time() {
        let path = call(FUNCTIONS, 77, "pread64", Clock { tick_ns: 0.5 }).unwrap();
        let shown: Vec<(u32, &str, u64)> = path
            .steps
            .iter()
            .filter(|step| step.by.is_none())
            .map(|step| (step.depth, step.name.as_str(), step.own.0))
            .collect();
        assert_eq!(
            shown[..5],
            [
                (0, "__x64_sys_pread64", 50),
                (1, "vfs_read", 50),
                (2, "rw_verify_area", 50),
                (2, "ext4_file_read_iter", 50),
                (3, "filemap_read", 250)
            ]
        );
        assert_eq!(path.registered(), ["vfs_read -> ext4_file_read_iter"]);
        assert_eq!(path.took, Nanos(450));
    }

    const GRAPH: &str = "\
 0)               |  __x64_sys_pread64() {
 0)               |    vfs_read() {
 0)   0.200 us    |      rw_verify_area();
 0)               |      ext4_file_read_iter() {
 0) + 12.500 us   |        filemap_read();
 0) ! 113.000 us  |      }
 0)   114.000 us  |    }
 0)   114.500 us  |  }
 0)   1.000 us    |  something_else();
";

    #[test]
    fn a_graph_gives_each_function_its_own_time() {
        let path = graph(GRAPH, "pread64").unwrap();
        let shown: Vec<(u32, &str, u64)> =
            path.steps.iter().map(|step| (step.depth, step.name.as_str(), step.own.0)).collect();
        assert_eq!(
            shown,
            [
                (0, "__x64_sys_pread64", 500),
                (1, "vfs_read", 800),
                (2, "rw_verify_area", 200),
                (2, "ext4_file_read_iter", 100_500),
                (3, "filemap_read", 12_500)
            ]
        );
        assert_eq!(path.took, Nanos(114_500));
    }

    #[test]
    fn hostile_text_is_no_call_and_no_panic() {
        for text in [
            "",
            "[",
            "-[0] x",
            "a-1 [0] ..... 1.x: sys_pread64(",
            " |  }",
            "0) | __x64_sys_pread64() {",
            "a-77 [0] . 9: \u{e9}\u{e9}: b",
        ] {
            assert_eq!(
                (call(text, 77, "pread64", Clock { tick_ns: 1.0 }), graph(text, "pread64")),
                (None, None),
                "{text}"
            );
        }
        assert_eq!(
            marks(
                "a-1 [0] ..... 5: tracing_mark_write: ramline mark\nb-1 [0] ..... 9: tracing_mark_write: ramline mark"
            ),
            Some((5, 9))
        );
    }
}
