//! Where a process slept, how often and how long.

use std::collections::BTreeMap;

use ramline_evidence::path::Layer;
use ramline_units::Nanos;

use super::line::{Clock, Entry, entries, is_back};

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
    let mut out: Vec<Sleep> =
        sums.into_iter().map(|(place, (times, ns))| Sleep { place, times, time: Nanos(ns) }).collect();
    // Stable: equals stay in the order of their names.
    ramline_units::sort_by_key(&mut out, |sleep| std::cmp::Reverse(sleep.time));
    out
}
