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
mod more_ram;
mod no_swap;
mod numa;
mod oom;
mod opinion;
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

pub(crate) mod topic;
mod words;

pub use topic::{Area, Topic};
pub use words::{also, closest_topics, topic_named, topic_of_question};

use ramline_units::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::prelude::*;

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
    more_ram::TOPIC,
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
    let mut out = Explanation {
        topic: found.id.to_owned(),
        question: found.question.to_owned(),
        answer_short: String::new(),
        numbers: Vec::new(),
        mechanism: found.mechanism.iter().map(|&sentence| sentence.to_owned()).collect(),
        myth: Some(found.myth.to_owned()),
        to_do: found.to_do.to_owned(),
        next_command: found.next.to_owned(),
    };
    out.answer_short = (found.answer)(inputs, &mut out);
    if inputs.snapshot.machine.copied {
        // Of files that another program copied there is one moment, and often no machine at hand.
        out.next_command = without_second_look(&out.next_command);
    }
    Ok(out)
}

/// `ramline show pressure --for 2s` as `ramline show pressure`.
fn without_second_look(command: &str) -> String {
    command.split(" --for ").next().unwrap_or(command).to_owned()
}
