//! What it costs: an access to every tier of memory, reading again what was evicted, and compressing the pages this machine has.

mod codec;
pub mod pages;
mod prelude;
pub mod reread;
pub mod tiers;
