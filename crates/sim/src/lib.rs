//! What would happen: the kernel's reclaim, simulated. Pure and seeded.
//!
//! One memory cgroup at its limit, with the classic lists or with generations, as a [`kernel`] has them. Modules have the names of the kernel's files; each opens with
//! the function it stands for and what it leaves out.
//!
//! | module | stands for | decides |
//! |---|---|---|
//! | `fault` | mm/memory.c, mm/shmem.c, mm/swap_state.c | a touch through a mapping: found, or a fault in private or shared memory; swap-ins |
//! | `filemap` | mm/filemap.c | a fault in a file, what is mapped around it, read(2) |
//! | `readahead` | mm/readahead.c | `window`: how long a read-ahead window is; `next_miss`; `requests` to the disk |
//! | `insert`, `workingset` | mm/workingset.c | what a refault means |
//! | `memcg` | mm/memcontrol.c | `charge`, `limit` |
//! | `vmscan` | mm/vmscan.c | `reclaim`: how much of which list; `shrink_list`: what becomes of a folio; `lru_gen` |
//! | `lru_cost`, `folio_batch` | mm/swap.c | what reclaim of each kind cost; pages on their way to a list |
//! | `swap`, `zsmalloc`, `plug` | mm/swapfile.c, mm/zsmalloc.c, block/blk-core.c | slots, what a zram takes, writes that are plugged |
//! | `unmap`, `epochs` | mm/memory.c | what a recorded program frees; epochs of a recording |
//! | [`memory`], `page`, `folio`, `generations`, `file_ra_state` | `struct lruvec`, `struct folio`, `struct lru_gen_folio`, `struct file_ra_state` | nothing: they hold the state, and [`memory::statistics`] how old its sums are |
//!
//! [`load`] decodes a load's touches once, and [`run`] runs them. What acts from outside is [`beside`]: a thread that writes the limit, a reader of the statistics.
//! [`chance`] draws what the kernel itself leaves open; [`belady`] says how few reads would do, [`rivals`] what simpler models say. Many runs and what follows from them: `ramline_predict`.
//!
//! Not simulated: several groups, the whole machine's watermarks and kswapd, zswap, folios of memory, stores to files.
//!
//! ```
//! use ramline_sim::cost::Costs;
//! use ramline_sim::kernel::PRESETS;
//! use ramline_sim::memory::{Flushes, Setting, SwapTo};
//! use ramline_sim::chance::Chance;
//! use ramline_sim::run::{self, End};
//! use ramline_trace::generate::{CodePlusData, Load};
//! // 17 MiB of code and data that may have 15.
//! let load = Load::CodePlusData(CodePlusData { unit: 1 << 20, code: 3, data: 14, rounds: 11, seed: 256, shared: false });
//! let with = |swap| Setting {
//!     limit: 15 << 8, swappiness: 60, swap, slots: 16 << 8, read_ahead: 32, cluster: 8, fresh: 0.5, base: 60, flushes: Flushes::AtOnce, costs: Costs::default(),
//!     beside: None,
//!     kernel: PRESETS[2],
//! };
//! let run = |swap| run::load(&load, with(swap), 60_000_000_000, Chance::default(), |_, _| 1000).unwrap();
//! let (alone, disk) = (run(SwapTo::Nowhere), run(SwapTo::Disk));
//! assert_eq!((alone.end, disk.end), (End::Fine, End::Fine));
//! // Without swap the code has one MiB for its three, and it refaults again and again.
//! assert!(alone.counts.refault[1] > 10 * disk.counts.refault[1]);
//! ```

pub mod belady;
pub mod beside;
pub mod chance;
pub mod cost;
mod epochs;
mod fault;
mod file_ra_state;
mod filemap;
mod folio;
mod folio_batch;
pub mod footprint;
mod generations;
mod insert;
pub mod kernel;
pub mod load;
mod lru_cost;
mod memcg;
pub mod memory;
mod page;
mod plug;
mod readahead;
pub mod rivals;
pub mod run;
mod setting;
mod swap;
mod unmap;
mod vmscan;
mod workingset;
pub mod zsmalloc;
