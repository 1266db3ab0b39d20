//! `show`: what the machine is like now, one view-model a question, each as text and as JSON.
//!
//! [`ShowMemory`] (the answer on one screen), [`ShowTiers`], [`ShowZram`], [`ShowSwap`], [`ShowTmpfs`] and
//! [`ShowPressure`].
//!
//! ```
//! use ramline_snapshot::{Seen, Snapshot, machine::Machine, meminfo::Meminfo};
//! use ramline_view::{Screen, ShowMemory, text::Style};
//! let mut seen = Snapshot::new(Machine::default());
//! seen.meminfo = Seen::new(Meminfo::parse("meminfo", "MemTotal: 4096 kB\nMemFree: 1024 kB\n")?);
//! let text = ShowMemory::new(&seen, None).text(&Style::default());
//! assert!(text.contains("MemTotal"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cgroups;
mod maps;
mod memory;
mod owners;
mod pressure;
mod processes;
mod swap;
mod tiers;
mod tmpfs;
mod translate;
mod zram;

pub use cgroups::ShowCgroups;
pub use maps::ShowMaps;
pub use memory::ShowMemory;
pub use pressure::ShowPressure;
pub use processes::{ShowProcesses, SortBy};
pub use swap::ShowSwap;
pub use tiers::ShowTiers;
pub use tmpfs::{ShowTmpfs, TmpfsBy, TmpfsOptions};
pub use translate::ShowTranslate;
pub use zram::ShowZram;

pub(crate) use memory::{paint as verdict_paint, picture, where_it_is};
pub(crate) use pressure::{distances, reclaim, topic as pressure};
pub(crate) use swap::{areas, areas_and_flow};
pub(crate) use tiers::{nth, order};
pub(crate) use tmpfs::{fit_sentence, fits, mounts};
pub(crate) use zram::state_text as zram;

use crate::prelude::*;

/// What nearly every screen looks at.
const MEMORY: Wanted = Wanted {
    meminfo: true,
    zoneinfo: true,
    vmstat: true,
    zram: true,
    pressure_memory: true,
    cgroups: true,
    ..Wanted::NOTHING
};

/// What is said where the look at the control groups was cut short.
pub(crate) fn groups_cut(cut: bool) -> Option<&'static str> {
    cut.then_some("Not every control group was looked at: time was up; all: ramline show cgroups.")
}

/// Names what could not be seen, and why; nothing when all was.
pub(crate) fn unseen(page: &mut Sheet, sections: &[UnseenSection]) {
    if sections.is_empty() {
        return;
    }
    page.heading("Could not be seen");
    for section in sections {
        page.point("  ", format!("{}: {} ({})", section.section, section.why.path, section.why.reason));
    }
}

/// The sections of these names that could not be seen; the machine itself concerns all.
pub(crate) fn unseen_of(snapshot: &ramline_snapshot::Snapshot, names: &[&str]) -> Vec<UnseenSection> {
    UnseenSection::from_snapshot(snapshot)
        .into_iter()
        .filter(|s| s.section == "machine" || names.contains(&s.section.as_str()))
        .collect()
}
