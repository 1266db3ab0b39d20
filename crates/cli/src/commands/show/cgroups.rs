//! `ramline show cgroups`.

use ramline_model::groups::{Selection, Sort};
use ramline_view::ShowCgroups;

use super::common::{Common, code};
use crate::prelude::*;

/// The tree of memory control groups: where each one's charge goes, and what could be reclaimed
#[derive(Debug, Clone, Args)]
pub struct Cgroups {
    /// One group in full: its path, the last part of it, or the id of a container
    #[arg(value_name = "GROUP")]
    group: Option<String>,
    /// Put the largest first by this
    #[arg(long, value_enum, default_value = "charged", value_name = "WHAT")]
    sort: Choice<Sort>,
    /// Show the N largest groups, and those above them
    #[arg(long, value_name = "N", default_value_t = 25, conflicts_with = "all")]
    top: usize,
    /// Show all groups
    #[arg(long)]
    all: bool,
    /// Show no group deeper than N steps below the top
    #[arg(long, value_name = "N")]
    depth: Option<usize>,
    /// A list with whole paths instead of a tree
    #[arg(long)]
    flat: bool,
}

choices!(Sort {
    Charged: "charged", "Memory charged, all below included";
    Own: "own", "Charged to the group itself";
    Anon: "anon", "Anonymous memory";
    Cache: "cache", "Page cache";
    Shmem: "shmem", "Shared memory and tmpfs";
    Kernel: "kernel", "Kernel memory";
    Reclaimable: "reclaimable", "What reclaim could take at once";
    Swap: "swap", "Swap";
    Pressure: "pressure", "Share of time spent waiting for memory";
    Growth: "growth", "Growth, between two looks";
    Kills: "kills", "Processes killed";
});

impl Cgroups {
    /// Looks once.
    ///
    /// # Errors
    /// The source cannot be used, or no group goes by the name given.
    pub fn look(&self, common: Common, readings: &SourceReadings<'_>) -> Result<Shown> {
        if self.sort.0 == Sort::Growth {
            readings.twice_for("growth")?;
        }
        let (before, seen) = readings.window(ShowCgroups::WANTED, Walking::Never)?;
        let window = before.as_deref().and_then(|before| Window::new(before, &seen).ok());
        let selection =
            Selection { sort: self.sort.0, top: (!self.all).then_some(self.top), depth: self.depth, flat: self.flat };
        let shown = match &self.group {
            None => ShowCgroups::new(&seen, window.as_ref(), selection),
            Some(name) => {
                ShowCgroups::one(&seen, window.as_ref(), selection, name).map_err(|e| Failure::usage(e.to_string()))?
            }
        };
        common.format().shown(&shown, code(&seen), |style| shown.text(style))
    }
}
