//! The steps of one system call from the indented form of function_graph.

use ramline_evidence::path::{CallPath, Layer, PathStep};
use ramline_units::Nanos;

use super::line::{is_call, kept, whole};

/// The last call of `call` by any task that is traced, in the form of function_graph with absolute times off; `None` when there is no
/// whole one.
#[must_use]
pub fn graph(text: &str, call: &str) -> Option<CallPath> {
    let lines: Vec<&str> = text.lines().collect();
    let first = lines.iter().rposition(|line| body(line).is_some_and(|body| is_call(name(body), call)))?;
    let base = indent(body(lines[first])?);
    let mut steps: Vec<PathStep> = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    let mut clock = 0_u64;
    for text in &lines[first..] {
        let Some(body) = body(text) else { continue };
        let (trimmed, duration) = (body.trim(), duration(text));
        let leaf = trimmed.ends_with(';');
        let mut ended = None;
        if trimmed.starts_with('}') {
            let Some(Open { step, inside, .. }) = open.pop() else { break };
            let (whole, one) = (duration.unwrap_or_default(), &mut steps[step]);
            (one.whole, one.own) = (Some(whole), Nanos(whole.0.saturating_sub(inside)));
            clock = clock.max(one.at.0.saturating_add(whole.0));
            if step == 0 {
                break;
            }
            ended = Some(whole);
        } else if leaf || trimmed.ends_with('{') {
            // Within a wait the scheduler's own functions have no layer of theirs: what they take is waiting.
            let waits = open.last().is_some_and(|above| above.waits);
            let layer = match Layer::from_name(name(trimmed)) {
                Layer::Other if waits => Layer::Waiting,
                layer => layer,
            };
            let depth = u32::try_from(indent(body).saturating_sub(base)).unwrap_or(u32::MAX);
            let (at, own, name) = (Nanos(clock), duration.filter(|_| leaf), name(trimmed).to_owned());
            steps.push(PathStep {
                at,
                depth,
                name,
                layer,
                own: own.unwrap_or_default(),
                whole: own,
                ..PathStep::default()
            });
            if leaf {
                clock = clock.saturating_add(own.unwrap_or_default().0);
                ended = own;
            } else {
                open.push(Open { step: steps.len() - 1, inside: 0, waits: waits || layer == Layer::Waiting });
            }
        }
        if let (Some(time), Some(above)) = (ended, open.last_mut()) {
            above.inside = above.inside.saturating_add(time.0);
        }
    }
    let took = steps.first()?.whole?;
    // Own times are exact; when a step began follows from what was over before it.
    Some(kept(CallPath { tracer: "function_graph".to_owned(), took, steps, ..CallPath::default() }))
}

/// A function that has not ended.
struct Open {
    step: usize,
    /// The time of what it called.
    inside: u64,
    /// It is a wait, or in one.
    waits: bool,
}

fn body(text: &str) -> Option<&str> {
    text.rsplit_once('|').map(|(_, body)| body)
}

fn name(body: &str) -> &str {
    body.trim().split(['(', ' ', ';']).next().unwrap_or_default()
}

fn indent(body: &str) -> usize {
    (body.len() - body.trim_start().len()) / 2
}

/// `  0)   1.234 us    |` with its marks of long times.
fn duration(text: &str) -> Option<Nanos> {
    let (before, _) = text.rsplit_once('|')?;
    let (number, _) = before.rsplit_once(" us")?;
    let number: f64 = number.rsplit([' ', '|', '!', '+', '#', '*', '@', '$']).next()?.parse().ok()?;
    Some(Nanos(whole(number * 1000.0)))
}
