//! What would happen: the kernel's reclaim, simulated. Pure and seeded.
//!
//! The classic lists of one memory cgroup of version 1 at its limit, as Linux 6.18 has them: [`memory`] holds pages, lists, counters and the clock;
//! a touch goes through `fault`, a missing page through `charge`, a full group through `reclaim`, which looks at batches of pages (`shrink`), and
//! `refault` says what the coming back of a page means. Each file opens with the kernel function it stands for and what it leaves out.
//! [`forecast`] runs a load many times over what the kernel itself leaves open.
//!
//! Not simulated: MGLRU, version 2, several groups, the whole machine's watermarks and kswapd, zswap, shared memory, large folios.
//!
//! ```
//! use ramline_sim::cost::Costs;
//! use ramline_sim::memory::{Setting, SwapTo};
//! use ramline_sim::run::{self, Chance, End};
//! use ramline_trace::generate::CodePlusData;
//! // 17 MiB of code and data that may have 15.
//! let load = CodePlusData { unit: 1 << 20, code: 3, data: 14, rounds: 11, seed: 256, shared: false };
//! let with = |swap| Setting {
//!     limit: 15 << 8, swappiness: 60, swap, slots: 16 << 8, read_ahead: 32, cluster: 8, base: 60, stale: None, costs: Costs::default(),
//! };
//! let run = |swap| run::code_plus_data(&load, with(swap), 60_000_000_000, Chance { phase: 0, around: 0 }, |_| 1000);
//! let (alone, disk) = (run(SwapTo::Nowhere), run(SwapTo::Disk));
//! assert_eq!((alone.end, disk.end), (End::Fine, End::Fine));
//! // Without swap the code has one MiB for its three, and comes back again and again.
//! assert!(alone.counts.refault[1] > 10 * disk.counts.refault[1]);
//! ```

mod charge;
pub mod cost;
mod fault;
pub mod forecast;
pub mod memory;
mod page;
mod reclaim;
mod refault;
pub mod run;
mod shrink;
