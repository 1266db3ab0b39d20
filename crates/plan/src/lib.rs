//! What to change: a plan of typed, ordered, reversible steps; configuration files as they would read; all of it as shell text for reading.
//!
//! A [`Plan`] has one [`Line`](PlanLine) a setting: its value now, the value advised, why, what it should bring and risk, and the [`Step`]s that
//! make it so. A step names the state before and after, so that whoever performs it can tell which of the two the machine is in: after a crash or
//! a reboot it is finished or undone by looking, not by remembering.
//!
//! ```
//! use ramline_plan::{Step, edit::sysctl};
//! let after = sysctl::set(None, "vm.swappiness", "133").unwrap();
//! let step = Step::EditFile { path: "/etc/sysctl.d/90-ramline.conf".into(), before: None, after: Some(after) };
//! assert!(step.shell().join("\n").contains("vm.swappiness = 133"));
//! ```

pub mod edit;
mod outline;
mod revert;
mod step;
mod units;
mod upkeep;
mod zram;

pub use outline::{Decision, Goal, GroupAtLimit, Plan, PlanLine, Reason, Topic};
pub use revert::Revert;
pub use step::{MadeZram, ServiceVerb, Step};
pub use units::{CHECK, UPKEEP, UPKEEP_TIMER, UnitProgram, check_at_boot, upkeep_timer};
pub use upkeep::{Marked, UpkeepAsk, UpkeepBudget, UpkeepDevice, UpkeepGates, UpkeepPass, UpkeepWork, ZramLook};
pub use zram::{GENERATOR_CONF, ZramSetUp, for_this_boot, generator_units, with_generator, without_generator};
