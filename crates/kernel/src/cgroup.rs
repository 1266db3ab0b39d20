//! Memory cgroups, version 1 and 2: find the hierarchy, make a group, limit it, read it, kill it, remove it.
//!
//! It makes and kills only in groups named `ramline-<pid>-<n>`; the limit of another is changed by [`Existing`] alone. A view of all groups of the machine is a section of the snapshot.
//!
//! ```no_run
//! use ramline_kernel::{Root, cgroup::{Group, Hierarchy}};
//! use ramline_units::{Bytes, Limit};
//! let hierarchy = Hierarchy::detect(&Root::live())?;
//! let group = Group::create(&hierarchy, &Hierarchy::group_name(0))?;
//! group.set_memory_limit(Limit::At(Bytes::from_mib(256)))?;
//! group.set_swap_limit(Limit::At(Bytes::ZERO))?;
//! group.add(std::process::id())?;
//! println!("{:?}", group.stat()?);
//! # Ok::<(), ramline_kernel::KernelError>(())
//! ```

mod delegated;
mod existing;
mod group;
mod hierarchy;
mod ids;
mod limited;
mod oom;
mod path;
mod reclaim;
mod stat;
mod swapped;
mod v1;
mod v2;

pub use delegated::move_process;
pub use existing::{Existing, Lowered, Setting};
pub use group::Group;
pub use hierarchy::{Hierarchy, group_of, processes_below};
pub use ids::ids_below;
pub use limited::{LimitFigures, limits_of_own_group};
pub use oom::OomNotices;
pub use path::{PREFIX, Version, groups_in};
pub use reclaim::ReclaimCount;
pub use stat::GroupStat;
pub use swapped::SwapFigures;
