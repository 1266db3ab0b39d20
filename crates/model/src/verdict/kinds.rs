//! What a verdict is made of: its states, statuses and numbers.

use super::seen_from::View;
use crate::available::AvailableFrom;
use crate::group::GroupRoom;
use crate::groups::Trouble;
pub use crate::low_mark::low_mark;
use crate::prelude::*;
use crate::watermarks::{Band, Distance};

/// A wake-up of kswapd nearer than this is worth a sentence.
pub const SOON_MINUTES: f64 = 60.0;

/// A first line is shorter than this.
pub const LONGEST: usize = 100;

/// Available memory and free swap together below this share of RAM, and below [`LITTLE`], are nearly nothing: the next program that
/// starts, or grows, ends in a kill.
pub const LITTLE_SHARE: f64 = 0.05;
/// Below this share of RAM, and below [`low_mark`], it is worth knowing: not yet wrong, and not much more fits. earlyoom kills there by default.
pub const LOW_SHARE: f64 = 0.10;
/// On a large machine a twentieth is much.
pub const LITTLE: Bytes = Bytes::from_mib(256);

/// What the judgement rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Rates over a window.
    Window {
        /// Its length.
        span: Nanos,
    },
    /// PSI's own averages of the last 10 s; who makes tasks wait is not known.
    Averages,
    /// Neither: nothing can be said about waiting.
    Nothing,
}

/// How bad it is, as a colour or an exit status would say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Not enough was seen.
    #[default]
    Unknown,
    /// Nothing to do.
    Ok,
    /// Worth knowing: a part of the machine, or of the settings, and not the machine.
    Note,
    /// Costs time or fails soon.
    Warning,
    /// Work is being lost or stands still now.
    Critical,
}

/// The state in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VerdictState {
    /// Nothing can be said about waiting.
    Unknown,
    /// Nothing waits, and no reclaim is near.
    Comfortable,
    /// Reclaim works or kswapd is awake; nothing waits noticeably.
    Reclaiming,
    /// Tasks wait for pages that were evicted earlier; the machine reclaims nothing.
    ReadAgain,
    /// Tasks waited in the last 10 s while much is available: where is not known without a window; over one, tasks wait and nothing is
    /// evicted or read again.
    Elsewhere,
    /// Tasks of a group wait at its own limit, or were killed there; the machine is not short.
    GroupAtLimit,
    /// Nothing waits yet, and at the rate of the window what is left lasts only moments.
    RunningOut,
    /// Nothing waits yet, and little is available, in RAM or in swap.
    Low,
    /// Nothing waits yet, and next to nothing is available, in RAM or in swap.
    NearlyUsedUp,
    /// Tasks wait, and the zones that the kernel takes its own objects from are used up while others have room: 32 bits with high memory.
    LowZone,
    /// Tasks wait for memory.
    Stalling,
    /// The working set does not fit.
    Refaulting,
    /// Everything waits for memory.
    Thrashing,
}

/// The number that decides the status.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Deciding {
    /// What is available.
    Available(Bytes),
    /// Percent of the time in which some task waited for memory.
    Waiting(f64),
    /// Percent of the time in which all tasks waited at once.
    Standing(f64),
    /// Processes killed for memory in the window.
    Killed(u64),
    /// A finding, by its id.
    Finding(String),
}

/// The machine in one sentence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// How bad it is.
    #[serde(default)]
    pub status: Status,
    /// The state.
    pub state: VerdictState,
    /// The sentence: under 100 characters, true by itself.
    pub text: String,
    /// What else belongs to it, a sentence each.
    #[serde(default)]
    pub details: Vec<String>,
    /// What decided it; `None` where nothing did.
    #[serde(default)]
    pub deciding: Option<Deciding>,
    /// MemTotal.
    pub total: Bytes,
    /// What is available here: on the machine, or what our group's limit leaves if that is less.
    #[serde(default)]
    pub available: Bytes,
    /// What is available on the machine, whatever our group may use.
    #[serde(default)]
    pub machine_available: Bytes,
    /// Where that number is from.
    #[serde(default)]
    pub available_from: AvailableFrom,
    /// What makes that this is not the whole machine's own view; `None` where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<View>,
    /// Free in swap areas; `None` where it was not seen.
    #[serde(default)]
    pub swap_free: Option<Bytes>,
    /// Of it, page cache on the active list: it can be had too, and whoever uses it reads it again.
    #[serde(default)]
    pub cache_in_use: Bytes,
    /// Of `machine_available`, what the ZFS cache gives back.
    #[serde(default)]
    pub arc: Bytes,
    /// Our group, where it has a limit below MemTotal.
    #[serde(default)]
    pub group: Option<GroupRoom>,
    /// The group that is worst off at its own limit, where one is.
    #[serde(default)]
    pub trouble: Option<Trouble>,
    /// What the judgement rests on.
    pub basis: Basis,
    /// The band of the node that is worst off.
    pub band: Option<Band>,
    /// To waking kswapd, on the node that is nearest to it.
    pub to_low: Option<Distance>,
}

/// `22.9 of 23.5 GiB`, or with two units where they differ; what is as good as all of it in the unit of the whole.
#[must_use]
pub fn amount_of(part: Bytes, total: Bytes) -> String {
    // 1021.6 MiB of 1.0 GiB is read twice; half of the last digit shown is nothing.
    let is_all = part <= total && part.share_of(total).is_some_and(|share| share >= 0.995);
    let (part, total) = (if is_all { total } else { part }.to_string(), total.to_string());
    match (part.split_once(' '), total.split_once(' ')) {
        (Some((number, unit)), Some((_, other))) if unit == other => format!("{number} of {total}"),
        _ => format!("{part} of {total}"),
    }
}
