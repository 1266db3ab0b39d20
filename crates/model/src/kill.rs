//! What a log says of a kill: who killed whom, under which limit, what filled memory, and how sure that is.
//!
//! A cause is a statement about the figures in the log. Where they do not decide it is unknown, whatever is usual. Killer and cause are two answers: a
//! group's limit says who killed, and nothing of what filled the group. Which process grew is in no single report: a table of tasks is one moment.
//!
//! The order of the tests follows the kernel: first who asked for the kill (a program's rule, a group's limit), then whether the request could be
//! served at all (the zones it may use, a block of its size, CMA; mm/page_alloc.c, `__zone_watermark_ok`), and only then the largest part of memory.
//!
//! Worked example: of 4 GiB usable, 3.6 GiB are anonymous, swap is full and every zone is below its mark: `user_anon`, sure. With 1 GiB in no counter
//! and nothing else as large, it is `kernel_unaccounted`; who holds that is not in the log.

mod by_daemon;
mod grown;
mod in_group;
mod incident;
mod machine;
mod no_kill;
mod page_size;
mod sum;
#[cfg(test)]
mod tests;
mod types;
mod victim;
mod zones;

pub use grown::{Grown, GrowthBefore};
pub use incident::{NoSuchTime, explain};
pub use page_size::{LogPageSize, page_size};
pub use sum::{KillPart, KillSum, PartKind};
pub use types::{Certainty, Kill, KillCause, Killer, OtherKill, ProgramUse, Reason, Requested, Verdict, Victim};
pub use zones::{ZoneState, zone_states};
