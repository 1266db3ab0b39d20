//! `ramline need`: how much memory a group needs, in one sentence, and what is left at other sizes.

mod curve;
mod zram;

use ramline_evidence::{SizeTrial, TimeLostBy, TrialDirection, TrialEnd};
use ramline_model::need::{Need, NeedAnswer, NeedStep, READ_AHEAD_WORST};
use ramline_sheet::format;

use crate::prelude::*;

/// A swap-in a second and more is worth a line.
const WORTH_A_LINE: f64 = 1.0;

impl Screen for Need {
    fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::new();
        let paint = match self.answer {
            NeedAnswer::Enough | NeedAnswer::AtMost(_) => Paint::Good,
            NeedAnswer::Size(size) if size <= self.current => Paint::Good,
            NeedAnswer::Size(_) | NeedAnswer::MoreThan(..) => Paint::Warn,
            NeedAnswer::Fills | NeedAnswer::FirstReads => Paint::Bold,
        };
        sheet.answer(paint, answer(self));
        sheet.line(today(self));
        if !self.steps.is_empty() {
            match self.trial {
                Some(_) => sheet.headed_table("Measured while it grew", measured(&self.steps)),
                None if self.reads_ahead.is_some() => sheet.headed_table("With a size of", bounds(&self.steps)),
                None => sheet.headed_table("With a size of", table(&self.steps)),
            }
        }
        if let Some(worth) = &self.zram {
            zram::worth(&mut sheet, worth);
        }
        if let Some(trial) = &self.trial {
            tried(&mut sheet, trial);
            verified(&mut sheet, self);
            return sheet;
        }
        sheet.line(self.reads_ahead.map(|pages| {
            format!(
                "The kernel reads ahead, {pages:.1} pages a miss, and part of that is not used: up to {READ_AHEAD_WORST} times as many misses are left \
                 as without it. Without read-ahead (POSIX_FADV_RANDOM, or read_ahead_kb=0) it is the smaller share."
            )
        }));
        if let Some(disk) = &self.disk {
            let (name, now) = (&disk.disk, disk.now);
            sheet.line(format!(
                "To switch the read-ahead of {name} off for files opened from then on ({now} now), and on again:"
            ));
            sheet.command(4, &disk.command);
            sheet.command(4, &disk.undo);
        }
        let swap_ins = self.swap_ins.filter(|rate| *rate >= WORTH_A_LINE);
        sheet.line(
            swap_ins.map(|rate| format!("Not counted: {} pages a second were read back from swap.", per_second(rate))),
        );
        sheet.line(
            (self.curve.lost > 0)
                .then(|| format!("{} events were lost; the answer is less certain.", format::count(self.curve.lost))),
        );
        verified(&mut sheet, self);
        sheet.dim(format!(
            "For what it did in these {}; what it uses less often than that is not seen. {} pages were evicted, {} reads were of \
             pages evicted meanwhile.",
            self.curve.watched,
            format::count(self.curve.pages_evicted),
            format::count(self.curve.returns),
        ));
        sheet
    }
}

fn answer(need: &Need) -> String {
    let group = ramline_units::escape(&need.group);
    let beside = match (need.limit, &need.limit_at) {
        (Some(limit), Some(at)) if *at == need.group => format!("its limit is {limit}"),
        _ => format!("it has {}", need.current),
    };
    match need.answer {
        NeedAnswer::Enough => format!("{group} has enough memory: hardly anything was read again."),
        NeedAnswer::Size(size) => format!("{group} needs about {size}: {beside}."),
        NeedAnswer::MoreThan(size, left) => {
            format!("{group} needs more than {size}: {} of its misses are left there.", number::percent(left))
        }
        NeedAnswer::AtMost(size) => format!("{group} needs at most {size}: it has {}.", need.current),
        NeedAnswer::Fills => format!("{group} is still growing: ask again when its size stays the same."),
        NeedAnswer::FirstReads => {
            format!("More memory would not help {group} now: what it reads was not evicted before.")
        }
    }
}

fn tried(sheet: &mut Sheet, trial: &SizeTrial) {
    let took = trial.took;
    match trial.direction {
        TrialDirection::Up => {
            let largest = trial.last().map(|last| last.size).unwrap_or_default();
            sheet.line(match trial.end {
                TrialEnd::Full => {
                    Some(format!("It filled all that could be given to it, {largest}: its need may be larger."))
                }
                TrialEnd::TimeUp => {
                    Some(format!("It was still filling after {took}; --for 2min lets it fill for longer."))
                }
                _ => None,
            });
            sheet.dim(format!(
                "Tried: its limit was raised for {took}, it grew to {largest}, and the limit is back as it was. For what it did in that time; what \
                 it uses less often is not seen. A service that waits less may also do more: misses are given a second."
            ));
        }
        TrialDirection::Down => {
            sheet.line(down(trial));
            let guard = trial.guard.map(number::percent).unwrap_or_default();
            let worst = trial.worst().map(number::percent).unwrap_or_default();
            let by = match trial.time_lost_by {
                TimeLostBy::GroupPressure => "PSI",
                TimeLostBy::MachinePressure => "PSI of the machine",
                TimeLostBy::Misses => "misses times the time of a read",
            };
            sheet.dim(format!(
                "Tried: it was made smaller by 1.5 % a second for {took}, and is free to grow again. It lost more than {guard} of its time ({by}) for \
                 {}, {worst} in the worst second. What it uses less often than in that time is not seen.",
                trial.over_guard
            ));
        }
    }
}

fn verified(sheet: &mut Sheet, need: &Need) {
    if let Some(set) = &need.set {
        sheet.line("Set it, and take it back:");
        sheet.command(4, &set.command);
        sheet.command(4, &set.undo);
    }
    let Some(done) = &need.verified else { return };
    let predicted = done.predicted.map(|rate| format!(", {} or fewer predicted", per_second(rate))).unwrap_or_default();
    let lost = done.after.lost.map(|lost| format!(", {} of the time lost", number::percent(lost))).unwrap_or_default();
    let misses = per_second(done.after.misses);
    let stays = if done.kept { "The limit stays until the group ends." } else { "The limit is back as it was." };
    sheet.line(format!("Verified with a limit of {}: {misses} misses a second{predicted}{lost}. {stays}", done.limit));
    if done.kept {
        for command in &done.undo {
            sheet.line(format!("Undo: {command}"));
        }
    }
}

/// Why the ramp ended where it did.
fn down(trial: &SizeTrial) -> String {
    let at = trial.tripped.map(|at| at.to_string()).unwrap_or_default();
    let guard = trial.guard.map(number::percent).unwrap_or_default();
    match trial.end {
        TrialEnd::LostTime => format!("With {at} it loses more than {guard} of its time."),
        TrialEnd::Burst => format!("At {at} it suddenly lost much of its time, and got its memory back at once."),
        TrialEnd::Stuck => format!(
            "With {at} or less it can run out of memory: the kernel could reclaim nothing more and would kill a process."
        ),
        TrialEnd::Anonymous => {
            "It was not tried with less: without swap its anonymous memory must stay in RAM.".to_owned()
        }
        _ => "The time was over before it lost anything; --for 5min goes further down.".to_owned(),
    }
}

fn today(need: &Need) -> String {
    let misses = need.curve.misses_per_second().map(per_second).unwrap_or_default();
    let of = match (need.limit, &need.limit_at) {
        (Some(limit), Some(at)) if *at == need.group => format!(" of its limit of {limit}"),
        (Some(limit), Some(at)) => format!("; the limit in force is {limit}, of {}", ramline_units::escape(at)),
        _ => "; no limit applies to it".to_owned(),
    };
    format!("It uses {}{of}, and misses its page cache {misses} times a second.", need.current)
}

fn per_second(rate: f64) -> String {
    if rate < 10.0 { format!("{rate:.1}") } else { format!("{rate:.0}") }
}

/// Only what was measured: a service that waits less does more, so that a rate is no share of what it did before.
fn measured(steps: &[NeedStep]) -> Table<&NeedStep> {
    Table::from_rows(steps)
        .right("size", |step| step.size)
        .right("more", |step| format!("+{}", step.more))
        .right("misses a second", |step| step.misses_per_second.map_or_else(|| "not seen".to_owned(), per_second))
        .bar(|step| step.left.map(|left| left.min(1.0)))
}

/// Without the kernel's read-ahead, and with it at most.
fn bounds(steps: &[NeedStep]) -> Table<&NeedStep> {
    Table::from_rows(steps)
        .right("size", |step| step.size)
        .right("more", |step| format!("+{}", step.more))
        .right("misses left", |step| step.left.map_or_else(|| "not seen".to_owned(), number::percent))
        .right("to", |step| step.at_most.map(number::percent))
        .bar(|step| step.at_most)
}

fn table(steps: &[NeedStep]) -> Table<&NeedStep> {
    Table::from_rows(steps)
        .right("size", |step| step.size)
        .right("more", |step| format!("+{}", step.more))
        .right("misses left", |step| step.left.map_or_else(|| "not seen".to_owned(), number::percent))
        .right("a second", |step| step.misses_per_second.map(per_second))
        .bar(|step| step.left)
}
