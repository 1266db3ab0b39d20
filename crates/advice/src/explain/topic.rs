//! What each topic is made of.

use ramline_snapshot::Wanted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::look::Refaults;
use crate::text::{evidence, rate};
use crate::{Evidence, Inputs};

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
pub(super) const LIGHT: Wanted = Wanted {
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
    /// Answers it.
    pub answer: fn(&Inputs<'_>) -> Answer,
}

/// What a topic says of one machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The answer with the deciding number: the first sentence is true and clear by itself, the others add to it.
    pub short: String,
    /// The numbers, those that decide first.
    pub numbers: Vec<Evidence>,
    /// How it works, a sentence or two each.
    pub mechanism: Vec<String>,
    /// What is often said and not so.
    pub myth: Option<String>,
    /// What to do, here and now.
    pub to_do: String,
    /// One command to go on with.
    pub next: String,
}

/// Collects numbers and skips those that were not seen.
#[derive(Default)]
pub(super) struct Numbers(pub(super) Vec<Evidence>);

impl Numbers {
    pub(super) fn add(&mut self, what: &str, value: Option<impl std::fmt::Display>, source: &str) {
        if let Some(value) = value {
            self.0.push(evidence(what, value.to_string(), source));
        }
    }

    /// Pages of files that were evicted and read again, over the window.
    pub(super) fn refaults(&mut self, seen: Option<Refaults>) {
        let rate = seen.map(|r| rate(r.per_second, "pages", r.span));
        self.add("evicted and read again", rate, "/proc/vmstat workingset_refault_file");
    }

    /// Those whose names begin so come first, in this order: they decide.
    pub(super) fn first(&mut self, names: &[&str]) {
        let place = |number: &Evidence| names.iter().position(|name| number.what.starts_with(name));
        ramline_units::sort_by_key(&mut self.0, |number| place(number).unwrap_or(names.len()));
    }
}

/// Sentences from text.
pub(super) fn sentences<const N: usize>(lines: [&str; N]) -> Vec<String> {
    lines.map(str::to_owned).into()
}

/// What an answer says when the file it needs was not seen.
pub(super) fn unseen(inputs: &Inputs<'_>, section: &str) -> String {
    let why = inputs.snapshot.unseen().into_iter().find(|(name, _)| *name == section);
    match why {
        Some((_, why)) => format!("Cannot tell for this machine: {} ({}).", why.path, why.reason),
        None => format!("Cannot tell for this machine: {section} was not read."),
    }
}
