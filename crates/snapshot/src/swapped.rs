//! Whose pages are in swap: slots of the areas by process, and what zram says of its slots.
//!
//! A document of its own, not a section: it takes a look at the page tables of every process with swapped pages. Which area has which of the
//! kernel's numbers is nowhere written; [`places`] finds it.
//!
//! Worked example: areas of 100 and 50 pages of which 40 and 20 are in use, slots seen under the numbers 0 and 2 (the area with number 1 was turned
//! off): number 0 is the first, 2 the second.

mod blocks;
mod places;

use crate::prelude::*;

pub use blocks::{AGES, BlockState, Slot, block_state_line};
pub use places::{Numbered, places};

/// Swapped pages by process.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Swapped {
    /// Processes whose pages were looked up, largest first.
    pub owners: Vec<Owner>,
    /// Areas with slots of these processes.
    pub areas: Vec<AreaSlots>,
    /// Processes whose page tables were not looked at for lack of time.
    pub left_out: u64,
    /// What these have in swap.
    pub left_out_bytes: Bytes,
    /// Processes this user may not look at.
    pub denied: u64,
    /// What these have in swap.
    pub denied_bytes: Bytes,
    /// How long it took.
    pub took: Nanos,
}

/// One area.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AreaSlots {
    /// The kernel's number.
    pub number: u32,
    /// Its path; `None` where no area fits what was seen under this number.
    pub path: Option<String>,
    /// Slots with a page of these processes, each counted once.
    pub slots: Pages,
    /// What zram's block_state says of all slots; `None` where this kernel has no such file, or it was not read.
    pub state: Option<BlockState>,
    /// Why not.
    pub without_state: Option<String>,
    /// The sample of its pages could not be taken: why.
    pub without_sample: Option<String>,
}

/// One process.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Owner {
    /// Process id.
    pub pid: u32,
    /// Its pages by area.
    pub places: Vec<Place>,
}

/// Pages of one process in one area.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Place {
    /// The kernel's number of the area.
    pub number: u32,
    /// Pages there.
    pub pages: Pages,
    /// Of them, those that a process before this one in the list has too (a fork shares them).
    pub shared: Pages,
    /// What block_state says of them.
    pub state: Option<BlockState>,
    /// What a sample of them compressed to.
    pub sample: Option<Sampled>,
}

/// Pages read from the device and compressed again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Sampled {
    /// Pages read.
    pub pages: u64,
    /// Of them, pages of one repeated word, which take no memory.
    pub same: u64,
    /// Of them, incompressible ones, which take a whole page.
    pub huge: u64,
    /// What the others compressed to, in bytes.
    pub stored: f64,
    /// What the others take in the allocator's classes, in bytes.
    pub taken: f64,
    /// Standard deviation of the bytes a page of all takes.
    pub deviation: f64,
}
