//! What would happen: the kernel's reclaim, simulated. Pure and seeded.
//!
//! One memory cgroup at its limit, with the classic lists or with generations (`mglru`), as a [`kernel`] has them. [`load`] decodes a load's touches
//! once; [`memory`] holds pages, lists, counters and the clock. A touch through a mapping goes through `fault` (`anonymous`, `shared`, `swap_in`), a read(2) through `read`, both
//! through `read_ahead` (which looks for `holes`); a missing page through `charge`, a full group through `reclaim`, which weighs memory and files (`balance`) and looks at batches of pages (`shrink`; of files in `folio`s), and `refault` says
//! what a refault means. Writes are plugged for a while (`plug`); pages that a recorded program frees are dropped (`free`); a thread beside the group may write its limit (`beside`, `limit`). Each file opens with the kernel function it stands for and what it leaves out.
//! [`chance`] draws what the kernel itself leaves open; [`belady`] says how few reads would do, [`rivals`] what simpler models say. Many runs and what follows from them: `ramline_predict`.
//!
//! Not simulated: several groups, the whole machine's watermarks and kswapd, zswap, folios of memory, stores to files.
//!
//! ```
//! use ramline_sim::cost::Costs;
//! use ramline_sim::kernel::PRESETS;
//! use ramline_sim::memory::{Setting, Sums, SwapTo};
//! use ramline_sim::chance::Chance;
//! use ramline_sim::run::{self, End};
//! use ramline_trace::generate::{CodePlusData, Load};
//! // 17 MiB of code and data that may have 15.
//! let load = Load::CodePlusData(CodePlusData { unit: 1 << 20, code: 3, data: 14, rounds: 11, seed: 256, shared: false });
//! let with = |swap| Setting {
//!     limit: 15 << 8, swappiness: 60, swap, slots: 16 << 8, read_ahead: 32, cluster: 8, fresh: 0.5, base: 60, sums: Sums::AtOnce, costs: Costs::default(),
//!     beside: None, first_looks: Vec::new(),
//!     kernel: PRESETS[2],
//! };
//! let run = |swap| run::load(&load, with(swap), 60_000_000_000, Chance::default(), |_, _| 1000).unwrap();
//! let (alone, disk) = (run(SwapTo::Nowhere), run(SwapTo::Disk));
//! assert_eq!((alone.end, disk.end), (End::Fine, End::Fine));
//! // Without swap the code has one MiB for its three, and comes back again and again.
//! assert!(alone.counts.refault[1] > 10 * disk.counts.refault[1]);
//! ```

mod anonymous;
mod area;
mod asked;
mod balance;
mod batch;
pub mod belady;
pub mod beside;
pub mod chance;
mod charge;
mod cluster;
pub mod cost;
mod epochs;
mod fault;
mod folio;
pub mod footprint;
mod free;
mod generations;
mod holes;
pub mod kernel;
mod limit;
pub mod load;
pub mod memory;
mod mglru;
mod page;
mod plug;
pub mod pool;
mod read;
mod read_ahead;
mod reclaim;
mod refault;
pub mod rivals;
pub mod run;
mod setting;
mod shared;
mod shrink;
mod slots;
mod statistics;
mod stream;
mod swap_in;
