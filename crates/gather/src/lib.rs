//! Read it: the kernel's files, of this machine or of a captured tree, as plain data (`ramline-snapshot`).
//!
//! | module | what it reads |
//! |---|---|
//! | `sections` | the sections of a [`ramline_snapshot::Snapshot`], only those that are wanted ([`gather`]); a capture of all ([`capture`]); again and again: [`Sampler`] reads what is due, [`Session`] keeps files open |
//! | [`processes`] | one cheap pass over all processes, walks of page tables within a budget, command lines by name |
//! | [`maps`] | address ranges of processes, every file behind them once, and what of it is in RAM |
//! | [`mappers`], [`held`] | who maps files; who holds which file, with a name or without |
//! | [`pages`] | anonymous pages of processes: where they are, and a few of them themselves |
//! | [`swapped`] | whose pages are in swap: slots of the areas by process, and zram's own list of slots |
//! | [`naming`] | names for what records call by numbers: files, tasks, disks |
//! | [`vm_settings`] | settings below `/proc/sys/vm` beyond those of a snapshot |
//! | [`headroom`] | how much memory can be taken: the least that the machine and the groups above us leave |
//! | [`hardware`], [`requests`], [`quiet`] | the machine below a measurement: processor, requests to a disk, what else goes on |
//!
//! It makes no system call that changes anything, and no judgement: what was read is judged by `ramline-model`.
//!
//! ```no_run
//! use ramline_gather::gather;
//! use ramline_kernel::Root;
//! use ramline_snapshot::Wanted;
//! let seen = gather(&Root::live(), Wanted { meminfo: true, ..Wanted::NOTHING });
//! println!("{:?}", seen.mem_total());
//! ```

pub mod hardware;
pub mod headroom;
pub mod held;
mod layers;
pub mod mappers;
mod mapping;
pub mod maps;
pub mod naming;
pub mod pages;
mod prelude;
mod proc_dir;
pub mod processes;
pub mod quiet;
pub mod requests;
mod sections;
pub mod swapped;
mod vm_settings;

pub use sections::{
    LateSections, Meta, Sampler, Session, Sweep, TOP, Walking, capture, evictors, gather, gather_until, gather_walking,
    set_up,
};
pub use vm_settings::{vm_setting, vm_settings};
