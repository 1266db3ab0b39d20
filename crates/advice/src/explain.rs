//! Explanations: a question, answered with this machine's numbers, the mechanism in plain words, one next command.
//!
//! What it is: one file a topic, one line in the table. What it is not: advice; a finding links here for the why. What
//! was not seen is named in the answer instead of being left out.

mod available;
mod available_but_frozen;
mod buff_cache;
mod cgroup_memory;
mod dirty;
mod evictors;
mod hugepages;
mod kernel_memory;
mod mglru;
mod no_swap;
mod numa;
mod oom;
mod overcommit;
mod page_cache;
mod page_cluster;
mod pressure;
mod psi;
mod read_ahead;
mod rss_pss;
mod shmem;
mod swap_in_use;
mod swap_order;
mod swappiness;
mod thp;
mod tmpfs;
mod used;
mod watermarks;
mod zram_limit;
mod zram_ratio;
mod zram_unused;
mod zram_vs_zswap;

mod words;

pub use words::{also, closest_topics, slip, topic_named};

use ramline_snapshot::Wanted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::look::Refaults;
use crate::text::{evidence, list, rate};
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
const LIGHT: Wanted = Wanted {
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

/// A question answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Explanation {
    /// The topic.
    pub topic: String,
    /// The question.
    pub question: String,
    /// The answer in one or two sentences, with this machine's deciding number.
    pub answer_short: String,
    /// This machine's numbers, those that decide first.
    pub numbers: Vec<Evidence>,
    /// How it works, in plain words.
    pub mechanism: Vec<String>,
    /// What is often said and not so.
    pub myth: Option<String>,
    /// What to do, here and now.
    #[serde(default)]
    pub to_do: String,
    /// One command to go on with.
    pub next_command: String,
}

/// Every topic, by area, the general ones first.
pub const TOPICS: &[Topic] = &[
    used::TOPIC,
    available::TOPIC,
    available_but_frozen::TOPIC,
    rss_pss::TOPIC,
    pressure::TOPIC,
    psi::TOPIC,
    watermarks::TOPIC,
    oom::TOPIC,
    overcommit::TOPIC,
    mglru::TOPIC,
    numa::TOPIC,
    evictors::TOPIC,
    no_swap::TOPIC,
    swap_in_use::TOPIC,
    swap_order::TOPIC,
    swappiness::TOPIC,
    page_cluster::TOPIC,
    zram_vs_zswap::TOPIC,
    zram_unused::TOPIC,
    zram_ratio::TOPIC,
    zram_limit::TOPIC,
    buff_cache::TOPIC,
    page_cache::TOPIC,
    dirty::TOPIC,
    read_ahead::TOPIC,
    tmpfs::TOPIC,
    shmem::TOPIC,
    cgroup_memory::TOPIC,
    kernel_memory::TOPIC,
    thp::TOPIC,
    hugepages::TOPIC,
];

/// There is no such topic.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot explain '{}': no such topic. Topics: {}\ntry: ramline explain {closest}", topic.escape_debug(), list(&all()))]
pub struct UnknownTopic {
    /// As asked.
    pub topic: String,
    /// The topic whose name is most like it, or `--list` where none is.
    pub closest: &'static str,
}

fn all() -> Vec<String> {
    TOPICS.iter().map(|topic| topic.id.to_owned()).collect()
}

/// Answers a topic's question with the numbers of this machine.
///
/// # Errors
/// There is no such topic: the error lists all and names the closest.
pub fn explain(topic: &str, inputs: &Inputs<'_>) -> Result<Explanation, UnknownTopic> {
    let Some(found) = topic_named(topic) else {
        let closest = closest_topics(topic).first().copied().unwrap_or("--list");
        return Err(UnknownTopic { topic: topic.chars().take(60).collect(), closest });
    };
    let Answer { short, numbers, mechanism, myth, to_do, next } = (found.answer)(inputs);
    Ok(Explanation {
        topic: found.id.to_owned(),
        question: found.question.to_owned(),
        answer_short: short,
        numbers,
        mechanism,
        myth,
        to_do,
        next_command: next,
    })
}

/// Collects numbers and skips those that were not seen.
#[derive(Default)]
struct Numbers(Vec<Evidence>);

impl Numbers {
    fn add(&mut self, what: &str, value: Option<impl std::fmt::Display>, source: &str) {
        if let Some(value) = value {
            self.0.push(evidence(what, value.to_string(), source));
        }
    }

    /// Pages of files that were evicted and read again, over the window.
    fn refaults(&mut self, seen: Option<Refaults>) {
        let rate = seen.map(|r| rate(r.per_second, "pages", r.span));
        self.add("evicted and read again", rate, "/proc/vmstat workingset_refault_file");
    }

    /// Those whose names begin so come first, in this order: they decide.
    fn first(&mut self, names: &[&str]) {
        let place = |number: &Evidence| names.iter().position(|name| number.what.starts_with(name));
        ramline_units::sort_by_key(&mut self.0, |number| place(number).unwrap_or(names.len()));
    }
}

/// Sentences from text.
fn sentences<const N: usize>(lines: [&str; N]) -> Vec<String> {
    lines.map(str::to_owned).into()
}

/// What an answer says when the file it needs was not seen.
fn unseen(inputs: &Inputs<'_>, section: &str) -> String {
    let why = inputs.snapshot.unseen().into_iter().find(|(name, _)| *name == section);
    match why {
        Some((_, why)) => format!("Cannot tell for this machine: {} ({}).", why.path, why.reason),
        None => format!("Cannot tell for this machine: {section} was not read."),
    }
}
