//! The sections of the page, one file each; every one is a function of a part of the report.

pub mod findings;
pub mod ledger;
pub mod pressure;
pub mod proof;
pub mod record;
pub mod swap;
pub mod tiers;
pub mod tmpfs;
pub mod who;
