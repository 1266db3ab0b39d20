//! Prove it: experiments in a sandbox that cannot hurt the machine.
//!
//! The engine ([`series`]) opens an experiment for checked values ([`params`]), orders its runs, writes each raw record before anything is
//! concluded ([`store`]), and puts everything back. Each experiment is a folder of [`experiments`]; what several share of work on
//! files stands in [`fileops`]. Nothing outside the sandbox is changed without consent.
//!
//! ```no_run
//! use ramline_act::{RunLock, StateDir};
//! use ramline_kernel::Root;
//! use ramline_lab::experiments::code_plus_data::{self, plan::CodePlusDataPlan, settings::Settings};
//! use ramline_lab::{report, series};
//! let root = Root::live();
//! let lock = RunLock::take(&StateDir::open("/var/lib/ramline".as_ref())?, &root)?;
//! let plan = CodePlusDataPlan::checked(&root, &Settings::default())?;
//! let env = series::Env { root: &root, lock: &lock, deadline: None, crash_after: None };
//! let done = code_plus_data::run(&env, &plan, series::Consent::NotGiven, &mut ramline_sandbox::progress::Silent)?;
//! if let Some(folder) = done.folder {
//!     report::doubts(&folder.read()?.records).iter().for_each(|doubt| eprintln!("{doubt}"));
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod experiment;
pub mod experiments;
mod figures;
pub mod fileops;
mod fileset;
mod limited;
pub mod params;
mod prelude;
pub mod report;
pub mod resize;
pub mod series;
pub mod store;

pub use limited::forecast;
pub use ramline_sandbox::error::{self, LabError, Result};
