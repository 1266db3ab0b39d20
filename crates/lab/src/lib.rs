//! Prove it: experiments in a sandbox that cannot hurt the machine, and measurements of its tiers.
//!
//! What it is: requirements, sandbox, workload, observer, raw records, results. What it is not: advice; and it changes
//! nothing outside its sandbox without consent. Everything made goes through the journal of `ramline-act`.
//!
//! ```no_run
//! use ramline_act::{RunLock, StateDir};
//! use ramline_kernel::Root;
//! use ramline_lab::{code_plus_data, plan::CodePlusDataPlan, report, series, settings::Settings};
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

pub mod arm;
pub mod big_reader;
pub mod child;
mod code_file;
pub mod code_plus_data;
pub mod cold_warm;
pub mod drop_caches;
pub mod eat_memory;
pub mod experiment;
pub mod experiments;
pub mod fileops;
mod fileset;
mod group;
pub mod knee;
mod knobs;
pub mod observe;
mod own_fs;
pub mod page_cache_vs_tmpfs;
pub mod params;
pub mod plan;
pub mod pool;
pub mod read_path;
pub mod report;
pub mod requirements;
mod sandbox;
mod scratch;
mod self_check;
pub mod series;
pub mod settings;
pub mod store;
pub mod tmpfs_vs_disk;
pub mod vm;
pub mod watchdog;

pub use ramline_sandbox::error::{self, LabError, Result};
