//! How the machine is touched.

pub mod cgroup;
pub mod direct;
pub mod drop_caches;
pub mod error;
pub mod fs;
pub mod gather;
pub mod guest;
pub mod hardware;
pub mod held;
pub mod loopdev;
pub mod map;
pub mod mappers;
pub mod maps;
mod meminfo;
pub mod mount;
pub mod opened;
pub mod pin;
pub mod place;
pub mod process;
pub mod processes;
pub mod quiet;
pub mod requests;
pub mod residency;
pub mod root;
pub mod scratch;
pub mod signals;
pub mod stream;
pub mod swap;
mod sys;
pub mod tracing;
pub mod write;
pub mod zram;
pub mod zswap;

pub use cgroup::{Room, cache_room, memory_room, panic_on_oom};
pub use error::{Cause, KernelError, Result};
pub use root::Root;
