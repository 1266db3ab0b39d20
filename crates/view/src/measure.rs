//! `measure`: what tiers cost, what pages are made of, and what costs mean for this machine.

pub mod measured;
pub mod pages;
pub(crate) mod tiers;

pub use tiers::{tiers, tiers_sheet};
