//! Where it is safe: what experiments and measurements are made of that cannot hurt the machine.
//!
//! [`requirements`] are checked before anything is touched; a [`group`], [`own_fs`] and [`scratch`] place hold what is tried; a
//! [`child`] process does the work and is followed to its end, while [`observe`] samples and the [`watchdog`] ends what harms;
//! [`vm`] is the same with a kernel of its own. Everything made goes through the journal of `ramline-act`.

pub mod arm;
pub mod child;
pub mod error;
pub mod fill;
pub mod group;
pub mod knobs;
pub mod observe;
pub mod own_fs;
mod prelude;
pub mod progress;
pub mod requirements;
pub mod scratch;
pub mod vm;
pub mod watchdog;

pub use error::{LabError, Result};
