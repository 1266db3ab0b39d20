//! A knee in words: the answer, and what qualifies it.

use super::{Knee, LimitVerdict, SURE};
use crate::prelude::*;

impl Knee {
    pub(super) fn doubts(&self) -> Vec<String> {
        let mut out = Vec::new();
        let percent = |share: f64| format!("{:.0} %", share * 100.0);
        if let Some(free) = &self.unlimited {
            let spread = (free.max - free.min) / free.median;
            if spread > self.asked.within {
                let (spread, within) = (percent(spread), percent(self.asked.within));
                let finer = format!("{within} is finer than what this machine can tell");
                out.push(format!("the unlimited runs alone differ by {spread}: {finer}"));
            }
        }
        if !self.monotonic {
            let why = "the command, or the machine, is not steady";
            out.push(format!("more memory was once too small where less was enough: {why}"));
        }
        for probe in self.probes.iter().filter(|probe| probe.judged == LimitVerdict::Between) {
            // Above a limit that was enough it cannot be the memory.
            let above = self.enough.is_some_and(|enough| probe.limit > enough);
            let why = if above { "though less was enough: the machine was not steady" } else { "the knee is there" };
            out.push(format!("at {} the runs disagree, also after {}: {why}", probe.limit, probe.n));
        }
        out
    }

    /// The time at each limit that was tried, in their order, of the longest (0 to 1); `None` where no run ended.
    pub fn shares(&self) -> impl Iterator<Item = Option<f64>> + '_ {
        let longest = self.probes.iter().filter_map(|probe| probe.ratio).reduce(f64::max).filter(|most| *most > 0.0);
        self.probes.iter().map(move |probe| Some(probe.ratio? / longest?))
    }

    /// The result in one sentence. Of a limit with fewer runs than [`SURE`] it says what was seen, and what is needed to be sure.
    #[must_use]
    pub fn sentence(&self) -> String {
        let within = format!("{:.0} %", self.asked.within * 100.0);
        let of = self.service.as_ref().map(|service| format!(" for {service}")).unwrap_or_default();
        let stay = format!("enough{of} to stay within {within} of the unlimited time");
        let sure = |limit: Bytes| self.runs_at(limit) >= SURE;
        let few = |limits: &[Bytes]| {
            let n = limits.iter().map(|limit| self.runs_at(*limit)).min().unwrap_or_default();
            let runs = if n == 1 { "1 run".to_owned() } else { format!("{n} runs") };
            format!(" ({runs}; {SURE} are needed to be sure)")
        };
        match (self.too_small, self.enough) {
            (Some(small), Some(enough)) if self.unfinished => {
                format!("not finished: {enough} was {stay}, {small} was not")
            }
            (Some(small), Some(enough)) if sure(small) && sure(enough) => {
                format!("{enough} is surely {stay}, {small} surely is not")
            }
            (Some(small), Some(enough)) => {
                format!("{enough} was {stay}, {small} was not{}", few(&[small, enough]))
            }
            (None, Some(enough)) if self.unfinished => format!("not finished: {enough} was {stay}"),
            (None, Some(enough)) if self.asked.floor > Bytes::ZERO => {
                format!("{enough} is {stay}; below {} nothing was tried: so much cannot be reclaimed", self.asked.floor)
            }
            (None, Some(enough)) => format!("{enough} is {stay}; no limit tried was too small"),
            (Some(small), None) if self.unfinished => format!("not finished: {small} was not {stay}"),
            (_, None) if self.unfinished => "not finished: no limit was tried to its end".to_owned(),
            (_, None) => format!("no limit was found at which the command stays within {within} of its unlimited time"),
        }
    }
}
