//! One verb, one subcommand, one file.

pub mod cache;
pub mod checkup;
pub mod curve;
pub mod explain;
pub mod export;
pub mod fleet;
pub mod generate;
pub mod history;
pub mod judge;
pub mod lab;
pub mod measure;
pub mod need;
pub mod predict;
pub mod record;
pub mod show;
pub mod snapshot;
pub mod swap;
pub mod top;
pub mod trace;
pub mod tune;
