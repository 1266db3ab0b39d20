//! System calls and kernel interfaces: cgroups, swap, zram, loop devices, mounts, tracefs, knobs. The only crate with `unsafe`. It judges nothing.
//!
//! | modules | what they reach |
//! |---|---|
//! | [`cgroup`], [`swap`], [`zram`], [`zswap`], [`meminfo`], [`stalls`] | memory: groups and their limits, swap areas, what the kernel counts |
//! | [`pagemap`], [`residency`], [`drop_caches`], [`pin`], [`damon`], [`bpf`], [`tracing`] | pages: where they are, who touches them, what is said of a system call |
//! | [`mount`], [`loopdev`], [`fs`], [`place`], [`quota`], [`scratch`], [`handle`] | file systems, devices and scratch files |
//! | [`process`], [`fork`], [`opened`], [`sockets`], [`limits`], [`signals`], [`worker`] | processes and threads |
//! | [`kernel_file`], [`write`], [`input`], [`output`], [`stdio`], [`stream`], [`direct`], [`log`] | reading and writing: the kernel's files, what comes from outside, results |
//! | [`service`], [`program`], [`guest`], [`power`], [`clock`] | the system around them |
//! | [`map`], [`arena`] | memory of this process |
//! | [`root`], [`error`] | the root of the kernel's files as a value; what can go wrong |

pub mod arena;
pub mod bpf;
pub mod cgroup;
pub mod clock;
pub mod damon;
pub mod direct;
pub mod drop_caches;
pub mod error;
mod file_key;
pub mod fork;
pub mod fs;
pub mod guest;
pub mod handle;
pub mod input;
pub mod kernel_file;
pub mod limits;
pub mod log;
pub mod loopdev;
pub mod map;
pub mod meminfo;
pub mod mount;
#[cfg(target_feature = "crt-static")]
mod no_users;
pub mod opened;
pub mod output;
pub mod own_memory;
pub mod pagemap;
pub mod pin;
pub mod place;
pub mod power;
mod prelude;
pub mod process;
pub mod program;
pub mod quota;
pub mod residency;
pub mod root;
pub mod scratch;
pub mod service;
pub mod signals;
pub mod sockets;
pub mod stalls;
pub mod stdio;
pub mod stream;
pub mod swap;
mod sys;
pub mod tracing;
pub mod worker;
pub mod write;
pub mod zram;
pub mod zswap;

pub use error::{Cause, KernelError, Result, Tried};
pub use file_key::FileKey;
pub use root::Root;
pub use sys::{FNV1A, fnv1a};
