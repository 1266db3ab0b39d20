//! What each topic is made of.

use std::fmt::Display;

use ramline_units::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::prelude::*;

/// What a topic is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Area {
    /// Where memory is.
    Memory,
    /// When it runs short.
    Pressure,
    /// Swap.
    Swap,
    /// Compressed memory.
    Compressed,
    /// Files in memory.
    Files,
    /// Groups of processes, the kernel, large pages.
    Owners,
}

impl Area {
    /// For the reader.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Area::Memory => "Where memory is",
            Area::Pressure => "When memory runs short",
            Area::Swap => "Swap",
            Area::Compressed => "Compressed memory",
            Area::Files => "Files in memory",
            Area::Owners => "Groups, the kernel, large pages",
        }
    }
}

/// The sections that are single small files: cheap enough for any topic.
pub(crate) const LIGHT: Wanted = Wanted {
    meminfo: true,
    vmstat: true,
    zoneinfo: true,
    buddyinfo: true,
    pressure_memory: true,
    pressure_io: true,
    pressure_cpu: true,
    swaps: true,
    settings: true,
    lru_gen: true,
    zram: true,
    cgroups: true,
    ..Wanted::NOTHING
};

/// A topic: one file, one line in the table.
#[derive(Debug, Clone, Copy)]
pub struct Topic {
    /// Its name on the command line.
    pub id: &'static str,
    /// Where it stands in the list.
    pub area: Area,
    /// The question it answers.
    pub question: &'static str,
    /// The sections it looks at; nothing else is read for it.
    pub wants: Wanted,
    /// Adds this machine's numbers, and what is special to it; returns the answer in one or two sentences.
    pub answer: fn(&Inputs<'_>, &mut Explanation) -> String,
    /// How it works, a sentence or two each.
    pub mechanism: &'static [&'static str],
    /// What is often said and not so.
    pub myth: &'static str,
    /// What to do, where this machine asks for nothing else.
    pub to_do: &'static str,
    /// One command to go on with.
    pub next: &'static str,
}

impl AddEvidence for Explanation {
    fn put(&mut self, what: &str, value: impl Display, source: impl Into<String>) {
        self.numbers.put(what, value, source);
    }
}

impl Explanation {
    /// Adds a counter of /proc/meminfo, or a sum of some: `Active(file) + Inactive(file)`.
    pub(crate) fn meminfo(&mut self, inputs: &Inputs<'_>, what: &str, keys: &str) -> Option<Bytes> {
        let seen = inputs.snapshot.meminfo.data()?;
        let parts: Option<Vec<Bytes>> = keys.split(" + ").map(|key| seen.get(key)).collect();
        let sum = parts.map(|parts| parts.into_iter().sum());
        self.add(what, sum, format!("/proc/meminfo {keys}"));
        sum
    }

    /// Adds the pages of files that were evicted and read again, over the window.
    pub(crate) fn refaults(&mut self, inputs: &Inputs<'_>, what: &str) -> Option<Refaults> {
        let seen = inputs.window.as_ref().and_then(look::refaults);
        let rate = seen.map(|r| rate(r.per_second, "pages", r.span));
        self.add(what, rate, "/proc/vmstat workingset_refault_file");
        seen
    }

    /// Puts those whose names begin so first, in this order: they decide.
    pub(crate) fn first(&mut self, names: &[&str]) {
        let place = |number: &Evidence| names.iter().position(|name| number.what.starts_with(name));
        ramline_units::sort_by_key(&mut self.numbers, |number| place(number).unwrap_or(names.len()));
    }
}

/// What an answer says when the file it needs was not seen.
pub(crate) fn unseen(inputs: &Inputs<'_>, section: &str) -> String {
    let why = inputs.snapshot.unseen().into_iter().find(|(name, _)| *name == section);
    match why {
        Some((_, why)) => format!("Cannot tell for this machine: {} ({}).", why.path, why.reason),
        None => format!("Cannot tell for this machine: {section} was not read."),
    }
}
