//! The one door through which ramline changes a machine: every step is journalled before it is taken, and undone.
//!
//! What it is: a run lock, a journal that survives `kill -9` and a power cut, a [`Run`] that undoes its steps in reverse
//! on success, error, panic, SIGINT and SIGTERM, and [`recover`] for runs that could not. What it is not: a policy of what
//! may be changed; and it never touches a run that is alive.
//!
//! ```
//! use ramline_act::{Run, RunLock, StateDir};
//! use ramline_kernel::Root;
//! # let dir = std::env::temp_dir().join(format!("ramline-act-doc-{}", std::process::id()));
//! let state = StateDir::open(&dir)?;
//! let lock = RunLock::take(&state, &Root::live())?;
//! let mut run = Run::begin(&lock, &Root::live(), None)?;
//! let scratch = run.make_dir(&dir.join("ramline-scratch"))?;
//! run.make_file(&scratch.join("data"), |file| file.set_len(4096))?;
//! run.finish()?;
//! assert!(!scratch.exists());
//! # std::fs::remove_dir_all(&dir)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod boots;
mod effects;
mod error;
mod groups;
mod install;
mod journal;
mod leftovers;
mod lock;
mod owner;
mod recover;
mod run;
pub mod standing;
mod state;
mod step;
mod swapoff;
mod undo;
pub mod upkeep;

pub use error::{ActError, Result};
pub use journal::{Contents, Entry, Journal, Pending, Phase};
pub use leftovers::{Leftover, leftovers, one_line};
pub use lock::RunLock;
pub use owner::Owner;
pub use recover::{Report, RunReport, clean_up, recover};
pub use run::{Mark, Run};
pub use state::StateDir;
pub use step::Step;
pub use swapoff::check_swapoff;
