//! What the lab has beside the kernel, for forecasts of what the lab measures.

pub mod follower;
pub mod reader;

/// A read of a file in the lab goes through a loop device: rounds with many of them waited 31 µs for each, and 10 for each read from swap. (It takes 28 to 43 µs longer
/// than its disk, traced from `block_rq_issue` to `block_rq_complete` of both; a part of it goes by while the task gives up its processor.)
pub const LOOP_NS: f64 = 21e3;
