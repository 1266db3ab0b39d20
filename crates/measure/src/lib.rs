//! What it costs: an access to every tier of memory, and reading again what was evicted.

mod prelude;
pub mod reread;
pub mod tiers;
