//! Files in the page cache: which are there, bringing them in, taking them out, each with proof.
//!
//! One walk over trees of files ([`walk`]) and what is done with each file: [`stat`] asks, [`evict`] drops and says
//! why pages stay, [`warm`] reads what is missing within a bound. It never writes to them: all are opened for
//! reading, and what it changes is only where their pages are. How a system call is made stands in `ramline-kernel`.
//!
//! ```no_run
//! use ramline_pagecache::{Context, stat, walk};
//! let context = Context { root: &ramline_kernel::Root::live(), tell: &|error| eprintln!("{error}") };
//! let seen = stat::stat(context, &["/usr/lib".into()], &walk::WalkOptions::default(), &stat::StatOptions::default());
//! println!("{} of {}", seen.total.resident, seen.total.span);
//! ```

pub mod evict;
mod glob;
mod ground;
pub mod hotset;
pub mod install;
pub mod list;
pub mod pin;
mod prelude;
mod queue;
pub mod restore;
pub mod returns;
pub mod run;
pub mod save;
mod shared;
mod so_far;
pub mod stat;
pub mod top;
pub mod trace;
pub mod walk;
pub mod warm;

use ramline_kernel::{KernelError, Root};

pub use glob::{BadGlob, Glob};
pub use so_far::RunningCount;

/// What every verb is given.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// This machine.
    pub root: &'a Root,
    /// Told of each failure as it happens; from any thread.
    pub tell: &'a (dyn Fn(&KernelError) + Sync),
}
